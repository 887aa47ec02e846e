import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, test } from 'vitest'
import type { CallOptions } from '../../../../support/store.ts'
import { refusalOf } from '../../../http/rest/fixture.ts'
import { line, openCheckout, order } from './checkout-fixture.ts'

const placing = { Checkout: ['read', 'write'], Orders: ['read'] } as const
const { server, shop, goods, stockOf, ordersOf } = await openCheckout({
  ...placing,
  Products: ['read', 'write'],
  Customers: ['read', 'write'],
  CustomerGroups: ['write'],
})
/** Other applications of the same store. */
const till = await shop.as({ privileges: { ...placing, CheckoutPrices: ['write'] } })
const front = await shop.as({ privileges: placing })

let serial = 0
const place = (
  body: object,
  { key = `key-${++serial}`, by = shop, ...rest }: CallOptions & { key?: string; by?: typeof shop } = {},
) => by.call('POST', '/Checkout', { body, headers: { 'idempotency-key': key }, ...rest })
const quote = (body: object, { by = shop } = {}) => by.call('POST', '/Checkout/Quote', { body })
const read = async (path: string) => (await shop.call('GET', path)).json()[0]
const stored = async (answer: LightMyRequestResponse) => read(`/Orders/${answer.json()[0].Value}`)
const pageOf = (answer: LightMyRequestResponse) =>
  server.app.inject({ url: new URL(answer.json()[0].OrderPage).pathname, headers: { accept: 'text/html' } })
const payment = { Amount: 20, Method: 'Card', Reference: 'pi_1', Status: 'approved' }

