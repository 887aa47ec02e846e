import { DateTime } from 'luxon'
import type { Caller } from '../../../../engine/caller.ts'
import { wrongField } from '../../../../engine/definition/refused.ts'
import { queryRows, rowsInTurn } from '../../../../foundation/database/client.ts'
import { anyOf, empty, type Sql, sql, storeId } from '../../../../foundation/database/sql.ts'
import { INT32_MAX } from '../../../../foundation/values/int32.ts'
import { isInvoiceNumber, looksLikeInvoiceNumber } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { daysOf, dayText, type Period, within } from '../reports/period.ts'
import { readPlanned } from '../reports/report.ts'

/** Which entries of the ledger are asked for. */
export interface Asked {
  /** When they count. */
  readonly period: Period
  /** Empty: all; `-`: those of which nobody said it. */
  readonly method: string
  readonly direction: string
  /** A part of the reference, or the number of an order. Empty: all. */
  readonly find: string
}

/** What a transaction brought in or, below 0, paid out; or what a closed month lacks of it (`isLate`). */
export type Entry = Awaited<ReturnType<typeof readEntries>>[number]

type Texts = Record<'id' | 'invoice' | 'customer' | 'method' | 'reference' | 'creditNote', string>
type StoredEntry = Texts & Record<'occurredAt' | 'bookedAt', Date> & Record<'hasOrder' | 'isLate', boolean> & Amounts
type Amounts = { orderId: number; amount: number; tax: number | null }

/** Reads entries, the newest first; those behind the one with this `cursor`, unless it is empty. Throws a 400 for a cursor of no page. */
export async function readEntries(caller: Caller, asked: Asked, cursor: string, limit: number) {
  const [, at = '', id = ''] = /^(\d{1,14})_(\d{1,18})$/.exec(cursor) ?? []
  if (cursor !== '' && at === '') throw wrongField('cursor', 'names no page of this list')
  const isBehind = sql`AND (e."bookedAt", e."id") < (to_timestamp(${Number(at) / 1_000}::float8), ${id}::bigint)`
  const statement = sql`
    SELECT e."id"::text, e."orderId", e."hasOrder", e."invoice", e."customer", e."occurredAt", e."bookedAt", e."isLate",
      e."amount"::float8, e."method", e."reference", e."tax"::float8, e."creditNote"
    FROM "PaymentShown" e WHERE ${await entriesOf(caller, asked)} ${at === '' ? empty : isBehind}
    ORDER BY e."bookedAt" DESC, e."id" DESC LIMIT ${limit}::int`
  const dayOf = (instant: Date) => dayText(DateTime.fromJSDate(instant, { zone: caller.store.timeZone }))
  const rows = await run<StoredEntry>(caller, asked, statement)
  return rows.map((row) => {
    const booked = dayOf(row.bookedAt)
    const occurred = row.isLate ? dayOf(row.occurredAt) : booked
    return { ...row, booked, occurred, cursor: `${row.bookedAt.getTime()}_${row.id}` }
  })
}

type Money = Readonly<Record<'in' | 'out' | 'net' | 'count', number>>

/** Adds up entries, by method and by day: from the sums that triggers keep, unless a text is looked for. */
export async function readSums(caller: Caller, asked: Asked) {
  const { from, to } = daysOf(asked.period)
  const summed = sql`SELECT "day", "method", "amount", "count", "isOut" FROM "PaymentSum" e
    WHERE ${filtersOf(caller, asked, sql`e."isOut"`)} AND "day" BETWEEN ${from}::date AND ${to}::date`
  const found = sql`SELECT "dayIn"(${caller.store.timeZone}, "bookedAt"), "method", "amount", 1, "amount" < 0
    FROM "PaymentEntry" e WHERE ${await entriesOf(caller, asked)}`
  const statement = sql`
    SELECT GROUPING("day", "method") AS "of", "day"::text, "method", sum("count")::int AS "count", sum("amount")::float8 AS "net",
      coalesce(sum("amount") FILTER (WHERE NOT "isOut"), 0)::float8 AS "in",
      coalesce(-sum("amount") FILTER (WHERE "isOut"), 0)::float8 AS "out"
    FROM (${asked.find === '' ? summed : found}) each ("day", "method", "amount", "count", "isOut")
    GROUP BY GROUPING SETS (("day"), ("method"), ()) HAVING sum("count") <> 0 ORDER BY each."day", "method"`
  const rows = await run<Money & { of: number; day: string; method: string }>(caller, asked, statement)
  const [total = { in: 0, out: 0, net: 0, count: 0 }]: readonly Money[] = rows.filter(({ of }) => of === 3)
  return { total, byMethod: rows.filter(({ of }) => of === 2), byDay: rows.filter(({ of }) => of === 1) }
}

/** A text may be rare or frequent, which no plan for all of them fits. */
function run<T>(caller: Caller, { find }: Asked, statement: Sql): Promise<T[]> {
  return find === '' ? rowsInTurn<T>(caller)`${statement}` : readPlanned<T>(caller, statement)
}

function filtersOf({ store }: Caller, { method, direction }: Asked, isOut: Sql): Sql {
  const isMethod = method === '' ? empty : sql`AND e."method" = ${method === '-' ? '' : method}`
  return sql`e."storeId" = ${storeId(store)} ${isMethod} ${direction === '' ? empty : sql`AND ${isOut} = ${direction === 'out'}`}`
}

/** Looks for a number among orders first, because an index has it. */
async function entriesOf(caller: Caller, asked: Asked): Promise<Sql> {
  const { find, period } = asked
  const filters = sql`${filtersOf(caller, asked, sql`(e."amount" < 0)`)} AND ${within(sql`e."bookedAt"`, period)}`
  if (find === '') return filters
  const number = isInvoiceNumber(find) ? looksLikeInvoiceNumber.read(find, 'find', caller.store) : sql`false`
  const found = await queryRows<{ id: number }>(caller.db)`
    SELECT t."id" FROM "Order" t WHERE t."storeId" = ${storeId(caller.store)} AND ${number} LIMIT 1000`
  const own = /^\d{1,10}$/.test(find) && Number(find) <= INT32_MAX ? [Number(find)] : []
  const part = `%${find.toLowerCase().replace(/[\\%_]/g, String.raw`\$&`)}%`
  return sql`${filters} AND (lower(e."reference") LIKE ${part} OR e."orderId" = ${anyOf([...own, ...found.map(({ id }) => id)])})`
}
