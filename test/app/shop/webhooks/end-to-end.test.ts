import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openApiDocument } from '../../../../src/app.ts'
import { inChange } from '../../../../src/engine/changing/change.ts'
import {
  customerErased,
  customerKinds,
  type EventKind,
  eventKinds,
  orderNew,
  productKinds,
  productStockChanged,
} from '../../../../src/engine/definition/event-kinds.ts'
import { shownMembers } from '../../../../src/shop/webhooks/members.ts'
import { raiseErased } from '../../../../src/shop/webhooks/notified.ts'
import { type Arrival, openServerReceiver, type ServerReceiver } from '../../../load/shop/webhooks/server-receiver.ts'
import { sharedDispatcher } from '../../../support/dispatcher.ts'
import { type Part, readOpenApi } from '../../../support/openapi.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'

// From a change by REST, or by the operator, to what a receiver gets.

let shop: TestStore
let receiver: ServerReceiver
let status: number
const server = await sharedServer({ OUTBOUND_ALLOW: '127.0.0.0/8' })
// Receivers refuse signatures of another time than theirs.
server.clock.ms = Date.now()
const dispatcher = sharedDispatcher(server)
beforeEach(async () => {
  status = 200
  shop = await server.openStore()
  receiver = await openServerReceiver(() => status)
})
afterEach(async () => {
  await receiver.close()
  expect(receiver.faults).toEqual([])
})

interface Placed {
  readonly OrderItemList?: object[]
  readonly OrderStatusID?: number
}

/** The id of a new webhook of the shop; its path at the receiver is the format and the kind. */
async function register({ type }: EventKind, Format: 'JSON' | 'XML' = 'JSON'): Promise<number> {
  const path = `/${Format}/${type}`
  const body = { Name: 'Receiver', Url: `${receiver.url}${path}`, EventType: type, Enabled: true, Format }
  const id = await shop.add('/Webhooks', body)
  const [{ Secret }] = (await shop.call('GET', `/Webhooks/${id}/Secret`)).json<[{ Secret: string }]>()
  receiver.trust(path, Secret)
  return id
}

const newProduct = (fields: object = {}) =>
  shop.add('/Products', { SKUInfo: { SKU: 'MUG', Name: 'Mug', Price: 8, Stock: 10, ...fields } })

const place = (CatalogID: number, { OrderItemList = [{ CatalogID, ItemQuantity: 1 }], ...fields }: Placed = {}) =>
  shop.placeOrder(OrderItemList, fields)

/** They come in any; their numbers tell. */
function inOrder(arrivals: readonly Arrival[]): Arrival[] {
  return arrivals.toSorted((one, other) => one.sequence - other.sequence)
}

describe('placing an order', () => {
  test.each([
    ['JSON', 'application/json; charset=utf-8'],
    ['XML', 'application/xml; charset=utf-8'],
  ] as const)(
    'notifies of it and of the stock that it took, in %s: byte for byte what GET answers',
    async (format, type) => {
      for (const kind of [orderNew, productStockChanged]) await register(kind, format)
      const product = await newProduct()
      const order = await place(product)
      await dispatcher.settle()

      const get = async (path: string) => (await shop.call('GET', path, { accept: type })).body
      expect(inOrder(receiver.arrivals).map(({ event, type, body }) => ({ event, type, body }))).toEqual([
        { event: 'Order New', type, body: await get(`/Orders/${order}`) },
        { event: 'Product Stock Changed', type, body: await get(`/Products/${product}`) },
      ])
    },
  )
})

test('comes with the headers that the reference has of its kind, in their forms', async () => {
  const document = openApiDocument(server.services.config)
  const api = readOpenApi(document)
  for (const kind of [productKinds.new, productKinds.changed]) await register(kind)
  const product = await newProduct()
  await shop.call('PUT', `/Products/${product}`, { body: { SKUInfo: { Price: 9 } } })
  await dispatcher.settle()

  const whole = { pointer: '', value: document as unknown as Record<string, unknown> }
  expect(receiver.arrivals).toHaveLength(2)
  for (const { event, headers } of receiver.arrivals) {
    const parameters = api.members(api.member(whole, 'webhooks', event, 'post', 'parameters')).map(([, part]) => part)
    expect(Object.keys(headers).toSorted()).toEqual(parameters.map(({ value }) => value.name).toSorted())
    for (const parameter of parameters) {
      const schema = api.member(parameter, 'schema') as Part
      expect(api.textFaults(schema, headers[String(parameter.value.name)] ?? '')).toEqual([])
    }
  }
})

describe('every kind of event', () => {
  beforeEach(async () => {
    for (const kind of eventKinds) await register(kind)
  })

  /** What arrives because of it: the event's name and the record's number, in the order of the feed. */
  async function arrivalsBy(work: () => Promise<unknown>): Promise<string[]> {
    await dispatcher.settle()
    const before = receiver.arrivals.length
    await work()
    await dispatcher.settle()
    return inOrder(receiver.arrivals.slice(before)).map(({ event, body }) => {
      const [record] = JSON.parse(body)
      return `${event} ${record.OrderID ?? record.CustomerID ?? record.SKUInfo.CatalogID}`
    })
  }

  const put = (path: string, body: object) => arrivalsBy(() => shop.call('PUT', path, { body }))

  test('of an order arrives at its webhook; one that is cancelled gives its goods back, told once per product', async () => {
    const product = await newProduct()
    const OrderItemList = [1, 2].map((ItemQuantity) => ({ CatalogID: product, ItemQuantity }))
    let id = 0
    const placed = await arrivalsBy(async () => {
      id = await place(product, { OrderItemList })
    })
    expect(placed).toEqual([`Order New ${id}`, `Product Stock Changed ${product}`])
    expect(await put(`/Orders/${id}`, { OrderStatusID: 2 })).toEqual([`Order Status Change ${id}`])
    expect(await put(`/Orders/${id}`, { OrderStatusID: 2, InternalComments: 'Packed' })).toEqual([
      `Order Changed ${id}`,
    ])
    expect((await put(`/Orders/${id}`, { OrderStatusID: 5 })).sort()).toEqual([
      `Order Status Change ${id}`,
      `Product Stock Changed ${product}`,
    ])
  })

  test('of an order that is Not Completed arrives when it leaves that', async () => {
    const product = await newProduct()
    let id = 0
    const placed = await arrivalsBy(async () => {
      id = await place(product, { OrderStatusID: 7 })
    })
    expect(placed).toEqual([])
    expect((await put(`/Orders/${id}`, { OrderStatusID: 1 })).sort()).toEqual([
      `Order New ${id}`,
      `Order Status Change ${id}`,
      `Product Stock Changed ${product}`,
    ])
  })
})

