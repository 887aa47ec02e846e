import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimalsOf } from '../../../../../src/foundation/values/currency.ts'
import { exact, toNumber } from '../../../../../src/shop/resources/orders/amounts.ts'
import { orderFigures } from '../../../../../src/shop/resources/orders/figures.ts'
import type { OrderRecord } from '../../../../../src/shop/resources/orders/orders.ts'
import {
  type Extent,
  fitted,
  refundParts,
  totalOf,
  workingsOf,
} from '../../../../../src/shop/resources/orders/refund-amounts.ts'

interface Given {
  /** Price and quantity of each line. */
  readonly lines: readonly (readonly [price: number, quantity: number])[]
  readonly discounts?: readonly [coupon: number, promotion: number]
  readonly taxes?: readonly number[]
  readonly costs?: readonly number[]
}

function figuresOf({ lines, discounts = [0, 0], taxes = [], costs = [] }: Given, currency = 'EUR') {
  const [SalesTax = 0, SalesTax2 = 0, SalesTax3 = 0] = taxes
  const OrderItemList = lines.map(([ItemUnitPrice, ItemQuantity], at) => ({
    ...{ ItemIndexID: at + 1, CatalogID: 1, ItemID: `S-${at + 1}`, ItemDescription: 'Throw' },
    ...{ ItemUnitPrice, ItemOptionPrice: 0, ItemQuantity },
  }))
  const [OrderDiscountCoupon, OrderDiscountPromotion] = discounts
  const ShipmentList = costs.map((ShipmentCost) => ({ ShipmentCost }))
  const amounts = { SalesTax, SalesTax2, SalesTax3, OrderDiscountCoupon, OrderDiscountPromotion }
  return orderFigures({ ...amounts, OrderItemList, ShipmentList } as unknown as OrderRecord, currency)
}

const extent = (pieces: Readonly<Record<number, number>>, shipping = 0): Extent => ({
  pieces: new Map(Object.entries(pieces).map(([id, count]) => [Number(id), exact(count)])),
  shipping: exact(shipping),
})
const nothing = extent({})
const numbersOf = ({ lines, shipping, tax }: ReturnType<typeof refundParts>) => [...lines, shipping, tax].map(toNumber)

describe('what refunds come to', () => {
  test('one of two throws is refunded as it was charged, and the other takes what rounding left', () => {
    const order = figuresOf({ lines: [[128.95, 2]], discounts: [25.79, 0], taxes: [45.03], costs: [4.9] })
    const one = extent({ 1: 1 })
    const first = refundParts(order, nothing, one, 'EUR')
    expect(numbersOf(first)).toEqual([116.06, 0, 22.05])
    expect(workingsOf(order, one, first, 'EUR')).toMatchObject([
      { quantity: 1, unitPrice: 128.95, percent: 10, amount: 116.06 },
    ])
    const rest = refundParts(order, one, extent({ 1: 1 }, 4.9), 'EUR')
    expect(numbersOf(rest)).toEqual([116.05, 4.9, 22.98])
    expect(toNumber(totalOf(first) + totalOf(rest))).toBe(order.sum)
  })

  test.each([
    ['a percentage that was rounded', [[19.99, 1]], 2, 10],
    ['a finer percentage', [[100, 2]], 25.5, 12.75],
    ['an amount', [[3, 3]], 1, null],
    ['more than the goods', [[3, 3]], 12, 100],
    ['none', [[3, 3]], 0, 0],
  ] as const)('a discount is told: %s', (_case, lines, discount, percent) => {
    const order = figuresOf({ lines, discounts: [discount, 0] })
    const parts = refundParts(order, nothing, extent({ 1: 1 }), 'EUR')
    const [working] = workingsOf(order, extent({ 1: 1 }), parts, 'EUR')
    expect(working?.percent).toBe(percent)
    expect(toNumber(exact(working?.unitPrice ?? 0) - exact(working?.off ?? 0))).toBe(working?.amount)
  })

  test.each(['JPY', 'EUR', 'KWD'])('any refunds of a whole order in %s add up to its total exactly', (currency) => {
    const unit = 1 / 10 ** decimalsOf(currency)
    const money = fc.integer({ min: 0, max: 50_000 }).map((units) => Number((units * unit).toFixed(3)))
    const line = fc.tuple(money, fc.integer({ min: 1, max: 5 }))
    const orders = fc.record({
      lines: fc.array(line, { minLength: 1, maxLength: 5 }),
      off: fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 })),
      taxes: fc.array(money, { minLength: 3, maxLength: 3 }),
      costs: fc.array(money, { maxLength: 3 }),
      order: fc.infiniteStream(fc.nat()),
    })
    fc.assert(
      fc.property(orders, ({ lines, off, taxes, costs, order: steps }) => {
        const goods = lines.reduce((total, [price, quantity]) => total + price * quantity, 0)
        const discounts = [(off[0] * goods) / 200, (off[1] * goods) / 200].map(
          (amount) => Math.floor(amount / unit) * unit,
        ) as [number, number]
        const order = figuresOf({ lines, discounts, taxes, costs }, currency)
        const { sum, shipping } = order
        const half = Math.floor(shipping / 2 / unit) * unit
        const open = [
          ...lines.flatMap(([, quantity], at) => Array.from({ length: quantity }, () => extent({ [at + 1]: 1 }))),
          ...[half, shipping - half].map((cost) => extent({}, cost)),
        ]
        let [before, total] = [nothing, 0n]
        while (open.length > 0) {
          const [now] = open.splice(steps.next().value % open.length, 1) as [Extent]
          const parts = refundParts(order, before, now, currency)
          for (const part of [...parts.lines, parts.shipping, parts.tax]) if (part < 0n) throw new Error('below 0')
          total += totalOf(parts)
          const pieces = new Map(before.pieces)
          for (const [id, count] of now.pieces) pieces.set(id, (pieces.get(id) ?? 0n) + count)
          before = { pieces, shipping: before.shipping + now.shipping }
        }
        expect(toNumber(total)).toBe(sum)
      }),
    )
  })

  test('less is shared by the parts in proportion, and more leaves them as they are', () => {
    const parts = { lines: [exact(60), exact(-5), exact(30)], shipping: exact(10), tax: exact(10) }
    expect(numbersOf(fitted(parts, exact(33.33), 'EUR'))).toEqual([18.18, 0, 9.09, 3.03, 3.03])
    expect(numbersOf(fitted(parts, exact(500), 'EUR'))).toEqual([60, 0, 30, 10, 10])
  })
})
