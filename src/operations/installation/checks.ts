import { ROW_COUNTER } from '../../engine/changing/write.ts'
import { type FieldSet, hasRows } from '../../engine/definition/fields.ts'
import { keyColumn } from '../../engine/definition/reader.ts'
import { selectFaults } from '../../foundation/database/new-database.ts'
import type { Snapshot } from '../../foundation/database/snapshot.ts'
import { constant, sql } from '../../foundation/database/sql.ts'
import { byDecimals } from '../../foundation/values/currency.ts'
import { IMPORTED_MAX } from '../../foundation/values/int32.ts'
import { resources, servedResources } from '../../shop/registry.ts'
import { partsOf } from '../../shop/resources/orders/sums.ts'
import { stocksAndMovements } from '../../shop/resources/products/stock.ts'
import { sealedTables } from './secret-key/sealed-tables.ts'

/**
 * Something that holds in every database. Only rules of numbers of invoices and credit notes, line shipments and linked
 * products can be broken from outside: clients may set numbers or take refunds away, and imports bring what the file says.
 */
export interface Check {
  readonly name: string
  readonly rule: string
  /**
   * SQL that gives each record for which it does not: "storeId", "record" (such as `Order 12`) and "found". A function where
   * the database itself says what to look at.
   */
  readonly sql: string | ((snapshot: Pick<Snapshot, 'query'>) => Promise<string>)
  /** The migrations that rewrite what it looks at after the start: until they are through, nothing is looked for. */
  readonly rewrittenBy?: RegExp
}

/** What the parts of an order `t` come to, as the checkout adds them up (place-order.ts): each rounded to so many decimals. */
const sumOfParts = (decimals: number) => `(SELECT "sum" FROM ${partsOf(constant(decimals)).sql} p)`

/**
 * Orders whose amount is not the sum of their parts. A client may change each of them afterwards, and an import brings its own, so
 * only those count that nobody has changed since their stock was taken. The decimals may be those of any currency, because a store
 * may have had another one when the order was placed (docs/decisions/orders.md). Most orders are right with the first ones.
 */
const wrongAmounts = `
  SELECT t."storeId", t."id", t."orderAmount", ${sumOfParts(4)} AS "sum"
  FROM "Order" t
  JOIN (SELECT "storeId", "orderId", min("createdAt") AS "placedAt" FROM "StockMovement"
        WHERE "cause" = 'order' GROUP BY "storeId", "orderId") m ON m."storeId" = t."storeId" AND m."orderId" = t."id"
  WHERE t."orderDate" = t."updatedAt" AND m."placedAt" >= t."updatedAt"
    AND ${[2, ...Object.keys(byDecimals).map(Number)].map((each) => `t."orderAmount" <> ${sumOfParts(each)}`).join(' AND ')}`

/** Highest numbers of a feed's events that may be missing because of their age. */
const deletedThrough = `coalesce((SELECT max(c."deletedThrough") FROM "EventCut" c WHERE c."storeId" = e."storeId"), 0)`

/** White space as String.prototype.trim() takes it off, and with it every SKU that is given. */
const blanks = String.raw`U&'\0009\000A\000B\000C\000D\0020\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000\FEFF'`

const servedTables = new Set(servedResources.map(({ table }) => table))

