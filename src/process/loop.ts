import { setTimeout as delay } from 'node:timers/promises'

export type Loop = ReturnType<typeof createLoop>

interface LoopLog {
  warn(details: object, message: string): void
}

const PAUSE_MS_MIN = 2
const PAUSE_MS_MAX = 25
const COMPLAINT_EVERY_MS = 10_000

/**
 * Runs work that never overlaps itself: wakes during a run are combined into one. After each run it pauses for half as
 * long as that took, 2 to 25 ms, to batch what arrives meanwhile; `work` returns true if a batch is waiting already.
 * Failed work waits for the next wake; `complaint` is logged every 10 s at most.
 */
export function createLoop(work: () => Promise<unknown>, log: LoopLog, complaint: string) {
  let running: Promise<void> | undefined
  let isWanted = false
  let complainedAt = Number.NEGATIVE_INFINITY

  async function run(): Promise<void> {
    while (isWanted) {
      isWanted = false
      const startedAt = performance.now()
      const isBatchWaiting = await work().catch(complain)
      const pauseMs = isBatchWaiting === true ? 0 : (performance.now() - startedAt) / 2
      await delay(Math.min(Math.max(pauseMs, PAUSE_MS_MIN), PAUSE_MS_MAX))
    }
    running = undefined
  }

  function complain(error: unknown): void {
    if (performance.now() - complainedAt < COMPLAINT_EVERY_MS) return
    complainedAt = performance.now()
    log.warn({ err: error }, complaint)
  }

  return {
    /** Runs the work once more, at once or after the current run. */
    wake(): void {
      isWanted = true
      running ??= run()
    },
    /** Resolves when no run is in progress or requested. */
    async idle(): Promise<void> {
      while (running) await running
    },
  }
}
