import type { Document } from '../../engine/merge.ts'
import type { Change, Stored } from '../../engine/write.ts'
import { nameOrderInQuestions } from './questions.ts'
import { settleItems } from './settle-items.ts'
import { settleShipments } from './settle-shipments.ts'
import { settleStatus } from './settle-status.ts'

/** A change of an order that is there already. */
export interface OrderChange extends Change {
  readonly before: Stored
}

/**
 * What a change of an order means besides its fields: shipments and lines are completed, the status is checked and
 * shared with the only shipment, stock is moved. Everything is in the change's transaction, under the order's lock.
 */
export async function settleOrder(change: Change): Promise<void> {
  const { before, after, id } = change
  if (before === null) throw new Error('Orders are made by placeOrder')
  const order: OrderChange = { ...change, before }
  nameOrderInQuestions(after.row.details as Document, id)
  dropFormerPaymentMethod(order)
  settleShipments(order)
  await settleStatus(order)
  await settleItems(order)
}

/** A name that an import or the checkout brought is that of the payment method of then. */
function dropFormerPaymentMethod({ before, after }: OrderChange): void {
  const details = after.row.details as Document
  const { BillingPaymentMethodID: former } = before.row.details as Document
  if (details.BillingPaymentMethodID !== former) delete details.BillingPaymentMethod
}
