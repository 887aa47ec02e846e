import { StartupError } from '../../src/foundation/process/startup-error.ts'

export interface BenchOptions {
  /** The commit that `against` shows this tree beside. */
  readonly commit: string | null
  /** The Online Retail data set; null: a generated one of the same size. */
  readonly file: string | null
  /** Length of one measurement. */
  readonly seconds: number
  /** How often each measurement is taken. */
  readonly rounds: number
  /** Only the cases whose title holds one of these texts; empty: all. */
  readonly cases: readonly string[]
  /** Of the stores that `scale` fills. */
  readonly sizes: readonly string[]
  /** The version of PostgreSQL that `scale` runs on; null: all that are there. */
  readonly postgres: string | null
}

/** What has to be stopped or removed at the end. */
export interface Stops {
  /** The last added is the first to be run. When the end has come already, it is run at once, and this throws. */
  add(stop: () => Promise<unknown>): Promise<void>
}

/** Runs `work`; its stops run whether it ends, fails, or a signal ends it. */
export async function withStops(work: (stops: Stops) => Promise<void>): Promise<void> {
  const added: (() => Promise<unknown>)[] = []
  let isEnding = false
  const stops: Stops = {
    add: async (stop) => {
      if (!isEnding) return void added.push(stop)
      await stop()
      throw new Error('The bench is ending')
    },
  }
  const { promise: signalled, reject } = Promise.withResolvers<never>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => reject(new StartupError(`Stopped by ${signal}`)))
  }
  const running = work(stops)
  try {
    await Promise.race([running, signalled])
  } finally {
    isEnding = true
    for (const stop of added.reverse()) await stop()
    // What was cut off fails now, for want of what was stopped.
    await running.catch(() => {})
  }
}
