import { setTimeout as delay } from 'node:timers/promises'

const HOUR_MS = 3_600_000

/** Deletes what is old, in batches that are small enough to wait for; `isStopping` ends it after one. */
export type Sweep = (isStopping: () => boolean) => Promise<void>

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
