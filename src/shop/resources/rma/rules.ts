import type { Caller } from '../../../engine/caller.ts'
import { readRows } from '../../../engine/changing/write.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Change } from '../../../engine/definition/resource.ts'
import type { Row } from '../../../engine/definition/stored-row.ts'
import { anyOfFew, sql, storeId } from '../../../foundation/database/sql.ts'
import { refuseErased } from '../../personal/refuse.ts'
import { writeDue } from '../order-mails/due.ts'
import { orderItemList } from '../orders/lists.ts'
import { refuseFractions } from '../orders/order-lines.ts'
import { forgetReturn } from '../orders/refunds.ts'
import { holdsStock } from '../orders/statuses.ts'
import { moveHeldStocks, restockedBy, returnedItems } from '../orders/stock.ts'
import { lockProducts } from '../products/stock.ts'
import { areSame, completeItems, keepOptions, rmaItemList } from './items.ts'

/**
 * Checks the items of changed returns against the lines of the order, completes them, and moves the stock by the change
 * in restocked quantities. Runs in the change's transaction. Lock order: the return, its orders, the products, each by
 * ascending id.
 */
export async function returnRules(changes: readonly Change[]): Promise<void> {
  await refuseErased(changes)
  for (const change of changes) await (change.kind === 'delete' ? takeBack(change) : settle(change))
}

async function settle({ caller, id, before, after }: Change): Promise<void> {
  const [from, to] = [orderIdOf(before?.row), orderIdOf(after.row)]
  if (to === null && (before === null || from !== null))
    throw wrongField('OrderID', 'must be the id of an order', 'unknown-reference')
  const sent = after.lists.RMAItemList
  if (before !== null && from === to && !sent) return

  const stored = before === null ? [] : (before.lists.RMAItemList ?? (await readRows(caller, rmaItemList, id)))
  const items = sent ?? stored.map((row) => ({ ...row }))
  if (from === to && areSame(stored, items)) {
    after.lists.RMAItemList = stored
    return
  }
  const orders = await lockOrders(caller, [from, to])
  if (to === null) {
    keepOptions(items, stored)
  } else {
    if (!orders.has(to)) throw wrongField('OrderID', 'refers to an order that does not exist', 'unknown-reference')
    const restocked = await returnedItems(caller, to, id)
    const lines = await readRows(caller, orderItemList, to)
    completeItems(items, lines, restocked)
    await refuseFractions(caller, [...lines, ...stored], items, (index, name) => `RMAItemList[${index}].${name}`)
  }
  after.lists.RMAItemList = items
  if (from !== null && from !== to) await forgetReturn(caller, from, id)
  const had = isHeld(from, orders) ? restockedBy(stored) : []
  const has = isHeld(to, orders) ? restockedBy(items) : []
  if (from === to) return moveHeldStocks(caller, to, 'return', had, has)
  // The ledger records moves of both orders. Locks all products at once: a later lock of a lower id could deadlock.
  const productIds = [...had, ...has].map(({ productId }) => productId)
  await lockProducts(caller, productIds)
  await moveHeldStocks(caller, from, 'return', had, [])
  await moveHeldStocks(caller, to, 'return', [], has)
}

/** Takes a deleted return's restocked quantities off the stock; the refunds that named it name none. */
async function takeBack({ caller, id, before }: Change): Promise<void> {
  const orderId = orderIdOf(before?.row)
  const orders = await lockOrders(caller, [orderId])
  if (orderId !== null) await forgetReturn(caller, orderId, id)
  if (!isHeld(orderId, orders)) return
  await moveHeldStocks(caller, orderId, 'return', restockedBy(await readRows(caller, rmaItemList, id)), [])
}

/** Tells customers of returns of which something has arrived. */
export async function returnEffects(changes: readonly Change[]): Promise<void> {
  for (const { kind, caller, id, before, after } of changes) {
    const orderId = orderIdOf(after.row)
    const isNews = hasArrived(after.lists.RMAItemList) && !hasArrived(before?.lists.RMAItemList)
    if (kind === 'import' || kind === 'delete' || orderId === null || !isNews) continue
    await writeDue(caller, [{ kind: 'order-returned', orderId, aboutId: id }])
  }
}

function hasArrived(items: readonly Row[] = []): boolean {
  return items.some(
    ({ receivedQuantity, restockQuantity }) => Number(receivedQuantity) > 0 || Number(restockQuantity) > 0,
  )
}

function orderIdOf(row: Row | undefined): number | null {
  return (row?.orderId ?? null) as number | null
}

/** Locks the existing orders and returns their statuses by id. */
async function lockOrders(caller: Caller, ids: readonly (number | null)[]): Promise<Map<number, number>> {
  const wanted = anyOfFew(ids.filter((id) => id !== null))
  const found = await caller.db.$queryRaw<{ id: number; statusId: number }[]>(sql`
    SELECT o."id", o."statusId" FROM "Order" o WHERE o."storeId" = ${storeId(caller.store)} AND o."id" = ${wanted}
    ORDER BY o."id" FOR NO KEY UPDATE OF o`)
  return new Map(found.map(({ id, statusId }) => [id, statusId]))
}

/** False for an order that holds no stock: all its lines went back already, returned or not. True without an order. */
function isHeld(orderId: number | null, statuses: ReadonlyMap<number, number>): boolean {
  return orderId === null || holdsStock(statuses.get(orderId) as number)
}
