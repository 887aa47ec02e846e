import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placeOrder } from '../../../../src/resources/orders/place-order.ts'
import { openServer, type TestServer } from '../../../support/store.ts'
import { alertIn, opened, shopWithOrder } from './order-fixture.ts'

// Every form of an order, of stock and of the settings reads numbers by one reader.

let server: TestServer
let scene: Awaited<ReturnType<typeof shopWithOrder>>

beforeAll(async () => {
  server = await openServer()
  scene = await shopWithOrder(server)
})
afterAll(() => server?.close())

interface TypedField {
  readonly page: string
  readonly to?: string
  readonly fields: Readonly<Record<string, string>>
  /** `{line}` stands for the id of the order's line. */
  readonly name: string
}

const order = '/admin/orders/1'
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
  {
    page: '/admin/orders/new',
    to: '/admin/orders',
    name: 'SalesTax',
    fields: { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1' },
  },
  {
    page: '/admin/orders/new',
    to: '/admin/orders',
    name: 'ShipmentCost',
    fields: { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1' },
  },
  { page: '/admin/products/1/stock', name: 'Quantity', fields: { Note: 'Counted' } },
  { page: '/admin/products/1/prices', name: 'SKUInfo.Price', fields: {} },
  { page: '/admin/settings/order-statuses', name: 'Sorting.8', fields: { 'StatusText.8': 'Parts' } },
  { page: '/admin/settings/payment-methods', name: 'PaymentMethodID.new1', fields: { 'Name.new1': 'Voucher' } },
  {
    page: '/admin/settings/returns',
    to: '/admin/settings/returns/reasons',
    name: 'Number.reasons-new1',
    fields: { 'Name.reasons-new1': 'Too big' },
  },
]

describe.each(typedFields)('$page: $name', ({ page, to = page, name, fields }) => {
  test.each(['0x10', '1e3', '1e-9', 'Infinity', '1,234.50', '$12'])(
    'refuses %j, and nothing is stored',
    async (text) => {
      const before = await scene.order()
      const line = String(before.OrderItemList[0].ItemIndexID)
      const named = Object.entries({ ...fields, [name]: text }).map(([field, value]) => [
        field.replace('{line}', line),
        value,
      ])
      const answer = await scene.merchant.submit(page, Object.fromEntries(named), { action: to })
      expect(answer.statusCode).toBe(400)
      expect(alertIn(answer.body)).toContain(`href="#${name.replace('{line}', line)}"`)
      expect(alertIn(answer.body)).toContain('must be a number in digits, such as 1234.5')
      expect(await scene.order()).toEqual(before)
      expect(await scene.stock()).toBe(7)
    },
  )
})

test('a quantity that is 0 after rounding returns nothing and ships nothing', async () => {
  const [{ ItemIndexID: line }] = (await scene.order()).OrderItemList
  const returned = await opened(scene.merchant, `${order}/returns/new`)
  const answer = await returned.send({ [`Item.${line}.ReturnQuantity`]: '0.00001' })
  expect([answer.statusCode, alertIn(answer.body)]).toEqual([400, expect.stringContaining('Say how many pieces')])
  const shipping = await opened(scene.merchant, `${order}/shipments/0`)
  const nothing = await shipping.send({ [`Quantity.${line}`]: '0.00001', ShipmentShippedDate: '2026-03-11' })
  expect([nothing.statusCode, alertIn(nothing.body)]).toEqual([400, expect.stringContaining('Nothing is shipped')])
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

test('an amount is what it is after rounding, before it is compared with 0 and with what may be refunded', async () => {
  const amount = fc.tuple(fc.constantFrom(0, 1, 7, 20), fc.integer({ min: 0, max: 200_000_000 }))
  const decimals = amount.map(([whole, units]) => (whole + units / 1_000_000_000).toFixed(9))
  const type = fc.constantFrom('Sale', 'Refund')
  await scene.shop.call('PUT', '/Products/1', { body: { SKUInfo: { Stock: 1000 } } })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(type, decimals), { minLength: 1, maxLength: 4 }), async (given) => {
      const items = [{ ItemID: 'LAMP', ItemQuantity: 1 }]
      const { id } = await placeOrder(scene.shop.caller, { BillingEmail: 'a@shop.example', OrderItemList: items })
      const read = async () => (await scene.shop.call('GET', `/Orders/${id}`)).json()[0]
      let left = 0
      const expected: number[] = []
      for (const [TransactionType, TransactionAmount] of given) {
        const units = Math.round(Number(Number(TransactionAmount).toFixed(4)) * 10_000)
        const form = await opened(scene.merchant, `/admin/orders/${id}/payments`)
        const { statusCode } = await form.send({ TransactionType, TransactionAmount })
        const isTaken = units > 0 && (TransactionType === 'Sale' || units <= left)
        expect([TransactionAmount, statusCode]).toEqual([TransactionAmount, isTaken ? 303 : 400])
        if (!isTaken) continue
        left += TransactionType === 'Sale' ? units : -units
        expected.push(units)
      }
      const stored = (await read()).TransactionList.map((each: { TransactionAmount: number }) =>
        Math.round(each.TransactionAmount * 10_000),
      )
      expect(stored).toEqual(expected)
    }),
    {
      numRuns: 15,
      examples: [
        [
          [
            ['Sale', '20.000000000'],
            ['Refund', '0.000000001'],
            ['Refund', '20.000040000'],
          ],
        ],
      ],
    },
  )
}, 120_000)
