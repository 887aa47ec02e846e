import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { allows } from '../../access/applications/privileges.ts'
import { createStore, newStore } from '../../access/people/create-store.ts'
import type { AccessServices } from '../../access/stores/access-changes.ts'
import { closeStore, closing, reopenStore } from '../../access/stores/closing.ts'
import type { CreateStore } from '../../access/stores/create-store.ts'
import { type RateLimit, throttleWords } from '../../access/stores/rate-limit.ts'
import {
  ADDRESSES_MAX,
  cartApiWords,
  changedStore,
  FURTHER_URLS_MAX,
  storeWords,
} from '../../access/stores/store-input.ts'
import { listStores, rotateUserKey, type Store, storeWithKey, updateStore } from '../../access/stores/stores.ts'
import { describeRecord } from '../../engine/definition/json-schema.ts'
import { resultItem } from '../../foundation/values/failure.ts'
import { type Code, NAME_LENGTH_MAX, readNames } from '../../shop/resources/name-lists/name-lists.ts'
import { changedNames, updateList } from '../../shop/resources/name-lists/update-list.ts'
import {
  addedStatus,
  addOrderStatus,
  changedStatuses,
  updateOrderStatuses,
} from '../../shop/resources/order-statuses/update-statuses.ts'
import { orderBodyType } from '../../shop/resources/orders/order-body.ts'
import { type PlacedOrder, placeOrder } from '../../shop/resources/orders/place-order.ts'
import { privilegesOf } from '../../shop/staff/roles.ts'
import { requireProof } from '../html/guard.ts'
import { actorOf, type CallerServices, isByToken, merchantOf, requirePrivileges, storeCaller } from '../html/request.ts'
import { broughtAlong, id, ofOwner, ofStore, operatorRoute, time } from '../html/route-groups.ts'
import { type BodyType, done, jsonBody, many, one, record } from '../server/json/json-routes.ts'
import { pageQuery } from '../server/json/parameters.ts'

/** A rate limit. Null: the contract's rate limit. */
export const throttle = z
  .strictObject({
    Capacity: z.int().min(1).describe(throttleWords.Capacity),
    LeakPerSecond: z.number().describe(throttleWords.LeakPerSecond),
  })
  .nullable()
  .describe('The rate limit. Null: a burst of 50 requests, then 2 per second.')

export function throttleRecord(figures: RateLimit | null) {
  return figures && { Capacity: figures.capacity, LeakPerSecond: figures.leakPerSecond }
}

const cartApi = z
  .strictObject({
    Enabled: z.boolean().describe(cartApiWords.Enabled),
    Addresses: z.array(z.string()).max(ADDRESSES_MAX).describe(cartApiWords.Addresses),
  })
  .describe(storeWords.CartAPI)

const store = record<ShownStore>('Store')({
  Id: id.describe('The number of the store, by which addresses name it.'),
  Name: z.string().describe(storeWords.Name),
  SecureURL: z.string().describe(storeWords.SecureURL),
  SecureURLs: [
    z
      .array(z.string())
      .max(FURTHER_URLS_MAX)
      .describe('Further addresses, such as those on another platform, under which requests find the store.'),
    (from) => from.furtherUrls,
  ],
  UserKey: [
    z
      .string()
      .optional()
      .describe(
        'The key for cartAPI, for those who may see keys and have shown their password in the last 15 minutes.',
      ),
    (from) => from.userKey ?? undefined,
  ],
  DateUserKeyBrought: time.nullable().describe(`When the key for cartAPI was ${broughtAlong}. Null: it was made here.`),
  Currency: z.string().describe('The ISO 4217 code of the currency of all amounts in the store.'),
  TimeZone: z.string().describe('The time zone of the times in its records, by its name in the IANA database.'),
  Country: z.string().describe(storeWords.Country),
  CartAPI: [cartApi, (from) => ({ Enabled: from.cartApi.enabled, Addresses: [...from.cartApi.addresses] })],
  Throttle: [throttle, (from) => throttleRecord(from.throttle)],
  TestStore: [
    z.literal(true).optional().describe('It is a developer’s own, to try things out in. Other stores lack the member.'),
    (from) => from.isTest || undefined,
  ],
  DateClosed: time.nullable().describe('The time at which the store was closed. Null: it is open.'),
  DateOfDeletion: [
    time.nullable().describe('The time from which on the closed store is deleted. Null: it is open.'),
    (from) => from.deletedFrom?.toISOString() ?? null,
  ],
  DateCreated: time.describe('The time at which the store was opened.'),
})

const openedStore = record<Store>('NewStore')({
  Id: id.describe('The number of the new store, by which addresses name it.'),
  SecureURL: z.string().describe('The address of the shop as it is stored. Requests name the store by it.'),
  UserKey: z.string().describe('The key of the store for cartAPI.'),
})

const userKey = record<Store>('UserKey')({ UserKey: z.string().describe('The new key of the store for cartAPI.') })

