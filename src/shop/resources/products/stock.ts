import type { Caller } from '../../../engine/caller.ts'
import { productStockChanged } from '../../../engine/definition/event-kinds.ts'
import { date, decimal, reference, text } from '../../../engine/definition/fields.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { raise } from '../../../engine/recording/events.ts'
import { defineLedger } from '../../../engine/recording/ledger.ts'
import { execute, queryRows } from '../../../foundation/database/client.ts'
import { anyOf, anyOfFew, empty, type Sql, sql, storeId } from '../../../foundation/database/sql.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'

/** Why a stock moved; stored in the ledger. `set` replaces the stock, `adjust` adds to it. */
export type StockCause = 'initial' | 'set' | 'adjust' | 'order' | 'order-edit' | 'cancel' | 'reopen' | 'return'

/** The cause of the one movement that stands for all older ones (carry-forward.ts). */
export const CARRIED_FORWARD = 'carried-forward'

export const NOTE_LENGTH_MAX = 200

/** A move of the stock of a product or one of its advanced options. */
export type StockMove = {
  readonly productId: number
  /** The advanced option whose stock moves; null: the product's own. */
  readonly optionCode: string | null
  readonly cause: StockCause
} & (
  | {
      readonly mode: 'replace' | 'add'
      /** The new stock, or the quantity to add (negative: to take off). */
      readonly quantity: number
      readonly orderId?: number | null
      /** Refuses to go below zero. Omitted: the stock may become negative. */
      readonly onlyIfEnough?: boolean
      /** The new stock is in whole pieces, and one of as many whole pieces stays as it is. */
      readonly isWhole?: boolean
      /** Why, in the words of the person who moves it. */
      readonly note?: string
    }
  /** The record's change wrote the stock; only the ledger's row is missing. Quantities as text keep all digits. */
  | { readonly mode: 'written'; readonly quantity: number | string; readonly stockAfter: number | string }
)

/** Locks products by ascending id, as every move of several stocks must, and returns the ids that exist. */
export async function lockProducts(
  { db, store }: Caller,
  productIds: readonly number[],
  lock = sql`FOR NO KEY UPDATE`,
): Promise<Set<number>> {
  if (productIds.length === 0) return new Set()
  const found = await queryRows<{ id: number }>(db)`
    SELECT p."id" FROM "Product" p WHERE p."storeId" = ${storeId(store)} AND p."id" = ${anyOfFew(productIds)}
    ORDER BY p."id" ${lock} OF p`
  return new Set(found.map(({ id }) => id))
}

type MovedStock = { readonly before: number; readonly after: number }

/**
 * Moves stocks in this order and writes the ledger's rows, inside the caller's change; every stock change ends here.
 * Raises Product Stock Changed except for `written` moves. Locks each row before reading it, so concurrent changes add
 * up; to move stocks of several products, lock the products first, by ascending id. A move that leaves the stock as it
 * is writes nothing, so LastUpdate stays too. Returns the stock before and after each move that is not `written`; null if
 * it was not enough (`onlyIfEnough`). Throws `not-found` for an unknown product or option.
 */
export async function moveStocks(caller: Caller, products: Resource, moves: readonly StockMove[]) {
  const moved: (MovedStock | null)[] = []
  for (const move of moves) if (move.mode !== 'written') moved.push(await moveStock(caller, products, move))
  const written = moves.filter(({ mode }) => mode === 'written')
  if (written.length === 0) return moved
  await execute(caller.db)`
    INSERT INTO "StockMovement" ("storeId", "productId", "optionCode", "quantity", "stockAfter", "cause", "actor", "createdAt")
    SELECT ${caller.store.id}::int, m."productId", m."optionCode", m."quantity", m."stockAfter", m."cause",
      ${caller.actor}, ${caller.now().toISOString()}::timestamptz
    FROM json_to_recordset(${JSON.stringify(written)}::text::json)
      AS m ("productId" int, "optionCode" text, "quantity" numeric, "stockAfter" numeric, "cause" text)`
  return moved
}

