import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** How long a process has to rest: it worked for less than a fiftieth of this time. */
const REST_MS = 4_000
const WORK_MS_MAX = REST_MS / 50
/** What a process works until it is worth a collection, which takes some 150 ms of a small machine. */
const WORTH_MS = 2_000

/**
 * Gives the memory of what a process has made back to the system when the process rests, after a start and after a load: V8 alone does so after
 * minutes. Any request waits for it once in so many that took two seconds of the processor.
 */
export function createRestingCollector() {
  let timer: NodeJS.Timeout | undefined
  let before = process.cpuUsage()
  // The start.
  let worked = Number.POSITIVE_INFINITY

  function look(): void {
    const { user, system } = process.cpuUsage(before)
    const ms = (user + system) / 1_000
    before = process.cpuUsage()
    worked += ms
    if (ms > WORK_MS_MAX || worked < WORTH_MS) return
    collect()
    before = process.cpuUsage()
    worked = 0
  }

  return {
    start(): void {
      timer = setInterval(look, REST_MS).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
    },
  }
}

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

function collect(): void {
  setFlagsFromString('--expose-gc')
  const gc: Collect = runInNewContext('gc')
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