describe('placing', () => {
  test('makes the order, takes the stock, and answers what people know of it', async () => {
    const bag = await goods()
    const answer = await place(order([line(bag, 2)], { ShipmentList: [{ ShipmentCost: 4.9 }], SalesTax: 1.1 }))
    const placed = await stored(answer)
    expect(answer.statusCode).toBe(201)
    expect(answer.json()).toMatchObject([
      { Key: 'OrderID', Message: 'Created successfully', OrderAmount: 46, InvoiceNumber: placed.InvoiceNumber },
    ])
    const unpaid = { OrderStatusID: 11, BillingOnLinePayment: false, TransactionList: [] }
    expect(placed).toMatchObject({ OrderAmount: 46, ...unpaid, UserID: shop.application.name })
    const page = await pageOf(answer)
    expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining('Tote Bag')])
    expect(await stockOf(bag)).toBe(8)
  })

  test.each([
    ['approved', 20, { OrderStatusID: 1, BillingOnLinePayment: true }, 'Sale', []],
    ['approved', 5, { OrderStatusID: 11, BillingOnLinePayment: false }, 'Sale', ['>Unpaid<']],
    ['authorised', 20, { OrderStatusID: 1, BillingOnLinePayment: true }, 'Authorize', ['Payment authorised']],
  ])('with a payment that is %s of %d', async (Status, Amount, is, TransactionType, shown) => {
    const answer = await place(order([line(await goods())], { Payment: { ...payment, Status, Amount } }))
    const transaction = { TransactionMethod: 'Card', TransactionReference: 'pi_1', TransactionAmount: Amount }
    const TransactionList = [{ ...transaction, TransactionType }]
    expect(await stored(answer)).toMatchObject({ ...is, BillingPaymentMethod: 'Card', TransactionList })
    const { body } = await pageOf(answer)
    expect(['>Unpaid<', 'Payment authorised'].filter((text) => body.includes(text))).toEqual(shown)
  })

  test('an order that costs nothing waits for no payment, and a past one was paid at its time', async () => {
    const bag = await goods({ Price: 0 })
    expect(await stored(await place(order([line(bag)])))).toMatchObject({ OrderAmount: 0, OrderStatusID: 1 })
    const past = { OrderDate: '2026-01-02T10:00:00Z', Payment: { ...payment, Amount: 7 } }
    const priced = (ItemUnitPrice: number) => order([line(bag, 1, { ItemUnitPrice })], past)
    const placed = await stored(await place(priced(7), { by: till }))
    expect(placed.TransactionList).toMatchObject([{ TransactionDateTime: placed.OrderDate }])
    expect(refusalOf(await place(priced(-7), { by: till })).message).toContain('ItemUnitPrice must not be negative')
  })

  test('all that is wrong is told at once, and nothing is stored', async () => {
    const bag = await goods()
    const before = await ordersOf()
    const items = [line(bag, 11, { ItemUnitPrice: 1 }), line({ id: 999_999 }), { ItemID: 'nothing', ItemQuantity: 1 }]
    const wrong = { BillingFirstNam: 'Ann', OrderStatusID: 4, BillingOnLinePayment: true, SalesTax: 'much' }
    const { statusCode, message } = refusalOf(await place(order(items, { ...wrong, Payment: { Amount: -1 } })))
    expect(statusCode).toBe(400)
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

  test('with CheckoutPrices has prices, discounts, a date and a status of its own, and sells what is hidden', async () => {
    const terms = { OrderDiscountCoupon: 5, OrderDate: '2026-01-02T03:04:05', OrderStatusID: 2 }
    const body = order([line(await goods({}, { Hide: true }), 2, { ItemUnitPrice: 12.5 })], terms)
    expect((await place(body)).statusCode).toBe(400)
    const placed = await stored(await place(body, { by: till }))
    expect(placed).toMatchObject({ OrderAmount: 20, OrderStatusID: 2, OrderDate: '2026-01-02T03:04:05' })
    expect(placed.OrderItemList).toMatchObject([{ ItemUnitPrice: 12.5, ItemOptionPrice: 0 }])
    const cancelled = refusalOf(await place({ ...body, OrderStatusID: 5 }, { by: till }))
    const unknown = refusalOf(await place({ ...body, OrderStatusID: 77 }, { by: till }))
    expect([cancelled.field, unknown.field, unknown.message]).toEqual([
      'OrderStatusID',
      'OrderStatusID',
      expect.stringContaining('77 is not an order status'),
    ])
  })

  test('of a guest needs an e-mail address or a telephone number, told with all else', async () => {
    const bag = await goods()
    expect(refusalOf(await place({ OrderItemList: [line(bag, 11)] })).message).toMatch(
      /^BillingEmail or BillingPhoneNumber is required for a guest; OrderItemList\[0\].ItemQuantity/,
    )
    const byTelephone = { BillingPhoneNumber: '555 0100', OrderItemList: [line(bag)] }
    expect((await place(byTelephone)).statusCode).toBe(201)
    expect((await quote({ OrderItemList: [line(bag)] })).statusCode).toBe(200)
  })

  test('a hidden product is as one that does not exist', async () => {
    const [hidden, none] = [await goods({}, { Hide: true }), { id: 999_999 }]
    expect(refusalOf(await place(order([line(hidden)])))).toEqual(refusalOf(await place(order([line(none)]))))
  })

  test('without Products: read nobody is told how many there are', async () => {
    const bag = await goods({ Stock: 3 })
    const { statusCode, message } = refusalOf(await place(order([line(bag, 4)]), { by: front }))
    expect([statusCode, message]).toEqual([409, `OrderItemList[0].ItemQuantity is more than there is: ${bag.sku}`])
    const [told] = (await quote(order([line(bag, 4)]), { by: front })).json()
    expect(told).toMatchObject({ CanBePlaced: false, OrderItemList: [{ InStock: false }] })
    expect(JSON.stringify(told)).not.toContain('ItemUnitStock')
  })

  test('without Customers: read every customer is refused alike', async () => {
    const customer = await shop.add('/Customers', { Email: 'ann@shop.example', Password: 'secret words' })
    const bag = await goods()
    const of = (CustomerID: number, by = front) => place(order([line(bag)], { CustomerID }), { by })
    expect(refusalOf(await of(customer))).toEqual(refusalOf(await of(999_999)))
    expect((await of(customer, shop)).statusCode).toBe(201)
  })

  test('a payment of more than the total is told the total', async () => {
    const body = order([line(await goods())], { Payment: { ...payment, Amount: 20.01 } })
    const message = 'Payment.Amount must be at most the total of the order, 20 USD'
    expect(refusalOf(await place(body)).message).toBe(message)
  })
})

