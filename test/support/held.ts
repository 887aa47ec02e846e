import type { Caller } from '../../src/engine/caller.ts'
import type { Db, Transaction } from '../../src/foundation/database/client.ts'
import type { TestServer, TestStore } from './store.ts'

/** A transaction that has done its work and not ended yet. */
export interface Held {
  readonly commit: () => Promise<void>
}

/** Does `work` in a transaction that stays open, with its locks, until it is told to commit. */
export async function hold(
  { database: { db } }: TestServer,
  { caller }: TestStore,
  work: (tx: Caller) => Promise<unknown>,
): Promise<Held> {
  return { commit: await holdIn(db, (tx) => work({ ...caller, db: tx })) }
}

/** Does `work` in a transaction that stays open, with its locks, until what this returns has it commit. */
export async function holdIn(db: Db, work: (tx: Transaction) => Promise<unknown>): Promise<() => Promise<void>> {
  const done = Promise.withResolvers<void>()
  const told = Promise.withResolvers<void>()
  const ended = db.$transaction(
    async (tx) => {
      await work(tx)
      done.resolve()
      await told.promise
    },
    { timeout: 60_000 },
  )
  await Promise.race([done.promise, ended])
  return async () => {
    told.resolve()
    await ended
  }
}

/** Comes back when somebody in the database waits for a lock, or when `request` has ended without waiting. */
export async function untilItWaits({ db }: { db: Db }, request: PromiseLike<unknown>): Promise<void> {
  let hasEnded = false
  const end = () => {
    hasEnded = true
  }
  request.then(end, end)
  while (!hasEnded) if ((await waiting(db)) > 0) return
}

/** Comes back when so many in the database wait for locks. */
export async function untilWaiting({ db }: { db: Db }, count: number): Promise<void> {
  while ((await waiting(db)) < count);
}

async function waiting(db: Db): Promise<number> {
  const rows = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM pg_stat_activity WHERE "datname" = current_database() AND "wait_event_type" = 'Lock'`
  return rows.length
}
