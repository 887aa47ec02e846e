import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../../../engine/caller.ts'
import { readRows } from '../../../engine/changing/write.ts'
import { definedFor } from '../../../engine/definition/define.ts'
import type { Endpoint, Query, RecordType } from '../../../engine/definition/endpoints.ts'
import { orderChanged } from '../../../engine/definition/event-kinds.ts'
import { date, fieldSet, integer, money, text } from '../../../engine/definition/fields.ts'
import { compileReader, type Selected } from '../../../engine/definition/reader.ts'
import type { RecordOf } from '../../../engine/definition/record-of.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Change, Resource } from '../../../engine/definition/resource.ts'
import type { Document, Row } from '../../../engine/definition/stored-row.ts'
import { ITEMS_MAX, pageOfItems } from '../../../engine/reading/nested.ts'
import { notFound, type RecordPage } from '../../../engine/reading/read.ts'
import { listingAnswer } from '../../../engine/reading/shape.ts'
import { raise } from '../../../engine/recording/events.ts'
import { recordReplaced } from '../../../engine/recording/history.ts'
import { queryRows, rowsInTurn } from '../../../foundation/database/client.ts'
import { anyOfFew, sql, storeId } from '../../../foundation/database/sql.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'
import { exact, sum, toNumber } from './amounts.ts'
import { orderItemList, refundItemList, transactionList } from './lists.ts'
import { creditNoteOf, effect, effectOf, isVoid } from './payments.ts'
import type { Extent } from './refund-amounts.ts'

// What refunds are for: lines of the order, how much of each, and a return. It lies in the document of their transaction, so that it
// comes and goes with it, and an old client that sends the transaction back keeps it.

/** The member that names a return. */
const RETURN_MEMBER = 'TransactionList.RMAID'

type RefundItem = RecordOf<typeof refundItemList>

/** Returns what a transaction says that it refunds. */
function meaningIn({ details }: Row) {
  const members = details as Partial<Record<'RMAID' | 'RefundShippingAmount' | 'RefundTaxAmount', number>> & {
    /** As stored: default values are omitted. */
    RefundItemList?: (Pick<RefundItem, 'ItemIndexID'> & Partial<RefundItem>)[]
  }
  const { RMAID: rmaId = 0, RefundShippingAmount: shipping = 0, RefundTaxAmount: tax = 0 } = members
  const { RefundItemList = [] } = members
  const items = RefundItemList.map((item): RefundItem => ({ RefundQuantity: 0, RefundAmount: 0, ...item }))
  return { rmaId, items, shipping, tax }
}

/** A transaction that says what it is for. */
type Refund = ReturnType<typeof meaningIn> & { readonly row: Row; readonly path: string }

/**
 * What an order's refunds say, oldest first: those that count, and void ones that have a number. `number` is that of the credit note; null:
 * it has none.
 */
export async function readRefunds(caller: Caller, orderId: number) {
  const rows = await readRows(caller, transactionList, orderId)
  return rows
    .filter((row) => isRefund(row) || row.creditNoteNumber !== null)
    .map((row) => ({
      id: Number(row.id),
      number: creditNoteOf(row),
      amount: Math.abs(Number(row.amount)),
      counts: isRefund(row),
      ...meaningIn(row),
    }))
}

export type KnownRefund = Awaited<ReturnType<typeof readRefunds>>[number]

/** How much of the order the refunds that count are for. */
export function refundedExtent(refunds: readonly KnownRefund[]): Extent {
  const counting = refunds.filter(({ counts }) => counts)
  return { pieces: piecesOf(counting), shipping: sum(counting.map(({ shipping }) => exact(shipping))) }
}

/** By line. */
function piecesOf(refunds: readonly { readonly items: readonly RefundItem[] }[]): Map<number, bigint> {
  const pieces = new Map<number, bigint>()
  for (const { ItemIndexID: line, RefundQuantity } of refunds.flatMap(({ items }) => items))
    pieces.set(line, (pieces.get(line) ?? 0n) + exact(RefundQuantity))
  return pieces
}

/** Returns what is wrong with refunding so many pieces of a line of which so many are refunded already; null: nothing. */
export function quantityProblem(quantity: number, sold: number, refunded: bigint): string | null {
  const left = exact(sold) - refunded
  if (exact(quantity) <= left) return null
  const known = `the line has ${sold}, of which ${toNumber(refunded)} were refunded already`
  return `must be at most ${toNumber(left > 0n ? left : 0n)}: ${known}`
}

/**
 * Refuses (400) new or changed transactions that say what they refund and refund nothing, name lines or a return of another order,
 * more of a line than was bought less what other refunds have, or amounts above their own. Under the order's lock, so that refunds
 * at once add up. What is stored is not checked again.
 */
