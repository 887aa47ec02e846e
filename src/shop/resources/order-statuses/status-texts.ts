import type { Caller } from '../../../engine/caller.ts'
import { readInTurn } from '../../../foundation/database/client.ts'

export type StatusTexts = Awaited<ReturnType<typeof readStatusTexts>>

/** Returns a snapshot of the texts of a store's order statuses. */
export async function readStatusTexts({ db, store }: Pick<Caller, 'db' | 'store'>) {
  const rows = (await listStatuses(db, store.id)).sort((one, other) => one.id - other.id)
  const texts = new Map(rows.map(({ id, text }) => [id, text]))
  return {
    /** The merchant's text; empty for an unknown status. */
    textOf: (id: number) => texts.get(id) ?? '',
    /**
     * Returns the status with this text, ignoring case, or null: the merchant's texts first, then the built-in names
     * (order-statuses §1.5).
     */
    idOf(given: string): number | null {
      const wanted = folded(given)
      const found =
        rows.find(({ text }) => folded(text) === wanted) ?? rows.find(({ definition }) => folded(definition) === wanted)
      return found?.id ?? null
    },
  }
}

function folded(text: string): string {
  return text.trim().toLowerCase()
}

/** Returns a store's order statuses, in the merchant's order. */
export function listStatuses(db: Caller['db'], storeId: number) {
  return readInTurn({ db, store: { id: storeId } }, () =>
    db.orderStatus.findMany({ where: { storeId }, orderBy: [{ sorting: 'asc' }, { id: 'asc' }] }),
  )
}
