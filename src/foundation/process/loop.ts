import { setTimeout as delay } from 'node:timers/promises'

export interface LoopOptions {
  readonly log: { warn(details: object, message: string): void }
  /** What is logged when the work fails, every 10 s at most. */
  readonly complaint: string
  /** How often a started loop runs by itself; default: it only runs when it is woken. */
  readonly everyMs?: number
}

export type Loop = ReturnType<typeof createLoop>

const PAUSE_MS_MIN = 2
const PAUSE_MS_MAX = 25
const COMPLAINT_EVERY_MS = 10_000
/** Processes that were started together do not all run at the same moment. */
const JITTER = 0.1

/**
 * Runs work in the background that never overlaps itself: wakes during a run are combined into one. After each run it pauses for half
 * as long as that took, 2 to 25 ms, to batch what arrives meanwhile; `work` returns true if a batch is waiting already, and ends
 * early when `isStopping`. Work that failed waits for the next wake.
 */
export function createLoop(
  work: (isStopping: () => boolean) => Promise<unknown>,
  { log, complaint, everyMs }: LoopOptions,
) {
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isWanted = false
  let hasStopped = false
  const complain = rarely((error) => log.warn({ err: error }, complaint))

  async function run(): Promise<void> {
    while (isWanted && !hasStopped) {
      isWanted = false
      const startedAt = performance.now()
      const isBatchWaiting = await work(() => hasStopped).catch(complain)
      const pauseMs = isBatchWaiting === true ? 0 : (performance.now() - startedAt) / 2
      await delay(Math.min(Math.max(pauseMs, PAUSE_MS_MIN), PAUSE_MS_MAX))
    }
    running = undefined
  }

  /** Runs the work once more, at once or after the current run. A stopped loop runs no more. */
  function wake(): void {
    if (hasStopped) return
    isWanted = true
    running ??= run()
  }

  /** Resolves when no run is in progress or requested. */
  async function idle(): Promise<void> {
    while (running) await running
  }

  return {
    wake,
    idle,
    /** Runs the work now and, with `everyMs`, again and again. */
    start(): void {
      if (hasStopped || timer !== undefined) return
      if (everyMs !== undefined) timer = setInterval(wake, everyMs * (1 + JITTER * (2 * Math.random() - 1)))
      wake()
    },
    /** Resolves when the run in progress has ended. */
    async stop(): Promise<void> {
      hasStopped = true
      clearInterval(timer)
      await idle()
    },
  }
}

function rarely(complain: (error: unknown) => void): (error: unknown) => void {
  let complainedAt = Number.NEGATIVE_INFINITY
  return (error) => {
    if (performance.now() - complainedAt < COMPLAINT_EVERY_MS) return
    complainedAt = performance.now()
    complain(error)
  }
}
