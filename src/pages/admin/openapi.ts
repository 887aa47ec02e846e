import { z } from 'zod'
import { changedApplication, newApplication } from '../../access/applications.ts'
import { newStore } from '../../access/stores.ts'
import { describeRecord, type Schemas } from '../../engine/json-schema.ts'
import {
  type ApiPart,
  type Content,
  type Header,
  type JsonSchema,
  type Operation,
  type Parameter,
  type PathItem,
  type Response,
  ref,
} from '../../openapi.ts'
import { orderBodyType } from '../../resources/orders/order-body.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from './parameters.ts'
import { newSubscription } from './subscriptions.ts'

/** The operator's routes, out of the schemas that validate, and what tells of the process. `services`: those that privileges may name. */
export function describeAdmin(services: readonly string[]): ApiPart {
  const schemas: Schemas = new Map(Object.entries(answerSchemas(services)))
  return {
    tags: [
      { name: 'Operator', description: 'Stores, applications and what joins them, by the key of the operator. JSON.' },
      { name: 'Server', description: 'The process, and what it says of itself.' },
    ],
    paths: { ...operatorPaths(services, schemas), ...processPaths },
    components: {
      schemas: Object.fromEntries(schemas),
      responses: Object.fromEntries(Object.entries(refusals).map(([status, one]) => [refusalName(status), one])),
      securitySchemes: {
        OperatorKey: { type: 'http', scheme: 'bearer', description: 'OPERATOR_KEY; `operatorKey` in sandbox.json.' },
      },
    },
  }
}

function operatorPaths(services: readonly string[], schemas: Schemas): Readonly<Record<string, PathItem>> {
  const order = describeRecord(schemas, orderBodyType, 'item')
  return {
    '/admin/stores': {
      get: operation('listStores', 'List stores', {
        parameters: paging,
        responses: answers(200, 'Stores by ascending id.', listOf('Store')),
      }),
      post: operation('createStore', 'Open a store', {
        requestBody: jsonBody(bodySchema(newStore), {
          Name: 'My shop',
          SecureURL: 'https://www.shop.example',
          Email: 'owner@shop.example',
          Password: 'a password of the owner',
          TimeZone: 'America/New_York',
        }),
        responses: answers(201, 'The store, with its user key.', ref('schemas', 'NewStore'), [409, ...ofBody]),
      }),
    },
    '/admin/stores/{id}/orders': {
      post: operation('placeOrder', 'Place an order, as the checkout does', {
        description: 'Prices, totals and stock are worked out here; what is computed is refused when it is sent.',
        parameters: [storeId],
        requestBody: jsonBody(
          { ...order, type: 'object', required: ['OrderItemList'] },
          { CustomerID: 5, BillingOnLinePayment: true, OrderItemList: [{ CatalogID: 12, ItemQuantity: 2 }] },
        ),
        responses: answers(201, 'The id of the order.', ref('schemas', 'ArrayOfResponseInfo'), [404, 409, ...ofBody]),
      }),
    },
    '/admin/stores/{id}/subscriptions': {
      get: operation('listSubscriptions', 'List the applications that a store uses', {
        parameters: [storeId, ...paging],
        responses: answers(200, 'Subscriptions by ascending id.', listOf('Subscription'), [404]),
      }),
      post: operation('subscribe', 'Let a store use an application', {
        parameters: [storeId],
        requestBody: jsonBody(bodySchema(newSubscription), { PublicKey: 'the public key of the application' }),
        responses: {
          200: jsonAnswer('The store used it before: its token.', ref('schemas', 'SubscriptionToken')),
          ...answers(201, 'The new token.', ref('schemas', 'SubscriptionToken'), [404, ...ofBody]),
        },
      }),
    },
    '/admin/stores/{id}/subscriptions/{subscriptionId}': {
      delete: operation('unsubscribe', 'End a subscription', {
        description: 'Its token stops working at once, in every process.',
        parameters: [storeId, idParameter('subscriptionId', 'The subscription.', 1)],
        responses: answers(200, 'It is ended.', ref('schemas', 'ArrayOfResponseInfo'), [404, ...ofBody]),
      }),
    },
    '/admin/stores/{id}/export': {
      get: operation('exportStore', 'Stream a store out', {
        parameters: [storeId],
        responses: {
          200: { ...lines('Records, a line each; the line `{"end": …}` closes a whole file.'), headers: requestId },
          ...refused([404]),
        },
      }),
    },
    '/admin/stores/{id}/import': {
      post: operation('importStore', 'Stream a store in', {
        parameters: [storeId],
        requestBody: { required: true, ...lines('As an export gives them.') },
        responses: {
          200: {
            ...lines('A report: `progress`, `refused` for each refused line, at last `done` or `failed`.'),
            headers: requestId,
          },
          ...refused([404, 415]),
        },
      }),
    },
    '/admin/applications': {
      get: operation('listApplications', 'List applications', {
        parameters: paging,
        responses: answers(200, 'Applications by ascending id.', listOf('Application')),
      }),
      post: operation('registerApplication', 'Register an application', {
        requestBody: jsonBody(bodySchema(newApplication(services)), {
          Name: 'Order sync',
          Privileges: { Orders: ['read', 'write'], Products: ['read'] },
        }),
        responses: answers(201, 'The application, with its keys.', ref('schemas', 'Application'), ofBody),
      }),
    },
    '/admin/applications/{id}': {
      put: operation('updateApplication', 'Change an application', {
        parameters: [idParameter('id', 'The application.', 1)],
        requestBody: jsonBody(bodySchema(changedApplication(services)), {
          Throttle: { Capacity: 100, LeakPerSecond: 5 },
        }),
        responses: answers(200, 'The application.', ref('schemas', 'Application'), [404, ...ofBody]),
      }),
    },
  }
}

