import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildApp } from '../../../src/app.ts'
import { connect, type Db } from '../../../src/database/client.ts'
import { placeOrder } from '../../../src/resources/orders/place-order.ts'
import { createAuthenticator } from '../../../src/subscriptions/authenticate.ts'
import { operatorKey } from '../../support/services.ts'
import { type Method, openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { post, request } from '../soap/support.ts'
import { productBody, type Result } from './fixture.ts'

// What a process keeps of records (engine/representations.ts) is never older than the request: after every change, through
// every door, two processes that keep what they read answer as one does that keeps nothing.

let server: TestServer
let shop: TestStore
let processes: { app: FastifyInstance; db: Db }[]
beforeAll(async () => {
  server = await openServer()
  // The third keeps nothing. A megabyte is too little for all, so that some is forgotten.
  processes = [64, 1, 0].map((megabytes) => {
    const db = connect(server.database.url)
    const { config, secrets, now } = server.services
    const services = { ...server.services, db, authenticator: createAuthenticator({ db, secrets, now }) }
    return { db, app: buildApp({ ...services, config: { ...config, representationCacheMb: megabytes } }) }
  })
})
afterAll(async () => {
  for (const { app, db } of processes) {
    await app.close()
    await db.$disconnect()
  }
  await server.close()
})

const ids = new Map<string, number>()
const idOf = (name: string) => ids.get(name) as number

async function send(method: Method, path: string, body?: unknown): Promise<Result[]> {
  const answer = await shop.call(method, path, { body, tolerated: true })
  expect([path, answer.statusCode < 300, answer.statusCode < 300 ? '' : answer.body]).toEqual([path, true, ''])
  return answer.json<Result[]>()
}

async function make(name: string, path: string, body: object): Promise<void> {
  const [made] = await send('POST', path, body)
  ids.set(name, Number(made?.Value))
}

beforeEach(async () => {
  shop = await server.openStore()
  await make('maker', '/Manufacturers', { ManufacturerName: 'Maker' })
  await make('distributor', '/Distributors', { CompanyName: 'Distributor' })
  await make('category', '/Category', { CategoryName: 'Category' })
  await make('group', '/CustomerGroups', { Name: 'Group' })
  for (const name of ['one', 'two', 'three']) {
    await make(name, '/Products', {
      ...productBody(name, { SKUInfo: { Stock: 100, Price: 5 } }),
      ManufacturerID: idOf('maker'),
      AllowAccessCustomerGroupID: idOf('group'),
      CategoryList: [{ CategoryID: idOf('category') }],
      DistributorList: [{ DistributorID: idOf('distributor') }],
      AdvancedOptionList: [{ AdvancedOptionCode: 'X', AdvancedOptionStock: 5 }],
      RelatedProductList: ids.has('one') && name !== 'one' ? [{ RelatedProductID: idOf('one') }] : [],
    })
  }
  await make('customer', '/Customers', {
    Email: 'buyer@shop.example',
    Password: 'secret words',
    CustomerGroupID: idOf('group'),
  })
  const { id } = await placeOrder(shop.caller, {
    BillingEmail: 'guest@shop.example',
    BillingPaymentMethodID: '1',
    OrderItemList: [{ CatalogID: idOf('one'), ItemQuantity: 2 }],
  })
  ids.set('order', id)
})

const read = [
  '/Products?limit=200',
  '/Products?limit=2',
  '/Products/skuinfo?limit=100',
  '/Products?name=t&limit=100',
  '/Orders?limit=100',
  '/Customers?limit=100',
  '/Category?limit=100',
  '/Manufacturers?limit=100',
]

/** All that a process shows of the store. */
async function shownBy({ app }: { app: FastifyInstance }): Promise<string[]> {
  const paths = [
    ...read,
    `/Products/${idOf('one')}`,
    `/Products/${idOf('three')}`,
    `/Orders/${idOf('order')}`,
    `/Manufacturers/${idOf('maker')}/Products`,
    `/Orders/${idOf('order')}/Shipments`,
  ]
  const texts = paths.map(async (path) => {
    const url = `/StoreWebAPI/v1${path}`
    const answers = [{}, { accept: 'application/xml' }].map((headers) =>
      app.inject({ url, headers: { ...shop.credentials, ...headers } }),
    )
    return (await Promise.all(answers)).map(
      ({ statusCode, body, headers }) => `${path} ${statusCode} ${headers.etag} ${body}`,
    )
  })
  const soap = await post({ app }, envelopeOf(request(shop, 'getProduct', { batchSize: 100 })))
  return [...(await Promise.all(texts)).flat(), soap.body]
}

const envelopeOf = (body: string) =>
  `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`

async function expectFresh(): Promise<string[]> {
  const [one, small, none] = await Promise.all(processes.map(shownBy))
  expect(one).toEqual(none)
  expect(small).toEqual(none)
  return none as string[]
}

async function byOperator(method: 'PUT', path: string, payload: object): Promise<void> {
  const url = `/admin/stores/${shop.store.id}${path}`
  const answer = await server.app.inject({ method, url, headers: { authorization: `Bearer ${operatorKey}` }, payload })
  expect([url, answer.statusCode, answer.statusCode < 300 ? '' : answer.body]).toEqual([url, answer.statusCode, ''])
}

async function bySoap(operation: string, parameters: Record<string, string | number | boolean>): Promise<void> {
  const { body } = await post(server, envelopeOf(request(shop, operation, parameters)))
  expect(body).not.toContain('<Error')
}

const doors: Record<string, () => Promise<unknown>> = {
  'a stock': () => send('PUT', `/Products/${idOf('one')}`, { SKUInfo: { Stock: 7 } }),
  'a list of stocks': () =>
    send(
      'PUT',
      '/Products',
      ['one', 'two'].map((name) => ({ SKUInfo: { CatalogID: idOf(name), Stock: 8 } })),
    ),
  'a text': () => send('PUT', `/Products/${idOf('three')}`, { Description: 'Other' }),
  'a list in a record': () => send('PUT', `/Products/${idOf('one')}`, { DistributorList: [] }),
  'an item of a list': () => send('POST', `/Products/${idOf('one')}/Images`, { ImageGalleryFile: 'a.jpg' }),
  'the name of a manufacturer': () =>
    send('PUT', `/Manufacturers/${idOf('maker')}`, { ManufacturerName: 'Other maker' }),
  'the name of a distributor': () => send('PUT', `/Distributors/${idOf('distributor')}`, { CompanyName: 'Other' }),
  'the name of a category': () => send('PUT', `/Category/${idOf('category')}`, { CategoryName: 'Other' }),
  'the external ids of a category': () =>
    send('PUT', `/Category/${idOf('category')}`, {
      CategoryExternalIdsList: [{ ExternalId1: 'E', ExternalIdType: 'T' }],
    }),
  'the name of a group': () => send('PUT', `/CustomerGroups/${idOf('group')}`, { Name: 'Other group' }),
  'a category that is gone': () => send('DELETE', `/Category/${idOf('category')}`),
  'a product that is gone': () => send('DELETE', `/Products/${idOf('two')}`),
  'a new product': () => send('POST', '/Products', productBody('four')),
  'a stock by cartAPI': () => bySoap('updateProductInventory', { productId: 'one', quantity: -3, replaceStock: false }),
  'a status by cartAPI': async () => {
    const [order] = (await shop.call('GET', `/Orders/${idOf('order')}`)).json()
    const invoiceNum = `${order.InvoiceNumberPrefix}${order.InvoiceNumber}`
    await bySoap('updateOrderStatus', { invoiceNum, newStatus: 'Processing' })
    await bySoap('updateOrderShipment', { invoiceNum, shipmentID: 0, tracking: 'T-1', shipmentDate: '3/10/2026' })
  },
  'an order': () =>
    send('PUT', `/Orders/${idOf('order')}`, { OrderItemList: [{ CatalogID: idOf('one'), ItemQuantity: 5 }] }),
  'a new order': () =>
    placeOrder(shop.caller, {
      BillingEmail: 'guest@shop.example',
      OrderItemList: [{ CatalogID: idOf('three'), ItemQuantity: 2 }],
    }),
  'a customer': () => send('PUT', `/Customers/${idOf('customer')}`, { BillingCity: 'Leeds' }),
  'the name of a payment method': () =>
    byOperator('PUT', '/payment-methods', [{ PaymentMethodID: 1, Name: 'Other card' }]),
  'the currency, address and time zone of the store': async () => {
    const SecureURL = shop.store.secureUrl.replace('shop-', 'moved-')
    await byOperator('PUT', '', { Currency: 'SEK', SecureURL, TimeZone: 'Asia/Tokyo' })
    const credentials = { ...shop.credentials, secureurl: SecureURL }
    shop = { ...shop, store: { ...shop.store, secureUrl: SecureURL }, credentials }
  },
}

test.each(Object.keys(doors))('%s', async (door) => {
  // Kept at first, then pages too.
  for (const _ of [1, 2, 3]) await expectFresh()
  const before = await expectFresh()
  await doors[door]?.()
  const after = await expectFresh()
  expect(after).not.toEqual(before)
  expect(await expectFresh()).toEqual(after)
})