async function moveStock(caller: Caller, products: Resource, move: Exclude<StockMove, { mode: 'written' }>) {
  const { db, store, actor, now } = caller
  const { productId, optionCode, quantity, mode, cause, orderId = null, note = '' } = move
  const { onlyIfEnough = false, isWhole = false } = move
  const product = sql`"storeId" = ${store.id}::int AND "id" = ${productId}::int`
  const at = sql`${now().toISOString()}::timestamptz`
  const stamps = sql`"updatedAt" = greatest("updatedAt", ${at}), "updatedBy" = ${actor}::text`
  const given = sql`round(${quantity}::numeric, 4)`
  const replaced = isWhole ? sql`CASE WHEN floor("stock") = ${given} THEN "stock" ELSE ${given} END` : given
  const next = sql`${mode === 'add' ? sql`"stock" + ${given}` : replaced} AS "next"`
  const enough = onlyIfEnough ? sql`AND o."next" >= 0` : empty
  const moving = sql`o."next" <> o."stock" ${enough}`
  const option = sql`"storeId" = ${store.id}::int AND "productId" = ${productId}::int AND "code" = ${optionCode}::text`
  const change =
    optionCode === null
      ? sql`o AS (SELECT "stock", ${next} FROM "Product" WHERE ${product} FOR NO KEY UPDATE),
          moved AS (UPDATE "Product" t SET "stock" = o."next", ${stamps} FROM o WHERE ${product} AND ${moving} RETURNING t."stock")`
      : // Locks the product first, as every other change of its options does.
        sql`product AS (SELECT "id" FROM "Product" WHERE ${product} FOR NO KEY UPDATE),
          o AS (
            SELECT a."stock", ${next} FROM product JOIN "AdvancedOption" a ON a."productId" = product."id"
            WHERE ${option} FOR NO KEY UPDATE OF a),
          moved AS (UPDATE "AdvancedOption" t SET "stock" = o."next" FROM o WHERE ${option} AND ${moving} RETURNING t."stock"),
          stamped AS (UPDATE "Product" SET ${stamps} FROM moved WHERE ${product})`
  const [moved] = await queryRows<{ before: number; after: number | null }>(db)`
    WITH ${change}, logged AS (
      INSERT INTO "StockMovement"
        ("storeId", "productId", "optionCode", "quantity", "stockAfter", "cause", "orderId", "actor", "note", "createdAt")
      SELECT ${store.id}::int, ${productId}::int, ${optionCode}::text, m."stock" - o."stock", m."stock", ${cause}::text,
        ${orderId}::int, ${actor}::text, ${note}::text, ${at}
      FROM moved m, o)
    SELECT o."stock"::float8 AS "before", CASE WHEN true ${enough} THEN o."next"::float8 END AS "after" FROM o`
  if (!moved) {
    const what =
      optionCode === null ? `There is no Product ${productId}` : `Product ${productId} has no option ${optionCode}`
    throw new StoreFailure('not-found', what, { field: 'CatalogID' })
  }
  const { before: from, after } = moved
  if (after === null) return null
  if (after !== from) raise(caller, productStockChanged, products, productId)
  return { before: from, after }
}

/** Every change of a stock of a product or advanced option. No answer shows it; export and import carry it. */
export const stockMovements = defineLedger({
  name: 'StockMovements',
  table: 'StockMovement',
  parent: 'productId',
  column: 'stock',
  fields: {
    /** Empty: the product's own stock. */
    AdvancedOptionCode: text(50, { column: 'optionCode', nullable: true }),
    Quantity: decimal({ column: 'quantity' }),
    StockAfter: decimal({ column: 'stockAfter' }),
    Cause: text(20, { column: 'cause', required: true }),
    OrderID: reference('orderId'),
    UserID: text(50, { column: 'actor' }),
    Note: text(NOTE_LENGTH_MAX, { column: 'note' }),
    Date: date({ column: 'createdAt', defaultNow: true }),
  },
  complete: writeMissing,
})

/**
 * SQL: each stock of the products that `ofProducts` selects (by "storeId" and "productId"), with the sum of its
 * movements as "moved". Covers the product's own stock ("optionCode" is NULL), those of its advanced options, and those
 * of deleted options, whose stock is 0.
 */
export function stocksAndMovements(ofProducts: Sql): Sql {
  return sql`
    SELECT "storeId", "productId", "optionCode", sum("stock") AS "stock", sum("moved") AS "moved", count("movement") AS "movements"
    FROM (
      SELECT "storeId", "id" AS "productId", NULL::text AS "optionCode", "stock", 0 AS "moved", NULL::bigint AS "movement" FROM "Product"
      UNION ALL SELECT "storeId", "productId", "code", "stock", 0, NULL FROM "AdvancedOption"
      UNION ALL SELECT "storeId", "productId", "optionCode", 0, "quantity", "id" FROM "StockMovement"
    ) each
    WHERE ${ofProducts} GROUP BY "storeId", "productId", "optionCode"`
}

/** Writes a movement for each stock that differs from the sum of its movements, because a file may omit them. */
async function writeMissing(caller: Caller, products: Resource, productIds: readonly number[]): Promise<void> {
  const ofThese = sql`"storeId" = ${storeId(caller.store)} AND "productId" = ${anyOf(productIds)}`
  const missing = await queryRows<Omit<Extract<StockMove, { mode: 'written' }>, 'mode'>>(caller.db)`
    SELECT "productId", "optionCode", ("stock" - "moved")::text AS "quantity", "stock"::text AS "stockAfter",
      CASE "movements" WHEN 0 THEN 'initial' ELSE 'set' END AS "cause"
    FROM (${stocksAndMovements(ofThese)}) stocks
    WHERE "stock" <> "moved" ORDER BY "productId", "optionCode" NULLS FIRST`
  const moves = missing.map((move) => ({ mode: 'written', ...move }) as const)
  await moveStocks(caller, products, moves)
}