function operation(
  operationId: string,
  summary: string,
  rest: Omit<Operation, 'operationId' | 'summary' | 'tags'>,
): Operation {
  return { operationId, summary, tags: ['Operator'], security: [{ OperatorKey: [] }], ...rest }
}

const INT32_MAX = 2_147_483_647

function idParameter(name: string, description: string, example: number): Parameter {
  const schema = { type: 'integer', minimum: 1, maximum: INT32_MAX }
  return { name, in: 'path', description, required: true, schema, example }
}

const storeId = idParameter('id', 'The store.', 1)

const paging: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'The most records of the page.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT },
  },
  {
    name: 'offset',
    in: 'query',
    description: 'The records to pass over.',
    schema: { type: 'integer', minimum: 0, maximum: INT32_MAX, default: 0 },
  },
]

function bodySchema(schema: z.ZodType): JsonSchema {
  const { $schema, ...described } = z.toJSONSchema(schema, { io: 'input' })
  return described
}

function jsonBody(schema: JsonSchema, example: unknown) {
  return { required: true, content: { 'application/json': { schema, example } } }
}

function listOf(name: string): JsonSchema {
  return { type: 'array', items: ref('schemas', name) }
}

/** What the answers of these routes hold (records.ts). */
function answerSchemas(services: readonly string[]): Readonly<Record<string, JsonSchema>> {
  const id = z.int32().min(1)
  const throttle = z.strictObject({ Capacity: z.int().min(1), LeakPerSecond: z.number() }).nullable()
  const access = z.array(z.enum(['read', 'write'])).optional()
  const privileges = z.strictObject(Object.fromEntries(services.map((service) => [service, access]))).nullable()
  const store = z.strictObject({
    Id: id,
    Name: z.string(),
    SecureURL: z.string(),
    UserKey: z.string(),
    Currency: z.string(),
    TimeZone: z.string(),
    Throttle: throttle.describe('Null: 50 requests, 2 a second.'),
    DateCreated: z.iso.datetime(),
  })
  const application = z.strictObject({
    Id: id,
    Name: z.string(),
    PublicKey: z.string(),
    PrivateKey: z.string(),
    Privileges: privileges.describe('Null: everything.'),
    Throttle: throttle.describe('Null: 50 requests, 2 a second.'),
    DateCreated: z.iso.datetime(),
  })
  const subscription = z.strictObject({
    Id: id,
    ApplicationId: id,
    Name: z.string(),
    PublicKey: z.string(),
    Token: z.string(),
    DateCreated: z.iso.datetime(),
  })
  const named = {
    Store: store,
    NewStore: store.pick({ Id: true, SecureURL: true, UserKey: true }),
    Application: application,
    Subscription: subscription,
    SubscriptionToken: z.strictObject({ Token: z.string() }),
  }
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, answerSchema(schema)]))
}