const paymentMethod = record<Code>('PaymentMethod')({
  PaymentMethodID: [
    id.describe('The number of the method. Orders name it as BillingPaymentMethodID.'),
    (from) => from.id,
  ],
  Name: z
    .string()
    .max(NAME_LENGTH_MAX)
    .describe('The name of the method as people read it. Orders show it as BillingPaymentMethod.'),
  Visible: z.boolean().describe('Whether it is offered for new orders.'),
})

/** The engine validates the body, as for the services. */
const orderBody: BodyType<unknown, unknown> = {
  describe: (schemas) => {
    const schema = describeRecord(schemas, orderBodyType, 'item')
    const name = String(schema.$ref).split('/').at(-1) ?? ''
    schemas.set(name, { ...schemas.get(name), required: ['OrderItemList'] })
    const items = [{ CatalogID: 12, ItemQuantity: 2 }]
    const example = { CustomerID: 5, BillingOnLinePayment: true, OrderItemList: items }
    return { content: { 'application/json': { schema, example } } }
  },
  read: ({ body }) => body,
}

type ShownStore = Omit<Store, 'userKey'> & { readonly userKey: string | null }

/** Leaves the key for cartAPI out for somebody of the store who may not see keys, or has not shown a password lately. */
function shown(request: FastifyRequest, from: Store): ShownStore {
  const { person, isProved } = request
  const isHidden = person !== null && !(isProved && allows(privilegesOf(merchantOf(request)), 'Keys', 'read'))
  return { ...from, userKey: isHidden ? null : from.userKey }
}

