import fc from 'fast-check'
import { expect, test } from 'vitest'
import { orderFigures } from '../../../src/pages/order-figures.ts'
import { amountOf, exact, orderTotal } from '../../../src/resources/orders/amounts.ts'

const amount = fc.integer({ min: 0, max: 9_999_999 }).map((units) => units / 10_000)
const text = fc.constant('')

test('the figures that pages show add up to the total, also where a client stored fractions of a cent', () => {
  const line = fc.record({
    ItemID: text,
    ItemDescription: text,
    ItemQuantity: amount,
    ItemUnitPrice: amount,
    ItemOptionPrice: amount,
  })
  const shipment = fc.record({
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
    fc.property(order, (record) => {
      const { subtotal, shipping, tax, discount } = orderFigures(record, 'USD')
      const total = orderTotal({
        lines: record.OrderItemList.map(({ ItemUnitPrice, ItemOptionPrice, ItemQuantity }) =>
          amountOf(exact(ItemUnitPrice) + exact(ItemOptionPrice), exact(ItemQuantity)),
        ),
        charges: [
          ...record.ShipmentList.map(({ ShipmentCost }) => ShipmentCost),
          record.SalesTax,
          record.SalesTax2,
          record.SalesTax3,
        ],
        discounts: [record.OrderDiscountCoupon, record.OrderDiscountPromotion],
      })
      const shown = exact(subtotal) + exact(shipping) + exact(tax) - exact(discount)
      expect(shown > 0n ? shown : 0n).toBe(total)
      for (const figure of [subtotal, shipping, tax, discount]) expect(exact(figure) % 100n).toBe(0n)
    }),
  )
})
