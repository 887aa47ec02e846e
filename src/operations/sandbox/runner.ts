import { type AccessServices, changeAccess } from '../../access/stores/access-changes.ts'
import { operatorCaller } from '../../access/stores/caller-store.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Log } from '../../engine/definition/endpoints.ts'
import type { TestStore } from '../../foundation/database/generated/client.ts'
import { claimFree, leases } from '../../foundation/database/leases.ts'
import { sql } from '../../foundation/database/sql.ts'
import { createWorker } from '../../foundation/process/worker.ts'
import { fillSandbox } from './records.ts'
import { removeRows } from './remove-store.ts'
import { end } from './test-stores.ts'

type RunnerServices = AccessServices & { readonly log: Log }

/** Makes the records of a new store, in the caller's transaction. */
type Fill = (caller: Caller) => Promise<void>

export type TestStores = ReturnType<typeof createTestStores>

const EVERY_MS = 2_000
/** Allows for slow machines. */
const FILLING_MS_MAX = 600_000
/** What was admitted to a store before it ended is over by then, and adds no more rows. */
const GRACE_MS = 60_000
/** The longest that one store has the others wait while it is emptied. */
const TURN_MS = 5_000

/**
 * The work on test stores in the background: fills new ones, and empties those that have ended. Each is worked on by one process at a
 * time, which another one follows when its lease has run out or it is gone. Any number of processes may run this on one database.
 */
export function createTestStores(services: RunnerServices, fill: Fill = fillSandbox) {
  return createWorker({
    log: services.log,
    complaint: 'test stores could not be worked on',
    everyMs: EVERY_MS,
    claim: () => claimNext(services),
    work: async (claimed, isStopping) => {
      const { state, developerId, storeId } = claimed
      if (state === 'ending') return empty(services, claimed, isStopping)
      // The account of the developer has ended.
      if (developerId === null) return changeAccess(services, (tx) => end(tx, services, storeId))
      return fillOne(services, fill, claimed)
    },
    release: ({ storeId, claim }) =>
      services.db.testStore.updateMany({ where: { storeId, claim }, data: { leasedUntil: null } }),
  })
}

/** Takes one with something to do, that which had the fewest turns so far. */
async function claimNext({ db, now }: RunnerServices): Promise<TestStore[]> {
  const graceEnd = new Date(now().getTime() - GRACE_MS)
  const where = sql`CASE "state"
    WHEN 'filling' THEN true
    WHEN 'ending' THEN "endedAt" <= ${graceEnd}
    ELSE "developerId" IS NULL END`
  const wanted = { key: ['storeId'], where, order: 'claim', limit: 1 }
  return claimFree(db, leases.testStore, now, wanted)
}

/** Makes the records in one transaction, which holds the row: whatever becomes of the lease, nobody else fills the store. */
async function fillOne(services: RunnerServices, fill: Fill, { storeId, claim }: TestStore): Promise<void> {
  const { db, log } = services
  const done = { where: { storeId, claim, state: 'filling' } }
  try {
    const caller = await operatorCaller(services, storeId)
    await db.$transaction(
      async (tx) => {
        const { count } = await tx.testStore.updateMany({ ...done, data: { state: 'ready', problem: '' } })
        if (count > 0) await fill({ ...caller, db: tx, tells: 'nobody' })
      },
      { maxWait: 10_000, timeout: FILLING_MS_MAX },
    )
  } catch (error) {
    log.warn({ err: error, storeId }, 'the records of a test store could not be made')
    const problem = 'Its records could not be made. Reset it to try again'
    await db.testStore.updateMany({ ...done, data: { state: 'ready', problem } })
  }
}

/** Deletes the rows for some seconds, and the store itself once a look has found none. */
async function empty({ db }: RunnerServices, { storeId }: TestStore, isStopping: () => boolean): Promise<void> {
  const startedAt = performance.now()
  // Far less than the lease.
  const isOver = () => isStopping() || performance.now() - startedAt > TURN_MS
  if (await removeRows(db, storeId, isOver)) await db.store.deleteMany({ where: { id: storeId } })
}