export async function settleRefunds({ caller, id, before, after }: Change): Promise<void> {
  const known = new Map(before?.lists.TransactionList?.map((row) => [row.id, row]))
  const refunds = (after.lists.TransactionList ?? [])
    .map((row, index): Refund => ({ row, path: `TransactionList[${index}]`, ...meaningIn(row) }))
    .filter(({ rmaId, items, shipping, tax }) => rmaId !== 0 || items.length > 0 || shipping > 0 || tax > 0)
    // One that is made void keeps what it was for, which its credit note shows.
    .filter(({ row }) => !(isVoid(row.type) && known.has(row.id)))
  const { stored = [], changed = [] } = Object.groupBy(refunds, ({ row }) => {
    const before = known.get(row.id)
    return before !== undefined && isDeepStrictEqual(meaningOf(before), meaningOf(row)) ? 'stored' : 'changed'
  })
  if (changed.length === 0) return
  for (const { row, path } of changed) {
    if (isRefund(row)) continue
    throw wrongField(
      `${path}.TransactionType`,
      'must be Refund or Credit, because RMAID, RefundItemList, RefundShippingAmount or RefundTaxAmount say what is refunded',
    )
  }
  await refuseOtherReturns(caller, id, changed)
  const lines = after.lists.OrderItemList ?? (await readRows(caller, orderItemList, id))
  refuseItems(lines, stored, changed)
}

function isRefund(row: Row): boolean {
  return effectOf(row) === 'refunded'
}

/** What the checks depend on. */
function meaningOf(row: Row) {
  return { effect: effectOf(row), amount: Math.abs(Number(row.amount)), ...meaningIn(row) }
}

async function refuseOtherReturns(caller: Caller, orderId: number, refunds: readonly Refund[]): Promise<void> {
  const ofReturns = refunds.filter(({ rmaId }) => rmaId !== 0)
  if (ofReturns.length === 0) return
  const found = await queryRows<{ id: number }>(caller.db)`
    SELECT a."id" FROM "Rma" a WHERE a."storeId" = ${storeId(caller.store)} AND a."orderId" = ${orderId}::int
      AND a."id" = ${anyOfFew(ofReturns.map(({ rmaId }) => rmaId))}`
  const known = new Set(found.map((row) => row.id))
  const other = ofReturns.find(({ rmaId }) => !known.has(rmaId))
  if (other === undefined) return
  const problem = `must be that of a return of this order; ${other.rmaId} is none`
  throw wrongField(`${other.path}.RMAID`, problem, 'unknown-reference')
}

function refuseItems(lines: readonly Row[], stored: readonly Refund[], changed: readonly Refund[]): void {
  const bought = new Map(lines.map((line) => [Number(line.id), Number(line.quantity)]))
  const refunded = piecesOf(stored)
  for (const { row, path, items, shipping, tax } of changed) {
    const named = new Set<number>()
    for (const [index, { ItemIndexID, RefundQuantity }] of items.entries()) {
      const at = `${path}.RefundItemList[${index}]`
      const sold = bought.get(ItemIndexID)
      if (sold === undefined) {
        const problem = `must be that of a line of this order; ${ItemIndexID} is none`
        throw wrongField(`${at}.ItemIndexID`, problem, 'unknown-reference')
      }
      if (named.has(ItemIndexID)) throw wrongField(`${at}.ItemIndexID`, `names line ${ItemIndexID} twice`)
      named.add(ItemIndexID)
      const already = refunded.get(ItemIndexID) ?? 0n
      const problem = RefundQuantity <= 0 ? 'must be more than 0' : quantityProblem(RefundQuantity, sold, already)
      if (problem !== null) throw wrongField(`${at}.RefundQuantity`, problem, 'out-of-range')
      refunded.set(ItemIndexID, already + exact(RefundQuantity))
    }
    const amounts = sum([shipping, tax, ...items.map(({ RefundAmount }) => RefundAmount)].map(exact))
    const whole = exact(Math.abs(Number(row.amount)))
    if (amounts > whole) {
      const problem = `has amounts of ${toNumber(amounts)} together; the transaction is of ${toNumber(whole)}`
      throw wrongField(`${path}.RefundItemList`, problem)
    }
  }
}

/**
 * Assigns the store's next numbers of credit notes to the transactions of these changes, as they are stored, that refund from now on and
 * have none. They have no gaps, so other refunds and new orders wait until the transaction ends: products have to be locked before.
 */
export async function numberRefunds({ db, store }: Caller, changes: readonly Pick<Change, 'before' | 'after'>[]) {
  const ids = changes.flatMap(({ before, after }) => {
    const refunded = new Set(before?.lists.TransactionList?.filter(isRefund).map(({ id }) => id))
    const isNew = (row: Row) => row.creditNoteNumber === null && !refunded.has(row.id) && isRefund(row)
    return (after.lists.TransactionList ?? []).filter(isNew).map(({ id }) => Number(id))
  })
  if (ids.length === 0) return
  const numbered = await queryRows(db)`
    WITH taken AS (
      UPDATE "Store" SET "nextCreditNoteNumber" = "nextCreditNoteNumber" + ${ids.length}::int
      WHERE "id" = ${store.id}::int AND "nextCreditNoteNumber" <= ${INT32_MAX}::int - ${ids.length}::int
      RETURNING "id", "creditNotePrefix", "nextCreditNoteNumber" - ${ids.length}::int AS "first")
    UPDATE "OrderTransaction" x
    SET "creditNotePrefix" = taken."creditNotePrefix", "creditNoteNumber" = taken."first" + refund."place" - 1
    FROM taken, unnest(string_to_array(${ids.join(',')}, ',')::int[]) WITH ORDINALITY refund ("id", "place")
    WHERE x."storeId" = taken."id" AND x."id" = refund."id"
    RETURNING x."id"`
  if (numbered.length === 0) throw new StoreFailure('unavailable', 'The store has no numbers of credit notes left')
}

