import { setFlagsFromString } from 'node:v8'
import { bytesInFlight } from './bytes-in-flight.ts'

/** The bound that docs/operations.md states is 512 MB. */
const PRESSURE_BYTES = 320 * 1024 * 1024
const CHECKED_EVERY_MS = 100

/** How far the heap grows from one collection of garbage to the next, in percent; under pressure, V8 also gives pages back. */
const usual = ['--heap-growing-percent=80', '--no-optimize-for-size']
const underPressure = ['--heap-growing-percent=10', '--optimize-for-size']

/**
 * Bounds how much garbage collects. By itself V8 lets the heap grow up to fourfold in between, because it takes all memory of
 * the machine for its own, and keeps the pages that it has emptied. Both are dear to change: to collect always that often would
 * double the processor time of a page of 200 products. So that happens only while large bodies or pages are under way and
 * the process has more than 320 MB.
 */
export function watchMemory(): void {
  let current: readonly string[] = []
  const check = () => {
    const isPressing = bytesInFlight.isAnyLarge() && process.memoryUsage.rss() > PRESSURE_BYTES
    const wanted = isPressing ? underPressure : usual
    if (wanted === current) return
    current = wanted
    for (const flag of wanted) setFlagsFromString(flag)
  }
  check()
  setInterval(check, CHECKED_EVERY_MS).unref()
}
