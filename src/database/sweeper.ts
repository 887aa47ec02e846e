import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from './client.ts'
import type { Sql } from './sql.ts'

const HOUR_MS = 3_600_000

/** Deletes what is old, in batches that are small enough to wait for; `isStopping` ends it after one. */
export type Sweep = (isStopping: () => boolean) => Promise<void>

const REST_MS_MAX = 1_000

/**
 * Runs `batch` with what the batch before returned, from `first` on, until one returns null or `isStopping`. Rests after each as long as
 * it took, a second at most, so that what is deleted never takes more than half of a processor from requests.
 */
export async function inBatches<Cursor>(
  isStopping: () => boolean,
  first: Cursor,
  batch: (after: Cursor) => Promise<Cursor | null>,
): Promise<void> {
  for (let after: Cursor | null = first; after !== null && !isStopping(); ) {
    const from: Cursor = after
    after = await rested(() => batch(from))
  }
}

/** Rests after `work` as long as it took, a second at most. */
export async function rested<T>(work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await work()
  await delay(Math.min(performance.now() - startedAt, REST_MS_MAX))
  return result
}

interface Options {
  readonly log: { warn(details: object, message: string): void }
  /** By what they delete, in words. */
  readonly sweeps: Readonly<Record<string, Sweep>>
  /** The pause behind each run; default: an hour. */
  readonly everyMs?: number
}

/** Runs sweeps one after another, from its start on and again and again. Any number of processes may do so on one database. */
export function createSweeper({ log, sweeps, everyMs = HOUR_MS }: Options) {
  const stopping = new AbortController()
  const isStopping = () => stopping.signal.aborted
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (!isStopping()) {
      for (const [what, sweep] of Object.entries(sweeps)) {
        await sweep(isStopping).catch((error) => log.warn({ err: error }, `${what} could not be deleted`))
      }
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  return {
    start(): void {
      running ??= run()
    },
    /** Resolves when the batch in hand is deleted. */
    async stop(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}

/** A table with an `id` that follows the time, whose rows are archived and then deleted. */
export interface ArchivedTable {
  readonly table: string
  readonly time: string
  /** SQL: which rows are archived at all. */
  readonly archived: Sql
  /** Deletes rows that are in a file; those that are gone already are no error. */
  readonly remove: (db: Db, ids: readonly number[]) => Promise<void>
}
