import { z } from 'zod'
import { keyRotation, secretRotation } from '../../access/application-keys.ts'
import { changedOwnApplication, newOwnApplication } from '../../access/developer-applications.ts'
import {
  type ApiPart,
  type Header,
  type JsonSchema,
  type Operation,
  type Parameter,
  type Response,
  ref,
} from '../../openapi.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../parameters.ts'

/** The developers' JSON routes, out of the schemas that validate. `services`: those that privileges may name. */
export function describeDevelopers(services: readonly string[]): ApiPart {
  return {
    tags: [
      {
        name: 'Developer',
        description: 'A developer’s applications, by the session that signing in at /developers/sign-in gives. JSON.',
      },
    ],
    paths: pathsFor(services),
    components: {
      schemas: answerSchemas(services),
      responses: Object.fromEntries(Object.entries(refusals).map(([status, one]) => [refusalName(status), one])),
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
        responses: answers(200, 'Your applications, the oldest first; there are 100 at most.', {
          type: 'array',
          items: application,
        }),
      }),
      post: operation('createOwnApplication', 'Register an application', {
        requestBody: jsonBody(newOwnApplication(input), {
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
        requestBody: jsonBody(changedOwnApplication(input), { RedirectURIs: ['https://app.example/oauth'] }),
        responses: answers(200, 'The application.', application, [404, ...ofBody]),
      }),
      delete: operation('deleteOwnApplication', 'Delete an application', {
        description: 'Its tokens stop working at once in all stores. No CallBackURL is told.',
        parameters: [id],
        responses: answers(200, 'It is deleted.', ref('schemas', 'ArrayOfResponseInfo'), [404, ...ofBody]),
      }),
    },
    '/developers/applications/{id}/private-key': {
      post: operation('rotatePrivateKey', 'Make a new private key', {
        description:
          'The former key works for `KeepFormerForHours`; one before that ends at once. With `PrivateKey` that one alone is replaced: what is sent twice ends no key that is in use.',
        parameters: [id],
        requestBody: { ...jsonBody(keyRotation, { KeepFormerForHours: 24 }), required: false },
        responses: answers(200, 'The application, with its new key.', application, [404, 409, ...ofBody]),
      }),
    },
    '/developers/applications/{id}/callback-secret': {
      post: operation('rotateCallbackSecret', 'Make a new callback secret', {
        description:
          'For 24 hours callbacks carry the signatures of both. With `CallBackSecret` that one alone is replaced.',
        parameters: [id],
        requestBody: { ...jsonBody(secretRotation, {}), required: false },
        responses: answers(200, 'The application, with its new secret.', application, [404, 409, ...ofBody]),
      }),
    },
    '/developers/applications/{id}/callback-test': {
      post: operation('testCallback', 'Send the CallBackURL a sample', {
        description:
          'An AUTHORIZE of the store https://sample.store.example with a token of zeros, signed as a real one. Nobody is subscribed by it. Ten at once, then one in ten seconds.',
        parameters: [id],
        responses: answers(200, 'What came back.', ref('schemas', 'CallbackTest'), [404, 409, ...ofBody]),
      }),
    },
    '/developers/applications/{id}/stores': {
      get: operation('listUsingStores', 'List the stores that use an application', {
        description: 'The header `Link` with `rel="next"` leads on, until there is none.',
        parameters: [id, limit, cursor],
        responses: {
          200: {
            ...jsonAnswer('Those that have used it longest first.', {
              type: 'array',
              items: ref('schemas', 'UsingStore'),
            }),
            headers: { ...requestId, Link: ref('headers', 'Link') },
          },
          ...refused([404]),
        },
      }),
    },
  }
}

function operation(
  operationId: string,
  summary: string,
  rest: Omit<Operation, 'operationId' | 'summary' | 'tags'>,
): Operation {
  return { operationId, summary, tags: ['Developer'], security: [{ DeveloperSession: [] }], ...rest }
}

const INT32_MAX = 2_147_483_647

const id: Parameter = {
  name: 'id',
  in: 'path',
  description: 'The application.',
  required: true,
  schema: { type: 'integer', minimum: 1, maximum: INT32_MAX },
  example: 1,
}

const limit: Parameter = {
  name: 'limit',
  in: 'query',
  description: 'The most stores of the page.',
  schema: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT },
}

const cursor: Parameter = {
  name: 'cursor',
  in: 'query',
  description: 'Where the page begins: take it from Link.',
  schema: { type: 'integer', minimum: 0, maximum: INT32_MAX, default: 0 },
}

function jsonBody(schema: z.ZodType, example: unknown) {
  const { $schema, ...described } = z.toJSONSchema(schema, { io: 'input' })
  return { required: true, content: { 'application/json': { schema: described, example } } }
}

/** What the answers of these routes hold (records.ts). */
function answerSchemas(services: readonly string[]): Readonly<Record<string, JsonSchema>> {
  const number = z.int32().min(1)
  const access = z.array(z.enum(['read', 'write'])).optional()
  const privileges = z.strictObject(Object.fromEntries(services.map((service) => [service, access]))).nullable()
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
  const named = { OwnApplication: application, UsingStore: store, CallbackTest: callbackTest }
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => {
      const { $schema, ...described } = z.toJSONSchema(schema)
      return [name, described]
    }),
  )
}

const requestId = { 'X-Request-Id': ref('headers', 'X-Request-Id') }

function jsonAnswer(description: string, schema: JsonSchema): Response {
  return { description, headers: requestId, content: { 'application/json': { schema } } }
}

type RefusalStatus = keyof typeof refusals

const always: readonly RefusalStatus[] = [400, 401, 403, 429, 500, 503]
const ofBody: readonly RefusalStatus[] = [408, 413, 415]

function answers(
  status: number,
  description: string,
  schema: JsonSchema,
  others: readonly RefusalStatus[] = [],
): Operation['responses'] {
  return { [status]: jsonAnswer(description, schema), ...refused(others) }
}

function refused(others: readonly RefusalStatus[]): Operation['responses'] {
  return Object.fromEntries([...always, ...others].map((status) => [status, ref('responses', refusalName(status))]))
}

function refusalName(status: number | string): string {
  return `DeveloperRefusal${status}`
}

const retryAfter: Readonly<Record<string, Header>> = {
  'Retry-After': {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
}

const refusals = {
  400: refusal('Something cannot be taken: `Value` names the property, `Message` says what is allowed.'),
  401: refusal('There is no session, or it has ended.'),
  403: refusal('The request comes from a page of another site, or over plain http where https alone is taken.'),
  404: refusal('You have no such application.'),
  408: refusal('The body was not sent within 60 seconds.'),
  409: refusal('There are 100 applications; what was to be replaced was replaced already; or there is no CallBackURL.'),
  413: refusal('The body is larger than 1 MB.'),
  415: refusal('The body is of another media type.'),
  429: refusal('Too many tries of CallBackURLs.', retryAfter),
  500: refusal('A defect of the server; the log has it under the request id.'),
  503: refusal('The database does not answer.', retryAfter),
} as const

function refusal(description: string, headers: Readonly<Record<string, Header>> = {}): Response {
  return {
    description,
    headers: { ...requestId, ...headers },
    content: { 'application/json': { schema: ref('schemas', 'ArrayOfResponseInfo') } },
  }
}
