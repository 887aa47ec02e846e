import type { Caller } from '../../engine/caller.ts'
import { productStockChanged } from '../../engine/event-kinds.ts'
import { raise } from '../../engine/events.ts'
import type { Row } from '../../engine/merge.ts'
import type { Change, Stored } from '../../engine/write.ts'
import { StoreFailure } from '../../values/failure.ts'

/** Why a stock moved; kept in the ledger. `set` is a figure that replaced another, `adjust` one that was added. */
export type StockCause = 'initial' | 'set' | 'adjust' | 'order' | 'order-edit' | 'cancel' | 'reopen' | 'return'

export interface StockChange {
  productId: number
  /** The advanced option whose own stock moves; null: the product's. */
  optionCode: string | null
  /** In `replace` mode the new stock, in `add` mode what is added (negative: taken off). */
  quantity: number
  mode: 'replace' | 'add'
  cause: StockCause
  orderId?: number
  /** Refuse to go below zero; without it a stock may become negative. */
  onlyIfEnough?: boolean
}

/**
 * Moves a stock, writes the ledger row and raises Product Stock Changed, inside the caller's change; every door ends here.
 * The row is locked before it is read, so two changes at once add up. Returns the stock before and after,
 * or null when it was not enough (`onlyIfEnough`). A replacement by the same figure writes no movement.
 * Throws `not-found` for an unknown product or option.
 */
export async function changeStock(
  caller: Caller,
  { productId, optionCode, quantity, mode, cause, orderId, onlyIfEnough = false }: StockChange,
): Promise<{ before: number; after: number } | null> {
  const [moved] = await caller.db.$queryRawUnsafe<{ before: number; after: number | null }[]>(
    optionCode === null ? moveProductStock : moveOptionStock,
    caller.store.id,
    productId,
    optionCode,
    quantity,
    mode,
    onlyIfEnough,
    cause,
    orderId ?? null,
    caller.actor,
    caller.now().toISOString(),
  )
  if (!moved) {
    const what =
      optionCode === null ? `There is no Product ${productId}` : `Product ${productId} has no option ${optionCode}`
    throw new StoreFailure('not-found', what, { field: 'CatalogID' })
  }
  if (moved.after === null) return null
  if (moved.after !== moved.before) raise(caller, productStockChanged, productId)
  return { before: moved.before, after: moved.after }
}

const nextStock = `CASE $5::text WHEN 'add' THEN o."stock" + $4::numeric ELSE $4::numeric END`

const writeMovement = `INSERT INTO "StockMovement"
  ("storeId", "productId", "optionCode", "quantity", "stockAfter", "cause", "orderId", "actor", "createdAt")
  SELECT $1::int, $2::int, $3::text, "after" - "before", "after", $7::text, $8::int, $9::text, $10::timestamptz
  FROM moved WHERE "after" <> "before"`

const beforeAndAfter = `SELECT o."stock"::float8 AS "before", (SELECT "after"::float8 FROM moved) AS "after" FROM o`

const moveProductStock = `
  WITH o AS (
    SELECT "stock" FROM "Product" WHERE "storeId" = $1::int AND "id" = $2::int FOR NO KEY UPDATE),
  moved AS (
    UPDATE "Product" t SET "stock" = ${nextStock}, "updatedAt" = greatest("updatedAt", $10::timestamptz), "updatedBy" = $9::text
    FROM o WHERE t."storeId" = $1::int AND t."id" = $2::int AND (NOT $6::boolean OR ${nextStock} >= 0)
    RETURNING o."stock" AS "before", t."stock" AS "after"),
  logged AS (${writeMovement})
  ${beforeAndAfter}`

/** The product is locked first, as every other change of its options does. */
const moveOptionStock = `
  WITH product AS (
    UPDATE "Product" SET "updatedAt" = greatest("updatedAt", $10::timestamptz), "updatedBy" = $9::text
    WHERE "storeId" = $1::int AND "id" = $2::int RETURNING "id"),
  o AS (
    SELECT a."stock" FROM product JOIN "AdvancedOption" a ON a."productId" = product."id"
    WHERE a."storeId" = $1::int AND a."code" = $3::text FOR NO KEY UPDATE OF a),
  moved AS (
    UPDATE "AdvancedOption" t SET "stock" = ${nextStock}
    FROM o WHERE t."storeId" = $1::int AND t."productId" = $2::int AND t."code" = $3::text
      AND (NOT $6::boolean OR ${nextStock} >= 0)
    RETURNING o."stock" AS "before", t."stock" AS "after"),
  logged AS (${writeMovement})
  ${beforeAndAfter}`

/** Writes the ledger rows of a product whose stock, or whose options' stock, a caller set through its record. */
export function settleStock({ caller, id, before, after, afterwards }: Change): void {
  const cause: StockCause = before === null ? 'initial' : 'set'
  afterwards.push(async () => {
    for (const { optionCode, quantity, stockAfter } of [...stockMoves(before, after), ...goneOptions(before, after)]) {
      await caller.db.$executeRawUnsafe(
        `INSERT INTO "StockMovement" ("storeId", "productId", "optionCode", "quantity", "stockAfter", "cause", "actor", "createdAt")
         VALUES ($1::int, $2::int, $3::text, $4::numeric, $5::numeric, $6, $7, $8::timestamptz)`,
        caller.store.id,
        id,
        optionCode,
        quantity,
        stockAfter,
        cause,
        caller.actor,
        caller.now().toISOString(),
      )
    }
  })
}

interface Movement {
  optionCode: string | null
  quantity: number
  stockAfter: number
}

/** Which stocks of a product differ between two states, its own and those of its advanced options. */
export function stockMoves(before: Stored | null, after: Stored): Movement[] {
  return [
    ...movement(null, before?.row, after.row),
    ...optionMovements(before?.lists.AdvancedOptionList ?? [], after.lists.AdvancedOptionList ?? []),
  ]
}

function optionMovements(before: readonly Row[], after: readonly Row[]): Movement[] {
  const stored = new Map(before.map((row) => [row.code, row]))
  return after.flatMap((row) => movement(String(row.code), stored.get(row.code), row))
}

/** An advanced option that goes takes its stock along. It may come back, and begins with nothing then. */
function goneOptions(before: Stored | null, after: Stored): Movement[] {
  const { AdvancedOptionList: options } = after.lists
  if (options === undefined) return []
  const kept = new Set(options.map(({ code }) => code))
  const gone = (before?.lists.AdvancedOptionList ?? []).filter(({ code }) => !kept.has(code))
  return gone.flatMap((row) => movement(String(row.code), row, { stock: 0 }))
}

/** The record is locked and its stock written absolutely, so the difference to what was read is what moved. */
function movement(optionCode: string | null, before: Row | undefined, after: Row): Movement[] {
  const stockAfter = Number(after.stock)
  const quantity = Number((stockAfter - Number(before?.stock ?? 0)).toFixed(4))
  return quantity === 0 ? [] : [{ optionCode, quantity, stockAfter }]
}
