import { z } from 'zod'
import { changedApplication, newApplication } from '../applications/applications.ts'
import type { JsonSchema } from '../engine/json-schema.ts'
import { describeRecord, type Schemas } from '../engine/json-schema.ts'
import { changedStatuses } from '../resources/order-statuses/update-statuses.ts'
import { orderBodyType } from '../resources/orders/order-body.ts'
import { NAME_LENGTH_MAX } from '../resources/payment-methods/payment-methods.ts'
import { changedMethods } from '../resources/payment-methods/update-methods.ts'
import {
  type ApiPart,
  type Content,
  jsonAnswer,
  type Parameter,
  type PathItem,
  ref,
  requestId,
  retryAfter,
} from '../server/openapi.ts'
import {
  answerSchemas,
  bodySchema,
  idParameter,
  jsonBody,
  listOf,
  ofBody,
  privilegesSchema,
} from '../server/openapi-words.ts'
import { ADDRESSES_MAX, changedStore, newStore } from '../stores/stores.ts'
import { peoplePaths, peopleSchemas } from './openapi-people.ts'
import { answers, operation, paging, refused, responses, storeId } from './openapi-words.ts'
import { newSubscription } from './subscriptions.ts'

/** The operator's routes, out of the schemas that validate, and what tells of the process. `services`: those that privileges may name. */
export function describeAdmin(services: readonly string[]): ApiPart {
  const schemas: Schemas = new Map(Object.entries(answerSchemas({ ...ownSchemas(services), ...peopleSchemas })))
  return {
    tags: [
      { name: 'Operator', description: 'Stores, applications and what joins them, by the key of the operator. JSON.' },
      { name: 'Server', description: 'The process, and what it says of itself.' },
    ],
    paths: { ...operatorPaths(services, schemas), ...peoplePaths, ...processPaths },
    components: {
      schemas: Object.fromEntries(schemas),
      responses,
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
    '/admin/stores/{id}': {
      put: operation('updateStore', 'Change a store', {
        description:
          'It counts at once. With another `SecureURL`, callers have to send that one. `CartAPI` says whether cartAPI lets programs in, and from which IP addresses and CIDR blocks; an empty list: from anywhere. `Throttle` is set by the operator alone.',
        parameters: [storeId],
        requestBody: jsonBody(bodySchema(changedStore), { TimeZone: 'America/Chicago' }),
        responses: answers(200, 'The store.', ref('schemas', 'Store'), [404, 409, ...ofBody]),
      }),
    },
    '/admin/stores/{id}/order-statuses': {
      put: operation('updateOrderStatuses', 'Change the texts and the visibility of order statuses', {
        description: 'All of the list, or none. `OrderStatus` of the services reads them.',
        parameters: [storeId],
        requestBody: jsonBody(bodySchema(changedStatuses), [
          { OrderStatusID: 8, StatusText: 'Waiting for parts', Visible: true },
        ]),
        responses: answers(200, 'They are changed.', ref('schemas', 'ArrayOfResponseInfo'), [404, 409, ...ofBody]),
      }),
    },
    '/admin/stores/{id}/payment-methods': {
      get: operation('listPaymentMethods', 'List the payment methods of a store', {
        parameters: [storeId],
        responses: answers(200, 'By ascending id, hidden ones too.', listOf('PaymentMethod'), [404]),
      }),
      put: operation('updatePaymentMethods', 'Change payment methods, and add new ones', {
        description:
          'All of the list, or none. A method without `PaymentMethodID` gets the lowest free one; one with an id that the store does not have is added with that id. Orders with that id as `BillingPaymentMethodID` show the name as `BillingPaymentMethod`. Methods are never removed, because orders name them: hide them.',
        parameters: [storeId],
        requestBody: jsonBody(bodySchema(changedMethods), [
          { PaymentMethodID: 3, Name: 'Check' },
          { Name: 'Gift card', Visible: true },
        ]),
        responses: answers(200, 'They are changed.', ref('schemas', 'ArrayOfResponseInfo'), [404, 409, ...ofBody]),
      }),
    },
    '/admin/stores/{id}/user-key': {
      post: operation('rotateUserKey', 'Give a store a new key for cartAPI', {
        description: 'The former key ends at once.',
        parameters: [storeId],
        responses: answers(200, 'The new key.', ref('schemas', 'UserKey'), [404, ...ofBody]),
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
        description:
          'An application with a CallBackURL is asked before, which takes up to 10 seconds; it has to answer 200. `PostBackURL` is where it wants the merchant to go on.',
        parameters: [storeId],
        requestBody: jsonBody(bodySchema(newSubscription), { PublicKey: 'the public key of the application' }),
        responses: {
          200: jsonAnswer('The store used it before: its token.', ref('schemas', 'SubscriptionToken')),
          ...answers(201, 'The new token.', ref('schemas', 'SubscriptionToken'), [404, 409, ...ofBody, 502]),
        },
      }),
    },
    '/admin/stores/{id}/subscriptions/{subscriptionId}': {
      delete: operation('unsubscribe', 'End a subscription', {
        description:
          'An application with a CallBackURL is told before, and has to answer 200. Then its tokens stop working at once, in every process.',
        parameters: [storeId, idParameter('subscriptionId', 'The subscription.'), force],
        responses: answers(200, 'It is ended.', ref('schemas', 'ArrayOfResponseInfo'), [404, 409, ...ofBody, 502]),
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
        parameters: [
          storeId,
          {
            name: 'events',
            in: 'query',
            description: '`true`: what the import changes is recorded as events, and webhooks are notified.',
            schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
          },
        ],
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
        parameters: [idParameter('id', 'The application.')],
        requestBody: jsonBody(bodySchema(changedApplication(services)), {
          Throttle: { Capacity: 100, LeakPerSecond: 5 },
        }),
        responses: answers(200, 'The application.', ref('schemas', 'Application'), [404, ...ofBody]),
      }),
    },
  }
}

const force: Parameter = {
  name: 'force',
  in: 'query',
  description: 'End it even if the application does not answer 200; it is told again in the background.',
  schema: { type: 'boolean', default: false },
}

/** What the answers of these routes hold (records.ts). */
function ownSchemas(services: readonly string[]) {
  const id = z.int32().min(1)
  const throttle = z.strictObject({ Capacity: z.int().min(1), LeakPerSecond: z.number() }).nullable()
  const privileges = privilegesSchema(services)
  const store = z.strictObject({
    Id: id,
    Name: z.string(),
    SecureURL: z.string(),
    UserKey: z.string(),
    Currency: z.string(),
    TimeZone: z.string(),
    CartAPI: z
      .strictObject({ Enabled: z.boolean(), Addresses: z.array(z.string()).max(ADDRESSES_MAX) })
      .describe('Whether cartAPI lets programs in, and from which IP addresses and CIDR blocks; none: from anywhere.'),
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
    Privileges: privileges.describe('What the store agreed to; null: everything.'),
    PrivilegesAsked: privileges.describe('What the application asks for by now; it may do what stands in both.'),
    PostBackURL: z.string().nullable().describe('Where the application asked the merchant to go on; null: nowhere.'),
    DateLastUsed: z.iso.datetime().nullable().describe('Null: not yet.'),
    DateCreated: z.iso.datetime(),
  })
  return {
    Store: store,
    NewStore: store.pick({ Id: true, SecureURL: true, UserKey: true }),
    UserKey: store.pick({ UserKey: true }),
    PaymentMethod: z.strictObject({
      PaymentMethodID: id,
      Name: z.string().max(NAME_LENGTH_MAX),
      Visible: z.boolean().describe('Whether it is offered for new orders.'),
    }),
    Application: application,
    Subscription: subscription,
    SubscriptionToken: z.strictObject({
      Token: z.string(),
      PostBackURL: z.string().optional().describe('Where the application asks the merchant to go on.'),
    }),
  }
}

function lines(description: string): { description: string; content: Content } {
  return { description, content: { 'application/x-ndjson': { schema: { type: 'string' } } } }
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
        503: jsonAnswer(
          'They cannot.',
          {
            type: 'object',
            properties: { status: { const: 'unavailable' }, reason: { type: 'string' } },
            required: ['status', 'reason'],
            additionalProperties: false,
          },
          retryAfter,
        ),
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
        401: ref('responses', 'OperatorRefusal401'),
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
