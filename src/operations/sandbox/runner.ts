import { removalsOf } from '../../access/applications/subscriptions/removal-notices.ts'
import { installation, recordAudit } from '../../access/audit/audit.ts'
import { type AccessServices, changeAccess } from '../../access/stores/access-changes.ts'
import { operatorCaller } from '../../access/stores/caller-store.ts'
import { CLOSED_MS } from '../../access/stores/stores.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Log } from '../../engine/definition/endpoints.ts'
import { inTransaction } from '../../foundation/database/client.ts'
import type { TestStore } from '../../foundation/database/generated/client.ts'
import { claimFree, leases } from '../../foundation/database/leases.ts'
import { sql } from '../../foundation/database/sql.ts'
import type { Files } from '../../foundation/files/files.ts'
import { createWorker } from '../../foundation/process/worker.ts'
import { fillSandbox } from './records.ts'
import { removePictures, removeRows } from './remove-store.ts'
import { end } from './test-stores.ts'

type RunnerServices = AccessServices & { readonly log: Log; readonly files: Files }

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
 * The work on test stores in the background: fills new ones, and empties those that have ended, and so stores that have been closed for 30
 * days. Each is worked on by one process at a
 * time, which another one follows when its lease has run out or it is gone. Any number of processes may run this on one database.
 */
export function createTestStores(services: RunnerServices, fill: Fill = fillSandbox) {
  return createWorker({
    log: services.log,
    complaint: 'test stores could not be worked on',
    everyMs: EVERY_MS,
    claim: async () => {
      await endClosed(services)
      return claimNext(services)
    },
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

/** Ends stores whose 30 days are over: from then on they are emptied as test stores are, and their applications are told. */
async function endClosed(services: RunnerServices): Promise<void> {
  const { db, now } = services
  const over = new Date(now().getTime() - CLOSED_MS)
  const where = sql`"closedAt" <= ${over} AND NOT EXISTS (SELECT FROM "TestStore" WHERE "storeId" = "Store"."id")`
  // Most looks find none, and wait for nobody.
  for (const { id } of await db.$queryRaw<{ id: number }[]>`SELECT "id" FROM "Store" WHERE ${where}`) {
    await changeAccess(services, async (tx) => {
      // An owner who opens the store again at this moment was first.
      const [still] = await tx.$queryRaw<unknown[]>`
        SELECT FROM "Store" WHERE "id" = ${id} AND ${where} FOR UPDATE SKIP LOCKED`
      if (still === undefined) return
      const data = [{ storeId: id, state: 'ending', createdAt: now() }]
      // Of several processes, one does it.
      if ((await tx.testStore.createMany({ data, skipDuplicates: true })).count === 0) return
      const tellRemovals = await removalsOf(tx, services, id)
      await end(tx, services, id)
      await tellRemovals()
    })
  }
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
async function empty(services: RunnerServices, { storeId }: TestStore, isStopping: () => boolean): Promise<void> {
  const { db, now, files } = services
  const startedAt = performance.now()
  // Far less than the lease.
  const isOver = () => isStopping() || performance.now() - startedAt > TURN_MS
  await removePictures(db, files, storeId, isOver)
  if (!(await removeRows(db, storeId, isOver))) return
  await files.remove(String(storeId))
  await inTransaction(db, async (tx) => {
    const [store] = await tx.$queryRaw<{ name: string; isClosed: boolean }[]>`
      DELETE FROM "Store" WHERE "id" = ${storeId} RETURNING "name", "closedAt" IS NOT NULL AS "isClosed"`
    const about = { actor: installation, target: store?.name ?? '', storeId }
    if (store?.isClosed) await recordAudit(tx, now, { ...about, action: 'store.deleted' })
  })
}
