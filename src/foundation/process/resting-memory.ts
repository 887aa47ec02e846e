import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLoop, type LoopOptions } from './loop.ts'

/** How long a process has to rest: it worked for less than a fiftieth of this time. */
const REST_MS = 4_000
const WORK_MS_MAX = REST_MS / 50
/** What a process works until it is worth a collection, which takes some 150 ms of a small machine. */
const WORTH_MS = 2_000

/**
 * Gives the memory of what a process has made back to the system when the process rests, after a start and after a load: V8 alone does
 * so after minutes. At most one request waits for it in each two seconds that the process has worked.
 */
export function createRestingCollector(log: LoopOptions['log']) {
  let lookedAt = 0
  // A start is worth one, however short.
  let collectedAt = Number.NEGATIVE_INFINITY

  async function look(): Promise<void> {
    const workedMs = processorMs()
    const isResting = workedMs - lookedAt <= WORK_MS_MAX
    lookedAt = workedMs
    if (!isResting || workedMs - collectedAt < WORTH_MS) return
    collect()
    lookedAt = processorMs()
    collectedAt = lookedAt
  }

  return createLoop(look, { log, complaint: 'memory could not be given back', everyMs: REST_MS })
}

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

function collect(): void {
  setFlagsFromString('--expose-gc')
  const gc: Collect = runInNewContext('gc')
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
