import { isDeepStrictEqual } from 'node:util'
import { type EventKind, productChanged, productNew, productStockChanged } from '../../engine/event-kinds.ts'
import type { Row } from '../../engine/merge.ts'
import type { Stored } from '../../engine/write.ts'
import { stockMoves } from './stock.ts'

/** What a change of a product raises: one of a stock alone is told apart from one of anything else (webhooks.md 2). */
export function productEvents(before: Stored | null, after: Stored): EventKind[] {
  if (before === null) return [productNew]
  const isStockChanged = stockMoves(before, after).length > 0
  const isChanged = !isDeepStrictEqual(withoutStock(before), withoutStock(after))
  return [...(isChanged ? [productChanged] : []), ...(isStockChanged ? [productStockChanged] : [])]
}

/** The stamps say who wrote and when, not what changed. */
function withoutStock({ row, lists }: Stored) {
  const { stock, updatedAt, updatedBy, ...columns } = row
  return { columns, lists: Object.entries(lists).map(([name, rows]) => [name, inOrder(rows).map(optionWithoutStock)]) }
}

/** Not every list is kept in the order in which it was sent. */
function inOrder(rows: readonly Row[]): Row[] {
  return [...rows].sort((one, other) => Number(one.position ?? 0) - Number(other.position ?? 0))
}

/** Of the lists that lie in tables, only advanced options have a stock. */
function optionWithoutStock({ stock, ...columns }: Row): Row {
  return columns
}