export const checks: readonly Check[] = [
  {
    name: 'database',
    rule: 'The database has the encoding UTF8 and folds letters beyond ASCII',
    sql: async (snapshot) => `
      SELECT NULL::int AS "storeId", 'The database' AS "record", "found" FROM (${await selectFaults(snapshot)}) f`,
  },
  {
    name: 'stock-ledger',
    rule: 'The movements of each stock add up to it',
    sql: `
      SELECT s."storeId", concat('Product ', s."productId", ', option ' || s."optionCode") AS "record",
        concat('stock ', trim_scale(s."stock"), ', movements ', trim_scale(s."moved")) AS "found"
      FROM (${stocksAndMovements(sql`TRUE`).sql}) s
      JOIN "Product" p ON p."storeId" = s."storeId" AND p."id" = s."productId"
      WHERE s."stock" <> s."moved"`,
  },
  {
    name: 'order-amounts',
    rule: 'OrderAmount of an order that nobody has changed is what the checkout added up',
    sql: `
      SELECT a."storeId", concat('Order ', a."id") AS "record",
        concat('OrderAmount ', trim_scale(a."orderAmount"), ', sum ', trim_scale(a."sum")) AS "found"
      FROM (${wrongAmounts}) a`,
  },
  {
    name: 'id-counters',
    rule: 'The next identifier of each kind of record is above those that there are',
    sql: `
      SELECT used."storeId", used."name" AS "record", concat('highest ', used."highest", ', counter ', coalesce(c."value", 0)) AS "found"
      FROM (SELECT "storeId", "name", max("highest") AS "highest" FROM (${highestIds()}) each
            GROUP BY "storeId", "name") used
      LEFT JOIN "Counter" c ON c."storeId" = used."storeId" AND c."name" = used."name"
      WHERE used."highest" > coalesce(c."value", 0)`,
  },
  {
    name: 'record-counts',
    rule: 'The number of each kind of record is that of the records that there are',
    sql: `
      SELECT "storeId", "table" AS "record", concat('count ', sum("kept"), ', records ', sum("there")) AS "found" FROM (
        SELECT "storeId", "table", "count" AS "kept", 0 AS "there" FROM "RecordCount"
        UNION ALL ${unionOf(
          servedTables,
          (table) => `SELECT "storeId", '${table}', 0, count(*) FROM "${table}" GROUP BY "storeId"`,
        )}
      ) each GROUP BY "storeId", "table" HAVING sum("kept") <> sum("there")`,
  },
  {
    name: 'sales-sums',
    rule: 'The sums of a quarter of an hour are those of the orders placed in it, without cancelled and incomplete ones',
    sql: `
      SELECT "storeId", concat('Sales since ', "since" AT TIME ZONE 'UTC') AS "record",
        concat('sums ', sum("keptCount"), ' and ', trim_scale(sum("keptAmount")), ', orders ', sum("count"), ' and ',
          trim_scale(sum("amount"))) AS "found"
      FROM (
        SELECT "storeId", "since", "count" AS "keptCount", "amount" AS "keptAmount", 0 AS "count", 0 AS "amount" FROM "SalesSum"
        UNION ALL
        SELECT "storeId", "quarterOf"("orderDate"), 0, 0, 1, "orderAmount" FROM "Order" WHERE "isSale"("statusId")
      ) each
      GROUP BY "storeId", "since" HAVING sum("keptCount") <> sum("count") OR sum("keptAmount") <> sum("amount")`,
  },
  {
    name: 'order-states',
    rule: 'What is paid of an order and what of it has left is what its transactions and shipments say',
    sql: `
      SELECT "storeId", concat('Order ', "id") AS "record",
        concat(array_to_string("kept", ', ', 'none'), '; its lists say ', array_to_string("there", ', ', 'none')) AS "found"
      FROM (
        SELECT o."storeId", o."id",
          ARRAY[trim_scale(o."paid")::text, trim_scale(o."refunded")::text, o."payment", o."fulfilment"] AS "kept",
          ARRAY[trim_scale(x."paid")::text, trim_scale(x."refunded")::text,
            "paymentState"(o."orderAmount", x."paid", x."refunded", o."paidOnline"), coalesce(h."fulfilment", 'none')] AS "there"
        FROM "Order" o
        LEFT JOIN (
          SELECT "storeId", "orderId", coalesce(sum(abs("amount")) FILTER (WHERE "effect" = 'paid'), 0) AS "paid",
            coalesce(sum(abs("amount")) FILTER (WHERE "effect" = 'refunded'), 0) AS "refunded"
          FROM (SELECT *, "paymentEffect"("type", "amount", "captured") AS "effect" FROM "OrderTransaction") each
          GROUP BY 1, 2) x ON x."storeId" = o."storeId" AND x."orderId" = o."id"
        LEFT JOIN (
          SELECT "storeId", "orderId", "fulfilmentState"(count(*), count(*) FILTER (WHERE "hasLeft"("shippedDate", "statusId"))) AS "fulfilment"
          FROM "OrderShipment" GROUP BY 1, 2) h ON h."storeId" = o."storeId" AND h."orderId" = o."id") each
      WHERE "kept" IS DISTINCT FROM "there"`,
  },
  {
    name: 'payment-ledger',
    rule: 'The entries of a transaction are what it brought in or paid out, and the sums of a day those of its entries',
    sql: 'SELECT * FROM "PaymentLedgerFaults"',
    rewrittenBy: /_payment_ledger$/,
  },
  {
    name: 'search-words',
    rule: 'The words by which records are found are those of the records',
    rewrittenBy: /_(places|spellings)_of_\w+$/,
    sql: `
      SELECT "storeId", concat("service", ' ', "recordId", ', source ', "source") AS "record",
        concat('kept ', string_agg("kept", ''), ', of the record ', string_agg("there", '')) AS "found"
      FROM (
        SELECT "storeId", "service", "recordId", "source", "sourceId", "words" AS "kept", '' AS "there" FROM "SearchText"
        UNION ALL SELECT "storeId", "service", "recordId", "source", "sourceId", '', "words" FROM "WordsOfRecords"
      ) each
      GROUP BY "storeId", "service", "recordId", "source", "sourceId" HAVING string_agg("kept", '') <> string_agg("there", '')`,
  },
  {
    name: 'invoice-counter',
    rule: "The next invoice number is above those with the store's prefix",
    sql: `
      SELECT s."id" AS "storeId", concat('Order ', o."id") AS "record",
        concat('invoice number ', o."invoiceNumber", ', next ', s."nextInvoiceNumber") AS "found"
      FROM "Store" s JOIN "Order" o ON o."storeId" = s."id" AND o."invoiceNumber" >= s."nextInvoiceNumber"
      WHERE lower(o."invoicePrefix") = lower(s."invoicePrefix") AND o."invoiceNumber" <= ${IMPORTED_MAX}`,
  },
  {
    name: 'invoice-numbers',
    rule: 'No two orders have the same invoice number',
    sql: `
      SELECT o."storeId", concat('Order ', min(o."id")) AS "record",
        concat(min(o."invoicePrefix"), o."invoiceNumber", ' is the number of ', count(*), ' orders, up to Order ', max(o."id")) AS "found"
      FROM "Order" o WHERE o."invoiceNumber" > 0
      GROUP BY o."storeId", lower(o."invoicePrefix"), o."invoiceNumber" HAVING count(*) > 1`,
  },
  {
    name: 'credit-note-numbers',
    rule: 'The credit notes of each store are numbered without gaps up to the next number, and none twice',
    sql: wrongNumbers(
      `SELECT "storeId", concat('Order ', "orderId", ', transaction ', "id") AS "record", "creditNoteNumber" AS "number", 0 AS "known"
       FROM "OrderTransaction" WHERE "creditNoteNumber" IS NOT NULL
       UNION ALL SELECT "id", 'The next credit note', "nextCreditNoteNumber", 0 FROM "Store"`,
    ),
  },
  { name: 'foreign-keys', rule: 'What every foreign key refers to exists', sql: brokenForeignKeys },
  {
    name: 'stores',
    rule: 'The store of each record exists',
    sql: unionOf(
      servedTables,
      (table) => `
      SELECT t."storeId", concat('${table} ', t."id") AS "record", 'there is no such store' AS "found" FROM "${table}" t
      WHERE NOT EXISTS (SELECT FROM "Store" s WHERE s."id" = t."storeId")`,
    ),
  },
  {
    name: 'order-statuses',
    rule: 'The status of each order and shipment is one of the store',
    sql: unionOf(
      Object.entries({ Order: 'id', OrderShipment: 'orderId' }),
      ([table, order]) => `
      SELECT t."storeId", concat('Order ', t."${order}") AS "record", concat('${table} has status ', t."statusId") AS "found"
      FROM "${table}" t WHERE t."statusId" <> 0 AND NOT EXISTS (
        SELECT FROM "OrderStatus" o WHERE o."storeId" = t."storeId" AND o."id" = t."statusId")`,
    ),
  },
  {
    name: 'line-shipments',
    rule: 'The shipment of each line belongs to its order',
    sql: `
      SELECT i."storeId", concat('Order ', i."orderId") AS "record", concat('line ', i."id", ' has shipment ', i."shipmentId") AS "found"
      FROM "OrderItem" i WHERE i."shipmentId" <> 0 AND NOT EXISTS (
        SELECT FROM "OrderShipment" h
        WHERE h."storeId" = i."storeId" AND h."id" = i."shipmentId" AND h."orderId" = i."orderId")`,
  },
  {
    name: 'linked-products',
    rule: 'Related, up-selling and bundled products exist',
    sql: unionOf(
      ['Product', 'Category'],
      (table) => `
      SELECT t."storeId", concat('${table} ', t."id") AS "record", concat('names Product ', linked."id") AS "found"
      FROM "${table}" t CROSS JOIN unnest("linkedProducts"(t."details")) linked ("id")
      WHERE linked."id" <> 0 AND NOT EXISTS (
        SELECT FROM "Product" p WHERE p."storeId" = t."storeId" AND p."id" = linked."id")`,
    ),
  },
  {
    name: 'category-circles',
    rule: 'No category lies in itself',
    sql: `
      WITH RECURSIVE reached AS (
        SELECT "storeId", "id" FROM "Category" WHERE "parentId" IS NULL
        UNION ALL
        SELECT c."storeId", c."id" FROM reached r JOIN "Category" c ON c."storeId" = r."storeId" AND c."parentId" = r."id"
      )
      SELECT c."storeId", concat('Category ', c."id") AS "record", concat('lies below Category ', c."parentId", ' in a circle') AS "found"
      FROM "Category" c
      WHERE NOT EXISTS (SELECT FROM reached r WHERE r."storeId" = c."storeId" AND r."id" = c."id")`,
  },
  {
    name: 'event-numbers',
    rule: 'The events of each store are numbered without gaps, but for those deleted because of their age, and none twice',
    sql: wrongNumbers(
      `SELECT "storeId", concat('Event ', "sequence") AS "record", "sequence" AS "number", ${deletedThrough} AS "known"
       FROM "Event" e WHERE "sequence" > 0`,
    ),
  },
  {
    name: 'event-feeds',
    rule: 'The feed of each store ends with its last event',
    sql: `
      SELECT e."storeId", 'Events' AS "record", concat('last event ', e."last", ', feed up to ', coalesce(f."lastSequence", 0)) AS "found"
      FROM (SELECT e."storeId", greatest(max(e."sequence"), ${deletedThrough}) AS "last"
            FROM (SELECT "storeId", "sequence" FROM "Event" WHERE "sequence" > 0
                  UNION ALL SELECT "storeId", 0 FROM "EventFeed") e GROUP BY e."storeId") e
      LEFT JOIN "EventFeed" f ON f."storeId" = e."storeId"
      WHERE e."last" <> coalesce(f."lastSequence", 0)`,
  },
  {
    name: 'deliveries',
    rule: 'Each delivery is of a numbered event of its store, and what is pending has its webhook',
    sql: `
      SELECT d."storeId", concat('Delivery ', d."id") AS "record",
        CASE WHEN e."id" IS NULL OR e."storeId" <> d."storeId" THEN concat('event ', d."eventId", ' is not of the store')
          WHEN e."sequence" IS NULL THEN concat('event ', d."eventId", ' has no number')
          ELSE concat('there is no Webhook ', d."webhookId") END AS "found"
      FROM "Delivery" d LEFT JOIN "Event" e ON e."id" = d."eventId"
      WHERE e."id" IS NULL OR e."storeId" <> d."storeId" OR e."sequence" IS NULL OR (d."state" = 'pending' AND NOT EXISTS (
        SELECT FROM "Webhook" w WHERE w."storeId" = d."storeId" AND w."id" = d."webhookId"))`,
  },
  {
    name: 'secret-key',
    rule: 'Everything that is sealed is under the secret key in force, or npm run rotate-secret-key is yet to take it over',
    // Without a rotation no key is named as the one in force, and nothing is found.
    sql: unionOf(
      sealedTables.flatMap((entry) => entry.sealed.map((column) => ({ ...entry, column }))),
      ({ table, key, column }) => `
        SELECT (to_jsonb(t) ->> 'storeId')::int AS "storeId",
          concat('${table} ', ${key.map((name) => `t."${name}"`).join(", ' ', ")}) AS "record",
          '${column} is sealed under another key' AS "found"
        FROM "${table}" t CROSS JOIN (SELECT "id" FROM "SecretKey" ORDER BY "since" DESC LIMIT 1) k
        WHERE t."${column}" NOT LIKE concat('v2.', k."id", '.%')`,
    ),
  },
  {
    name: 'sku-blanks',
    rule: 'No SKU begins or ends with a blank',
    sql: `
      SELECT p."storeId", concat('Product ', p."id") AS "record", concat('SKU ', to_json(p."sku"),
        (SELECT concat('; without the blanks it is that of Product ', min(o."id")) FROM "Product" o
         WHERE o."storeId" = p."storeId" AND o."id" <> p."id" AND lower(o."sku") = lower(btrim(p."sku", ${blanks}))
         HAVING count(*) > 0)) AS "found"
      FROM "Product" p WHERE p."sku" <> btrim(p."sku", ${blanks})`,
  },
]

