import { z } from 'zod'
import { type Db, execute, type Transaction } from '../../foundation/database/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { type AccessServices, changeAccess } from './access-changes.ts'
import { closedMessage, findStoreAt, storeById, storeClosed } from './caller-store.ts'
import { endOfClosing, lockStore, type Store, storeOf, withTest } from './stores.ts'

// Closes a store, and opens it again. What is deleted after that: operations/sandbox/runner.ts.

/** The body of `DELETE /admin/stores/{id}`. */
export const closing = namedObject({
  Name: z.string('must be the name of the store').describe('The name of the store, exactly as it is.'),
})

/**
 * Closes a store, from this moment on for everybody. One that is closed stays so since then. Throws for another name (400), a test store
 * (409) and an unknown store (404).
 */
export function closeStore(services: AccessServices, id: number, { Name }: z.output<typeof closing>, actor: Actor) {
  const { secrets, now } = services
  return changeAccess(services, async (tx) => {
    const before = await lockStore(tx, id)
    if (Name !== before.name) {
      throw new StoreFailure('invalid-value', 'Name must be the name of the store, exactly as it is', { field: 'Name' })
    }
    if (before.closedAt !== null) return storeOf(before, secrets)
    if (before.testStore !== null) {
      throw new StoreFailure('invalid-state', 'A test store is not closed: its developer throws it away')
    }
    const row = await tx.store.update({ where: { id }, data: { closedAt: now() }, ...withTest })
    await recordAudit(tx, now, { actor, action: 'store.closed', target: row.name, storeId: id })
    return storeOf(row, secrets)
  })
}

/**
 * Opens a closed store as it was. One that is open stays so. Throws for one that was closed 30 days ago, which is being deleted (409), and
 * an unknown store (404).
 */
export function reopenStore(services: AccessServices, id: number, actor: Actor): Promise<Store> {
  const { secrets, now } = services
  return changeAccess(services, async (tx) => {
    const before = await lockStore(tx, id)
    const { closedAt } = before
    if (closedAt === null) return storeOf(before, secrets)
    if (before.testStore !== null || endOfClosing(closedAt) <= now()) {
      throw new StoreFailure('invalid-state', 'The store has been closed for 30 days: it is being deleted')
    }
    const row = await tx.store.update({ where: { id }, data: { closedAt: null }, ...withTest })
    await leaveOut(tx, id, now().getTime() - closedAt.getTime())
    await recordAudit(tx, now, { actor, action: 'store.reopened', target: row.name, storeId: id })
    return storeOf(row, secrets)
  })
}

/** Leaves the time that a store was closed out of what is given up after some days without success: webhooks and mails. */
async function leaveOut(tx: Transaction, storeId: number, ms: number): Promise<void> {
  await execute(tx)`
    UPDATE "Webhook" SET "failingSince" = "failingSince" + ${ms} * interval '1 millisecond',
      "lastFailedAt" = "lastFailedAt" + ${ms} * interval '1 millisecond'
    WHERE "storeId" = ${storeId}::int AND "failingSince" IS NOT NULL`
  await execute(tx)`
    UPDATE "Mail" SET "createdAt" = "createdAt" + ${ms} * interval '1 millisecond'
    WHERE "storeId" = ${storeId}::int AND "state" = 'waiting'`
}

export async function isClosed(db: Db | Transaction, id: number): Promise<boolean> {
  return (await db.store.count({ where: { id, closedAt: { not: null } } })) > 0
}

/** Throws (409) where the store is closed. */
export async function requireOpen(db: Db, id: number): Promise<void> {
  if (await isClosed(db, id)) throw new StoreFailure('invalid-state', closedMessage)
}

/** Like `storeById`, for strangers: throws (403) for a closed store too. */
export async function openStoreById(db: Db | Transaction, id: number) {
  const store = await storeById(db, id)
  if (await isClosed(db, id)) throw storeClosed()
  return store
}

/** Like `findStoreAt`, for strangers: throws (403) for a closed store. */
export async function openStoreAt(db: Db, address: string) {
  const store = await findStoreAt(db, address)
  if (store !== null && (await isClosed(db, store.id))) throw storeClosed()
  return store
}
