import type { Caller } from '../../../engine/caller.ts'
import { isListChanged } from '../../../engine/changing/change.ts'
import { changedColumns } from '../../../engine/changing/update-rows.ts'
import { readRows } from '../../../engine/changing/write.ts'
import { type EventKind, orderNew, orderStatusChange } from '../../../engine/definition/event-kinds.ts'
import type { Json, Patch } from '../../../engine/definition/input.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Change } from '../../../engine/definition/resource.ts'
import type { Document, Row, Stored } from '../../../engine/definition/stored-row.ts'
import { raise } from '../../../engine/recording/events.ts'
import { sql } from '../../../foundation/database/sql.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { IMPORTED_MAX } from '../../../foundation/values/int32.ts'
import { refuseErased } from '../../personal/refuse.ts'
import { dueOfOrder, writeDue } from '../order-mails/due.ts'
import { lockProducts, type StockCause } from '../products/stock.ts'
import { toNumber } from './amounts.ts'
import { knownChoices } from './choose-options.ts'
import { discountOf, lineAmount, refuseDiscountAbove } from './figures.ts'
import { type DescribedLine, descriptionOf } from './line-description.ts'
import { orderItemList, shipmentList } from './lists.ts'
import { lineColumns, lineDetails, refuseFractions } from './order-lines.ts'
import { isVoid } from './payments.ts'
import { numberRefunds, settleRefunds } from './refunds.ts'
import { refuseSharedNumber } from './same-number.ts'
import { optionIdsIn, readSoldProducts, type SoldProduct, variantOf } from './sold-products.ts'
import {
  type ChosenStatus,
  holdsStock,
  isShipped,
  refuseUnknownStatuses,
  statusCancelled,
  statusNotCompleted,
  statusShipped,
} from './statuses.ts'
import { difference, goodsOf, moveHeldStocks, restockedBy, returnedItems, sumByGoods, takenBy } from './stock.ts'

/** Stands for the id of a shipment that is added with the lines that it has. The wire has no such number. */
export const NEW_SHIPMENT = -1

/** A change of an existing order. */
type OrderChange = Change & { readonly before: Stored }

/**
 * Completes the shipments and lines of changed orders, checks the status and shares it with a single shipment, and
 * moves stock. Runs in the change's transaction, under the order's lock.
 */
export async function orderRules(changes: readonly Change[]): Promise<void> {
  await refuseErased(changes)
  for (const change of changes) {
    const { before, after, id } = change
    if (before === null) throw new Error('Orders are made by placeOrder')
    const order: OrderChange = { ...change, before }
    nameOrderInQuestions(after.row.details as Document, id)
    dropFormerPaymentMethod(order)
    settleShipments(order)
    settleTransactions(order)
    await settleStatus(order)
    await settleItems(order)
    await settleDiscount(order)
    await settleRefunds(order)
    // Last, because placing orders locks products before the store's row.
    await refuseSharedNumber(order)
  }
}

/** Writes the order's id into its answers (rest-resources §3.7). */
export function nameOrderInQuestions(details: Document, orderId: number): void {
  for (const question of (details.QuestionList ?? []) as Document[]) question.OrderID = orderId
}

/** Drops a name from import or checkout when the payment method changes, because it names the former one. */
function dropFormerPaymentMethod({ before, after }: OrderChange): void {
  const details = after.row.details as Document
  const { BillingPaymentMethodID: former } = before.row.details as Document
  if (details.BillingPaymentMethodID !== former) delete details.BillingPaymentMethod
}

/** Dates new transactions that came without a date, and notes who makes one void, and of which type it was. */
function settleTransactions({ caller, before, after }: OrderChange): void {
  const known = new Map((before.lists.TransactionList ?? []).map((row) => [row.id, row]))
  const transactions = after.lists.TransactionList ?? []
  const added = transactions.filter(({ id }) => !known.has(id))
  dateTransactions(added, caller)
  for (const row of transactions) {
    const former = known.get(row.id)?.type
    if (former === undefined || isVoid(former) === isVoid(row.type)) continue
    const mark = isVoid(row.type)
      ? { voidedAt: caller.now().toISOString(), voidedBy: caller.actor, voidedType: former }
      : { voidedAt: null, voidedBy: null, voidedType: null }
    Object.assign(row, mark)
  }
}

