import { commonRefusals, refusal, routesOf } from '../server/json-routes.ts'
import { retryAfter } from '../server/openapi.ts'

/** Declares a JSON route for the operator, and optionally for merchants. */
export const operatorRoute = routesOf({
  tag: 'Operator',
  description: 'Stores, applications and what joins them, by the key of the operator. JSON.',
  credential: {
    name: 'OperatorKey',
    scheme: { type: 'http', scheme: 'bearer', description: 'OPERATOR_KEY; `operatorKey` in sandbox.json.' },
  },
  refusals: {
    ...commonRefusals,
    401: refusal('The key is not that of the operator.', {
      'WWW-Authenticate': { description: 'Bearer', required: true, schema: { type: 'string' } },
    }),
    403: refusal('The request came over plain http, and the server takes https alone.'),
    404: refusal('No such store, application, subscription or account.'),
    409: refusal(
      'What is stored contradicts it: another store has the host, another account the e-mail address, or the goods are out of stock; it is the last account of a store; or another request is asking the application for very long.',
    ),
    429: refusal('Too many requests without the key came from the address.', retryAfter),
    502: refusal('The application did not answer 200, or not in time: `Server not Responding`.'),
  },
})
