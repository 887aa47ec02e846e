import type { Caller } from '../../../engine/caller.ts'
import { forEachChange } from '../../../engine/changing/change.ts'
import { productStockChanged } from '../../../engine/definition/event-kinds.ts'
import type { Change, Resource } from '../../../engine/definition/resource.ts'
import type { Row, Stored } from '../../../engine/definition/stored-row.ts'
import { raise } from '../../../engine/recording/events.ts'
import { queueFetches } from '../../pictures/fetches.ts'
import { keepNamedProducts, refuseUnknownProducts } from './linked-products.ts'
import { plainSku } from './sku.ts'
import { moveStocks, type StockMove } from './stock.ts'
import { adjustedStocks, adjustStocks } from './stock-adjust.ts'

/** Adds to stocks, refuses (400) unknown linked products, queues pictures to be fetched, and keeps a stored SKU that is not plain. */
export async function productRules(changes: readonly Change[]): Promise<void> {
  await forEachChange(changes, async (change) => {
    if (change.kind === 'delete') return
    adjustStocks(change)
    await keepStoredSku(change)
    await refuseUnknownProducts(change)
    await queueFetches(change)
  })
}

/**
 * Keeps a stored SKU that differs from its plain form while another product has that one (earlier versions left both), so that a
 * client can send the record back unchanged.
 */
async function keepStoredSku({ caller: { db, store }, id, before, after }: Change): Promise<void> {
  const stored = before?.row.sku
  const { sku } = after.row
  if (typeof stored !== 'string' || stored === sku || plainSku(stored) !== sku) return
  const [other] = await db.$queryRaw<object[]>`
    SELECT 1 FROM "Product" WHERE "storeId" = ${store.id} AND lower("sku") = lower(${sku}) AND "id" <> ${id} LIMIT 1`
  if (other !== undefined) after.row.sku = stored
}

/** Writes the ledger for stocks set through the record, and tells of those of a stored product. Imports bring their own ledger. */
export async function productEffects(changes: readonly Change[]): Promise<void> {
  await keepNamedProducts(changes)
  const written: { caller: Caller; move: StockMove }[] = []
  for (const change of changes) {
    const { kind, caller, resource, id, before, after } = change
    if (kind === 'delete') continue
    const moves = stockMoves(change)
    const made = kind === 'import' ? [] : [...moves, ...goneOptions(id, before, after)]
    written.push(...made.map((move) => ({ caller, move })))
    if (before !== null && moves.length > 0) raise(caller, productStockChanged, resource, id)
  }
  const [{ resource } = {}] = changes
  // The ledger says who moved each stock.
  for (const byActor of Map.groupBy(written, ({ caller }) => caller.actor).values()) {
    const [{ caller }] = byActor as [(typeof byActor)[number]]
    const moves = byActor.map(({ move }) => move)
    await moveStocks(caller, resource as Resource, moves)
  }
}

/** Returns the moves between two states of a product: of its own stock and those of its advanced options. */
function stockMoves({ id: productId, patch, before, after }: Change): StockMove[] {
  const adjusted = adjustedStocks(patch)
  const causeOf = (optionCode: string | null) => (adjusted.has(optionCode) ? 'adjust' : 'set')
  const stored = new Map((before?.lists.AdvancedOptionList ?? []).map((row) => [row.code, row]))
  const options = after.lists.AdvancedOptionList ?? []
  return [
    ...stockMove(productId, null, before?.row, after.row),
    ...options.flatMap((row) => stockMove(productId, String(row.code), stored.get(row.code), row)),
  ].map((move) => ({ ...move, cause: before === null ? 'initial' : causeOf(move.optionCode) }))
}

/** Returns the moves that empty the stocks of removed advanced options. One that is added again starts at 0. */
function goneOptions(productId: number, before: Stored | null, after: Stored): StockMove[] {
  const { AdvancedOptionList: options } = after.lists
  if (options === undefined) return []
  const kept = new Set(options.map(({ code }) => code))
  const gone = (before?.lists.AdvancedOptionList ?? []).filter(({ code }) => !kept.has(code))
  return gone.flatMap((row) => stockMove(productId, String(row.code), row, { stock: 0 }))
}

/** The record is locked and its stock replaced, so the difference from the stock read is the move. */
function stockMove(productId: number, optionCode: string | null, before: Row | undefined, after: Row): StockMove[] {
  const stockAfter = Number(after.stock)
  const quantity = Number((stockAfter - Number(before?.stock ?? 0)).toFixed(4))
  return quantity === 0 ? [] : [{ mode: 'written', productId, optionCode, quantity, stockAfter, cause: 'set' }]
}
