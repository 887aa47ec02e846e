import type { DateTime } from 'luxon'
import type { Caller } from '../../../../engine/caller.ts'
import { wrongField } from '../../../../engine/definition/refused.ts'
import { inStoreTransaction, queryRows, readInTurn } from '../../../../foundation/database/client.ts'
import { databaseError } from '../../../../foundation/database/outage.ts'
import { constant, empty, identifier, join, type Sql, sql, storeId } from '../../../../foundation/database/sql.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { decimalsOf } from '../../../../foundation/values/currency.ts'
import type { CsvCell } from '../../records/csv-form.ts'
import { sumSales } from '../overview/sales.ts'
import { type FigureName, type Figures, type KindName, kinds, ofOrders } from './kinds.ts'
import { dayText, type Period, startsOf, within } from './period.ts'

/** How long a report may take the database. */
const REPORT_MS_MAX = 10_000
/** With more orders, which take 0.1 s, a page by time shows at first their number and total, which are summed already ("SalesSum"). */
const ADDED_MAX = 4_000

export interface ReportRow {
  /** In the order of the kind's heads. */
  readonly heads: readonly CsvCell[]
  /** Of the product or customer whom it is of; null: none. */
  readonly id: number | null
  readonly figures: Figures
  /** Of a time: its first day and its last one. */
  readonly days?: { readonly first: string; readonly last: string }
}

export interface Report {
  readonly rows: readonly ReportRow[]
  /** How many there are, of which `rows` are the first. */
  readonly count: number
  /** Of all rows. An order with two products counts once. */
  readonly totals: Figures
  /** Those that were added up. */
  readonly figures: readonly FigureName[]
}

/**
 * Adds up the orders of a time; those that are cancelled or were never completed do not count. What is paid and refunded is that of these
 * orders, whenever it was. Rows of a time are by time, also those without orders; others by what they come to. Throws a 400 for so many
 * orders that the database would work on it for longer than ten seconds. `isQuick`: by time, of many orders their number and total alone, so
 * that a page does not wait.
 */
export async function readReport(
  caller: Caller,
  name: KindName,
  period: Period,
  { rowsMax, isQuick = false }: { rowsMax: number; isQuick?: boolean },
): Promise<Report> {
  const { unit } = kinds[name]
  if (unit === undefined) return keyedReport(caller, name, period, rowsMax)
  const starts = startsOf(period, unit)
  const times = [...starts, period.until].map((time) => time.toJSDate())
  const summed = isQuick ? await sumSales(caller.db, caller.store.id, times) : []
  const isMany = summed.reduce((sum, { count }) => sum + count, 0) > ADDED_MAX
  const quick = summed.map(({ place, count, amount }) => ({ key: String(place), orders: count, total: amount }))
  return timeReport(caller, name, period, { starts, rowsMax, quick: isMany ? quick : null })
}

type Keyed = Figures & { readonly key: string }

/** `quick`: what was summed, instead of adding up. */
async function timeReport(
  caller: Caller,
  name: KindName,
  period: Period,
  { starts, rowsMax, quick }: { starts: readonly DateTime[]; rowsMax: number; quick: readonly Keyed[] | null },
): Promise<Report> {
  const figures: readonly FigureName[] = quick === null ? kinds[name].figures : ['orders', 'total']
  // The place of an instant among the beginnings of times, from 0.
  const instants = starts.map((start) => start.toUTC().toISO())
  const groups = { key: sql`width_bucket(t."orderDate", ${instants}::timestamptz[]) - 1`, from: empty }
  const found: readonly Keyed[] =
    quick ?? (await inReport(caller, statementOf(caller, period, groups, name, starts.length))).rows
  const byPlace = new Map(found.map((row) => [Number(row.key), row]))
  const none = Object.fromEntries(figures.map((figure) => [figure, 0]))
  const days = starts.map(dayText)
  const rows = days.slice(0, rowsMax).map((first, place): ReportRow => {
    const last = starts[place + 1] ?? period.until
    return {
      heads: [kinds[name].unit === 'month' ? first.slice(0, 'yyyy-mm'.length) : first],
      id: null,
      figures: { ...none, ...byPlace.get(place) },
      days: { first, last: dayText(last.minus({ days: 1 })) },
    }
  })
  return { rows, count: starts.length, totals: totalsOf(figures, found), figures }
}