/** Gives the current time to transactions without a date. */
export function dateTransactions(transactions: readonly Row[] = [], { now }: Caller): void {
  for (const row of transactions) row.occurredAt ??= now().toISOString()
}

/**
 * Completes sent shipments: new ones get a number and a status, changed ones a time and an editor, and those that leave their place
 * among the shipments that have left, because their days alone do not tell which of two left first.
 */
function settleShipments({ caller, before, after }: OrderChange): void {
  const shipments = after.lists.ShipmentList ?? []
  const known = new Map((before.lists.ShipmentList ?? []).map((row) => [row.id, row]))
  for (const row of shipments) {
    const stored = known.get(row.id)
    if (stored === undefined) {
      if (row.number === 0) row.number = Math.max(...shipments.map(({ number }) => Number(number))) + 1
      if (row.statusId === 0) row.statusId = before.row.statusId as number
    } else if (changedColumns({ before: stored, after: row }).length > 0) {
      row.updatedAt = caller.now().toISOString()
      row.updatedBy = caller.actor
    }
    if ((stored !== undefined && isShipped(stored)) !== isShipped(row)) {
      row.departure = isShipped(row) ? Math.max(0, ...shipments.map(({ departure }) => Number(departure))) + 1 : null
    }
  }
}

/**
 * Sets the order's status. Refuses (400) an unknown status, and any other status for a cancelled order, whose items
 * went back to stock: only the administration may reopen it (order-statuses §1.4).
 */
async function settleStatus(change: OrderChange): Promise<void> {
  const { caller, before, after } = change
  const from = Number(before.row.statusId)
  const wanted = wantedStatus(change, from)
  if (wanted.statusId !== from && from === statusCancelled && caller.channel !== 'administration') {
    // Clients compare this text.
    const message = 'Not updated. Requested Change Status not allowed'
    throw new StoreFailure('invalid-state', message, { field: wanted.field, status: 400 })
  }
  await refuseUnknownStatuses(caller, [...(wanted.statusId === from ? [] : [wanted]), ...shipmentStatuses(change)])
  after.row.statusId = wanted.statusId
  const [only, ...others] = after.lists.ShipmentList ?? []
  if (only === undefined || others.length > 0) return
  // An import may have stored another one, which stays until one of the two changes.
  const stored = before.lists.ShipmentList?.find((row) => row.id === only.id)
  if (wanted.statusId !== from || only.statusId !== stored?.statusId) only.statusId = wanted.statusId
}

/**
 * An order shares its status with a single shipment, and clients change either (rest-resources §3.8, §3.10), sending
 * the other unchanged. Returns the one that differs from the stored status; the order's own if both do. An import may have
 * stored two different ones.
 */
function wantedStatus({ patch, before, after }: OrderChange, from: number): ChosenStatus {
  const own = Number(after.row.statusId)
  const [only, ...others] = patch.lists.ShipmentList ?? []
  const ofShipment = others.length === 0 ? Number(only?.columns.statusId ?? 0) : 0
  const [stored, ...otherStored] = before.lists.ShipmentList ?? []
  const isStored = otherStored.length === 0 && stored?.statusId === ofShipment
  if (own !== from || ofShipment === 0 || isStored) return { statusId: own, field: 'OrderStatusID' }
  return { statusId: ofShipment, field: 'ShipmentOrderStatus' }
}

/** Returns the changed statuses of several shipments, except those equal to the order's former status. */
function shipmentStatuses({ before, after }: OrderChange): ChosenStatus[] {
  const shipments = after.lists.ShipmentList ?? []
  if (shipments.length === 1) return []
  const stored = new Map((before.lists.ShipmentList ?? []).map(({ id, statusId }) => [id, statusId]))
  return shipments
    .filter(({ id, statusId }) => statusId !== stored.get(id) && statusId !== before.row.statusId)
    .map(({ statusId }) => ({ statusId: Number(statusId), field: 'ShipmentOrderStatus' }))
}

