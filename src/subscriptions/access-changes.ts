import { type Db, inTransaction, type Transaction } from '../database/client.ts'

/** The NOTIFY channel on which processes tell one another that somebody may do less, or other things, than before. */
export const accessChannel = 'access'

export interface AccessChange {
  db: Db
  /** Forgets what this process knows of callers; the authenticator. */
  authenticator: { invalidate(): void }
}

/**
 * Makes a change in one transaction, and lets it count at once: in this process when the promise is fulfilled, in the others as
 * soon as they hear of it.
 */
export function changeAccess<T>(services: AccessChange, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return announceAccess(services, () => inTransaction(services.db, work))
}

/** The same for a change that commits by itself. */
export async function announceAccess<T>({ db, authenticator }: AccessChange, change: () => Promise<T>): Promise<T> {
  // After an error too: a COMMIT whose answer was lost has happened.
  const result = await change().finally(() => authenticator.invalidate())
  // After the commit, since NOTIFY makes commits queue. When it fails, the others learn of the change as their cached entries run out.
  await db.$executeRaw`SELECT pg_notify(${accessChannel}, '')`.catch(() => undefined)
  return result
}