test('names what changed in a header, to a webhook that hears of it; of other kinds there is none', async () => {
  for (const kind of [productKinds.changed, productKinds.new]) await register(kind)
  const deaf = await register(customerKinds.changed)
  await shop.call('PUT', `/Webhooks/${deaf}`, { body: { Members: 'Email' } })
  const product = await newProduct()
  const customer = await shop.add('/Customers', { Email: 'robin@shopper.example', Password: 'secret words' })
  await shop.call('PUT', `/Products/${product}`, { body: { SKUInfo: { Price: 9 }, Title: 'A mug' } })
  await shop.call('PUT', `/Customers/${customer}`, { body: { BillingCity: 'Springfield' } })
  await shop.call('PUT', `/Customers/${customer}`, { body: { Email: 'robin@shop.example', BillingCity: 'Paris' } })
  await shop.call('POST', `/Webhooks/${deaf}/Test`)
  await dispatcher.settle()

  const told = receiver.arrivals.map(({ event, changed, sequence }) => `${event}, ${changed}, ${sequence > 0}`)
  expect(told.toSorted()).toEqual([
    'Customer Changed, BillingCity,Email, true',
    'Customer Changed, Comments, false',
    'Product Changed, SKUInfo.Price,Title, true',
    'Product New, null, true',
  ])
})

test('of a customer that was erased has the number alone, in both formats, in a test and in the feed', async () => {
  const ids = [await register(customerErased), await register(customerErased, 'XML')]
  await inChange(shop.caller, async (tx) => raiseErased(tx, 12))
  for (const id of ids) await shop.call('POST', `/Webhooks/${id}/Test`)
  await dispatcher.settle()
  const customer = (id: number) => `<Customer><CustomerID>${id}</CustomerID></Customer>`
  const shown = receiver.arrivals.map(
    ({ event, body }) => `${event} ${body.replace(/^<\?.*?><ArrayOfCustomer .*?>/, '')}`,
  )
  expect(shown.toSorted()).toEqual([
    `Customer Erased ${customer(12)}</ArrayOfCustomer>`,
    `Customer Erased ${customer(1)}</ArrayOfCustomer>`,
    'Customer Erased [{"CustomerID":12}]',
    'Customer Erased [{"CustomerID":1}]',
  ])

  const read = (accept: string) => shop.call('GET', '/Events?eventtype=29', { accept })
  const told = { EventName: 'Customer Erased', RecordID: 12, Record: { CustomerID: 12 } }
  expect((await read('application/json')).json()).toMatchObject([told])
  expect((await read('application/xml')).body).toContain(`<Record>${customer(12)}</Record>`)
  const document = openApiDocument(server.services.config)
  const path = ['webhooks', 'Customer Erased', 'post', 'requestBody', 'content', 'application/json', 'schema']
  const api = readOpenApi(document)
  const schema = api.member({ pointer: '', value: document as unknown as Record<string, unknown> }, ...path) as Part
  expect(api.faults(schema, [{ CustomerID: 12 }], true)).toEqual([])
  expect(api.faults(schema, [{ CustomerID: 12, Email: 'robin@shopper.example' }], true)).not.toEqual([])
})

test('of more than a hundred members a header names as many, and says that there are more', () => {
  const names = Array.from({ length: 101 }, (_, index) => `Member${index}`)
  expect(shownMembers(names.slice(0, 100).join())).toBe(names.slice(0, 100).join())
  expect(shownMembers(names.join())).toBe(`${names.slice(0, 100).join()},*`)
  const long = shownMembers(names.map((name) => name.padEnd(90, 'x')).join())
  expect(long.length).toBeLessThanOrEqual(4_000)
  expect(long).toMatch(/x,\*$/)
})

test('unsubscribing takes webhooks and what waits to be sent along', async () => {
  const { db } = server.services
  await register(productStockChanged)
  const id = await newProduct()
  const stock = (Stock: number) => shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Stock } } })
  status = 503
  await stock(1)
  await dispatcher.settle()
  await stock(2)
  expect(receiver.arrivals).toHaveLength(1)
  expect(await db.delivery.count({ where: { storeId: shop.store.id, state: 'pending' } })).toBe(1)

  const subscription = shop.caller.application?.subscriptionId
  const url = `/admin/stores/${shop.store.id}/subscriptions/${subscription}`
  const answer = await server.operate('DELETE', url)
  expect(answer.statusCode, answer.body).toBeLessThan(300)
  expect(await db.webhook.count({ where: { storeId: shop.store.id } })).toBe(0)
  expect(await db.delivery.count({ where: { storeId: shop.store.id } })).toBe(0)
  server.clock.ms += 60_000
  await dispatcher.settle()
  expect(receiver.arrivals).toHaveLength(1)
})