const other = await server.openStore()
await other.add('/Products', { SKUInfo: { SKU: 'THEIRS', Name: 'Theirs', Price: 1, Stock: 5 } })
/** A customer with a number that nobody of the shop has. */
let theirs = 0
for (const name of ['ann', 'bob', 'eve'])
  theirs = await other.add('/Customers', { Email: `${name}@shop.example`, Password: 'secret words' })

describe('placing refuses by name, and a quote as well', () => {
  test.each<[code: string, field: string, changes: object, ofLine?: object]>([
    ['price-not-allowed', 'OrderDate', { OrderDate: '2020-01-01' }],
    ['price-not-allowed', 'OrderStatusID', { OrderStatusID: 4 }],
    ['price-not-allowed', 'PromotionList', { PromotionList: [{ PromotionName: 'Half', DiscountAmount: 10 }] }],
    ['price-not-allowed', 'OrderDiscountCoupon', { OrderDiscountCoupon: 10 }],
    ['price-not-allowed', 'OrderDiscountPromotion', { orderdiscountpromotion: 10 }],
    ['price-not-allowed', 'RewardPoints', { RewardPoints: '5' }],
    [
      'price-not-allowed',
      'ShipmentList[0].ShipmentShippedDate',
      { ShipmentList: [{ ShipmentShippedDate: '2020-01-01' }] },
    ],
    ['price-not-allowed', 'OrderItemList[0].ItemUnitPrice', {}, { ItemUnitPrice: 1 }],
    ['price-not-allowed', 'OrderItemList[0].ItemDateAdded', {}, { ItemDateAdded: '2020-01-01' }],
    ['unknown-field', 'OrderItemList[0].ItemOptionPrice', {}, { ItemOptionPrice: -19 }],
    ['unknown-field', 'OrderItemList[0].ItemDescription', {}, { ItemDescription: 'Gold' }],
    ['unknown-field', 'TransactionList', { TransactionList: [{ TransactionType: 'Sale', TransactionAmount: 20 }] }],
    ['unknown-field', 'BillingOnLinePayment', { BillingOnLinePayment: true }],
    ['unknown-field', 'BillingPaymentMethod', { BillingPaymentMethod: 'Card' }],
    ['unknown-field', 'CardNumber', { CardNumber: '4111' }],
    ['unknown-field', 'OrderAmount', { OrderAmount: 1 }],
    ['unknown-field', 'InvoiceNumber', { InvoiceNumber: 7 }],
    ['out-of-range', 'Payment.Amount', { Payment: { ...payment, Amount: 19.999 } }],
    ['out-of-range', 'Payment.Amount', { Payment: { ...payment, Amount: undefined } }],
    ['missing-field', 'Payment.Method', { Payment: { ...payment, Method: undefined } }],
    ['missing-field', 'Payment.Status', { Payment: { ...payment, Status: undefined } }],
    ['unknown-reference', 'OrderItemList[0].CatalogID', {}, { CatalogID: 999_999 }],
    ['unknown-reference', 'OrderItemList[0].ItemID', {}, { CatalogID: undefined, ItemID: 'THEIRS' }],
    ['unknown-reference', 'CustomerID', { CustomerID: theirs }],
    ['missing-field', 'OrderItemList', { OrderItemList: [] }],
    ['too-many-items', 'OrderItemList', { OrderItemList: Array(501).fill(line({ id: 1 })) }],
  ])('%s: %s', async (code, field, changes, ofLine) => {
    const bag = await goods()
    for (const send of [place, quote]) {
      const answer = await send(order([line(bag, 1, ofLine)], changes))
      expect([refusalOf(answer), answer.headers['x-error-code']]).toMatchObject([{ statusCode: 400, field }, code])
    }
    expect(await stockOf(bag)).toBe(10)
  })
})