/**
 * Lets the refunds of a locked order name a return no more, which is deleted or becomes one of another order: a change of the order, as
 * where any reference is cleared.
 */
export async function forgetReturn(caller: Caller, orderId: number, rmaId: number): Promise<void> {
  const { db, store, now, actor } = caller
  const [changed] = await queryRows(db)`
    WITH named AS (
      UPDATE "OrderTransaction" x SET "details" = (
        SELECT coalesce(json_object_agg(m."key", m."value" ORDER BY m."ordinality"), '{}')
        FROM json_each(x."details") WITH ORDINALITY m ("key", "value", "ordinality") WHERE m."key" <> 'RMAID')
      WHERE x."storeId" = ${storeId(store)} AND x."orderId" = ${orderId}::int AND x."details" ->> 'RMAID' = ${String(rmaId)}
      RETURNING 1)
    UPDATE "Order" o SET "updatedAt" = greatest(o."updatedAt", ${now().toISOString()}::timestamptz), "updatedBy" = ${actor}
    WHERE o."storeId" = ${storeId(store)} AND o."id" = ${orderId}::int AND EXISTS (TABLE named)
    RETURNING o."id"`
  if (changed === undefined) return
  const orders = definedFor('Order') as Resource
  raise(caller, orderChanged, orders, orderId, { members: [RETURN_MEMBER] })
  await recordReplaced(caller, orders.table, [orderId], [[RETURN_MEMBER, rmaId, null]])
}

const fields = fieldSet({
  TransactionIndexID: integer({
    column: 'id',
    access: 'key',
    description: 'The transaction of the order that refunds, by its TransactionIndexID.',
  }),
  TransactionID: text(50, { description: 'What the gateway calls the transaction.' }),
  TransactionDateTime: date({ column: 'occurredAt', nullable: true, description: 'When it was refunded.' }),
  TransactionType: text(10, { column: 'type', description: 'The type of the transaction, such as Refund.' }),
  CreditNotePrefix: text(50, {
    column: 'creditNotePrefix',
    isOptional: true,
    description: 'What stands before CreditNoteNumber.',
  }),
  CreditNoteNumber: integer({
    column: 'creditNoteNumber',
    isOptional: true,
    description:
      'The number of the credit note, without gaps in the store. A refund of a version without credit notes has none.',
  }),
  RefundTotal: money({ sql: sql`abs(t."amount")`, description: 'What was refunded in all, never below 0.' }),
  RMAID: integer({ description: 'The return that was paid back, by its RMAID. 0: the refund names none.' }),
  RefundItemList: { ...refundItemList, access: 'rw' },
  RefundShippingAmount: money({ description: 'What of it is for shipping. 0: the refund does not say.' }),
  RefundTaxAmount: money({ description: 'What of it is tax that the order added. 0: the refund does not say.' }),
})

/** A refund of an order, with what it is for. */
export const refundType: RecordType = { typeName: 'Refund', fields }

const reader = compileReader(fields)

/** A page of the refunds of an order, by TransactionIndexID. Throws `not-found` for an unknown order, and where there are none. */
function listRefunds(caller: Caller, orderId: number, query: Query): Promise<RecordPage> {
  const { store } = caller
  const read = async () => {
    const [order] = await rowsInTurn<{ rows: string | null }>(caller)`
      SELECT (
        SELECT json_agg(${reader.select} ORDER BY t."id")::text FROM "OrderTransaction" t
        JOIN "Store" s ON s."id" = t."storeId" CROSS JOIN LATERAL (SELECT t."type", t."amount", t."captured") x
        WHERE t."storeId" = o."storeId" AND t."orderId" = o."id" AND ${effect} = 'refunded') AS "rows"
      FROM "Order" o WHERE o."storeId" = ${storeId(store)} AND o."id" = ${orderId}::int`
    if (order === undefined) throw notFound({ typeName: 'Order' }, orderId)
    const rows = JSON.parse(order.rows ?? '[]') as Selected[]
    return rows.map((row) => JSON.parse(reader.compose(row)) as Document)
  }
  return pageOfItems({ key: 'TransactionIndexID', fields }, query, read, `Order ${orderId} has no refunds`)
}

/** The refunds of an order (rest-resources §3.6). */
export const refundsEndpoint: Endpoint = {
  path: '/:id/Refunds',
  params: { id: { name: 'orderid', min: 1 } },
  privileges: ['Orders'],
  operations: {
    GET: {
      gives: { kind: 'list', type: refundType, maxRecords: ITEMS_MAX, filters: null },
      run: async ({ caller, id, query }) => listingAnswer(await listRefunds(caller, id, query), refundType, query),
    },
  },
}
