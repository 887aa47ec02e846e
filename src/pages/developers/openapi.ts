import { z } from 'zod'
import { keyRotation, secretRotation } from '../../applications/keys.ts'
import { changedOwnApplication, newOwnApplication } from '../../applications/own-applications.ts'
import { type ApiPart, jsonAnswer, type Parameter, ref, retryAfter } from '../../server/openapi.ts'
import {
  answerSchemas,
  bodySchema,
  commonRefusals,
  idParameter,
  jsonBody,
  limitParameter,
  listOf,
  ofBody,
  privilegesSchema,
  refusal,
  routesOf,
  startParameter,
} from '../../server/openapi-words.ts'

const { operation, answers, refused, responses } = routesOf('Developer', 'DeveloperSession', {
  ...commonRefusals,
  401: refusal('There is no session, or it has ended.'),
  403: refusal(
    'The request is a change without Content-Type: application/json or X-Requested-With, comes from a page of another site, or over plain http where https alone is taken.',
  ),
  404: refusal('You have no such application.'),
  409: refusal('There are 100 applications; what was to be replaced was replaced already; or there is no CallBackURL.'),
  429: refusal('Too many tries of CallBackURLs.', retryAfter),
})

const id = idParameter('id', 'The application.')

/** Of changes without a body, whose type would do as well (src/html/guard.ts). */
const requestedWith: Parameter = {
  name: 'X-Requested-With',
  in: 'header',
  description:
    'Any text, which no page of another site can make a browser send. `Content-Type: application/json` does as well.',
  required: true,
  schema: { type: 'string', minLength: 1 },
  example: 'my program',
}

/** The developers' JSON routes, out of the schemas that validate. `services`: those that privileges may name. */
export function describeDevelopers(services: readonly string[]): ApiPart {
  return {
    tags: [
      {
        name: 'Developer',
        description:
          'A developer’s applications, by the session that signing in at /developers/sign-in gives. JSON. Changes without a body need the header X-Requested-With, of any value.',
      },
    ],
    paths: pathsFor(services),
    components: {
      schemas: answerSchemas(ownSchemas(services)),
      responses,
      securitySchemes: {
        DeveloperSession: {
          type: 'apiKey',
          in: 'cookie',
          name: 'developer',
          description: 'Set by signing in. Where the server has an https address, its name is `__Host-developer`.',
        },
      },
    },
  }
}

