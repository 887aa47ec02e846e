import type { Db } from '../database/client.ts'
import { claimFree, isFree, leases } from '../database/leases.ts'
import { sql } from '../database/sql.ts'
import type { Log } from '../engine/reading/endpoints.ts'
import { createLoop } from '../process/loop.ts'
import { resourceNamed } from '../registry.ts'
import { operatorCaller } from '../stores/stores.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Secrets } from '../values/secrets.ts'
import { applyBatch, type Run } from './apply.ts'
import type { Import } from './imports.ts'

export interface CsvImportServices {
  readonly db: Db
  readonly secrets: Secrets
  readonly now: () => Date
  readonly log: Log
}

export type CsvImports = ReturnType<typeof createCsvImports>

/** Imports that a process applies at the same time, of different stores. */
const AT_ONCE = 2
const EVERY_MS = 15_000

/**
 * Applies imports in the background, each in one process at a time, which another one follows when its lease has run out or it is
 * gone. Any number of processes may run this on one database.
 */
export function createCsvImports(services: CsvImportServices, { everyMs = EVERY_MS }: { everyMs?: number } = {}) {
  const { log } = services

  async function applyDue(isStopping: () => boolean): Promise<void> {
    while (!isStopping()) {
      const claimed = await claimNext(services)
      if (claimed === null) return
      await apply(claimed, isStopping).catch((error) => {
        if (!(error instanceof StoreFailure) || error.kind !== 'in-progress') throw error
      })
    }
  }

  async function apply(claimed: Import, isStopping: () => boolean): Promise<void> {
    const run = await runOf(services, claimed)
    let after: number | null = 0
    try {
      while (after !== null && !isStopping()) after = await applyBatch(run, after)
    } finally {
      // Without a release, others wait until the lease has run out.
      if (after === null) await finish(run)
      else await release(run).catch((err) => log.warn({ err }, 'a CSV import could not be released'))
    }
  }

  const complaint = 'CSV imports could not go on'
  const loops = Array.from({ length: AT_ONCE }, () => createLoop(applyDue, { log, complaint, everyMs }))

  /** Looks for imports to be applied. */
  function wake(): void {
    for (const loop of loops) loop.wake()
  }

  return {
    wake,
    /** Looks for imports now and every 15 s. */
    start(): void {
      for (const loop of loops) loop.start()
    },
    /** Resolves when nothing is to be applied that this process may work on. */
    async settle(): Promise<void> {
      wake()
      await Promise.all(loops.map((loop) => loop.idle()))
    },
    /** Ends after the batch that is being made, and leaves the rest to other processes. */
    async stop(): Promise<void> {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

/** Takes the import that has waited longest, of a store for which no other one is being applied. */
async function claimNext({ db, now }: CsvImportServices): Promise<Import | null> {
  const where = sql`"state" = 'applying' AND NOT EXISTS (
    SELECT FROM "CsvImport" "other" WHERE "other"."storeId" = "CsvImport"."storeId" AND "other"."id" <> "CsvImport"."id"
      AND "other"."state" = 'applying' AND NOT ${isFree(leases.csvApplying, now, 'other')})`
  const wanted = { key: ['storeId', 'id'], where, order: 'startedAt', limit: 1 }
  const [claimed] = await claimFree<Import>(db, leases.csvApplying, now, wanted)
  return claimed ?? null
}

async function runOf({ db, secrets, now, log }: CsvImportServices, claimed: Import): Promise<Run> {
  const { storeId, id, claim, service, source, appliedBy } = claimed
  const caller = { ...(await operatorCaller({ db, secrets, now }, storeId)), actor: appliedBy }
  return { caller, resource: resourceNamed(service), id, claim, isExport: source === 'own', secrets, log }
}

async function finish({ caller: { db, store, now }, id, claim }: Run): Promise<void> {
  await db.csvImport.updateMany({
    where: { storeId: store.id, id, claim, state: 'applying' },
    data: { state: 'done', endedAt: now(), leasedUntil: null },
  })
}

async function release({ caller: { db, store }, id, claim }: Run): Promise<void> {
  await db.csvImport.updateMany({
    where: { storeId: store.id, id, claim, state: 'applying' },
    data: { leasedUntil: null },
  })
}
