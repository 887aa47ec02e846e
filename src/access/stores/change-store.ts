import type { Caller } from '../../engine/caller.ts'
import type { Transaction } from '../../foundation/database/client.ts'
import type { Store } from '../../foundation/database/generated/client.ts'
import type { AuditAction } from '../audit/actions.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'

interface StoreChange {
  readonly actor: Actor
  readonly action?: AuditAction
  /** Columns of the store to set. */
  readonly data?: Partial<Store>
  /** Changes what else belongs to the store, and returns what the audit log says of it; null: nothing was changed. */
  readonly work?: (tx: Transaction) => Promise<object | null>
}

/** Changes settings of a store, one change after the other. The audit log has what is different then; no entry, where nothing is. */
export async function changeStore(
  tx: Transaction,
  { store: { id: storeId }, now }: { readonly store: { readonly id: number }; readonly now: Caller['now'] },
  { actor, action = 'store.changed', data = {}, work }: StoreChange,
): Promise<void> {
  await tx.$executeRaw`SELECT FROM "Store" WHERE "id" = ${storeId}::int FOR NO KEY UPDATE`
  const before = await tx.store.findUniqueOrThrow({ where: { id: storeId } })
  const after = await tx.store.update({ where: { id: storeId }, data })
  const details = { ...differences(before, after, Object.keys(data)), ...(await work?.(tx)) }
  if (Object.keys(details).length === 0) return
  await recordAudit(tx, now, { actor, action, target: after.name, storeId, details })
}

/** Maps each changed column to its former and new value. All but booleans and lists become text, or null where it is empty. */
export function differences(before: Store, after: Store, columns: readonly string[]) {
  const changed = (columns as (keyof Store)[]).filter((name) => String(before[name]) !== String(after[name]))
  const audited = (value: unknown) =>
    typeof value === 'boolean' || Array.isArray(value) ? value : String(value ?? '') || null
  return Object.fromEntries(changed.map((name) => [name, { from: audited(before[name]), to: audited(after[name]) }]))
}
