import { setTimeout } from 'node:timers/promises'
import { operatorCaller } from '../../../access/stores/caller-store.ts'
import { isClosed } from '../../../access/stores/closing.ts'
import type { Log } from '../../../engine/definition/endpoints.ts'
import type { DataServices } from '../../../foundation/database/client.ts'
import { claimFree, isFree, leases } from '../../../foundation/database/leases.ts'
import { isOpenStore } from '../../../foundation/database/open-stores.ts'
import { empty, identifier, sql } from '../../../foundation/database/sql.ts'
import { programVersion } from '../../../foundation/process/version.ts'
import { createWorker } from '../../../foundation/process/worker.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { resourceNamed } from '../../registry.ts'
import type { Import } from '../lines/imports.ts'
import { FEW_LINES } from '../lines/limits.ts'
import { applyBatch, type Run } from './apply.ts'

type CsvImportServices = DataServices & { readonly log: Log }

export type CsvImports = ReturnType<typeof createCsvImports>

/** Imports that a process applies at the same time, of different stores. */
const AT_ONCE = 2
/** Those that change few records, besides. */
const FEW_AT_ONCE = 1
const EVERY_MS = 15_000

/**
 * Applies imports in the background, each in one process at a time, which another one follows when its lease has run out or it is
 * gone. Any number of processes may run this on one database.
 */
export function createCsvImports(services: CsvImportServices, { everyMs = EVERY_MS }: { everyMs?: number } = {}) {
  const workers = Array.from({ length: AT_ONCE + FEW_AT_ONCE }, (_, at) =>
    createWorker({
      log: services.log,
      complaint: 'CSV imports could not go on',
      everyMs,
      claim: () => claimNext(services, at >= AT_ONCE),
      work: (claimed, isStopping) => apply(services, claimed, isStopping),
      release: (claimed) => release(services, claimed),
    }),
  )

  /** Looks for imports to be applied. */
  function wake(): void {
    for (const worker of workers) worker.wake()
  }

  async function settle(): Promise<void> {
    await Promise.all(workers.map((worker) => worker.settle()))
  }

  return {
    wake,
    /** Looks for imports now, and resolves when none is left, or after so many milliseconds. */
    async soon(ms: number): Promise<void> {
      const isDone = new AbortController()
      const late = setTimeout(ms, undefined, { signal: isDone.signal }).catch(() => {})
      await Promise.race([settle(), late]).finally(() => isDone.abort())
    },
    /** Looks for imports now and every 15 s. */
    start(): void {
      for (const worker of workers) worker.start()
    },
    /** Resolves when nothing is to be applied that this process may work on. */
    settle,
    /** Ends after the batch that is being made, and leaves the rest to other processes. */
    async stop(): Promise<void> {
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  }
}

/**
 * Takes the import that has waited longest, of a store for which no other one is being applied. One of few records waits only for
 * others of few, so that nobody who changes some orders waits until a large file is done. Those of closed stores wait until these are open again. One that a server of a later version has read is
 * left to those.
 */
async function claimNext({ db, now }: CsvImportServices, isOfFew: boolean): Promise<Import[]> {
  const few = (table: string) => {
    const row = identifier(table)
    return sql`(${row}."changes" + ${row}."creates" <= ${FEW_LINES}::int)`
  }
  const where = sql`"state" = 'applying' AND string_to_array("version", '.')::int[] <= string_to_array(${programVersion}, '.')::int[]
    ${isOfFew ? sql`AND ${few('CsvImport')}` : empty} AND ${isOpenStore(sql`"CsvImport"."storeId"`)} AND NOT EXISTS (
    SELECT FROM "CsvImport" "other" WHERE "other"."storeId" = "CsvImport"."storeId" AND "other"."id" <> "CsvImport"."id"
      AND ${few('other')} = ${few('CsvImport')}
      AND "other"."state" = 'applying' AND NOT ${isFree(leases.csvApplying, now, 'other')})`
  const wanted = { key: ['storeId', 'id'], where, order: 'startedAt', limit: 1 }
  return claimFree(db, leases.csvApplying, now, wanted)
}

async function apply(services: CsvImportServices, claimed: Import, isStopping: () => boolean): Promise<void> {
  const run = await runOf(services, claimed)
  let after: number | null = 0
  try {
    while (after !== null && !isStopping() && !(await isClosed(services.db, claimed.storeId))) {
      after = await applyBatch(run, after)
    }
    if (after === null) await finish(run)
  } catch (error) {
    // Another process has taken it over.
    if (!(error instanceof StoreFailure) || error.code !== 'in-progress') throw error
  }
}

async function runOf({ db, secrets, now, log }: CsvImportServices, claimed: Import): Promise<Run> {
  const { storeId, id, claim, service, source, appliedBy } = claimed
  // What became of a line is stored with its change, so each is made once.
  const own = { actor: appliedBy, isKeyed: true, importId: id }
  const caller = { ...(await operatorCaller({ db, secrets, now }, storeId)), ...own }
  return { caller, resource: resourceNamed(service), id, claim, source, secrets, log }
}

async function finish({ caller: { db, store, now }, id, claim }: Run): Promise<void> {
  const data = { state: 'done', endedAt: now(), leasedUntil: null }
  await db.csvImport.updateMany({ where: { storeId: store.id, id, claim, state: 'applying' }, data })
}

async function release({ db }: CsvImportServices, { storeId, id, claim }: Import): Promise<void> {
  await db.csvImport.updateMany({ where: { storeId, id, claim, state: 'applying' }, data: { leasedUntil: null } })
}
