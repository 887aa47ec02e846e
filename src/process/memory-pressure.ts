import { performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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

const REST_CHECKED_EVERY_MS = 3_000
/** At rest, the process works for at most so much of the time. */
const REST_UTILIZATION_MAX = 0.02
/** A minute of rest after load, because the next requests are slower for a second: space and compiled code come anew. */
const CHECKS_AT_REST = 20
const GROWTH_MIN_BYTES = 16 * 1024 * 1024

/**
 * Gives memory back at rest, after the start and after load. By itself V8 keeps the space of young objects as large as it was
 * under load, twice 32 MB, and collects no garbage while nothing is allocated. It takes 0.1 to 0.2 s, in which a request waits.
 */
export function watchRest(): void {
  setFlagsFromString('--expose-gc')
  const collect: NodeJS.GCFunction = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  let since = performance.eventLoopUtilization()
  let keptBytes = 0
  let checksAtRest = 0
  const check = () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, since)
    since = now
    checksAtRest = utilization <= REST_UTILIZATION_MAX ? checksAtRest + 1 : 0
    const isAtRest = checksAtRest >= (keptBytes === 0 ? 1 : CHECKS_AT_REST)
    if (!isAtRest || getHeapStatistics().total_heap_size < keptBytes + GROWTH_MIN_BYTES) return
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    keptBytes = getHeapStatistics().total_heap_size
  }
  setInterval(check, REST_CHECKED_EVERY_MS).unref()
}
