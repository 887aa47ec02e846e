import { describe, expect, test } from 'vitest'
import type { Access } from '../../../../../src/engine/caller.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'

const server = await sharedServer()
const placing = { Checkout: ['read', 'write'], Orders: ['read'] } satisfies Record<string, Access[]>
const everything = {
  Products: ['read', 'write'],
  Customers: ['read', 'write'],
  CustomerGroups: ['write'],
} satisfies Record<string, Access[]>
const shop = await server.openStore({ privileges: { ...placing, ...everything } })
/** Other applications of the same store. */
const till = await another({ ...placing, CheckoutPrices: ['write'] })
const front = await another(placing)

async function another(privileges: Record<string, Access[]>): Promise<TestStore['credentials']> {
  const { Id, PublicKey, PrivateKey } = (
    await server.operate('POST', '/admin/applications', {
      Name: `Application ${++serial}`,
      Privileges: privileges,
      Throttle: { Capacity: 100_000, LeakPerSecond: 1_000 },
    })
  ).json()
  const { Token } = (await server.operate('POST', `/admin/stores/${shop.store.id}/subscriptions`, { PublicKey })).json()
  expect(Id).toBeGreaterThan(0)
  return { secureurl: shop.store.secureUrl, privatekey: PrivateKey, token: Token }
}

var serial = 0
interface Product {
  readonly id: number
  readonly sku: string
}
async function product(changes: object = {}, more: object = {}): Promise<Product> {
  const sku = `P-${++serial}`
  return {
    id: await shop.add('/Products', {
      SKUInfo: { SKU: sku, Name: 'Tote Bag', Price: 20, Stock: 10, ...changes },
      ...more,
    }),
    sku,
  }
}
const line = ({ id }: Pick<Product, 'id'>, ItemQuantity = 1, more: object = {}) => ({
  CatalogID: id,
  ItemQuantity,
  ...more,
})
const order = (items: object[], more: object = {}) => ({
  BillingEmail: 'guest@shop.example',
  OrderItemList: items,
  ...more,
})

interface Options {
  key?: string
  by?: TestStore['credentials']
  version?: 'v1' | 'v2'
}
const place = (
  body: object | string,
  { key = `key-${++serial}`, by, ...rest }: Options & { accept?: string; contentType?: string } = {},
) => shop.call('POST', '/Checkout', { body, headers: { 'idempotency-key': key, ...by }, ...rest })
const quote = (body: object, by?: TestStore['credentials']) =>
  shop.call('POST', '/Checkout/Quote', { body, headers: { ...by } })
const read = async (path: string) => (await shop.call('GET', path)).json()[0]
const stored = async (answer: { json(): { Value: string }[] }) => read(`/Orders/${answer.json()[0]?.Value}`)
const stockOf = async ({ id }: Product) => (await read(`/Products/${id}`)).SKUInfo.Stock
const ordersOf = () => server.database.db.order.count({ where: { storeId: shop.store.id } })
const refusalOf = (answer: { statusCode: number; json(): { Value: string; Message: string }[] }) => {
  const [item] = answer.json()
  return [answer.statusCode, item?.Value, item?.Message]
}