function answerSchema(schema: z.ZodType): JsonSchema {
  const { $schema, ...described } = z.toJSONSchema(schema)
  return described
}

const requestId = { 'X-Request-Id': ref('headers', 'X-Request-Id') }

function jsonAnswer(description: string, schema: JsonSchema): Response {
  return { description, headers: requestId, content: { 'application/json': { schema } } }
}

function lines(description: string): { description: string; content: Content } {
  return { description, content: { 'application/x-ndjson': { schema: { type: 'string' } } } }
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
  return `OperatorRefusal${status}`
}

const refusals = {
  400: refusal('Something cannot be taken: `Value` names the property, `Message` says what is allowed.'),
  401: refusal('The key is not that of the operator.', {
    'WWW-Authenticate': { description: 'Bearer', required: true, schema: { type: 'string' } },
  }),
  403: refusal('The request came over plain http, and the server takes https alone.'),
  404: refusal('No such store, application or subscription.'),
  408: refusal('The body was not sent within 60 seconds.'),
  409: refusal('What is stored contradicts it: another store has the host, or the goods are out of stock.'),
  413: refusal('The body is larger than 1 MB.'),
  415: refusal('The body is of another media type.'),
  429: refusal('Too many requests without the key came from the address.', retryAfter()),
  500: refusal('A defect of the server; the log has it under the request id.'),
  503: refusal('The database does not answer.', retryAfter()),
} as const

function refusal(description: string, headers: Readonly<Record<string, Header>> = {}): Response {
  return {
    description,
    headers: { ...requestId, ...headers },
    content: { 'application/json': { schema: ref('schemas', 'ArrayOfResponseInfo') } },
  }
}

function retryAfter() {
  const schema = { type: 'integer', minimum: 1 }
  return { 'Retry-After': { description: 'Seconds to wait before the next try.', required: true, schema } }
}

const processPaths: Readonly<Record<string, PathItem>> = {
  '/healthz': {
    get: {
      operationId: 'isAlive',
      summary: 'Whether the process lives',
      tags: ['Server'],
      security: [],
      responses: { 200: jsonAnswer('It does.', statusSchema('alive')) },
    },
  },
  '/readyz': {
    get: {
      operationId: 'isReady',
      summary: 'Whether requests can be answered',
      tags: ['Server'],
      security: [],
      responses: {
        200: jsonAnswer('They can.', statusSchema('ready')),
        503: {
          ...jsonAnswer('They cannot.', {
            type: 'object',
            properties: { status: { const: 'unavailable' }, reason: { type: 'string' } },
            required: ['status', 'reason'],
            additionalProperties: false,
          }),
          headers: { ...requestId, ...retryAfter() },
        },
      },
    },
  },
  '/metrics': {
    get: {
      operationId: 'showFigures',
      summary: 'Figures for Prometheus',
      description: 'From this machine directly, or with the key of the operator.',
      tags: ['Server'],
      security: [{ OperatorKey: [] }, {}],
      responses: {
        200: {
          description: 'The figures.',
          headers: requestId,
          content: { 'text/plain': { schema: { type: 'string' } } },
        },
        401: ref('responses', refusalName(401)),
      },
    },
  },
}

function statusSchema(status: string): JsonSchema {
  return {
    type: 'object',
    properties: { status: { const: status } },
    required: ['status'],
    additionalProperties: false,
  }
}
