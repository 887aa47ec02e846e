import {
  afterTransaction,
  type DataServices,
  type Db,
  inTransaction,
  isClient,
  type Transaction,
} from '../../foundation/database/client.ts'

/** The NOTIFY channel on which a process announces that a caller's access changed. */
export const accessChannel = 'access'

export interface AccessServices extends DataServices {
  /** The authenticator, which drops the callers it has cached in this process after a change of access. */
  authenticator: { invalidate(): void }
}

/** Runs a change in one transaction. It takes effect here once this resolves, in other processes when notified. */
export function changeAccess<T>(services: AccessServices, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return announceAccess(services, () => inTransaction(services.db, work))
}

/** Like `changeAccess`, for a change that commits by itself. Inside a transaction, announces after that one. */
export async function announceAccess<T>({ db, authenticator }: AccessServices, change: () => Promise<T>): Promise<T> {
  if (!isClient(db)) {
    afterTransaction(db, async (client) => {
      authenticator.invalidate()
      await notifyOthers(client)
    })
    return change()
  }
  // Invalidates after an error too: a COMMIT whose response was lost may have succeeded.
  const result = await change().finally(() => authenticator.invalidate())
  await notifyOthers(db)
  return result
}

/** After the commit, because NOTIFY serializes commits. If it fails, other processes' cache entries last until expiry. */
async function notifyOthers(db: Db): Promise<void> {
  await db.$executeRaw`SELECT pg_notify(${accessChannel}, '')`.catch(() => undefined)
}
