import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { customers } from '../../../src/shop/resources/customers/customers.ts'
import { orders } from '../../../src/shop/resources/orders/orders.ts'
import { products } from '../../../src/shop/resources/products/products.ts'
import { type Command, startCommand } from '../../support/run-command.ts'
import { temporaryFolder } from '../../support/run-server.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { fullBody, nextSeed } from '../conformance/records.ts'
import { sample, type Wire } from '../conformance/samples.ts'
import { fixtureOf, openShop, type Shop } from '../conformance/stage.ts'
import { importInto } from '../engine/transfer/fixture.ts'
import { errorDocument, soapCall } from '../http/soap/support.ts'

// npm run migrate --by cartapi: this server is source and target.

interface Call {
  /** Empty: it is no call, but the WSDL that is asked for. */
  readonly operation: string
  readonly batchSize: number
  readonly startNum: number
  readonly body: string
}

interface Reply {
  readonly statusCode: number
  readonly body: string
}

let server: TestServer
let baseUrl: string
let folder: string
let relay: Server
/** What came to the source. */
let calls: Call[] = []
/** Answers in the source's place; null: the source does. `reply` is what it would answer. */
let interfere: (call: Call, reply: Reply) => Reply | 'cut' | null | Promise<Reply | null> = () => null

beforeAll(async () => {
  server = await openServer()
  baseUrl = await server.app.listen({ host: '127.0.0.1', port: 0 })
  folder = temporaryFolder()
  relay = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { method, url, headers } = request
    const { 'content-type': type = 'text/xml', soapaction = '' } = headers
    const injected = await server.app.inject({
      method: method as 'GET',
      url: url ?? '',
      headers: { 'content-type': type, soapaction: String(soapaction) },
      ...(method === 'POST' && { payload: body }),
    })
    const numberOf = (name: string) => Number(new RegExp(`<${name}>(\\d+)<`).exec(body)?.[1] ?? 0)
    const [, operation = ''] = /<soap:Body><(\w+)/.exec(body) ?? []
    const call = { operation, batchSize: numberOf('batchSize'), startNum: numberOf('startNum'), body }
    calls.push(call)
    const reply = { statusCode: injected.statusCode, body: injected.body }
    const other = await interfere(call, reply)
    const answer = other === null || other === 'cut' ? reply : other
    response.statusCode = answer.statusCode
    response.setHeader('content-type', String(injected.headers['content-type'] ?? 'text/xml'))
    // Without a length, the end of the connection is the end of the answer.
    response.useChunkedEncodingByDefault = false
    response.end(other === 'cut' ? answer.body.slice(0, answer.body.length / 2) : answer.body)
  }).listen(0, '127.0.0.1')
  await once(relay, 'listening')
})
afterAll(async () => {
  relay?.close()
  await server?.close()
  rmSync(folder, { recursive: true })
})
afterEach(() => {
  calls = []
  interfere = () => null
})

function start(from: TestStore, to: TestStore, args: string[] = [], userKey: string = from.store.userKey): Command {
  const address = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
  const settings = {
    ...{ PUBLIC_URL: baseUrl, OPERATOR_KEY: server.services.operatorKey, DATA_DIR: folder },
    ...{ MIGRATE_USER_KEY: userKey, MIGRATE_SECURE_URL: from.store.secureUrl },
  }
  const all = ['--from', address, '--by', 'cartapi', '--store', String(to.store.id), '--into-used', ...args]
  return startCommand('migrate', all, { settings, cwd: folder })
}

const run = (...given: Parameters<typeof start>) => start(...given).ends()

async function bring(shop: TestStore, service: string, ...records: Wire[]): Promise<void> {
  const lines = records.map((record) => ({ service, record }))
  expect((await importInto(server, shop, lines)).refused).toEqual([])
}

const everything = { batchSize: 100, startNum: 1 }

/** What cartAPI shows of a store, an element a line. */
async function shownOf(shop: TestStore, operation: string): Promise<string[]> {
  return (await soapCall(server, shop, operation, everything)).replaceAll('><', '>\n<').split('\n')
}

async function ids(shop: TestStore, path: string): Promise<number> {
  return (await shop.call('GET', `/${path}?countonly=1`)).json().TotalCount
}

const statuses = [
  { OrderStatusID: 21, Sorting: 21, StatusDefinition: 'Packed', StatusText: 'Packed & ready', Visible: true },
]
const stamps = { UserID: 'Ada & Bob', LastUpdate: '2021-11-12T13:14:15' }

