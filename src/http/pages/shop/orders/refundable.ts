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
import { type KnownRefund, readRefunds, refundedExtent } from '../../../../shop/resources/orders/refunds.ts'
import { holdsStock } from '../../../../shop/resources/orders/statuses.ts'
import {
  goodsOf,
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

/** The return that a refund pays back: as programs read it, with its rows. */
interface PaidReturn {
  readonly record: ReturnRecord
  readonly rows: readonly Row[]
}

/** Returns what may be refunded of the lines of an order, of its shipping costs and in all. `returnId`: for which return; 0: for none. */
export async function readRefundable(caller: Caller, order: OrderRecord, returnId: number) {
  const { OrderID: id } = order
  const paid = returnId === 0 ? null : await readReturn(caller, id, returnId)
  const refunds = await readRefunds(caller, id)
  const returned = await readReturnedLines(caller, id)
  const before = refundedExtent(refunds)
  const figures = orderFigures(order, caller.store.currency)
  const isLive = holdsStock(order.OrderStatusID)
  const left = returned.map(({ row }) =>
    above0(exact(Number(row.quantity)) - (before.pieces.get(Number(row.id)) ?? 0n)),
  )
  const wanted = paid === null ? null : sharesOf(returned, left, ofReturn(paid, refunds, returned))
  const mayReturn = isLive && allows(caller.privileges, rma.privilege, 'write')
  const restockable = !mayReturn ? [] : restockableOf(returned, left, paid)
  const lines = figures.lines.map((line, at) => ({
    ...line,
    /** The names of its fields begin with this and a dot. */
    field: `Item.${line.id}`,
    row: returned[at]?.row as Row,
    returned: toNumber(returned[at]?.returned ?? 0n),
    refunded: toNumber(before.pieces.get(line.id) ?? 0n),
    left: toNumber(left[at] ?? 0n),
    /** What the form begins with: what the return has, and all that is left of a cancelled order. */
    wanted: toNumber(wanted?.[at] ?? (isLive ? 0n : (left[at] ?? 0n))),
    restockable: toNumber(restockable[at] ?? 0n),
  }))
  return {
    paid: paid?.record ?? null,
    before,
    lines,
    /** Of the shipping costs. */
    shippingLeft: Math.max(toNumber(exact(figures.shipping) - before.shipping), 0),
    isLive,
    payments: paymentsOf(order),
  }
}

export type Refundable = Awaited<ReturnType<typeof readRefundable>>

async function readReturn(caller: Caller, orderId: number, id: number): Promise<PaidReturn> {
  if (!allows(caller.privileges, rma.privilege, 'write'))
    throw new StoreFailure('forbidden', 'Your role in this store does not change returns')
  const record: ReturnRecord = JSON.parse(await getRecord(caller, rma, id))
  if (record.OrderID !== orderId) throw notFound(rma, id)
  return { record, rows: await readRows(caller, rmaItemList, id) }
}

/** What a return has to be paid back, by goods: what was received of it or, before anything is, what it has; less what was refunded for it. */
function ofReturn({ record, rows }: PaidReturn, refunds: readonly KnownRefund[], lines: readonly ReturnedLine[]) {
  const isReceived = rows.some(({ receivedQuantity }) => Number(receivedQuantity) > 0)
  const sums = sumByGoods(rows, isReceived ? 'receivedQuantity' : 'returnQuantity')
  const { pieces } = refundedExtent(refunds.filter(({ rmaId }) => rmaId === record.RMAID))
  for (const { row, goods } of lines) sums.set(goods, (sums.get(goods) ?? 0n) - (pieces.get(Number(row.id)) ?? 0n))
  return sums
}

/** Shares sums by goods out to the lines, to each what is left of it at most. */
function sharesOf(lines: readonly ReturnedLine[], left: readonly bigint[], sums: ReadonlyMap<string, bigint>) {
  return sharedByGoods(
    lines.map(({ row }, at) => ({ ...row, quantity: toNumber(left[at] ?? 0n) })),
    sums,
  )
}

/** How many pieces of each line a refund may put back into stock: those that no return has, or those of its return that are not back. */
function restockableOf(lines: readonly ReturnedLine[], left: readonly bigint[], paid: PaidReturn | null): bigint[] {
  const ofGoods = new Map<string, bigint>()
  for (const row of paid?.rows ?? []) {
    const rest = exact(Number(row.returnQuantity)) - exact(Number(row.restockQuantity))
    ofGoods.set(goodsOf(row), (ofGoods.get(goodsOf(row)) ?? 0n) + above0(rest))
  }
  const shares = sharesOf(lines, left, ofGoods)
  return lines.map(({ row, returned }, at) => {
    if (row.productId === null) return 0n
    return paid === null ? above0(exact(Number(row.quantity)) - returned) : (shares[at] ?? 0n)
  })
}

function above0(amount: bigint): bigint {
  return amount > 0n ? amount : 0n
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
export function returnOf(OrderID: number, status: number, restocked: readonly Restocked[]) {
  const RMAItemList = restocked.map(({ row, quantity }) => ({
    CatalogID: row.productId,
    SKU: row.sku,
    ...{ ReturnQuantity: quantity, ReceivedQuantity: quantity, RestockQuantity: quantity },
  }))
  return { OrderID, RMAStatusID: status, RMAItemList }
}

/** The change of a return, as a body of REST, that puts so many pieces of its goods back into stock beside those that are there. */
export async function restockedReturn(tx: Caller, id: number, status: number, restocked: readonly Restocked[]) {
  const { RMAItemList }: ReturnRecord = JSON.parse(await getRecord(tx, rma, id))
  const rows = await readRows(tx, rmaItemList, id)
  const left = sumByGoods(
    restocked.map(({ row, quantity }) => ({ ...row, quantity })),
    'quantity',
  )
  const items = RMAItemList.map((item, at) => {
    const goods = goodsOf(rows[at] as Row)
    const [rest, room] = [left.get(goods) ?? 0n, above0(exact(item.ReturnQuantity) - exact(item.RestockQuantity))]
    const more = rest < room ? rest : room
    left.set(goods, rest - more)
    const RestockQuantity = toNumber(exact(item.RestockQuantity) + more)
    const ReceivedQuantity = more > 0n ? Math.max(item.ReceivedQuantity, RestockQuantity) : item.ReceivedQuantity
    return { ...item, ReceivedQuantity, RestockQuantity }
  })
  return { RMAStatusID: status, RMAItemList: items }
}