function totalsOf(names: readonly FigureName[], rows: readonly Figures[]): Figures {
  // In ten-thousandths, whose sums are exact.
  const total = (name: FigureName) => rows.reduce((sum, row) => sum + Math.round((row[name] ?? 0) * 10_000), 0) / 10_000
  return Object.fromEntries(names.map((name) => [name, total(name)]))
}

type Grouped = Pick<Report, 'count' | 'totals'> & { readonly rows: readonly Named[] }

type Named = Keyed & Readonly<Partial<Record<'sku' | 'name' | 'email', string>>> & { readonly id?: number | null }

async function keyedReport(caller: Caller, name: KindName, period: Period, rowsMax: number): Promise<Report> {
  const kind = kinds[name]
  const statement = kind.key
    ? statementOf(caller, period, kind.key(caller.privileges), name, rowsMax)
    : productsOf(caller, period, rowsMax)
  const { rows, count, totals } = await inReport(caller, statement)
  const read = rows.map((row): ReportRow => ({ heads: headsOf(name, row), id: row.id ?? null, figures: row }))
  return { rows: read, count, totals, figures: kind.figures }
}

function headsOf(name: KindName, row: Named): readonly CsvCell[] {
  if (name === 'product') return [row.sku ?? '', row.name ?? '']
  if (name === 'customer') return [row.email ?? '', row.name ?? '', row.id ? String(row.id) : '']
  const [country = '', state = '', included = ''] = row.key.split('\t')
  if (name !== 'rate') return name === 'tax' ? [country, state] : [country]
  if (state === '') return [country, t('Not stated'), '']
  return [country, Number(state), included === 'yes' ? t('Yes') : t('No')]
}

async function inReport(caller: Caller, statement: Sql): Promise<Grouped> {
  const [row] = await readPlanned<{ report: Grouped }>(caller, statement)
  if (row === undefined) throw new Error('An aggregate gave no row')
  return row.report
}

/** Returns the rows of a statement that is planned for its very values. Throws a 400 for one that takes too long. */
export function readPlanned<T>(caller: Caller, statement: Sql): Promise<T[]> {
  const read = () =>
    inStoreTransaction(caller, async (tx) => {
      await queryRows(tx)`
        SELECT set_config('statement_timeout', ${String(REPORT_MS_MAX)}, true), set_config('plan_cache_mode', 'force_custom_plan', true),
          set_config('jit', 'off', true),
          set_config('transaction_read_only', 'on', true)`
      return queryRows<T>(tx)`${statement}`
    })
  return readInTurn(caller, read).catch((error) => {
    if (databaseError(error)?.code !== '57014') throw error
    throw wrongField('from', 'begins a time with more orders than can be added up. Choose a shorter one')
  })
}

const sales = (caller: Caller, period: Period) => sql`t."storeId" = ${storeId(caller.store)}
  AND ${within(sql`t."orderDate"`, period)} AND "isSale"(t."statusId")`

