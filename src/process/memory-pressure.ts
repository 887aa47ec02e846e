import { setFlagsFromString } from 'node:v8'
import { bytesInFlight } from './bytes-in-flight.ts'

/** The bound that docs/operations.md states is 512 MB. */
const PRESSURE_BYTES = 352 * 1024 * 1024
const CHECKED_EVERY_MS = 100
/** In percent, from one collection of garbage to the next. */
const GROWTH_UNDER_PRESSURE = 10

/**
 * Lets V8 collect garbage earlier while large bodies or pages are under way and the process has more than 352 MB. By itself V8
 * lets the heap grow up to fourfold in between, because it takes all memory of the machine for its own. Collecting always
 * that often would double the processor time of a page of 200 products.
 */
export function watchMemory(): void {
  let isPressing = false
  const check = () => {
    const isAbove = bytesInFlight.isAnyLarge() && process.memoryUsage.rss() > PRESSURE_BYTES
    if (isAbove === isPressing) return
    isPressing = isAbove
    setFlagsFromString(`--heap-growing-percent=${isPressing ? GROWTH_UNDER_PRESSURE : 0}`)
  }
  setInterval(check, CHECKED_EVERY_MS).unref()
}