describe('placing', () => {
  test('makes the order, takes the stock, and answers what people know of it', async () => {
    const bag = await product()
    const answer = await place(order([line(bag, 2)], { ShipmentList: [{ ShipmentCost: 4.9 }], SalesTax: 1.1 }))
    const [item] = answer.json()
    const placed = await stored(answer)
    expect([answer.statusCode, item]).toMatchObject([
      201,
      {
        Key: 'OrderID',
        Status: '201',
        Message: 'Created successfully',
        OrderAmount: 46,
        InvoiceNumber: placed.InvoiceNumber,
      },
    ])
    expect(placed).toMatchObject({
      OrderAmount: 46,
      OrderStatusID: 11,
      BillingOnLinePayment: false,
      TransactionList: [],
    })
    expect(placed.UserID).toBe(shop.application.name)
    const page = await server.app.inject({ url: new URL(item.OrderPage).pathname, headers: { accept: 'text/html' } })
    expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining('Tote Bag')])
    expect(await stockOf(bag)).toBe(8)
  })

  test.each([
    ['approved', 20, { OrderStatusID: 1, BillingOnLinePayment: true }, 'Sale'],
    ['approved', 5, { OrderStatusID: 11, BillingOnLinePayment: false }, 'Sale'],
    ['authorised', 20, { OrderStatusID: 1, BillingOnLinePayment: true }, 'Authorize'],
  ])('with a payment that is %s of %d', async (Status, Amount, is, TransactionType) => {
    const Payment = { Amount, Method: 'Card', Reference: 'pi_1', Status }
    const placed = await stored(await place(order([line(await product())], { Payment })))
    expect(placed).toMatchObject({ ...is, BillingPaymentMethod: 'Card' })
    const transaction = {
      TransactionType,
      TransactionAmount: Amount,
      TransactionMethod: 'Card',
      TransactionReference: 'pi_1',
    }
    expect(placed.TransactionList).toMatchObject([transaction])
  })

  test('and authorised, its buyer is not asked to pay again', async () => {
    const answer = await place(
      order([line(await product())], { Payment: { Amount: 20, Method: 'Card', Status: 'authorised' } }),
    )
    const page = await server.app.inject({
      url: new URL(answer.json()[0].OrderPage).pathname,
      headers: { accept: 'text/html' },
    })
    expect([page.body.includes('Payment authorised'), page.body.includes('>Unpaid<')]).toEqual([true, false])
  })

  test('that costs nothing waits for no payment, and a past one was paid at its time', async () => {
    const bag = await product({ Price: 0 })
    expect(await stored(await place(order([line(bag)])))).toMatchObject({ OrderAmount: 0, OrderStatusID: 1 })
    const past = { OrderDate: '2026-01-02T10:00:00Z', Payment: { Amount: 7, Method: 'eBay', Status: 'approved' } }
    const placed = await stored(await place(order([line(bag, 1, { ItemUnitPrice: 7 })], past), { by: till }))
    expect(placed.TransactionList).toMatchObject([{ TransactionDateTime: placed.OrderDate }])
  })

  test('in XML, with the answer in XML', async () => {
    const { id } = await product()
    const items = `<OrderItemList><CheckoutOrderItem><CatalogID>${id}</CatalogID><ItemQuantity>1</ItemQuantity></CheckoutOrderItem></OrderItemList>`
    const body = `<Checkout><BillingEmail>guest@shop.example</BillingEmail>${items}<Payment><Amount>20</Amount><Method>Cash</Method><Status>approved</Status></Payment></Checkout>`
    const answer = await place(body, { contentType: 'application/xml', accept: 'application/xml' })
    expect([answer.statusCode, answer.body]).toEqual([201, expect.stringMatching(/<Key>OrderID<.*<OrderAmount>20</)])
  })

  test('all that is wrong is told at once, and nothing is stored', async () => {
    const bag = await product()
    const before = await ordersOf()
    const answer = await place(
      order([line(bag, 11, { ItemUnitPrice: 1 }), line({ id: 999_999 }), { ItemID: 'nothing', ItemQuantity: 1 }], {
        BillingFirstNam: 'Ann',
        OrderStatusID: 4,
        BillingOnLinePayment: true,
        Payment: { Amount: -1 },
        SalesTax: 'much',
      }),
    )
    const [status, , message] = refusalOf(answer)
    expect(status).toBe(400)
    for (const reason of [
      '"BillingFirstNam" is not a field of Checkout; nearest: BillingFirstName',
      'SalesTax must be a number',
      'BillingOnLinePayment must not be sent: Payment says what was paid',
      'OrderItemList[0].ItemUnitPrice needs the privilege CheckoutPrices',
      'OrderStatusID needs the privilege CheckoutPrices',
      'Payment.Amount must be more than 0',
      'Payment.Method is required',
      'Payment.Status is required',
      'OrderItemList[1].CatalogID refers to a product that does not exist',
      'OrderItemList[2].ItemID is not the SKU of a product in this store',
      `OrderItemList[0].ItemQuantity is more than there is: ${bag.sku} has 10 in stock, and 11 are ordered`,
    ])
      expect(message).toContain(reason)
    expect([await ordersOf(), await stockOf(bag)]).toEqual([before, 10])
  })

  test.each([
    ['OrderDate', '2020-01-01'],
    ['OrderStatusID', 4],
    ['PromotionList', [{ PromotionName: 'Half', DiscountAmount: 10 }]],
    ['OrderDiscountCoupon', 10],
    ['orderdiscountpromotion', 10],
    ['RewardPoints', '5'],
    ['ShipmentList', [{ ShipmentShippedDate: '2020-01-01' }]],
    ['TransactionList', [{ TransactionType: 'Sale', TransactionAmount: 20 }]],
    ['BillingOnLinePayment', true],
    ['BillingPaymentMethod', 'Card'],
    ['CardNumber', '4111'],
    ['OrderAmount', 1],
    ['InvoiceNumber', 7],
  ])('%s is refused by name without CheckoutPrices', async (name, value) => {
    const [status, field] = refusalOf(await place(order([line(await product())], { [name]: value })))
    expect([status, String(field).toLowerCase()]).toEqual([400, expect.stringContaining(name.toLowerCase())])
  })

  test.each([
    ['ItemUnitPrice', 1],
    ['ItemOptionPrice', -19],
    ['ItemDescription', 'Gold'],
    ['ItemDateAdded', '2020-01-01'],
  ])('%s of a line is, too', async (name, value) => {
    const [status, field] = refusalOf(await place(order([line(await product(), 1, { [name]: value })])))
    expect([status, field]).toEqual([400, `OrderItemList[0].${name}`])
  })

  test('a price has a code of its own', async () => {
    const answer = await place(order([line(await product(), 1, { ItemUnitPrice: 1 })]))
    expect(answer.headers['x-error-code']).toBe('price-not-allowed')
  })

  test('with CheckoutPrices has prices, discounts, a date and a status of its own, and sells what is hidden', async () => {
    const hidden = await product({}, { Hide: true })
    const body = order([line(hidden, 2, { ItemUnitPrice: 12.5 })], {
      OrderDiscountCoupon: 5,
      OrderDate: '2026-01-02T03:04:05',
      OrderStatusID: 2,
    })
    expect(refusalOf(await place(body))[0]).toBe(400)
    const placed = await stored(await place(body, { by: till }))
    expect(placed).toMatchObject({ OrderAmount: 20, OrderStatusID: 2, OrderDate: '2026-01-02T03:04:05' })
    expect(placed.OrderItemList).toMatchObject([{ ItemUnitPrice: 12.5, ItemOptionPrice: 0 }])
    const unknown = refusalOf(await place({ ...body, OrderStatusID: 77 }, { by: till }))
    expect(unknown).toEqual([400, 'OrderStatusID', expect.stringContaining('77 is not an order status')])
    expect(refusalOf(await place({ ...body, OrderStatusID: 5 }, { by: till }))[1]).toBe('OrderStatusID')
  })

  test('of a guest needs an e-mail address or a telephone number, told with all else', async () => {
    const bag = await product()
    const message = refusalOf(await place({ OrderItemList: [line(bag, 11)] }))[2]
    expect(message).toMatch(
      /^BillingEmail or BillingPhoneNumber is required for a guest; OrderItemList\[0\].ItemQuantity/,
    )
    const byTelephone = { BillingPhoneNumber: '555 0100', OrderItemList: [line(bag)] }
    expect((await place(byTelephone)).statusCode).toBe(201)
    expect((await quote({ OrderItemList: [line(bag)] })).statusCode).toBe(200)
  })

  test('a hidden product is as one that does not exist', async () => {
    const refusals = await Promise.all(
      [await product({}, { Hide: true }), { id: 999_999 }].map(async (one) =>
        refusalOf(await place(order([line(one)]))),
      ),
    )
    expect(refusals[0]).toEqual(refusals[1])
  })

  test('a payment is at most the total, in the decimals of the currency', async () => {
    const bag = await product()
    const paying = async (Amount: number) =>
      refusalOf(await place(order([line(bag)], { Payment: { Amount, Method: 'Card', Status: 'approved' } })))
    expect(await paying(20.01)).toEqual([
      400,
      'Payment.Amount',
      'Payment.Amount must be at most the total of the order, 20 USD',
    ])
    expect((await paying(19.999))[1]).toBe('Payment.Amount')
    expect(await stockOf(bag)).toBe(10)
  })

  test.each(['Amount', 'Method', 'Status'])('a payment without %s is refused by name', async (name) => {
    const Payment = { Amount: 20, Method: 'Card', Status: 'approved', [name]: undefined }
    for (const send of [place, quote])
      expect(refusalOf(await send(order([line(await product())], { Payment }))).slice(0, 2)).toEqual([
        400,
        `Payment.${name}`,
      ])
  })

  test('without Products: read nobody is told how many there are', async () => {
    const bag = await product({ Stock: 3 })
    const [status, , message] = refusalOf(await place(order([line(bag, 4)]), { by: front }))
    expect([status, message]).toEqual([409, `OrderItemList[0].ItemQuantity is more than there is: ${bag.sku}`])
    const [told] = (await quote(order([line(bag, 4)]), front)).json()
    expect(told).toMatchObject({ CanBePlaced: false, OrderItemList: [{ InStock: false }] })
    expect(JSON.stringify(told)).not.toContain('ItemUnitStock')
  })

  test('without Customers: read every customer is refused alike', async () => {
    const customer = await shop.add('/Customers', { Email: 'ann@shop.example', Password: 'secret words' })
    const bag = await product()
    const by = (CustomerID: number) => place(order([line(bag)], { CustomerID }), { by: front })
    expect(refusalOf(await by(customer))).toEqual(refusalOf(await by(999_999)))
    expect((await place(order([line(bag)], { CustomerID: customer }))).statusCode).toBe(201)
  })

  test('another store’s goods and customers do not exist', async () => {
    const other = await server.openStore()
    await other.add('/Products', { SKUInfo: { SKU: 'THEIRS', Name: 'Theirs', Price: 1, Stock: 5 } })
    const customers = await Promise.all(
      Array.from({ length: 9 }, (_, n) =>
        other.add('/Customers', { Email: `their-${n}@shop.example`, Password: 'secret words' }),
      ),
    )
    const theirs = refusalOf(await place(order([{ ItemID: 'THEIRS', ItemQuantity: 1 }])))
    expect(theirs.slice(0, 2)).toEqual([400, 'OrderItemList[0].ItemID'])
    const body = order([line(await product())], { CustomerID: Math.max(...customers) })
    expect(refusalOf(await place(body)).slice(0, 2)).toEqual([400, 'CustomerID'])
  })

  test('more lines than an order has are refused before anything is looked up', async () => {
    const lines = Array.from({ length: 501 }, () => line({ id: 1 }))
    expect(refusalOf(await place(order(lines)))).toEqual([
      400,
      'OrderItemList',
      'OrderItemList must have 1 to 500 items; it has 501',
    ])
    expect(refusalOf(await place(order([])))[1]).toBe('OrderItemList')
  })
})