/** A store with full records of each service. */
async function openFull(): Promise<Shop> {
  const shop = await openShop(server, fixtureOf(products), 300)
  const body = fullBody({ server, resource: products, fixture: fixtureOf(products) } as never, shop, nextSeed('odd'))
  const SKUInfo = { ...(body.SKUInfo as Wire), CatalogID: 900, SKU: 'BAG', Name: 'Tote <Bag>', Price: 3.3355 }
  await bring(
    shop,
    'Products',
    {
      ...{ ...body, ...stamps, SKUInfo, DateCreated: '2019-01-02T00:00:00', ReviewAverage: 4.25, ReviewCount: 17 },
      RelatedProductList: [{ RelatedProductID: 901 }, { RelatedProductID: shop.references.Products?.[0] }],
    },
    { SKUInfo: { CatalogID: 901, SKU: 'BAG-GIFT', Name: 'Gift bag' } },
  )
  await bring(shop, 'OrderStatus', ...statuses)
  const overrides = {
    CustomerGroupID: shop.references.CustomerGroups?.[1],
    Email: 'grace@home.example',
    Password: undefined,
  }
  await bring(
    shop,
    'Customers',
    {
      ...{ ...sample(customers.fields, { seed: 3, overrides }), ...stamps, CustomerID: 800 },
      ...{ LastLoginDate: '2022-03-04T00:00:00', Website: 'https://grace.example/?a=1&b=2' },
    },
    { CustomerID: 801, Email: 'plain@home.example' },
  )
  await bring(shop, 'Orders', fullOrder(5000), {
    OrderID: 5001,
    OrderStatusID: 1,
    InvoiceNumberPrefix: '',
    InvoiceNumber: 0,
  })
  return shop
}

function fullOrder(OrderID: number): Wire {
  const overrides = {
    ...{ CustomerID: 800, OrderStatusID: 21, CardNumber: undefined, CardVerification: undefined },
    'ShipmentList.ShipmentOrderStatus': [4, 21],
    'ShipmentList.ShipmentShippedDate': ['07/18/2013 15:08:30', 'next <week>'],
    'OrderItemList.CatalogID': [900, 901],
  }
  const amounts = { ItemUnitPrice: 20.25, ItemUnitCost: 7.5, ItemOptionPrice: -1, ItemWeight: 1.25, ItemQuantity: 2.5 }
  const [first, second] = [
    { ItemDescription: 'Tote <Bag><br><b>Color:</b>&nbsp;R&amp;B &lt;x&gt; - $1.00<br>more', ItemID: 'BAG-XL' },
    { ItemDescription: 'Gift bag', ItemID: 'BAG-GIFT', ItemWarehouseLocation: 'Hall <2>' },
  ]
  const order = sample(orders.fields, { seed: 3, overrides })
  const [firstItem, secondItem] = order.OrderItemList as [Wire, Wire]
  const [firstShipment, secondShipment] = order.ShipmentList as [Wire, Wire]
  const [firstQuestion, secondQuestion] = order.QuestionList as [Wire, Wire]
  return {
    ...{
      ...order,
      ...stamps,
      OrderID,
      InvoiceNumberPrefix: 'AB-00',
      InvoiceNumber: 1347,
      OrderDate: '2026-03-08T00:07:05',
    },
    ...{
      BillingPaymentMethod: 'Online Credit Card',
      OrderDiscountCoupon: 0.3,
      OrderDiscountPromotion: 2,
      AffiliateID: 12,
    },
    ShipmentList: [
      { ...firstShipment, ShipmentID: 6001, ShipmentWeight: 1.25 },
      { ...secondShipment, ShipmentID: 6002, ShipmentWeight: 0.5 },
    ],
    OrderItemList: [
      { ...firstItem, ...amounts, ...first, ItemShipmentID: 6001 },
      { ...secondItem, ...amounts, ...second, ItemShipmentID: 6002, ItemWarehouseCustom: 'Pallet & crate' },
    ],
    QuestionList: [
      { ...firstQuestion, QuestionTitle: 'Gift wrap?' },
      { ...secondQuestion, QuestionTitle: 'How did you find us?' },
    ],
    GiftCertificatePurchased: [
      { Code: 'G-1', Amount: 25, ToName: 'Ada', ToEmail: 'ada@home.example', ToMessage: 'a & b', FromName: 'Grace' },
    ],
    GiftCertificateUsed: [{ Code: 'G-0', Amount: 5.5 }],
  }
}

