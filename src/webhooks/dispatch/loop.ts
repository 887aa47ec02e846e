import { setTimeout as delay } from 'node:timers/promises'

export interface Loop {
  /** Has the work done once more, at once or after what is under way. */
  wake(): void
  /** Resolves when nothing is under way and nobody woke it. */
  idle(): Promise<void>
}

export interface LoopOptions {
  log: { warn(details: object, message: string): void }
  /** Logged when the work fails. */
  complaint: string
}

const PAUSE_MS_MIN = 2
const PAUSE_MS_MAX = 50
const COMPLAINT_EVERY_MS = 10_000

/**
 * Work that is never done twice at the same time: calls that come while it is under way become one. After each time it
 * rests for as long as that took, 2 to 50 ms, so that what comes meanwhile is done together. Failing work is left until
 * somebody wakes it again; it is logged every 10 s at most.
 */
export function createLoop(work: () => Promise<void>, { log, complaint }: LoopOptions): Loop {
  let running: Promise<void> | undefined
  let isWanted = false
  let complainedAt = Number.NEGATIVE_INFINITY

  async function run(): Promise<void> {
    while (isWanted) {
      isWanted = false
      const startedAt = performance.now()
      await work().catch(complain)
      await delay(Math.min(Math.max(performance.now() - startedAt, PAUSE_MS_MIN), PAUSE_MS_MAX))
    }
    running = undefined
  }

  function complain(error: unknown): void {
    if (performance.now() - complainedAt < COMPLAINT_EVERY_MS) return
    complainedAt = performance.now()
    log.warn({ err: error }, complaint)
  }

  return {
    wake: () => {
      isWanted = true
      running ??= run()
    },
    idle: async () => {
      while (running) await running
    },
  }
}