describe('the key', () => {
  test('is required', async () => {
    const answer = await shop.call('POST', '/Checkout', { body: order([line(await product())]), tolerated: true })
    expect(refusalOf(answer).slice(0, 2)).toEqual([400, 'Idempotency-Key'])
  })

  test('stands for the order: as long as it is there, in both versions, whatever happened to stock and product', async () => {
    const bag = await product({ Stock: 1 })
    const body = order([line(bag)])
    const first = await place(body, { key: 'saturday' })
    await shop.call('PUT', `/Products/${bag.id}`, { body: { SKUInfo: { Price: 99 } } })
    await server.clock.pass(366 * 24 * 60 * 60 * 1_000)
    for (const version of ['v1', 'v2'] as const) {
      const again = await place(body, { key: 'saturday', version })
      expect([again.statusCode, again.body, again.headers['idempotency-replayed']]).toEqual([201, first.body, 'true'])
    }
    expect(refusalOf(await place(order([line(bag, 2)]), { key: 'saturday' })).slice(0, 2)).toEqual([
      422,
      'Idempotency-Key',
    ])
    expect((await place(order([line(await product())]), { key: 'saturday', by: till })).statusCode).toBe(201)
  })

  test('of what was refused is free: the corrected order sells', async () => {
    const bag = await product({ Stock: 0 })
    expect((await place(order([line(bag)]), { key: 'later' })).statusCode).toBe(409)
    await shop.call('PUT', `/Products/${bag.id}`, { body: { SKUInfo: { Stock: 1 } } })
    expect((await place(order([line(bag)]), { key: 'later' })).statusCode).toBe(201)
  })

  test('sent twenty times at once sells once, of the last piece too', async () => {
    const bag = await product({ Stock: 1 })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => place(order([line(bag)]), { key: 'double-click' })),
    )
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1)
    expect([answers[0]?.statusCode, await stockOf(bag)]).toEqual([201, 0])
  })

  test('two buyers at once for the last piece: exactly one gets it', async () => {
    const bag = await product({ Stock: 1 })
    const answers = await Promise.all([place(order([line(bag)])), place(order([line(bag)]))])
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409])
  })
})