/**
 * Completes sent lines, and moves the stock by the change in what the order holds: its lines less what its returns put
 * back.
 */
async function settleItems(change: OrderChange): Promise<void> {
  const { caller, id, before, after } = change
  const sent = after.lists.OrderItemList
  if (sent) await settleLines(change, sent)

  const from = Number(before.row.statusId)
  const to = Number(after.row.statusId)
  if (!sent && holdsStock(from) === holdsStock(to)) return
  const stored = before.lists.OrderItemList ?? (await readRows(caller, orderItemList, id))
  const restocked = await returnedItems(caller, id)
  if (sent) refuseLessThanRestocked(stored, sent, restocked)
  const held = holdsStock(from) ? [...takenBy(stored), ...restockedBy(restocked)] : []
  const holds = holdsStock(to) ? [...takenBy(sent ?? stored), ...restockedBy(restocked)] : []
  await moveHeldStocks(caller, id, causeOf(from, to), held, holds)
}

/**
 * Refuses (400) to raise the discounts above the goods, whoever does. A change of only the goods keeps the discounts, because
 * clients take lines away before they lower a discount; so does what an import brought.
 */
async function settleDiscount({ caller, id, before, after }: OrderChange): Promise<void> {
  const { currency } = caller.store
  if (discountOf(after.row, currency) <= discountOf(before.row, currency)) return
  const lines = after.lists.OrderItemList ?? (await readRows(caller, orderItemList, id))
  const amounts = lines.map((line) => lineAmount(line, currency))
  refuseDiscountAbove(amounts, after.row, currency)
}

function causeOf(from: number, to: number): StockCause {
  if (holdsStock(from) === holdsStock(to)) return 'order-edit'
  if (holdsStock(from)) return 'cancel'
  return from === statusCancelled ? 'reopen' : 'order'
}

async function settleLines(change: OrderChange, sent: readonly Row[]): Promise<void> {
  const { caller, patch, before } = change
  const { currency } = caller.store
  const stored = before.lists.OrderItemList ?? []
  const given = patch.lists.OrderItemList ?? []
  await refuseOtherShipments(change, given)
  await refuseFractions(caller, stored, sent, (index, name) => `OrderItemList[${index}].${name}`)
  const known = new Map(stored.map((row) => [row.id, row]))
  const fresh = sent.map((row, index) => ({ row, index })).filter(({ row }) => isOfOtherProduct(known.get(row.id), row))
  const freshIds = fresh.flatMap(({ row }) => idsOf(row))
  const repriced = sent.filter((row) => isRepriced(known.get(row.id), row))
  // Locks all at once and by id, before stocks move: a later lock of a lower id could deadlock.
  const moving = difference(takenBy(stored), takenBy(sent)).map(({ productId }) => productId)
  await lockProducts(caller, [...freshIds, ...moving])
  const products = await readSoldProducts(caller, [...freshIds, ...repriced.flatMap(idsOf)])
  for (const { row, index } of fresh) {
    const path = `OrderItemList[${index}]`
    if (row.productId === null) row.optionCode = null
    else completeLine(row, products.get(Number(row.productId)), given[index], { currency, path })
  }
  for (const row of repriced) {
    const product = products.get(Number(row.productId))
    if (product) describeAnew(row, known.get(row.id) as Row, product, currency)
  }
  putIntoNewShipment(change, sent)
}

function idsOf({ productId }: Row): number[] {
  return productId === null ? [] : [Number(productId)]
}

/** Puts lines of `NEW_SHIPMENT` into the shipment that the same change adds. */
function putIntoNewShipment({ before, after }: OrderChange, sent: readonly Row[]): void {
  const known = new Set((before.lists.ShipmentList ?? []).map(({ id }) => id))
  const added = after.lists.ShipmentList?.find(({ id }) => !known.has(id))
  for (const row of sent) if (row.shipmentId === NEW_SHIPMENT) row.shipmentId = added?.id ?? 0
}

function isOfOtherProduct(stored: Row | undefined, row: Row): boolean {
  if (stored === undefined || stored.productId !== row.productId) return true
  return (stored.details as Document).ItemOptions !== (row.details as Document).ItemOptions
}

