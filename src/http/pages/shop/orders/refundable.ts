import { allows } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { readRows } from '../../../../engine/changing/write.ts'
import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import type { Row } from '../../../../engine/definition/stored-row.ts'
import { getRecord, notFound } from '../../../../engine/reading/read.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { exact, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import type { OrderRecord } from '../../../../shop/resources/orders/orders.ts'
import { paymentsOf } from '../../../../shop/resources/orders/payments.ts'
import type { Extent } from '../../../../shop/resources/orders/refund-amounts.ts'
import { type KnownRefund, readRefunds, refundedExtent } from '../../../../shop/resources/orders/refunds.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import {
  type ReturnedLine,
  readReturnedLines,
  returnedItems,
  sharedByGoods,
  sumByGoods,
} from '../../../../shop/resources/orders/stock.ts'
import { rmaItemList } from '../../../../shop/resources/rma/items.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'

// What of an order may be refunded, and put back into stock with it.

type ReturnRecord = RecordOf<typeof rma>

/** Returns what may be refunded of the lines of an order, of its shipping costs and in all. `returnId`: for which return; 0: for none. */
export async function readRefundable(caller: Caller, order: OrderRecord, returnId: number) {
  const { OrderID: id } = order
  const mayReturn = allows(caller.privileges, rma.privilege, 'write')
  if (returnId !== 0 && !mayReturn)
    throw new StoreFailure('forbidden', 'Your role in this store does not change returns')
  const refunds = await readRefunds(caller, id)
  const before = refundedExtent(refunds)
  const isLive = holdsStock(order.OrderStatusID)
  const known = await readReturnedLines(caller, id)
  const left = known.map(({ row }) => lessRefunded(row, before))
  const ofReturn = returnId === 0 ? null : await readReturn(caller, id, returnId, { refunds, left })
  const figures = orderFigures(order, caller.store.currency)
  const lines = figures.lines.map((line, at) => {
    const { row, returned } = known[at] as ReturnedLine
    const { quantity } = left[at] as { quantity: number }
    const restockable = ofReturn?.restockable[at] ?? exact(line.quantity) - returned
    return {
      ...line,
      /** The names of its fields begin with this and a dot. */
      field: `Item.${line.id}`,
      row,
      returned: toNumber(returned),
      refunded: toNumber(before.pieces.get(line.id) ?? 0n),
      left: quantity,
      /** What the form begins with: what the return has, and all that is left of a cancelled order. */
      wanted: toNumber(ofReturn?.wanted[at] ?? (isLive ? 0n : exact(quantity))),
      /** Of pieces that no return has, or that the return has and that are not back. */
      restockable: isLive && mayReturn && row.productId !== null ? Math.max(toNumber(restockable), 0) : 0,
    }
  })
  const shippingLeft = Math.max(toNumber(exact(figures.shipping) - before.shipping), 0)
  return { before, lines, shippingLeft, isLive, payments: paymentsOf(order) }
}

export type Refundable = Awaited<ReturnType<typeof readRefundable>>

/** A line with what is not refunded as its quantity. */
function lessRefunded(row: Row, { pieces }: Extent): Row {
  const left = exact(Number(row.quantity)) - (pieces.get(Number(row.id)) ?? 0n)
  return { ...row, quantity: Math.max(toNumber(left), 0) }
}

/**
 * What of each line a return has to be paid back, which is what was received or, before anything is, what it has; and what of it is not
 * back in stock.
 */
async function readReturn(
  caller: Caller,
  orderId: number,
  id: number,
  { refunds, left }: { readonly refunds: readonly KnownRefund[]; readonly left: readonly Row[] },
) {
  const record: ReturnRecord = JSON.parse(await getRecord(caller, rma, id))
  if (record.OrderID !== orderId) throw notFound(rma, id)
  const rows = await readRows(caller, rmaItemList, id)
  const { pieces } = refundedExtent(refunds.filter(({ rmaId }) => rmaId === id))
  const paid = left.map((row) => ({ ...row, quantity: toNumber(pieces.get(Number(row.id)) ?? 0n) }))
  const isReceived = rows.some(({ receivedQuantity }) => Number(receivedQuantity) > 0)
  const shares = (sums: Map<string, bigint>, less: ReadonlyMap<string, bigint>) => {
    for (const [goods, quantity] of less) sums.set(goods, (sums.get(goods) ?? 0n) - quantity)
    return sharedByGoods(left, sums)
  }
  return {
    wanted: shares(sumByGoods(rows, isReceived ? 'receivedQuantity' : 'returnQuantity'), sumByGoods(paid, 'quantity')),
    restockable: shares(sumByGoods(rows, 'returnQuantity'), sumByGoods(rows, 'restockQuantity')),
  }
}

/** What the form of a refund is about, as one text: the order, what its returns have, and what was refunded. */
export async function shownOf(caller: Caller, orderId: number, order: string): Promise<string> {
  return order + JSON.stringify([await returnedItems(caller, orderId), await readRefunds(caller, orderId)])
}

/** So many pieces of a line that go back into stock. */
export interface Restocked {
  readonly row: Row
  readonly quantity: number
}

/** A return, as a body of REST, of goods that have arrived and go back into stock. */
export function returnOf(OrderID: number, restocked: readonly Restocked[]) {
  const RMAItemList = restocked.map(({ row, quantity }) => ({
    CatalogID: row.productId,
    SKU: row.sku,
    ...{ ReturnQuantity: quantity, ReceivedQuantity: quantity, RestockQuantity: quantity },
  }))
  return { OrderID, RMAItemList }
}

/** The change of a return, as a body of REST, that puts so many pieces of its goods back into stock beside those that are there. */
export async function restockedReturn(tx: Caller, id: number, restocked: readonly Restocked[]) {
  const { RMAItemList }: ReturnRecord = JSON.parse(await getRecord(tx, rma, id))
  const rows = await readRows(tx, rmaItemList, id)
  const rest = sumByGoods(
    restocked.map(({ row, quantity }) => ({ ...row, quantity })),
    'quantity',
  )
  const rooms = rows.map((row) => ({ ...row, quantity: Number(row.returnQuantity) - Number(row.restockQuantity) }))
  const more = sharedByGoods(rooms, rest)
  const items = RMAItemList.map((item, at) => {
    const RestockQuantity = toNumber(exact(item.RestockQuantity) + (more[at] ?? 0n))
    return { ...item, RestockQuantity, ReceivedQuantity: Math.max(item.ReceivedQuantity, RestockQuantity) }
  })
  return { RMAItemList: items }
}
