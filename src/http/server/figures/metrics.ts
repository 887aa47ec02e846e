import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { bytesInFlight } from '../../../foundation/process/bytes-in-flight.ts'

/** The rate limits, and whom each of them counts. */
const buckets = {
  application: 'an application in a store',
  cartapi: 'a store by cartAPI, after waiting',
  refused: '401s of a network',
  anonymous: 'bodies of a network that nobody has signed in for',
  'sign-in': 'sign-ins of a network',
  'callback-test': "tests of a developer's callback",
}

const closingReasons = { 'slow-body': '', 'slow-reader': '', 'too-many': '', 'too-many-of-network': '' }

export type BucketName = keyof typeof buckets

export type Metrics = ReturnType<typeof createMetrics>

/** Creates the metrics of one process. Their own registry lets a test process run several applications. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, gcDurationBuckets: [0.01, 0.1, 1] })
  new Gauge({
    name: 'http_bytes_in_flight',
    help: 'Bytes of bodies and answers above 64 kB that the process holds',
    registers: [registry],
    collect() {
      this.set(bytesInFlight.total)
    },
  })
  const throttledRequests = counterOf(registry, 'bucket', buckets, {
    name: 'http_throttled_requests_total',
    help: 'Requests that a full bucket refused, by bucket',
  })
  const closedConnections = counterOf(registry, 'reason', closingReasons, {
    name: 'http_closed_connections_total',
    help: 'Connections that the server closed, by reason',
  })
  return {
    /** Other parts register their own metrics here; `/metrics` returns them all. */
    registry,
    requestSeconds: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the first header to the last byte of the answer, by method, route pattern and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
      registers: [registry],
    }),
    requestsInHand: new Gauge({
      name: 'http_requests_in_hand',
      help: 'Requests that have begun and are not answered yet',
      registers: [registry],
    }),
    closedConnections,
    connections: new Gauge({
      name: 'http_connections',
      help: 'Open connections of clients, by the setting of the port that they use: PORT, HTTP_PORT',
      labelNames: ['listener'],
      registers: [registry],
    }),
    connectionsMax: new Gauge({
      name: 'http_connections_max',
      help: 'The most connections of each port (MAX_CONNECTIONS)',
      registers: [registry],
    }),
    throttledRequests,
  }
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