function isRepriced(stored: Row | undefined, row: Row): boolean {
  if (stored === undefined || isOfOtherProduct(stored, row)) return false
  return Number(stored.optionPrice) !== Number(row.optionPrice) && stored.description === row.description
}

/** Lets a description that the platform made follow the price of the options. Keeps one that somebody else wrote. */
function describeAnew(row: Row, stored: Row, product: SoldProduct, currency: string): void {
  if (stored.description !== descriptionOf(describedLine(stored, product, currency))) return
  row.description = descriptionOf(describedLine(row, product, currency))
}

/** Fills in omitted fields from the product, except prices. */
function completeLine(
  row: Row,
  product: SoldProduct | undefined,
  given: Patch | undefined,
  { currency, path }: { currency: string; path: string },
): void {
  if (!product) throw wrongField(`${path}.CatalogID`, 'refers to a product that does not exist', 'unknown-reference')
  const details = row.details as Document
  Object.assign(row, lineColumns(describedLine(row, product, currency)), given?.columns)
  row.details = { ...details, ...lineDetails(product), ...(product.nonTaxable && { ItemNonTaxable: true }) }
}

function describedLine({ details, optionPrice }: Row, product: SoldProduct, currency: string): DescribedLine {
  const optionIds = optionIdsIn(String((details as Document).ItemOptions ?? ''))
  const variant = variantOf(product, optionIds)
  const choices = knownChoices(product, optionIds)
  return { product, variant, choices, optionPrice: Number(optionPrice), currency }
}

/** Not of lines that say what is stored, because an import may have brought it. */
async function refuseOtherShipments({ caller, id, before, after }: OrderChange, given: readonly Patch[]) {
  if (!given.some(({ columns }) => columns.shipmentId)) return
  const shipments = after.lists.ShipmentList ?? (await readRows(caller, shipmentList, id))
  if (shipments.length < 2) return
  const ids = shipments.map((row) => row.id)
  const stored = new Map(before.lists.OrderItemList?.map((row) => [row.id, row.shipmentId]))
  given.forEach(({ key, columns: { shipmentId } }, index) => {
    if (!shipmentId || shipmentId === NEW_SHIPMENT || ids.includes(shipmentId)) return
    if (stored.get(key as Json) === shipmentId) return
    const problem = `is not a shipment of this order, one of ${ids.join(', ')}`
    throw wrongField(`OrderItemList[${index}].ItemShipmentID`, problem, 'unknown-reference')
  })
}

/** Refuses (400) to remove goods that a return put back in stock, because they would go back twice. */
function refuseLessThanRestocked(before: readonly Row[], after: readonly Row[], restocked: readonly Row[]): void {
  const [had, has] = [sumByGoods(before, 'quantity'), sumByGoods(after, 'quantity')]
  for (const [goods, quantity] of sumByGoods(restocked, 'restockQuantity')) {
    const left = has.get(goods) ?? 0n
    if (left >= quantity || left >= (had.get(goods) ?? 0n)) continue
    const sku = restocked.find((row) => goodsOf(row) === goods)?.sku
    const problem = `must keep at least ${toNumber(quantity)} of ${sku}: returns of this order put that many back in stock`
    throw wrongField('OrderItemList', problem, 'out-of-range')
  }
}

/** Checks imported orders, keeps shipments and lines consistent, tells of new ones and of the status, and numbers refunds. */
export async function orderEffects(changes: readonly Change[]): Promise<void> {
  const imported = changes.filter(({ kind }) => kind === 'import')
  if (imported.length > 0) await checkImported(imported)
  for (const change of changes) {
    const { kind, caller, resource, id, before, after } = change
    if (kind !== 'import') {
      const left = await shareWithOnlyShipment(change)
      await keepInShipments(change)
      await writeDue(caller, dueOfOrder(change, left))
    }
    for (const event of eventsOf(before, after)) raise(caller, event, resource, id)
  }
  const paying = changes.filter(({ kind, after }) => kind !== 'import' && after.lists.TransactionList)
  const [paid] = paying
  if (paid) await numberRefunds(paid.caller, paying)
}