function pathsFor(services: readonly string[]): ApiPart['paths'] {
  const input = { services, outbound: { addressFault: () => null } }
  const application = ref('schemas', 'OwnApplication')
  return {
    '/developers/applications': {
      get: operation('listOwnApplications', 'List your applications', {
        responses: answers(
          200,
          'Your applications, the oldest first; there are 100 at most.',
          listOf('OwnApplication'),
        ),
      }),
      post: operation('createOwnApplication', 'Register an application', {
        requestBody: jsonBody(bodySchema(newOwnApplication(input)), {
          Name: 'Order sync',
          CallBackURL: 'https://app.example/callback',
          RedirectURIs: ['https://app.example/oauth'],
          Privileges: { Orders: ['read', 'write'], Products: ['read'] },
        }),
        responses: answers(201, 'The application, with its keys.', application, [409, ...ofBody]),
      }),
    },
    '/developers/applications/{id}': {
      get: operation('getOwnApplication', 'Read an application', {
        parameters: [id],
        responses: answers(200, 'The application, with its keys.', application, [404]),
      }),
      put: operation('updateOwnApplication', 'Change an application', {
        description:
          'What is not named stays. Privileges that are taken away end at once; those that are added count in a store when its merchant has agreed to them.',
        parameters: [id],
        requestBody: jsonBody(bodySchema(changedOwnApplication(input)), {
          RedirectURIs: ['https://app.example/oauth'],
        }),
        responses: answers(200, 'The application.', application, [404, ...ofBody]),
      }),
      delete: operation('deleteOwnApplication', 'Delete an application', {
        description: 'Its tokens stop working at once in all stores. No CallBackURL is told.',
        parameters: [id, requestedWith],
        responses: answers(200, 'It is deleted.', ref('schemas', 'ArrayOfResponseInfo'), [404, ...ofBody]),
      }),
    },
    '/developers/applications/{id}/private-key': {
      post: operation('rotatePrivateKey', 'Make a new private key', {
        description:
          'The former key works for `KeepFormerForHours`; one before that ends at once. With `PrivateKey` that one alone is replaced: what is sent twice ends no key that is in use.',
        parameters: [id, { ...requestedWith, required: false }],
        requestBody: { ...jsonBody(bodySchema(keyRotation), { KeepFormerForHours: 24 }), required: false },
        responses: answers(200, 'The application, with its new key.', application, [404, 409, ...ofBody]),
      }),
    },
    '/developers/applications/{id}/callback-secret': {
      post: operation('rotateCallbackSecret', 'Make a new callback secret', {
        description:
          'For 24 hours callbacks carry the signatures of both. With `CallBackSecret` that one alone is replaced.',
        parameters: [id, { ...requestedWith, required: false }],
        requestBody: { ...jsonBody(bodySchema(secretRotation), {}), required: false },
        responses: answers(200, 'The application, with its new secret.', application, [404, 409, ...ofBody]),
      }),
    },
    '/developers/applications/{id}/callback-test': {
      post: operation('testCallback', 'Send the CallBackURL a sample', {
        description:
          'An AUTHORIZE of the store https://sample.store.example with a token of zeros, signed as a real one. Nobody is subscribed by it. Ten at once, then one in ten seconds.',
        parameters: [id, requestedWith],
        responses: answers(200, 'What came back.', ref('schemas', 'CallbackTest'), [404, 409, ...ofBody]),
      }),
    },
    '/developers/applications/{id}/stores': {
      get: operation('listUsingStores', 'List the stores that use an application', {
        description: 'The header `Link` with `rel="next"` leads on, until there is none.',
        parameters: [
          id,
          limitParameter('The most stores of the page.'),
          startParameter('cursor', 'Where the page begins: take it from Link.'),
        ],
        responses: {
          200: jsonAnswer('Those that have used it longest first.', listOf('UsingStore'), {
            Link: ref('headers', 'Link'),
          }),
          ...refused([404]),
        },
      }),
    },
  }
}

/** What the answers of these routes hold (records.ts). */
function ownSchemas(services: readonly string[]) {
  const number = z.int32().min(1)
  const privileges = privilegesSchema(services)
  const application = z.strictObject({
    Id: number,
    Name: z.string(),
    PublicKey: z.string(),
    PrivateKey: z.string(),
    FormerPrivateKeyUntil: z.iso.datetime().nullable().describe('Until when the former private key works too.'),
    CallBackURL: z.string().nullable().describe('Null: nobody is asked.'),
    CallBackSecret: z.string().describe('What callbacks are signed with, by the Standard Webhooks scheme.'),
    RedirectURIs: z.array(z.string()),
    Privileges: privileges.describe('What it asks of stores; null: everything, also services that come later.'),
    DateCreated: z.iso.datetime(),
  })
  const store = z.strictObject({
    Id: number,
    Name: z.string(),
    SecureURL: z.string(),
    Token: z.string(),
    Privileges: privileges.describe('What the merchant agreed to; null: everything.'),
    DateLastUsed: z.iso.datetime().nullable().describe('Null: not yet.'),
    DateCreated: z.iso.datetime(),
  })
  const callbackTest = z.strictObject({
    MessageId: z.string().describe('webhook-id'),
    Sent: z.record(z.string(), z.string()).describe('The body that was sent.'),
    Status: z.int().nullable().describe('Null: there was no answer.'),
    Reason: z.string().nullable().describe('Why a store would not be subscribed; null: it would.'),
    Milliseconds: z.int().min(0),
    Answer: z.string().describe('At most 4,096 characters of it.'),
    PostBackURL: z.string().nullable(),
  })
  return { OwnApplication: application, UsingStore: store, CallbackTest: callbackTest }
}