/** As sums of single orders are (sums.ts), each part rounded to the decimals of the currency. */
function statementOf(
  caller: Caller,
  period: Period,
  { key, from }: { readonly key: Sql; readonly from: Sql },
  name: KindName,
  rowsMax: number,
): Sql {
  const store = storeId(caller.store)
  const digits = constant(decimalsOf(caller.store.currency))
  const order = kinds[name].by === 'tax' ? sql`"tax" DESC NULLS LAST, "total" DESC, "key"` : sql`"total" DESC, "key"`
  const { of, figures: ownFigures } = ownOf[name] ?? { of: empty, figures: [] }
  // In the time of the refund, whenever its order was placed.
  const isOfTaxes = ownFigures.includes('refundedTax')
  const contained = isOfTaxes
    ? sql`CASE WHEN t."taxIncluded" AND t."taxRate" > 0 THEN "containedTax"(t."storeId", t."id", ${digits}) ELSE 0 END`
    : sql`0`
  const share = sql`CASE WHEN t."orderAmount" > 0 THEN round(-e."amount" * ${contained} / t."orderAmount", ${digits}) END`
  const refundedTax = isOfTaxes
    ? sql` FULL JOIN (SELECT ${key} AS "key", sum(coalesce(round(e."tax", ${digits}), ${share}, 0)) AS "refundedTax"
        FROM "PaymentEntry" e LEFT JOIN "Order" t ON t."storeId" = e."storeId" AND t."id" = e."orderId" ${from}
        WHERE e."storeId" = ${store} AND ${within(sql`e."bookedAt"`, period)}
          AND (e."tax" IS NOT NULL OR e."amount" < 0 AND t."taxIncluded" AND t."taxRate" > 0) GROUP BY 1) back USING ("key")`
    : empty
  return sql`WITH "sold" AS MATERIALIZED (
      SELECT t."id", ${key} AS "key", t."customerId", t."billingEmail", t."orderAmount" AS "total", t."paid", t."refunded",
        round(t."discountCoupon", ${digits}) + round(t."discountPromotion", ${digits}) AS "discount",
        round(t."salesTax", ${digits}) AS "tax1", round(t."salesTax2", ${digits}) AS "tax2", round(t."salesTax3", ${digits}) AS "tax3",
        ${contained} AS "contained"
      FROM "Order" t ${from} WHERE ${sales(caller, period)}),
    "each" AS (SELECT "key", count(*)::int AS "orders", sum("discount") AS "discount", sum("total") AS "total",
        coalesce(sum("paid"), 0) AS "paid", coalesce(sum("refunded"), 0) AS "refunded", sum("tax1" + "tax2" + "tax3") AS "added",
        sum("tax1" + "tax2" + "tax3" + "contained") AS "tax"${of} FROM "sold" GROUP BY 1),
    "goods" AS (SELECT "key", sum(i."quantity") AS "items", sum(round((i."unitPrice" + i."optionPrice") * i."quantity", ${digits})) AS "goods"
      FROM "sold" o JOIN "OrderItem" i ON i."storeId" = ${store} AND i."orderId" = o."id" GROUP BY 1),
    "shipped" AS (SELECT "key", sum(round(h."cost", ${digits})) AS "shipping"
      FROM "sold" o JOIN "OrderShipment" h ON h."storeId" = ${store} AND h."orderId" = o."id" GROUP BY 1),
    "parts" AS (SELECT e.*, coalesce("items", 0) AS "items", coalesce("goods", 0) AS "goods", coalesce("shipping", 0) AS "shipping",
        "paid" - "refunded" AS "net"
      FROM "each" e LEFT JOIN "goods" USING ("key") LEFT JOIN "shipped" USING ("key")),
    "grouped" AS (SELECT *, "total" - ("goods" - "discount" + "shipping" + "added") AS "other" FROM "parts"${refundedTax}),
    "shown" AS (SELECT * FROM "grouped" ORDER BY ${order} LIMIT ${rowsMax}::int)
    SELECT json_build_object(
      'rows', (SELECT coalesce(json_agg(g ORDER BY ${order}), '[]') FROM (${name === 'customer' ? withCustomers(store) : sql`SELECT * FROM "shown"`}) g),
      'count', (SELECT count(*) FROM "grouped"),
      'totals', (SELECT row_to_json(s) FROM (SELECT ${sumsOf([...ofOrders, ...ownFigures])} FROM "grouped") s)) AS "report"`
}