/** Refuses (400) imported orders with an unknown status, and reserves their numbers of invoices and credit notes. */
async function checkImported(changes: readonly Change[]): Promise<void> {
  const [{ caller }] = changes as [Change]
  const rows = changes.map(({ after }) => after.row)
  const chosen = rows.map(({ statusId }) => ({ statusId: Number(statusId), field: 'OrderStatusID' }))
  await refuseUnknownStatuses(caller, chosen)
  // A wrong number in a file must not use up the store's own, without which no order can be placed.
  const highestOf = (numbers: readonly unknown[]) =>
    Math.max(0, ...numbers.map(Number).filter((number) => number <= IMPORTED_MAX))
  const refunds = changes.flatMap(({ patch }) => patch.lists.TransactionList ?? [])
  const invoice = highestOf(rows.map(({ invoiceNumber }) => invoiceNumber))
  const creditNote = highestOf(refunds.map(({ columns }) => columns.creditNoteNumber))
  await caller.db.$executeRaw(sql`
    UPDATE "Store" SET "nextInvoiceNumber" = greatest("nextInvoiceNumber", ${invoice}::int + 1),
      "nextCreditNoteNumber" = greatest("nextCreditNoteNumber", ${creditNote}::int + 1)
    WHERE "id" = ${caller.store.id}::int
      AND ("nextInvoiceNumber" <= ${invoice}::int OR "nextCreditNoteNumber" <= ${creditNote}::int)`)
}

/** Gives a single shipment the order's status, even if it was not sent. Returns its id if it has left by that; null: none has. */
async function shareWithOnlyShipment({ caller: { db, store }, id, before, after }: Change): Promise<number | null> {
  const { statusId } = after.row
  if (after.lists.ShipmentList !== undefined || statusId === before?.row.statusId) return null
  const [only] = await db.$queryRaw<{ id: number; shippedDate: string }[]>(sql`
    UPDATE "OrderShipment" SET "statusId" = ${statusId}::int WHERE "storeId" = ${store.id}::int AND "orderId" = ${id}::int
    AND (SELECT count(*) FROM "OrderShipment" o WHERE o."storeId" = ${store.id}::int AND o."orderId" = ${id}::int) = 1
    RETURNING "id", "shippedDate"`)
  return statusId === statusShipped && only?.shippedDate === '' ? only.id : null
}

/** Moves lines that are in no shipment to the first of several, or to 0 with one or none (rest-resources §3.4). */
async function keepInShipments(change: Change): Promise<void> {
  if (!isListChanged(change, 'OrderItemList') && !isListChanged(change, 'ShipmentList')) return
  const { id } = change
  const { db, store } = change.caller
  await db.$executeRaw(sql`
    UPDATE "OrderItem" i SET "shipmentId" = h."home"
    FROM (
      SELECT CASE WHEN count(*) > 1 THEN min("id") ELSE 0 END AS "home",
        CASE WHEN count(*) > 1 THEN array_agg("id") ELSE '{0}' END AS "allowed"
      FROM "OrderShipment" WHERE "storeId" = ${store.id}::int AND "orderId" = ${id}::int) h
    WHERE i."storeId" = ${store.id}::int AND i."orderId" = ${id}::int AND i."shipmentId" <> ALL (h."allowed")`)
}

/** The members that say the order's status. A single shipment shares it. */
export function statusIn({ lists }: Stored): readonly string[] {
  return lists.ShipmentList?.length === 1 ? ['OrderStatusID', 'ShipmentList.ShipmentOrderStatus'] : ['OrderStatusID']
}

/** An order that leaves Not Completed has raised no event yet, so it is new then, unless it is cancelled. */
function eventsOf(before: Stored | null, after: Stored): EventKind[] {
  const to = Number(after.row.statusId)
  const from = before === null ? statusNotCompleted : Number(before.row.statusId)
  if (from === to) return []
  const isNew = from === statusNotCompleted && to !== statusCancelled
  return [...(isNew ? [orderNew] : []), ...(before === null ? [] : [orderStatusChange])]
}
