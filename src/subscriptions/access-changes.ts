import { type DataServices, type Db, inTransaction, type Transaction } from '../database/client.ts'

/** The NOTIFY channel on which a process announces that a caller's access changed. */
export const accessChannel = 'access'

export interface AccessChange {
  db: Db
  /** The authenticator, which then drops the callers it has cached in this process. */
  authenticator: { invalidate(): void }
}

export type AccessServices = DataServices & AccessChange

/**
 * Runs a change in one transaction. The change takes effect in this process once this resolves, and in the others as
 * soon as they receive the notification.
 */
export function changeAccess<T>(services: AccessChange, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return announceAccess(services, () => inTransaction(services.db, work))
}

/** Like `changeAccess`, for a change that commits by itself. */
export async function announceAccess<T>({ db, authenticator }: AccessChange, change: () => Promise<T>): Promise<T> {
  // Invalidates after an error too: a COMMIT whose response was lost may have succeeded.
  const result = await change().finally(() => authenticator.invalidate())
  // After the commit, because NOTIFY serializes commits. If it fails, other processes' cache entries last until expiry.
  await db.$executeRaw`SELECT pg_notify(${accessChannel}, '')`.catch(() => undefined)
  return result
}
