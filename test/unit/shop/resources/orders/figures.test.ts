import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amountOf, exact } from '../../../../../src/shop/resources/orders/amounts.ts'
import { orderFigures, partsOf } from '../../../../../src/shop/resources/orders/figures.ts'
import type { OrderRecord } from '../../../../../src/shop/resources/orders/orders.ts'

const amount = fc.integer({ min: 0, max: 9_999_999 }).map((units) => units / 10_000)
const text = fc.constant('')
/** With their smallest sums, in ten-thousandths. */
const currency = fc.constantFrom(['EUR', 100n], ['KWD', 10n], ['JPY', 10_000n], ['CLF', 1n] as const)

test('the figures that pages show add up to the total, in each currency, also where a client stored finer ones', () => {
  const line = fc.record({
    ItemID: text,
    ItemDescription: text,
    ItemQuantity: amount,
    ItemUnitPrice: amount,
    ItemOptionPrice: amount,
    ItemIndexID: fc.constant(1),
    CatalogID: fc.constant(1),
    ItemShipmentID: fc.constant(0),
  })
  const shipment = fc.record({
    ShipmentID: fc.constant(0),
    ShipmentCost: amount,
    ShipmentOrderStatus: fc.constant(1),
    ShipmentMethodName: text,
    ShipmentShippedDate: text,
    ShipmentTrackingCode: text,
  })
  const order = fc.record({
    OrderItemList: fc.array(line, { minLength: 1, maxLength: 3 }),
    ShipmentList: fc.array(shipment, { maxLength: 3 }),
    OrderDiscountCoupon: amount,
    OrderDiscountPromotion: amount,
    SalesTax: amount,
    SalesTax2: amount,
    SalesTax3: amount,
    CustomerComments: text,
    ExternalComments: text,
  })
  fc.assert(
    fc.property(order, currency, (record, [code, unit]) => {
      const { subtotal, shipping, tax, discount, sum } = orderFigures(record as unknown as OrderRecord, code)
      const lines = record.OrderItemList.map(({ ItemUnitPrice, ItemOptionPrice, ItemQuantity }) =>
        amountOf(exact(ItemUnitPrice) + exact(ItemOptionPrice), exact(ItemQuantity), code),
      )
      const costs = record.ShipmentList.map(({ ShipmentCost }) => ShipmentCost)
      const columns = {
        salesTax: record.SalesTax,
        salesTax2: record.SalesTax2,
        salesTax3: record.SalesTax3,
        discountCoupon: record.OrderDiscountCoupon,
        discountPromotion: record.OrderDiscountPromotion,
      }
      const shown = exact(subtotal) + exact(shipping) + exact(tax) - exact(discount)
      expect([shown, exact(sum)]).toEqual(Array(2).fill(partsOf(lines, costs, columns, code).sum))
      for (const figure of [subtotal, shipping, tax, discount]) expect(exact(figure) % unit).toBe(0n)
    }),
  )
})