/** A restore without triggers leaves rows behind that no foreign key has looked at. */
async function brokenForeignKeys({ query }: Pick<Snapshot, 'query'>): Promise<string> {
  const keys = await query<{ table: string; columns: string[]; target: string; targetColumns: string[] }>(`
    SELECT conrelid::regclass::text AS "table", ${namesOf('conrelid', 'conkey')} AS "columns",
      confrelid::regclass::text AS "target", ${namesOf('confrelid', 'confkey')} AS "targetColumns"
    FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace ORDER BY conrelid::regclass::text, conname`)
  return unionOf(keys, ({ table, columns, target, targetColumns }) => {
    const column = columns.at(-1)
    const isTarget = columns.map((each, index) => `p.${targetColumns[index]} = c.${each}`).join(' AND ')
    return `
      SELECT (to_jsonb(c) ->> 'storeId')::int AS "storeId", concat('${bare(table)} ', to_jsonb(c) ->> 'id') AS "record",
        concat('${bare(column)} ', c.${column}, ' is no ${bare(target)}') AS "found"
      FROM ${table} c WHERE num_nulls(${columns.map((each) => `c.${each}`).join(', ')}) = 0 AND NOT EXISTS (SELECT FROM ${target} p WHERE ${isTarget})`
  })
}