export const storeRoutes = [
  operatorRoute('GET /admin/stores', {
    roles: ['operator-key', 'merchant'],
    needs: [],
    tokens: true,
    id: 'listStores',
    summary: 'List stores',
    description:
      'All stores by ascending id; for somebody of a store, theirs alone. `UserKey` is left out for those who may not see keys.',
    query: pageQuery,
    answers: { 200: many('Stores by ascending id.', store) },
    // For the operator, all stores; for a merchant, the store of the session.
    run: async ({ request, query }, services: AccessServices) => {
      if (request.person) return [shown(request, await storeWithKey(services, merchantOf(request).store.id))]
      return listStores(services, query)
    },
  }),
  operatorRoute('POST /admin/stores', {
    roles: ['operator-key'],
    id: 'createStore',
    summary: 'Open a store',
    description:
      '`SecureURLs` are further addresses under which requests find the store, such as those on another platform; `UserKey` is the key for cartAPI that its programs have from there.',
    body: jsonBody(newStore, {
      Name: 'My shop',
      SecureURL: 'https://www.shop.example',
      Email: 'owner@shop.example',
      Password: 'a password of the owner',
      TimeZone: 'America/New_York',
    }),
    answers: { 201: one('The store, with its user key.', openedStore) },
    refusals: [409],
    run: ({ request, body }, services: CreateStore) => createStore(services, body(), actorOf(request)),
  }),
  operatorRoute('PUT /admin/stores/:id', {
    ...ofStore('Settings', 'write'),
    tokens: true,
    id: 'updateStore',
    summary: 'Change a store',
    description:
      'Takes effect immediately. After a change of `SecureURL`, callers must send the new one. `CartAPI` says whether cartAPI accepts calls, and from which IP addresses and CIDR blocks; an empty list: from anywhere. Only the operator can set `Throttle`, `SecureURLs` (the whole list of further addresses) and `UserKey` (a key for cartAPI from another platform).',
    body: jsonBody(changedStore, { TimeZone: 'America/Chicago' }),
    answers: { 200: one('The store.', store) },
    refusals: [409],
    run: async ({ request, ids, body }, services: AccessServices) => {
      const given = body()
      // Whether and from where cartAPI lets in is a matter of keys.
      if (request.person && given.CartAPI !== undefined) {
        requirePrivileges(merchantOf(request), [['Keys', 'write']])
        requireProof(request)
      }
      // Every program names the store by it.
      if (isByToken(request) && given.SecureURL !== undefined) requireProof(request)
      return shown(request, await updateStore(services, ids.id, given, actorOf(request)))
    },
  }),
  operatorRoute('DELETE /admin/stores/:id', {
    ...ofOwner,
    id: 'closeStore',
    summary: 'Close a store',
    description:
      'From this moment on nobody gets in: applications, programs, customers and its people are refused (403), and deliveries and mails wait. Until `DateOfDeletion`, 30 days later, `POST /admin/stores/{id}/reopen` opens it as it was, except for what is deleted by age meanwhile; then its applications are told by REMOVE, and everything of the store is deleted. The operator may read and export it all the time. `Name` is the name of the store, exactly as it is. People must be owners who have shown their password in the last 15 minutes.',
    body: jsonBody(closing, { Name: 'My shop' }),
    answers: { 200: one('The store, since when it is closed, and when it is deleted.', store) },
    refusals: [409],
    run: async ({ request, ids, body }, services: AccessServices) => {
      return shown(request, await closeStore(services, ids.id, body(), actorOf(request)))
    },
  }),
  operatorRoute('POST /admin/stores/:id/reopen', {
    ...ofOwner,
    id: 'reopenStore',
    summary: 'Open a closed store again',
    description:
      'Within 30 days, by the operator or an owner who has shown the password in the last 15 minutes. What waited goes on: deliveries, mails, CSV files.',
    answers: { 200: one('The store.', store) },
    refusals: [409],
    run: async ({ request, ids }, services: AccessServices) => {
      return shown(request, await reopenStore(services, ids.id, actorOf(request)))
    },
  }),
  operatorRoute('PUT /admin/stores/:id/order-statuses', {
    ...ofStore('Settings', 'write'),
    tokens: true,
    id: 'updateOrderStatuses',
    summary: 'Change the texts and the visibility of order statuses',
    description: 'Changes the whole list or nothing. The service `OrderStatus` reads them.',
    body: jsonBody(changedStatuses, [{ OrderStatusID: 8, StatusText: 'Waiting for parts', Visible: true }]),
    answers: { 200: done('They are changed.') },
    refusals: [409],
    run: async ({ request, ids, body }, services: CallerServices) => {
      await updateOrderStatuses(await storeCaller(request, services, ids.id), body(), actorOf(request))
      return resultItem('Id', ids.id, 200, 'updated successfully')
    },
  }),
  operatorRoute('POST /admin/stores/:id/order-statuses', {
    ...ofStore('Settings', 'write'),
    tokens: true,
    id: 'addOrderStatus',
    summary: 'Add an order status of the store’s own',
    description:
      'Without `OrderStatusID` it gets the lowest free id from 13 on. Statuses are never removed, because orders name them: hide them. A store has at most 500.',
    body: jsonBody(addedStatus, { StatusText: 'Quote', OrderStatusID: 21 }),
    answers: { 201: done('It is added; `Value` is its id.') },
    refusals: [409],
    run: async ({ request, ids, body }, services: CallerServices) => {
      const added = await addOrderStatus(await storeCaller(request, services, ids.id), body(), actorOf(request))
      return resultItem('OrderStatusID', added, 201, 'Created successfully')
    },
  }),
  operatorRoute('GET /admin/stores/:id/payment-methods', {
    ...ofStore('Settings', 'read'),
    tokens: true,
    id: 'listPaymentMethods',
    summary: 'List the payment methods of a store',
    description: 'The methods of which orders name one as `BillingPaymentMethodID`, those that are hidden included.',
    answers: { 200: many('By ascending id, hidden ones too.', paymentMethod) },
    run: async ({ request, ids }, services: CallerServices) =>
      readNames(await storeCaller(request, services, ids.id), 'payment-methods'),
  }),
  operatorRoute('PUT /admin/stores/:id/payment-methods', {
    ...ofStore('Settings', 'write'),
    tokens: true,
    id: 'updatePaymentMethods',
    summary: 'Change payment methods, and add new ones',
    description:
      'Changes the whole list or nothing. A method without `PaymentMethodID` gets the lowest free one; one with an id that the store does not have is added with that id. Orders with that id as `BillingPaymentMethodID` show the name as `BillingPaymentMethod`. Methods are never removed, because orders name them: hide them.',
    body: jsonBody(changedNames('payment-methods'), [
      { PaymentMethodID: 3, Name: 'Check' },
      { Name: 'Gift card', Visible: true },
    ]),
    answers: { 200: done('They are changed.') },
    refusals: [409],
    run: async ({ request, ids, body }, services: CallerServices) => {
      const caller = await storeCaller(request, services, ids.id)
      await updateList(caller, 'payment-methods', body(), { actor: actorOf(request) })
      return resultItem('Id', ids.id, 200, 'updated successfully')
    },
  }),
  operatorRoute('POST /admin/stores/:id/user-key', {
    ...ofStore('Keys', 'write'),
    id: 'rotateUserKey',
    summary: 'Give a store a new key for cartAPI',
    description: 'The former key stops working immediately.',
    answers: { 200: one('The new key.', userKey) },
    run: ({ request, ids }, services: AccessServices) => rotateUserKey(services, ids.id, actorOf(request)),
  }),
  operatorRoute('POST /admin/stores/:id/orders', {
    ...ofStore('Orders', 'write'),
    tokens: true,
    id: 'placeOrder',
    summary: 'Place an order, as the checkout does',
    description:
      'The server computes prices, totals and stock, and refuses computed fields in the request. With `Prefer: notify=none` the customer gets no mail.',
    body: orderBody,
    answers: { 201: done('The id of the order.') },
    refusals: [409],
    storesAnswer: true,
    run: async ({ request, ids, body, pending }, services: CallerServices) => {
      const placed = ({ id: orderId }: PlacedOrder) => resultItem('OrderID', orderId, 201, 'Created successfully')
      return placed(
        await placeOrder(await storeCaller(request, services, ids.id), body(), { remember: pending(placed) }),
      )
    },
  }),
]
