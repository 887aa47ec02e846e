import { type AccessServices, changeAccess } from '../../access/applications/access-changes.ts'
import { operatorCaller } from '../../access/stores/stores.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Log } from '../../engine/definition/endpoints.ts'
import type { TestStore } from '../../foundation/database/generated/client.ts'
import { claimFree, leaseEnd, leases } from '../../foundation/database/leases.ts'
import { sql } from '../../foundation/database/sql.ts'
import { createLoop } from '../../foundation/process/loop.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { type AllowedServices, areTestStoresAllowed } from './allowed.ts'
import { fillSandbox } from './records.ts'
import { removeRows } from './remove-store.ts'
import { end, noteChange, testCaller } from './test-stores.ts'
import { kindByChance, makeHappen } from './trade.ts'

type RunnerServices = AccessServices & AllowedServices & { readonly log: Log }

/** Makes the records of a new store, in the caller's transaction. */
type Fill = (caller: Caller) => Promise<void>

interface Options {
  readonly everyMs?: number
  readonly fill?: Fill | undefined
}

export type TestStores = ReturnType<typeof createTestStores>

const EVERY_MS = 2_000
/** Allows for slow machines. */
const FILLING_MS_MAX = 600_000
/** What was admitted to a store before it ended is over by then, and adds no more rows. */
const GRACE_MS = 60_000
/** The longest that one store has the others wait while it is emptied. */
const TURN_MS = 5_000
/** Changes of a store in a row, before others have their turn. */
const CHANGES_MAX = 20
/** A process that was away does not make up for more than this. */
const BEHIND_MS_MAX = 30_000
const MINUTE_MS = 60_000

/**
 * The work on test stores in the background: fills new ones, makes things happen in those that were told to, and empties those that have
 * ended. Each is worked on by one process at a time, which another one follows when its lease has run out or it is gone. Any number
 * of processes may run this on one database.
 */
export function createTestStores(services: RunnerServices, { everyMs = EVERY_MS, fill = fillSandbox }: Options = {}) {
  const { log } = services

  async function work(isStopping: () => boolean): Promise<void> {
    while (!isStopping()) {
      const claimed = await claimNext(services)
      if (claimed === null) return
      try {
        await workOn(services, fill, claimed, isStopping)
      } finally {
        const { storeId, claim } = claimed
        const mine = { where: { storeId, claim }, data: { leasedUntil: null } }
        // Without a release, others wait until the lease has run out.
        await services.db.testStore
          .updateMany(mine)
          .catch((err) => log.warn({ err }, 'a test store could not be released'))
      }
    }
  }

  const loop = createLoop(work, { log, complaint: 'test stores could not be worked on', everyMs })
  return {
    wake: loop.wake,
    start: loop.start,
    stop: loop.stop,
    /** Resolves when nothing is to be done that is due. */
    async settle(): Promise<void> {
      loop.wake()
      await loop.idle()
    },
  }
}

/** Takes one with something to do, that which had the fewest turns so far. */
async function claimNext({ db, now }: RunnerServices): Promise<TestStore | null> {
  const graceEnd = new Date(now().getTime() - GRACE_MS)
  const where = sql`CASE "state"
    WHEN 'filling' THEN true
    WHEN 'ending' THEN "endedAt" <= ${graceEnd}
    ELSE "developerId" IS NULL OR "perMinute" > 0 AND "nextAt" <= ${now()} END`
  const wanted = { key: ['storeId'], where, order: 'claim', limit: 1 }
  const [claimed] = await claimFree<TestStore>(db, leases.testStore, now, wanted)
  return claimed ?? null
}

async function workOn(
  services: RunnerServices,
  fill: Fill,
  claimed: TestStore,
  isStopping: () => boolean,
): Promise<void> {
  const { state, developerId, storeId } = claimed
  if (state === 'ending') return empty(services, claimed, isStopping)
  // The account of the developer has ended.
  if (developerId === null) return changeAccess(services, (tx) => end(tx, services, storeId))
  if (state === 'filling') return fillOne(services, fill, claimed)
  return beBusy(services, claimed, isStopping)
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
        if (count > 0) await fill({ ...caller, db: tx })
      },
      { maxWait: 10_000, timeout: FILLING_MS_MAX },
    )
  } catch (error) {
    log.warn({ err: error, storeId }, 'the records of a test store could not be made')
    const problem = 'Its records could not be made. Reset it to try again'
    await db.testStore.updateMany({ ...done, data: { state: 'ready', problem } })
  }
}

/** Makes what is due happen, until the time is over or test stores are not allowed any more. */
async function beBusy(services: RunnerServices, claimed: TestStore, isStopping: () => boolean): Promise<void> {
  const { db, now } = services
  const { storeId, claim, perMinute, busyUntil, developerId } = claimed
  const developer = await db.developer.findUnique({ where: { id: developerId ?? 0 }, select: { email: true } })
  if (developer === null) return
  const mine = { storeId, claim, state: 'ready' }
  const isAllowed = await areTestStoresAllowed(services)
  const caller = await testCaller(services, storeId, developer.email)
  let at = Math.max(claimed.nextAt?.getTime() ?? 0, now().getTime() - BEHIND_MS_MAX)
  for (let made = 0; made < CHANGES_MAX && at <= now().getTime() && !isStopping(); made++) {
    if (!isAllowed || busyUntil === null || at >= busyUntil.getTime()) {
      await db.testStore.updateMany({ where: mine, data: { perMinute: 0, busyUntil: null, nextAt: null } })
      return
    }
    at += MINUTE_MS / perMinute
    // Before it happens, on condition of the claim and of the rate: what was stopped happens no more.
    const { count } = await db.testStore.updateMany({
      where: { ...mine, perMinute, busyUntil },
      data: { nextAt: new Date(at), leasedUntil: leaseEnd(leases.testStore, now) },
    })
    if (count === 0) return
    const kind = kindByChance(Math.random())
    const outcome = await makeHappen(caller, kind).then(
      (happened) => ({ ...happened, isDone: true }),
      (error) => {
        if (!(error instanceof StoreFailure) || error.kind === 'unavailable') throw error
        return { words: error.message, page: '', isDone: false }
      },
    )
    if ((await noteChange(services, storeId, { kind, ...outcome })) === null) return
  }
}

/** Deletes the rows for some seconds, and the store itself once a look has found none. */
async function empty({ db }: RunnerServices, { storeId }: TestStore, isStopping: () => boolean): Promise<void> {
  const startedAt = performance.now()
  // Far less than the lease.
  const isOver = () => isStopping() || performance.now() - startedAt > TURN_MS
  if (await removeRows(db, storeId, isOver)) await db.store.deleteMany({ where: { id: storeId } })
}
