import { expect, test } from 'vitest'
import { refundType } from '../../../src/shop/resources/orders/refunds.ts'
import { dialects, inDialect, recordsIn } from './dialects.ts'
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
}
