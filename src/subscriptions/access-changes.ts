import type { Db } from '../database/client.ts'

/** The NOTIFY channel by which processes tell one another that somebody may do less, or other things, than before. */
export const accessChannel = 'access'

export interface AccessChange {
  db: Db
  /** Forgets what this process knows of callers; the authenticator. */
  authenticator: { invalidate(): void }
}

/**
 * Runs `change`, which commits by itself, and lets it count at once: in this process when the promise is fulfilled, in
 * the others as soon as they hear of it.
 */
export async function changeAccess<T>({ db, authenticator }: AccessChange, change: () => Promise<T>): Promise<T> {
  const result = await change().finally(() => {
    // After an error too: a COMMIT whose answer was lost has happened.
    authenticator.invalidate()
  })
  await tellOthers(db)
  return result
}

/** After the commit, since NOTIFY makes commits queue. The change stands even when this fails: the others then learn of it as their cached entries run out. */
async function tellOthers(db: Db) {
  await db.$executeRaw`SELECT pg_notify(${accessChannel}, '')`.catch(() => undefined)
}
