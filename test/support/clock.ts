import { setImmediate } from 'node:timers/promises'
import type { SetTimer } from '../../src/foundation/process/timer.ts'

export interface TestClock {
  /** The present. Set, it fires no timer. */
  ms: number
  readonly setTimer: SetTimer
  /** Moves the present forward. Timers that fall due on the way fire, each at its time. */
  readonly pass: (ms: number) => Promise<void>
}

/** A clock that stands unless a test moves it. */
export function createTestClock(startMs: number): TestClock {
  const timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>()
  const clock: TestClock = {
    ms: startMs,
    setTimer: (callback, ms) => {
      const timer = { dueMs: clock.ms + ms, callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    pass: async (ms) => {
      const untilMs = clock.ms + ms
      for (;;) {
        const [first] = [...timers].sort((one, other) => one.dueMs - other.dueMs)
        if (first === undefined || first.dueMs > untilMs) break
        timers.delete(first)
        clock.ms = Math.max(clock.ms, first.dueMs)
        first.callback()
        await setImmediate()
      }
      clock.ms = untilMs
    },
  }
  return clock
}
