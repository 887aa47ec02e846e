import autocannon from 'autocannon'
import { type Change, changeBody, changeHeaders } from './change-body.ts'
import { answerMessages } from './child.ts'
import { quantile } from './rest-table.ts'

/** What one measurement asks for: `connections` clients, each sending its next request when it has the answer to the last. */
export interface Load {
  /** Base of the paths. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
  /** The least duration; it goes on until there are as many answers as connections. */
  readonly seconds: number
  /** How often each path is asked for at least, on average. */
  readonly turns?: number
  readonly method: 'GET' | 'PUT' | 'POST'
  /** Taken in turn; the connections begin at places spread over the list. */
  readonly paths: readonly string[]
  /** Every request has another body of these changes. */
  readonly change?: Change
}

export interface Measurement {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly requests: number
}

/** Beyond it a request counts as lost. */
const TIMEOUT_S = 120
const LOOK_MS = 20

answerMessages<Load>(measure)

/** Throws when an answer is not a success: the rate of failures is nobody's question. */
async function measure(load: Load): Promise<Measurement> {
  const times: number[] = []
  const faults = new Set<string>()
  let turn = 0
  const startedAt = performance.now()
  let stoppedAt = 0
  const answersMin = Math.max(load.connections, (load.turns ?? 0) * load.paths.length)
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const options: autocannon.Options = {
    url: load.url,
    connections: load.connections,
    // `stop` below ends it.
    duration: 24 * 3600,
    timeout: TIMEOUT_S,
    sampleInt: LOOK_MS,
    setupClient: (client) => client.setRequests(requestsOf(load, turn++)),
  }
  const run = autocannon(options, () => finish())
  run.on('response', (_client, status, _bytes, ms) => {
    if (stoppedAt > 0) return
    if (status >= 300) faults.add(`status ${status}`)
    times.push(ms)
    const now = performance.now()
    if (now - startedAt < load.seconds * 1000 || times.length < answersMin) return
    stoppedAt = now
    run.stop()
  })
  run.on('reqError', (error) => {
    faults.add(error.message)
    run.stop()
  })
  await finished
  if (faults.size > 0) throw new Error(`${load.method} ${load.url}${load.paths[0]}: ${[...faults].join(', ')}`)
  times.sort((a, b) => a - b)
  return {
    perSecond: times.length / ((stoppedAt - startedAt) / 1000),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    requests: times.length,
  }
}

function requestsOf({ url, headers, connections, method, paths, change }: Load, turn: number): autocannon.Request[] {
  const base = new URL(url).pathname
  const first = Math.floor((turn * paths.length) / connections) % paths.length
  return [...paths.slice(first), ...paths.slice(0, first)].map((path) => {
    const request = { method, path: `${base}${path}`, headers: { ...headers } }
    if (!change) return request
    return {
      ...request,
      setupRequest: (given) => ({
        ...given,
        headers: { ...headers, ...changeHeaders(change) },
        body: changeBody(change),
      }),
    }
  })
}
