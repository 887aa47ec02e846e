import { expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { sharedServer } from '../../../../support/store.ts'
import { alertIn, opened, shopWithOrder } from './order-fixture.ts'

// Every form of an order, of stock and of the settings reads numbers by one reader.

const server = await sharedServer()
const scene = await shopWithOrder(server)

interface TypedField {
  readonly page: string
  readonly to?: string
  readonly fields: Readonly<Record<string, string>>
  /** `{line}` stands for the id of the order's line. */
  readonly name: string
}

const order = '/admin/orders/1'
const newLine = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1', BillingEmail: 'a@shop.example' }
const typedFields: readonly TypedField[] = [
  { page: `${order}/payments`, name: 'TransactionAmount', fields: {} },
  { page: `${order}/lines`, name: 'Line.{line}.ItemQuantity', fields: {} },
  { page: `${order}/lines`, name: 'Line.{line}.ItemUnitPrice', fields: {} },
  { page: `${order}/lines`, name: 'Shipment.0.ShipmentCost', fields: {} },
  { page: `${order}/lines`, name: 'SalesTax', fields: {} },
  { page: `${order}/lines`, name: 'ItemQuantity.1', fields: { 'ItemID.1': 'LAMP' } },
  { page: `${order}/lines`, name: 'ItemUnitPrice.1', fields: { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1' } },
  { page: `${order}/shipments/0`, name: 'Quantity.{line}', fields: { ShipmentShippedDate: '2026-03-11' } },
  { page: `${order}/shipments/0`, name: 'ShipmentBoxes', fields: { ShipmentShippedDate: '2026-03-11' } },
  { page: `${order}/returns/new`, name: 'Item.{line}.ReturnQuantity', fields: {} },
  { page: `${order}/returns/new`, name: 'Item.{line}.RestockQuantity', fields: { 'Item.{line}.ReturnQuantity': '1' } },
  { page: `${order}/returns/new`, name: 'RMAReasonID', fields: { 'Item.{line}.ReturnQuantity': '1' } },
  { page: '/admin/orders/new', to: '/admin/orders', name: 'ItemQuantity.1', fields: { 'ItemID.1': 'LAMP' } },
  { page: '/admin/orders/new', to: '/admin/orders', name: 'SalesTax', fields: newLine },
  { page: '/admin/orders/new', to: '/admin/orders', name: 'ShipmentCost', fields: newLine },
  { page: '/admin/products/1/stock', name: 'Quantity', fields: { Note: 'Counted' } },
  { page: '/admin/products/1/prices', name: 'SKUInfo.Price', fields: {} },
  { page: '/admin/settings/order-statuses', name: 'Sorting.8', fields: { 'StatusText.8': 'Parts' } },
  {
    page: '/admin/settings/payment-methods',
    name: 'PaymentMethodID.payment-methods-new1',
    fields: { 'Name.payment-methods-new1': 'Voucher' },
  },
  {
    page: '/admin/settings/returns',
    to: '/admin/settings/returns/reasons',
    name: 'ReturnReasonID.reasons-new1',
    fields: { 'Name.reasons-new1': 'Too big' },
  },
]

// What else is no number to that reader, test/unit/http/pages/typed-numbers.test.ts says.
test.each(typedFields)('$page: $name refuses what is no number, and nothing is stored', async (field) => {
  expect(await refusedFor(field, '1e3')).toContain('must be a number in digits, such as 1234.5')
  expect(await scene.stock()).toBe(7)
})

async function refusedFor({ page, to = page, name, fields }: TypedField, text: string): Promise<string> {
  const before = await scene.order()
  const line = String(before.OrderItemList[0].ItemIndexID)
  const named = Object.entries({ ...fields, [name]: text }).map(([field, value]) => [
    field.replace('{line}', line),
    value,
  ])
  const answer = await scene.merchant.submit(page, Object.fromEntries(named), { action: to })
  expect([answer.statusCode, await scene.order()], `${page} ${name}`).toEqual([400, before])
  expect(alertIn(answer.body)).toContain(`href="#${name.replace('{line}', line)}"`)
  return alertIn(answer.body)
}

const inAll = [...typedFields.slice(0, -3), { page: '/admin/products/1/prices', name: 'SKUInfo.Cost', fields: {} }]

test.each([
  [/./, '0.00001', /must have at most [24] decimals/],
  [/TransactionAmount|ShipmentCost|SalesTax/, '5.005', /must have at most 2 decimals in USD/],
  [/orders\/1.*Quantity/, '1.5', /must be a whole number for LAMP/],
  [/Price|Cost/, '-0.01', /must not be (below 0|negative)/],
])('fields like %s refuse %s', async (of, text, said) => {
  const some = inAll.filter(({ page, name }) => of.test(`${page} ${name}`))
  expect(some.length).toBeGreaterThan(3)
  for (const field of some) expect(await refusedFor(field, text)).toMatch(said)
})

test('blanks around a number, a point without digits before it and a copied minus are read', async () => {
  const payments = await opened(scene.merchant, `${order}/payments`)
  expect((await payments.send({ TransactionAmount: ' 12.5 ' })).statusCode).toBe(303)
  const goods = await opened(scene.merchant, `${order}/lines`)
  expect((await goods.send({ SalesTax: '\t.75' })).statusCode).toBe(303)
  const stock = await opened(scene.merchant, '/admin/products/1/stock')
  expect((await stock.send({ Quantity: '−2', Note: 'Broken' })).statusCode).toBe(303)
  expect(await scene.order()).toMatchObject({ SalesTax: 0.75, TransactionList: [{ TransactionAmount: 12.5 }] })
  expect(await scene.stock()).toBe(5)
})

test('what pages show of amounts is read, in English and in German', async () => {
  const payments = await opened(scene.merchant, `${order}/payments`)
  expect((await payments.send({ TransactionAmount: '$1,299.90' })).statusCode).toBe(303)
  const prices = await opened(scene.merchant, '/admin/products/1/prices')
  expect((await prices.send({ 'SKUInfo.Price': '1,042.5 USD' })).statusCode).toBe(303)
  expect((await scene.shop.call('GET', '/Products/1')).json()[0].SKUInfo.Price).toBe(1042.5)
  const inGerman = (page: string, fields: Record<string, string>) =>
    scene.merchant.submit(page, fields, { headers: { 'accept-language': 'de-DE' } })
  const refund = (TransactionAmount: string) =>
    inGerman(`${order}/refund`, {
      TransactionAmount,
      TransactionResponseText: 'Kulanz',
      TransactionDateTime: '2026-03-10T10:00:00',
    })
  const paidBack = await refund('1.299,90\u00a0$')
  expect([paidBack.statusCode, alertIn(paidBack.body)]).toEqual([303, ''])
  expect(alertIn((await refund('1 299,90')).body)).toContain('höchstens 12,50\u00a0$')
  const doubtful = await inGerman('/admin/products/1/prices', { 'SKUInfo.Price': '1.299' })
  expect(alertIn(doubtful.body)).toContain('lässt sich als 1,299 und als 1299 lesen')
})

test('what a program stored more finely than people write is shown, and sent back unchanged', async () => {
  const OrderItemList = (await scene.order()).OrderItemList.map((line: object) => ({ ...line, ItemQuantity: 2.5 }))
  await scene.shop.call('PUT', '/Orders/1', { body: { SalesTax: 0.1061, OrderItemList } })
  await scene.shop.call('PUT', '/Products/1', { body: { SKUInfo: { Price: -5 } } })
  const goods = await opened(scene.merchant, `${order}/lines`)
  expect((await goods.send({ OrderDiscountPromotion: '1' })).statusCode).toBe(303)
  const prices = await opened(scene.merchant, '/admin/products/1/prices')
  expect((await prices.send({ PriceLevel1: '3' })).statusCode).toBe(303)
  const shipping = await opened(scene.merchant, `${order}/shipments/0`)
  const [{ ItemIndexID: line }] = (await scene.order()).OrderItemList
  expect((await shipping.send({ [`Quantity.${line}`]: '1.5', ShipmentShippedDate: '2026-03-11' })).statusCode).toBe(303)
})

test('a line whose price with options is below 0 is placed by no door', async () => {
  const { shop, merchant } = scene
  await shop.call('PUT', '/Products/1', { body: { SKUInfo: { Price: -5 } } })
  const body = { BillingEmail: 'a@shop.example', OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 1 }] }
  await expect(placeOrder(shop.caller, body)).rejects.toMatchObject({
    status: 400,
    message: 'OrderItemList[0].CatalogID names LAMP, whose price with options is below 0: -5 USD',
  })
  const typed = await merchant.submit('/admin/orders/new', newLine, { action: '/admin/orders' })
  const added = await merchant.submit(`${order}/lines`, newLine)
  for (const { statusCode, body: page } of [typed, added]) {
    expect([statusCode, alertIn(page)]).toEqual([400, expect.stringContaining('below 0: -$5.00')])
  }
  // A program may store it.
  const [{ OrderItemList }] = (await shop.call('GET', '/Orders/1')).json()
  const lines = OrderItemList.map((line: object) => ({ ...line, ItemUnitPrice: -5 }))
  expect((await shop.call('PUT', '/Orders/1', { body: { OrderItemList: lines } })).statusCode).toBe(200)
})