describe('the key', () => {
  test('is required', async () => {
    const answer = await shop.call('POST', '/Checkout', { body: order([line(await goods())]), tolerated: true })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, field: 'Idempotency-Key' })
  })

  test('of what was refused is free: the corrected order sells', async () => {
    const bag = await goods({ Stock: 0 })
    expect((await place(order([line(bag)]), { key: 'later' })).statusCode).toBe(409)
    await shop.call('PUT', `/Products/${bag.id}`, { body: { SKUInfo: { Stock: 1 } } })
    expect((await place(order([line(bag)]), { key: 'later' })).statusCode).toBe(201)
  })
})

describe('a quote', () => {
  test('is what placing costs: with the price of the customer’s group and of the quantity, and stores nothing', async () => {
    const bounds = { DiscountPriceLevel: 0, DiscountLowbound: 5, DiscountUpbound: 0 }
    const DiscountList = [{ ...bounds, DiscountPrice: 10, DiscountPercentage: true }]
    const bag = await goods({}, { PriceLevel2: 15, DiscountList })
    const CustomerGroupID = await shop.add('/CustomerGroups', { Name: 'Level 2', PriceLevel: 2 })
    const buyer = { Email: 'group@shop.example', Password: 'secret words', CustomerGroupID }
    const CustomerID = await shop.add('/Customers', buyer)
    const before = await ordersOf()
    for (const quantity of [1, 5]) {
      const body = order([line(bag, quantity)], { CustomerID, ShipmentList: [{ ShipmentCost: 3 }], SalesTax: 2 })
      const [told] = (await quote(body)).json()
      const { OrderAmount, OrderItemList } = await stored(await place(body))
      expect(told).toMatchObject({ OrderAmount, ShippingTotal: 3, TaxTotal: 2, Currency: 'USD', CanBePlaced: true })
      const [{ ItemUnitPrice, ItemID, ItemDescription }] = OrderItemList
      expect(told.OrderItemList).toMatchObject([{ ItemUnitPrice, ItemID, ItemDescription }])
    }
    expect([await ordersOf(), await stockOf(bag)]).toEqual([before + 2, 4])
  })

  test('says which lines are out of stock, counting the lines before', async () => {
    const bag = await goods({ Stock: 3 })
    const [told] = (await quote(order([line(bag, 2), line(bag, 2)]))).json()
    expect(told.OrderItemList).toMatchObject([
      { InStock: true, ItemUnitStock: 3 },
      { InStock: false, CanBePlaced: false, ItemUnitStock: 1 },
    ])
    const onBackOrder = await goods({ Stock: 0 }, { InventoryControl: 2 })
    expect((await quote(order([line(onBackOrder)]))).json()).toMatchObject([
      { CanBePlaced: true, OrderItemList: [{ InStock: false, CanBePlaced: true }] },
    ])
  })
})

test('how many orders an hour the store says, exactly, until the next hour', async () => {
  const bound = (ordersPerHour: number) =>
    server.database.db.subscription.updateMany({ where: { storeId: shop.store.id }, data: { ordersPerHour } })
  const bag = await goods()
  await server.clock.pass(60 * 60 * 1_000)
  await bound(2)
  const answers = await Promise.all(Array.from({ length: 5 }, () => place(order([line(bag)]))))
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 201, 429, 429, 429])
  expect(Number(answers.find(({ statusCode }) => statusCode === 429)?.headers['retry-after'])).toBeGreaterThan(0)
  expect(await stockOf(bag)).toBe(8)
  await server.clock.pass(60 * 60 * 1_000)
  expect((await place(order([line(bag)]))).statusCode).toBe(201)
  await bound(0)
  expect((await place(order([line(bag)]))).statusCode).toBe(401)
})
