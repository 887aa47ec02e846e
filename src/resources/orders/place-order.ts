import { sql } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'
import { inChange } from '../../engine/change.ts'
import { refusalOf } from '../../engine/constraints.ts'
import { orderNew } from '../../engine/event-kinds.ts'
import { raise } from '../../engine/events.ts'
import type { PendingAnswer } from '../../engine/idempotency.ts'
import { insertRows, type RowIds, reserveIds, reserveRowIds } from '../../engine/write.ts'
import { StoreFailure } from '../../values/failure.ts'
import { readBuyer } from './buyer.ts'
import { transactionList } from './lists.ts'
import { type OrderBody, readOrderBody } from './order-body.ts'
import { makeLines } from './order-lines.ts'
import { itemRows, newRows, orderRow, shipmentRows } from './order-rows.ts'
import { orders } from './orders.ts'
import { noteStocks, takeStock } from './stock.ts'

export interface PlacedOrder {
  readonly id: number
  readonly invoicePrefix: string
  readonly invoiceNumber: number
  /** The grand total, rounded to a cent. */
  readonly orderAmount: number
}

/**
 * Places an order as the checkout does (rest-resources §3.9), in one transaction: computes prices and totals, takes
 * stock, and assigns an invoice number. Its status is New if it was paid online, else Unpaid. An order sent as Not
 * Completed takes no stock until it leaves that status. Refuses what it cannot sell (400, with the field) and what is
 * out of stock (409).
 */
export async function placeOrder(
  caller: Caller,
  body: unknown,
  answer?: PendingAnswer<PlacedOrder>,
): Promise<PlacedOrder> {
  const given = readOrderBody(caller, body)
  const id = await reserveIds(caller, orders.table, 1)
  const ids = await reserveRowIds(caller, countRows(given))
  try {
    return await inChange(caller, (tx) => store(tx, id, given, ids.anew()), answer)
  } catch (error) {
    throw refusalOf(error, orders) ?? error
  }
}

function countRows({ patch, items, shipments, transactions }: OrderBody): number {
  const { PromotionList = [], QuestionList = [] } = patch.lists
  const inDocument = PromotionList.length + QuestionList.length
  return items.length + (shipments?.length ?? 1) + transactions.length + inDocument
}

async function store(caller: Caller, id: number, given: OrderBody, ids: RowIds): Promise<PlacedOrder> {
  const buyer = await readBuyer(caller, (given.patch.columns.customerId ?? null) as number | null)
  const lines = await makeLines(caller, given.items, buyer.priceLevel)
  noteStocks(lines, !given.isNotCompleted)
  const order = orderRow(caller, id, given, buyer, lines, ids)
  const shipments = shipmentRows(caller, order, given, lines, ids)
  await insertRows(caller, orders.table, [order])
  await insertRows(caller, 'OrderShipment', shipments)
  await insertRows(caller, 'OrderItem', itemRows(caller, id, lines, shipments, ids))
  await insertRows(caller, 'OrderTransaction', newRows(transactionList, caller, id, given.transactions, ids))
  if (!given.isNotCompleted) {
    raise(caller, orderNew, orders, id)
    await takeStock(caller, id, lines)
  }
  return { id, orderAmount: Number(order.orderAmount), ...(await takeInvoiceNumber(caller, id)) }
}

/**
 * Assigns the store's next invoice number to the order. Numbers have no gaps, so other orders wait until the
 * transaction ends: this is its last statement.
 */
async function takeInvoiceNumber(
  caller: Caller,
  orderId: number,
): Promise<{ invoicePrefix: string; invoiceNumber: number }> {
  const [taken] = await caller.db.$queryRaw<{ invoicePrefix: string; invoiceNumber: number }[]>(sql`
     WITH taken AS (
       UPDATE "Store" SET "nextInvoiceNumber" = "nextInvoiceNumber" + 1
       WHERE "id" = ${caller.store.id}::int AND "nextInvoiceNumber" < 2147483647
       RETURNING "id", "invoicePrefix", "nextInvoiceNumber" - 1 AS "number")
     UPDATE "Order" o SET "invoicePrefix" = taken."invoicePrefix", "invoiceNumber" = taken."number"
     FROM taken WHERE o."storeId" = taken."id" AND o."id" = ${orderId}::int
     RETURNING o."invoicePrefix", o."invoiceNumber"`)
  if (!taken) throw new StoreFailure('unavailable', 'The store has no invoice numbers left')
  return taken
}
