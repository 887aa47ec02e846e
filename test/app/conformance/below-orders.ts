import { expect, test } from 'vitest'
import { checkoutType } from '../../../src/shop/resources/orders/checkout/body.ts'
import { quoteType } from '../../../src/shop/resources/orders/checkout/quote.ts'
import { refundType } from '../../../src/shop/resources/orders/refunds.ts'
import { dialects, inDialect, recordsIn, written } from './dialects.ts'
import { newWholeRecord } from './records.ts'
import type { Stage } from './stage.ts'

/** The refunds of an order in every dialect. What they mean is tried in test/app/shop/resources/orders. */
export function belowOrders(stage: () => Stage): void {
  test.each(dialects)('the refunds of an order are there in $version and $format', async (dialect) => {
    const { home } = stage()
    const { id, record } = await newWholeRecord(stage())
    const [line] = record.OrderItemList as { readonly ItemIndexID: number }[]
    const named = { ItemIndexID: line?.ItemIndexID, RefundQuantity: 0.5, RefundAmount: 2.25 }
    await home.add(`/Orders/${id}/Transactions`, {
      TransactionType: 'Refund',
      TransactionAmount: -7,
      RefundItemList: [named],
    })
    const answer = await home.call('GET', `/Orders/${id}/Refunds`, inDialect(dialect))
    expect(recordsIn(answer, dialect, refundType)).toMatchObject([
      { RefundTotal: 7, RMAID: 0, RefundItemList: [named] },
    ])
  })

  test.each(dialects)('an order is quoted and placed in $version and $format', async (dialect) => {
    const { home } = stage()
    const CatalogID = await home.add('/Products', {
      SKUInfo: { SKU: `CHECKOUT ${dialect.version} ${dialect.format}`, Name: 'Bag', Price: 20, Stock: 5 },
    })
    const Payment = { Amount: 40, Method: 'Cash', Status: 'approved' }
    const body = { BillingEmail: 'guest@shop.example', OrderItemList: [{ CatalogID, ItemQuantity: 2 }], Payment }
    const sent = inDialect(dialect, written(dialect, body, checkoutType))
    const [quoted] = recordsIn(await home.call('POST', '/Checkout/Quote', sent), dialect, quoteType)
    expect(quoted).toMatchObject({ OrderAmount: 40, CanBePlaced: true, OrderItemList: [{ ItemUnitPrice: 20 }] })
    const headers = { 'idempotency-key': `${dialect.version}-${dialect.format}` }
    const answer = await home.call('POST', '/Checkout', { ...sent, headers })
    expect([answer.statusCode, answer.body]).toEqual([201, expect.stringMatching(/OrderAmount\W+40\b/)])
  })
}
