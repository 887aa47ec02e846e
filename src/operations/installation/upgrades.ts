import { setTimeout as delay } from 'node:timers/promises'
import { type Db, inTransaction, queryIn } from '../../foundation/database/client.ts'
import type { DatabaseFigures } from '../../foundation/database/figures.ts'
import { type Migration, slicedMigrations } from '../../foundation/database/migration.ts'
import { isLockTimeout } from '../../foundation/database/outage.ts'
import { progressOf, rewriteSlice } from '../../foundation/database/slices.ts'
import type { Log } from '../../foundation/process/log.ts'
import { createLoop } from '../../foundation/process/loop.ts'

/** How often a process looks whether another one has left rows. */
const EVERY_MS = 30_000
/** After a slice it rests so many times as long as that took: what it takes from others is bounded. */
export const REST = 3
/** Somebody else may hold a row of the slice for a minute. */
const AGAIN_MS = 1_000

let known: readonly Migration[] | undefined

/** Read when somebody first asks. */
function sliced(): readonly Migration[] {
  known ??= slicedMigrations()
  return known
}

/** Rows that are still to be rewritten, about. */
export const upgradeFigures: DatabaseFigures = {
  gauges: {
    upgrade_rows_left: {
      help: 'Rows that an upgrade rewrites after the start and has not yet, about',
      labelNames: ['upgrade'],
    },
  },
  ask: async (tx, show) => {
    for (const migration of sliced()) {
      const { rows, table, isDone } = await progressOf(queryIn(tx), migration)
      show('upgrade_rows_left', isDone ? 0 : Math.max(1, table - rows), { upgrade: migration.name })
    }
  },
}

/**
 * Rewrites, while the server serves, the rows of migrations that would have taken too long: in slices, by one process at a time. A kill leaves the
 * rest to another process, or to the next start.
 */
export function createUpgrades({ db, log }: { readonly db: Db; readonly log: Log }) {
  const pending = new Set(sliced())

  async function work(isStopping: () => boolean): Promise<void> {
    for (const migration of pending) {
      if (!(await rewrite(migration, isStopping))) return
      pending.delete(migration)
    }
  }

  /** Returns whether all of its rows are rewritten. */
  async function rewrite(migration: Migration, isStopping: () => boolean): Promise<boolean> {
    while (!isStopping()) {
      const startedAt = performance.now()
      const progress = await inTransaction(db, (tx) => rewriteSlice(queryIn(tx), migration)).catch((error) => {
        if (isLockTimeout(error)) return undefined
        throw error
      })
      if (progress === null) return false
      if (progress?.isLast)
        log.info({ migration: migration.name, rows: progress.rows }, 'rows of an upgrade are rewritten')
      if (progress?.isDone) return true
      await delay(progress === undefined ? AGAIN_MS : (performance.now() - startedAt) * REST)
    }
    return false
  }

  return createLoop(work, { log, complaint: 'rows of an upgrade could not be rewritten', everyMs: EVERY_MS })
}
