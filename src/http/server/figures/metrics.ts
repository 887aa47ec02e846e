import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { bytesInFlight } from '../../../foundation/process/bytes-in-flight.ts'
import { type Show, showSampled } from '../../../foundation/process/sampled-figures.ts'

/** The rate limits, and whom each of them counts. */
const buckets = {
  application: 'an application in a store',
  cartapi: 'a store by cartAPI, after waiting',
  refused: '401s of a network',
  anonymous: 'bodies of a network that nobody has signed in for',
  'sign-in': 'sign-ins of a network',
  'callback-test': "tests of a developer's callback",
}

const givingUp = {
  refused: 'more than 30 s to wait, or too many waiting',
  left: 'by the client',
  stopped: 'with the server',
}

const closingReasons = { 'slow-body': '', 'slow-reader': '', 'too-many': '', 'too-many-of-network': '' }

export type BucketName = keyof typeof buckets

const PREFIX = 'store_platform_'

export type Metrics = ReturnType<typeof createMetrics>

/** Creates the metrics of one process. Their own registries let a test process run several applications. */
export function createMetrics() {
  const registry = new Registry()
  const ofNode = new Registry()
  collectDefaultMetrics({ register: ofNode, gcDurationBuckets: [0.01, 0.1, 1] })
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const queues: { readonly size: number }[] = []
  const gauges = {
    http_bytes_in_flight: { help: 'Bytes of bodies and answers above 64 kB that the process holds' },
    cartapi_waiting_calls: { help: "Calls of cartAPI that wait for a slot of their store's bucket" },
  }
  const sample = async (show: Show) => {
    let waiting = 0
    show('http_bytes_in_flight', bytesInFlight.total)
    for (const { size } of queues) waiting += size
    show('cartapi_waiting_calls', waiting)
  }
  showSampled({ gauges, sample }, { registry, onFailure: () => {}, everyMs: 0 })
  return {
    /** Other parts register their own metrics here, without the prefix. */
    registry,
    /** What `/metrics` answers. The metrics of Node keep the names that prom-client gives them. */
    text: async () => {
      const families = (await registry.metrics()).trimEnd().split('\n\n')
      return `${families.map(withPrefix).join('\n')}\n${await ofNode.metrics()}`
    },
    answered: createRequestMetrics(registry),
    requestsInHand: gauge('http_requests_in_hand', 'Requests that have begun and are not answered yet'),
    connections: gauge(
      'http_connections',
      'Open connections of clients, by the setting of the port that they use: PORT, HTTP_PORT',
      ['listener'],
    ),
    connectionsMax: gauge('http_connections_max', 'The most connections of each port (MAX_CONNECTIONS)'),
    closedConnections: counterOf(registry, 'reason', closingReasons, {
      name: 'http_closed_connections_total',
      help: 'Connections that the server closed, by reason',
    }),
    throttledRequests: counterOf(registry, 'bucket', buckets, {
      name: 'http_throttled_requests_total',
      help: 'Requests that a full bucket refused, by bucket',
    }),
    cartApi: { ...createCartApiMetrics(registry), queues },
  }
}

/**
 * Shows a metric under its name with the prefix, and a counter or gauge under its former name, without it, too. A name that is written
 * with the prefix never had another one.
 */
function withPrefix(family: string): string {
  if (family.startsWith(`# HELP ${PREFIX}`)) return family
  const prefixed = family.replace(/^(# (?:HELP|TYPE) )?/gm, `$1${PREFIX}`)
  return /^# TYPE \w+ histogram$/m.test(family) ? prefixed : `${prefixed}\n${family}`
}

/** What answered requests are counted by. There are hundreds of routes, so nothing else is told apart for each of them. */
function createRequestMetrics(registry: Registry) {
  const registers = [registry]
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first header to the last byte of the answer, by kind: rest, cartapi, files (exports, imports, CSV), health (and figures), web (all else)',
    labelNames: ['kind'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    registers,
  })
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `${PREFIX}${name}`, help, labelNames, registers })
  const help = 'Requests by kind and status; those that failed (5xx) by method and route pattern, too'
  const requests = counter('http_requests_total', help, ['kind', 'status', 'method', 'route'])
  const ofRoute = counter('http_route_requests_total', 'Requests by method and route pattern', ['method', 'route'])
  const seconds = counter('http_route_seconds_total', 'The time of these requests together', ['method', 'route'])
  return (route: Readonly<Record<'method' | 'route', string>>, kind: string, status: number, elapsed: number): void => {
    durations.observe({ kind }, elapsed)
    requests.inc({ kind, status, ...(status >= 500 && route) })
    ofRoute.inc(route)
    seconds.inc(route, elapsed)
  }
}

function createCartApiMetrics(registry: Registry) {
  const calls = new Counter({
    name: 'cartapi_calls_total',
    help: 'Calls of cartAPI, by operation (empty where none was named), outcome (result, error, fault) and what was wrong',
    labelNames: ['operation', 'outcome', 'error'],
    registers: [registry],
  })
  calls.inc({ operation: '', outcome: 'fault', error: 'Server' }, 0)
  const givenUpCalls = counterOf(registry, 'reason', givingUp, {
    name: 'cartapi_given_up_calls_total',
    help: 'Calls of cartAPI that got no slot, by reason',
  })
  return { calls, givenUpCalls }
}

/** A counter of each of `kinds`, which its help names with what is said of them. */
function counterOf<Label extends string>(
  registry: Registry,
  label: Label,
  kinds: Readonly<Record<string, string>>,
  { name, help }: { name: string; help: string },
): Counter<Label> {
  const said = Object.entries(kinds).map(([kind, words]) => (words === '' ? kind : `${kind} (${words})`))
  const counter = new Counter({ name, help: `${help}: ${said.join(', ')}`, labelNames: [label], registers: [registry] })
  // Prometheus sees the first of a kind only if there was a 0 before it.
  for (const kind of Object.keys(kinds)) counter.inc({ [label]: kind } as Record<Label, string>, 0)
  return counter
}