/** A store of which manufacturers and distributors have other numbers than the source's. */
async function openTarget(shop: Shop): Promise<TestStore> {
  const target = await server.openStore()
  await bring(target, 'Manufacturers', ...named('Manufacturer', ['Other', 'M2', 'M1']))
  const companies = ['Other', 'D3', 'D2', 'D1']
  await bring(target, 'Distributors', ...companies.map((CompanyName, at) => ({ DistributorID: at + 1, CompanyName })))
  const groups = shop.references.CustomerGroups ?? []
  await bring(
    target,
    'CustomerGroups',
    ...groups.map((CustomerGroupID, at) => ({ CustomerGroupID, Name: `G${at + 1}` })),
  )
  return target
}

const named = (type: string, names: string[]) =>
  names.map((name, at) => ({ [`${type}ID`]: at + 1, [`${type}Name`]: name }))

/** Many small records: customers 1 to `count`, with an order each. */
async function openLong(count: number): Promise<TestStore> {
  const shop = await server.openStore()
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  await bring(shop, 'Customers', ...numbers.map((id) => ({ CustomerID: id, Email: `c${id}@home.example` })))
  await bring(
    shop,
    'Orders',
    ...numbers.map((id) => ({ OrderID: id, CustomerID: id, OrderStatusID: 1, InvoiceNumber: id })),
  )
  return shop
}