/** SQL of the quoted names of a constraint's columns, in its order. */
function namesOf(table: string, numbers: string): string {
  return `ARRAY(
      SELECT quote_ident(a.attname) FROM unnest(${numbers}) WITH ORDINALITY k (number, place)
      JOIN pg_attribute a ON a.attrelid = ${table} AND a.attnum = k.number ORDER BY k.place)`
}

function bare(quoted = ''): string {
  return quoted.replaceAll('"', '')
}

/** SQL of each kind of id that a counter gives out: "storeId", the counter's "name" and the "highest" id. */
function highestIds(): string {
  const ofTable = (table: string) =>
    `SELECT "storeId", '${table}' AS "name", max("id") AS "highest" FROM "${table}" GROUP BY "storeId"`
  const ofLists = resources.flatMap(({ table, storedFields }) => nestedIds(storedFields, `"${table}" t`, 't."details"'))
  return [...Array.from(servedTables.difference(new Set(['OrderStatus'])), ofTable), ...ofLists].join(' UNION ALL ')
}

/** SQL of what is wrong with numbers that begin at 1: gaps above what is `known` to be missing, and numbers that are there again. */
function wrongNumbers(numbers: string): string {
  return `
      SELECT "storeId", "record", CASE "number" WHEN "former" THEN concat("number", ' is there twice')
        ELSE concat('none from ', greatest("known", "former") + 1, ' to ', "number" - 1) END AS "found"
      FROM (SELECT n.*, lag("number", 1, 0) OVER (PARTITION BY "storeId" ORDER BY "number", "record") AS "former" FROM (${numbers}) n) each
      WHERE "number" = "former" OR "number" > greatest("known", "former") + 1`
}

function unionOf<T>(items: Iterable<T>, sqlOf: (item: T) => string): string {
  return Array.from(items, sqlOf).join(' UNION ALL ')
}

/** Of the items of all lists inside, however deep: in tables of their own, and in the document `details` of the rows `from`. */
function nestedIds(fields: FieldSet, from: string, details: string, depth = 0): string[] {
  return fields.entries.flatMap(([name, field]) => {
    if (field.kind === 'object') return nestedIds(field.fields, from, `${details} -> '${name}'`, depth)
    if (field.kind !== 'list') return []
    const item = `item${depth}`
    const inside = hasRows(field)
      ? { from: `"${field.rows.table}" t`, details: 't."details"', id: `t."${keyColumn(field)}"` }
      : {
          from: `${from} CROSS JOIN json_array_elements(${details} -> '${name}') ${item}`,
          details: item,
          id: `(${item} ->> '${field.key}')::int`,
        }
    const nested = nestedIds(field.fields, inside.from, inside.details, depth + 1)
    if (field.key === undefined || field.keyFrom !== 'counter') return nested
    const own = `SELECT t."storeId", '${ROW_COUNTER}', max(${inside.id}) FROM ${inside.from} GROUP BY t."storeId"`
    return [own, ...nested]
  })
}