describe('a quote', () => {
  test('is what placing costs: with the price of the customer’s group and of the quantity, and stores nothing', async () => {
    const bag = await product(
      {},
      {
        PriceLevel2: 15,
        DiscountList: [
          {
            DiscountPriceLevel: 0,
            DiscountLowbound: 5,
            DiscountUpbound: 0,
            DiscountPrice: 10,
            DiscountPercentage: true,
          },
        ],
      },
    )
    const group = await shop.add('/CustomerGroups', { Name: `Level ${++serial}`, PriceLevel: 2 })
    const CustomerID = await shop.add('/Customers', {
      Email: 'group@shop.example',
      Password: 'secret words',
      CustomerGroupID: group,
    })
    const before = await ordersOf()
    for (const quantity of [1, 5]) {
      const body = order([line(bag, quantity)], { CustomerID, ShipmentList: [{ ShipmentCost: 3 }], SalesTax: 2 })
      const [told] = (await quote(body)).json()
      const placed = await stored(await place(body))
      const [item] = placed.OrderItemList
      expect(told).toMatchObject({
        OrderAmount: placed.OrderAmount,
        ShippingTotal: 3,
        TaxTotal: 2,
        Currency: 'USD',
        CanBePlaced: true,
      })
      expect(told.OrderItemList).toMatchObject([
        { ItemUnitPrice: item.ItemUnitPrice, ItemID: item.ItemID, ItemDescription: item.ItemDescription },
      ])
    }
    expect([await ordersOf(), await stockOf(bag)]).toEqual([before + 2, 4])
  })

  test('says which lines are out of stock, counting the lines before', async () => {
    const bag = await product({ Stock: 3 })
    const [told] = (await quote(order([line(bag, 2), line(bag, 2)]))).json()
    expect(told.OrderItemList).toMatchObject([
      { InStock: true, ItemUnitStock: 3 },
      { InStock: false, CanBePlaced: false, ItemUnitStock: 1 },
    ])
    const back = await product({ Stock: 0 }, { InventoryControl: 2 })
    expect((await quote(order([line(back)]))).json()).toMatchObject([
      { CanBePlaced: true, OrderItemList: [{ InStock: false, CanBePlaced: true }] },
    ])
  })

  test('refuses what placing refuses', async () => {
    expect(refusalOf(await quote(order([line({ id: 999_999 })]))).slice(0, 2)).toEqual([
      400,
      'OrderItemList[0].CatalogID',
    ])
  })
})

describe('how many an hour', () => {
  test('the store says, exactly, until the next hour', async () => {
    const bound = (ordersPerHour: number) =>
      server.database.db.subscription.updateMany({ where: { storeId: shop.store.id }, data: { ordersPerHour } })
    const bag = await product()
    await server.clock.pass(60 * 60 * 1_000)
    await bound(2)
    const answers = await Promise.all(Array.from({ length: 5 }, () => place(order([line(bag)]))))
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 201, 429, 429, 429])
    expect(Number(answers.find(({ statusCode }) => statusCode === 429)?.headers['retry-after'])).toBeGreaterThan(0)
    expect(await stockOf(bag)).toBe(8)
    await server.clock.pass(60 * 60 * 1_000)
    expect((await place(order([line(bag)]))).statusCode).toBe(201)
    await bound(0)
    expect(refusalOf(await place(order([line(bag)])))[0]).toBe(401)
    await bound(1_000)
  })
})