describe('a copy by cartAPI', () => {
  test('shows by cartAPI what its source shows, and a second run writes nothing', async () => {
    const shop = await openFull()
    const target = await openTarget(shop)
    const first = await run(shop, target)
    expect(first, first.errors + first.output).toMatchObject({ code: 0 })
    for (const operation of ['getProduct', 'getCustomer', 'getOrder']) {
      expect(await shownOf(target, operation)).toEqual(await shownOf(shop, operation))
    }
    const [order] = (await target.call('GET', '/Orders/5000')).json()
    expect(order).toMatchObject({
      ...{ InvoiceNumberPrefix: 'AB-00', InvoiceNumber: 1347, OrderStatusID: 13, OrderDate: '2026-03-08T00:07:05' },
      OrderItemList: [
        { CatalogID: 900, ItemDescription: 'Tote <Bag><br><b>Color:</b>&nbsp;R&amp;B &lt;x&gt; - $1.00<br>more' },
        { CatalogID: 901 },
      ],
      ShipmentList: [
        { ShipmentOrderStatus: 4, ShipmentShippedDate: '07/18/2013 3:08:30 PM' },
        { ShipmentOrderStatus: 13 },
      ],
    })
    const [product] = (await target.call('GET', '/Products/900')).json()
    expect(product).toMatchObject({
      SKUInfo: { Price: 3.3355 },
      CategoryList: [{ CategoryName: /C/ }, {}].map(() => expect.anything()),
    })
    expect(product.RelatedProductList.map((related: Wire) => related.RelatedProductID)).toEqual([
      901,
      shop.references.Products?.[0],
    ])
    expect(first.errors).toContain('New order status here: 13 Packed & ready')
    expect(first.output).toMatch(/of Products: .*GTIN.*\n.*of Customers: .*\n.*of Orders: /)
    expect(first.output + first.errors).not.toContain(shop.store.userKey)

    const second = await run(shop, target)
    expect(second, second.errors).toMatchObject({ code: 0, output: expect.stringMatching(/ 0 written, \d+ equal/) })
    const compared = await run(shop, target, ['--compare'])
    expect(compared.output).toMatch(/ 0 different, 0 only there/)
  }, 60_000)

  test('leaves out names that the target does not have, and says so', async () => {
    const shop = await openFull()
    const target = await server.openStore()
    const outcome = await run(shop, target)
    expect(outcome.errors).toMatch(/No manufacturer here, or more than one, is "M[12]"/)
    expect(outcome.errors).toMatch(/No distributor here, or more than one, is "D[12]"/)
    expect(outcome.errors).toContain('No customer group here, or more than one, is "G2"')
    // The product is closed to a group that is not here.
    expect(outcome).toMatchObject({ code: 1, output: expect.stringContaining('1 refused') })
    expect((await target.call('GET', '/Products/900')).statusCode).toBe(404)
    const [customer] = (await target.call('GET', '/Customers/800')).json()
    expect(customer.CustomerGroupID).toBe(0)
  }, 60_000)

  test('never joins an item to a product with the beginning of its SKU and another name', async () => {
    const shop = await server.openStore()
    const target = await server.openStore()
    await bring(shop, 'Products', { SKUInfo: { CatalogID: 1, SKU: 'A', Name: 'Apple' } })
    const items = [
      { ItemID: 'A-RED', ItemDescription: 'Apple<br><b>Color:</b>&nbsp;red' },
      { ItemID: 'ABACUS', ItemDescription: 'Abacus' },
    ]
    await bring(shop, 'Orders', { OrderID: 1, OrderStatusID: 1, OrderItemList: items })
    expect(await run(shop, target)).toMatchObject({ code: 0 })
    const [order] = (await target.call('GET', '/Orders/1')).json()
    expect(order.OrderItemList.map((item: Wire) => item.CatalogID)).toEqual([1, 0])
  }, 60_000)

  test('halves a batch whose answer is too large, and refuses no order', async () => {
    const shop = await openLong(10)
    const target = await server.openStore()
    interfere = ({ operation, batchSize }, reply) => {
      if (operation === 'getOrder' && batchSize > 3) return { ...reply, body: `${reply.body}${'<'.repeat(400_001)}` }
      if (operation !== 'getCustomer' || batchSize <= 1) return null
      const result = /<CustomersRequestResponse.*(?=<\/getCustomerResult>)/s
      return { ...reply, body: reply.body.replace(result, errorDocument(33, 'Data Error')) }
    }
    const outcome = await run(shop, target)
    expect(outcome, outcome.errors).toMatchObject({ code: 0 })
    expect(await shownOf(target, 'getOrder')).toEqual(await shownOf(shop, 'getOrder'))
    expect(await ids(target, 'Customers')).toBe(10)
    const sizes = calls.filter(({ operation }) => operation === 'getOrder').map(({ batchSize }) => batchSize)
    expect([...new Set(sizes)]).toEqual([100, 50, 25, 12, 6, 3])
  }, 120_000)

  test('goes on where it was killed', async () => {
    const shop = await openLong(250)
    const target = await server.openStore()
    const reached = Promise.withResolvers<void>()
    interfere = ({ operation, startNum }) => {
      if (operation !== 'getOrder' || startNum < 150) return null
      reached.resolve()
      return new Promise(() => {})
    }
    const command = start(shop, target)
    await reached.promise
    command.kill()
    await command.ends()
    const before = await ids(target, 'Orders')
    expect(before).toBeGreaterThan(50)
    expect(before).toBeLessThan(250)
    interfere = () => null
    calls = []
    const outcome = await run(shop, target)
    expect(outcome, outcome.errors).toMatchObject({ code: 0, output: expect.stringContaining('500 read, 500 written') })
    expect(calls.filter(({ operation }) => operation === 'getCustomer')).toEqual([])
    for (const operation of ['getCustomer', 'getOrder']) {
      expect(await shownOf(target, operation)).toEqual(await shownOf(shop, operation))
    }
  }, 120_000)

  test('asks again after an answer that was cut, a failure and a fault of the server, and says what that is', async () => {
    const shop = await openLong(3)
    const target = await server.openStore()
    const fault = (text: string) =>
      `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault><faultcode>soap:Server</faultcode><faultstring>${text}</faultstring></soap:Fault></soap:Body></soap:Envelope>`
    const failures: (Reply | 'cut')[] = [
      'cut',
      { statusCode: 500, body: fault(`No &lt;store&gt; behind ${shop.store.userKey}`) },
    ]
    interfere = ({ operation }) => (operation === 'getOrder' ? (failures.shift() ?? null) : null)
    const outcome = await run(shop, target)
    expect(outcome, outcome.errors).toMatchObject({ code: 0 })
    expect(outcome.errors).toContain('The source failed (status 500: No <store> behind …)')
    expect(outcome.errors).not.toContain(shop.store.userKey)
    expect(await ids(target, 'Orders')).toBe(3)
  }, 60_000)

  test('is refused at once with a wrong key, by a fault of the caller, and where there is no cartAPI', async () => {
    const shop = await openLong(1)
    const target = await server.openStore()
    const wrong = await run(shop, target, [], 'x'.repeat(32))
    expect(wrong).toMatchObject({
      code: 1,
      errors: expect.stringContaining('refuses the keys (error 17: Login Error)'),
    })
    const body =
      '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>Wrong action</faultstring></s:Fault></s:Body></s:Envelope>'
    interfere = ({ operation }) => (operation === '' ? null : { statusCode: 500, body })
    expect(await run(shop, target)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('refuses the call: Wrong action'),
    })
    interfere = () => ({ statusCode: 200, body: '<html><body>Welcome</body></html>' })
    expect(await run(shop, target)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('has no WSDL of cartAPI'),
    })
    expect(await ids(target, 'Customers')).toBe(0)
  }, 60_000)

  test('says elements that no record has a place for, and shows no value of them', async () => {
    const shop = await openLong(1)
    const target = await server.openStore()
    interfere = ({ operation }, reply) =>
      operation === 'getOrder'
        ? {
            ...reply,
            body: reply.body.replace('</Order>', '<PayToken>tok_1</PayToken><CardNumber>4111</CardNumber></Order>'),
          }
        : null
    const outcome = await run(shop, target)
    expect(outcome.output).toContain('Members that have no place here: Orders.PayToken')
    const stored = await server.operate('GET', `/admin/stores/${target.store.id}/export`)
    expect(outcome.output + outcome.errors + stored.body).not.toMatch(/tok_1|4111/)
  }, 60_000)

  test('reads what servers of the first years write: when a cart began, thousands with commas, statuses without blanks', async () => {
    const shop = await server.openStore()
    const target = await server.openStore()
    await bring(shop, 'Orders', { OrderID: 1, OrderStatusID: 7, OrderDate: '2026-03-08T15:07:05', OrderAmount: 1500 })
    interfere = ({ operation }, reply) => {
      const body = reply.body
        .replace(/<DateStarted>[^<]*/, '<DateStarted>3/1/2026')
        .replace('<Total>1500<', '<Total>1,500.00<')
        .replace('<OrderStatus>Not Completed<', '<OrderStatus>notcompleted<')
      return operation === 'getOrder' ? { ...reply, body } : null
    }
    expect(await run(shop, target)).toMatchObject({ code: 0 })
    expect((await target.call('GET', '/Orders/1')).json()).toMatchObject([
      { OrderStatusID: 7, OrderDate: '2026-03-08T15:07:05', OrderAmount: 1500 },
    ])
  }, 60_000)

  test('fetches a customer who came after the customers were read, and clears one who is gone', async () => {
    const shop = await openLong(2)
    const target = await server.openStore()
    let isNew = true
    interfere = async ({ operation }): Promise<null> => {
      if (operation !== 'getOrder' || !isNew) return null
      isNew = false
      await bring(shop, 'Customers', { CustomerID: 9, Email: 'late@home.example' })
      await bring(shop, 'Orders', { OrderID: 9, CustomerID: 9, OrderStatusID: 1 })
      return null
    }
    const outcome = await run(shop, target)
    expect(outcome, outcome.errors + outcome.output).toMatchObject({ code: 0 })
    interfere = ({ operation }, reply) =>
      operation === 'getOrder' ? { ...reply, body: reply.body.replace('<CustomerID>9<', '<CustomerID>7<') } : null
    expect((await target.call('GET', '/Orders/9')).json()).toMatchObject([{ CustomerID: 9 }])
    expect(await run(shop, target)).toMatchObject({ code: 0 })
    expect((await target.call('GET', '/Orders/9')).json()).toMatchObject([{ CustomerID: 0 }])
  }, 60_000)

  test('gives new statuses numbers in the order in which they appear, the same in every run; comparing makes none', async () => {
    const shop = await server.openStore()
    const target = await server.openStore()
    const own = (OrderStatusID: number, text: string) => {
      return { OrderStatusID, Sorting: OrderStatusID, StatusDefinition: text, StatusText: text, Visible: true }
    }
    await bring(shop, 'OrderStatus', own(40, 'Zeta'), own(41, 'Alpha'))
    await bring(shop, 'Orders', { OrderID: 1, OrderStatusID: 40 }, { OrderID: 2, OrderStatusID: 41 })
    const statusesHere = async () =>
      (await target.call('GET', '/OrderStatus?limit=500')).json().flatMap(({ OrderStatusID: id, StatusText }: Wire) => {
        return Number(id) > 12 ? [`${id} ${StatusText}`] : []
      })
    expect((await run(shop, target, ['--compare'])).output).toContain('2 only there')
    expect(await statusesHere()).toEqual([])
    expect(await run(shop, target)).toMatchObject({ code: 0 })
    expect(await statusesHere()).toEqual(['13 Zeta', '14 Alpha'])
    // The merchant renames one here: orders still have it.
    await bring(target, 'OrderStatus', { ...own(13, 'Zeta'), StatusText: 'Last' })
    await bring(shop, 'Orders', { OrderID: 3, OrderStatusID: 40 })
    expect(await run(shop, target)).toMatchObject({ code: 0, output: expect.stringContaining('1 written, 2 equal') })
    expect(await statusesHere()).toEqual(['13 Last', '14 Alpha'])
    expect((await target.call('GET', '/Orders/3')).json()).toMatchObject([{ OrderStatusID: 13 }])
  }, 60_000)
})
