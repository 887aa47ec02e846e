import { commonRefusals, refusal, routesOf } from '../../server/json-routes.ts'
import { retryAfter } from '../../server/openapi.ts'

/** Declares a JSON route for developers, which sends browsers a page. */
export const developerRoute = routesOf({
  tag: 'Developer',
  description:
    'A developer’s applications, by the session that signing in at /developers/sign-in gives. JSON. Changes without a body need the header X-Requested-With, of any value.',
  credential: {
    name: 'DeveloperSession',
    scheme: {
      type: 'apiKey',
      in: 'cookie',
      name: 'developer',
      description: 'Set by signing in. Where the server has an https address, its name is `__Host-developer`.',
    },
  },
  refusals: {
    ...commonRefusals,
    401: refusal('There is no session, or it has ended.'),
    403: refusal(
      'The request is a change without Content-Type: application/json or X-Requested-With, comes from a page of another site, or over plain http where https alone is taken.',
    ),
    404: refusal('You have no such application.'),
    409: refusal(
      'There are 100 applications; what was to be replaced was replaced already; or there is no CallBackURL.',
    ),
    429: refusal('Too many tries of CallBackURLs.', retryAfter),
  },
  // A JSON content type would also suffice (html/guard.ts).
  bodilessHeader: {
    name: 'X-Requested-With',
    in: 'header',
    description:
      'Any text, which no page of another site can make a browser send. `Content-Type: application/json` does as well.',
    schema: { type: 'string', minLength: 1 },
    example: 'my program',
  },
})