/** Guests are known by their address alone; those without one by what their last order says of them. */
const withCustomers = (store: Sql) => sql`SELECT s.*, s."customerId" AS "id", coalesce(c."email", s."email") AS "email",
    coalesce(nullif(btrim(concat_ws(' ', c."firstName", c."lastName")), ''),
      nullif(btrim(concat_ws(' ', g."details" ->> 'BillingFirstName', g."details" ->> 'BillingLastName')), ''),
      g."details" ->> 'BillingPhoneNumber', '') AS "name"
  FROM "shown" s LEFT JOIN "Customer" c ON c."storeId" = ${store} AND c."id" = s."customerId"
    LEFT JOIN "Order" g ON g."storeId" = ${store} AND g."id" = s."orderId" AND s."customerId" IS NULL AND btrim(s."email") = ''`

const sumsOf = (names: readonly FigureName[]) =>
  join(names.map(identifier).map((name) => sql`coalesce(sum(${name}), 0) AS ${name}`))

const hasTax = sql`"tax1" <> 0 OR "tax2" <> 0 OR "tax3" <> 0 OR "contained" <> 0`
const ofTaxes = sql`, sum("tax1") AS "tax1", sum("tax2") AS "tax2", sum("tax3") AS "tax3",
    coalesce(sum("total" - "tax1" - "tax2" - "tax3" - "contained") FILTER (WHERE ${hasTax}), 0) AS "taxed",
    coalesce(sum("total") FILTER (WHERE NOT (${hasTax})), 0) AS "untaxed"`

/** What one kind has beyond the others: of each group, and of all. */
const ownOf: Partial<Record<KindName, { readonly of: Sql; readonly figures: readonly FigureName[] }>> = {
  customer: {
    of: sql`, min("customerId") AS "customerId", min("billingEmail") AS "email", max("id") AS "orderId"`,
    figures: [],
  },
  tax: { of: ofTaxes, figures: ['taxed', 'untaxed', 'tax1', 'tax2', 'tax3', 'refundedTax'] },
  rate: { of: ofTaxes, figures: ['taxed', 'untaxed', 'refundedTax'] },
}

/** By product, or where there is none (any more) by the SKU that was sold. */
function productsOf(caller: Caller, period: Period, rowsMax: number): Sql {
  const store = storeId(caller.store)
  const digits = constant(decimalsOf(caller.store.currency))
  const order = sql`"goods" DESC, "id", "folded"`
  return sql`WITH "sold" AS MATERIALIZED (SELECT t."id" FROM "Order" t WHERE ${sales(caller, period)}),
    "grouped" AS (
      SELECT i."productId" AS "id", CASE WHEN i."productId" IS NULL THEN lower(btrim(i."sku")) END AS "folded",
        min(i."sku") AS "sku", min(split_part(i."description", '<br', 1)) AS "described", count(DISTINCT i."orderId")::int AS "orders",
        sum(i."quantity") AS "items", sum(round((i."unitPrice" + i."optionPrice") * i."quantity", ${digits})) AS "goods"
      FROM "sold" o JOIN "OrderItem" i ON i."storeId" = ${store} AND i."orderId" = o."id" GROUP BY 1, 2),
    "shown" AS (SELECT * FROM "grouped" ORDER BY ${order} LIMIT ${rowsMax}::int)
    SELECT json_build_object(
      'rows', (SELECT coalesce(json_agg(g ORDER BY ${order}), '[]') FROM (
        SELECT s."id", s."folded", s."orders", s."items", s."goods", coalesce(p."sku", s."sku") AS "sku", coalesce(p."name", s."described") AS "name"
        FROM "shown" s LEFT JOIN "Product" p ON p."storeId" = ${store} AND p."id" = s."id") g),
      'count', (SELECT count(*) FROM "grouped"),
      'totals', (SELECT row_to_json(s) FROM (SELECT (SELECT count(*) FROM "sold") AS "orders", coalesce(sum("items"), 0) AS "items",
        coalesce(sum("goods"), 0) AS "goods" FROM "grouped") s)) AS "report"`
}
