import { allows } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { readRows } from '../../../../engine/changing/write.ts'
import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import type { Row } from '../../../../engine/definition/stored-row.ts'
import { getRecord, notFound } from '../../../../engine/reading/read.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { exact, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import { paymentsOf } from '../../../../shop/resources/orders/payments.ts'
import { type KnownRefund, readRefunds, refundedExtent } from '../../../../shop/resources/orders/refunds.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import { readReturnedLines, returnedItems, sharedByGoods, sumByGoods } from '../../../../shop/resources/orders/stock.ts'
import { rmaItemList } from '../../../../shop/resources/rma/items.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { textIn } from '../../../html/request.ts'
import type { OrderRequest } from './special.ts'

// What of an order may be refunded, and put back into stock with it.

type ReturnRecord = RecordOf<typeof rma>

/**
 * Returns what may be refunded of the lines of an order, of its shipping costs and in all, for the return that the form or the address
 * names, or for none. Throws `not-found` for what cannot be a return of the order.
 */
export async function readRefundable({ caller, id, record: order, query, typed }: OrderRequest) {
  const named = textIn(typed ?? query, 'return') || '0'
  if (!/^\d{1,9}$/.test(named)) throw notFound(rma, 0)
  const returnId = Number(named)
  const mayReturn = allows(caller.privileges, rma.privilege, 'write')
  if (returnId !== 0 && !mayReturn)
    throw new StoreFailure('forbidden', 'Your role in this store does not change returns')
  const refunds = await readRefunds(caller, id)
  const before = refundedExtent(refunds)
  const refundedOf = (line: Row) => before.pieces.get(Number(line.id)) ?? 0n
  const isLive = holdsStock(order.OrderStatusID)
  const known = await readReturnedLines(caller, id)
  const left = known.map(({ row }): Row => {
    return { ...row, quantity: Math.max(toNumber(exact(Number(row.quantity)) - refundedOf(row)), 0) }
  })
  const ofReturn = returnId === 0 ? null : await readReturn(caller, id, returnId, { refunds, left })
  const figures = orderFigures(order, caller.store.currency)
  const lines = known.map(({ row, returned }, at) => {
    const line = figures.lines[at] as (typeof figures.lines)[number]
    const quantity = Number(left[at]?.quantity)
    const restockable = ofReturn?.restockable[at] ?? exact(line.quantity) - returned
    return {
      ...line,
      /** The names of its fields begin with this and a dot. */
      field: `Item.${line.id}`,
      row,
      returned: toNumber(returned),
      refunded: toNumber(refundedOf(row)),
      left: quantity,
      /** What the form begins with: what the return has, and all that is left of a cancelled order. */
      wanted: toNumber(ofReturn?.wanted[at] ?? (isLive ? 0n : exact(quantity))),
      /** Of pieces that no return has, or that the return has and that are not back. */
      restockable: isLive && mayReturn && row.productId !== null ? Math.max(toNumber(restockable), 0) : 0,
    }
  })
  const shippingLeft = Math.max(toNumber(exact(figures.shipping) - before.shipping), 0)
  return { returnId, figures, before, lines, shippingLeft, isLive, payments: paymentsOf(order) }
}

export type Refundable = Awaited<ReturnType<typeof readRefundable>>

function withQuantities(rows: readonly Row[], quantityOf: (row: Row) => number): Row[] {
  return rows.map((row) => ({ ...row, quantity: quantityOf(row) }))
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
  const paid = withQuantities(left, (row) => -toNumber(pieces.get(Number(row.id)) ?? 0n))
  const isReceived = rows.some(({ receivedQuantity }) => Number(receivedQuantity) > 0)
  const had = withQuantities(rows, (row) => Number(isReceived ? row.receivedQuantity : row.returnQuantity))
  return {
    wanted: sharedByGoods(left, sumByGoods([...had, ...paid], 'quantity')),
    restockable: sharedByGoods(left, sumByGoods(withQuantities(rows, roomOf), 'quantity')),
  }
}

/** How many pieces of an item of a return are not back in stock. */
function roomOf({ returnQuantity, restockQuantity }: Row): number {
  return Number(returnQuantity) - Number(restockQuantity)
}

/** What the form of a refund or a return is about, as one text: the order, what its returns have, and what was refunded. */
export async function shownOf(caller: Caller, orderId: number, order: string): Promise<string> {
  return order + JSON.stringify([await returnedItems(caller, orderId), await readRefunds(caller, orderId)])
}

/** A return, as a body of REST, of goods that have arrived and go back into stock: lines with so many pieces as `quantity`. */
export function returnOf(OrderID: number, restocked: readonly Row[]) {
  const RMAItemList = restocked.map(({ productId: CatalogID, sku: SKU, quantity }) => {
    return { CatalogID, SKU, ReturnQuantity: quantity, ReceivedQuantity: quantity, RestockQuantity: quantity }
  })
  return { OrderID, RMAItemList }
}

/** The change of a return, as a body of REST, that puts so many pieces of its goods back into stock beside those that are there. */
export async function restockedReturn(tx: Caller, id: number, restocked: readonly Row[]) {
  const { RMAItemList }: ReturnRecord = JSON.parse(await getRecord(tx, rma, id))
  const rooms = withQuantities(await readRows(tx, rmaItemList, id), roomOf)
  const more = sharedByGoods(rooms, sumByGoods(restocked, 'quantity'))
  const items = RMAItemList.map((item, at) => {
    const RestockQuantity = toNumber(exact(item.RestockQuantity) + (more[at] ?? 0n))
    return { ...item, RestockQuantity, ReceivedQuantity: Math.max(item.ReceivedQuantity, RestockQuantity) }
  })
  return { RMAItemList: items }
}
