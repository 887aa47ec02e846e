import pg from 'pg'
import { callRest, subscribe } from './application.ts'
import type { Stops } from './bench.ts'
import type { BenchServer } from './bench-server.ts'
import type { Stream } from './webhooks-messages.ts'

/** The sandbox store, with products of the bench's own, as one application that nothing holds up and one that is always held up see it. */
export interface WebhookStore {
  readonly origin: string
  readonly orders: Stream
  readonly stocks: Stream
  readonly reads: Stream
  /** Of a bucket that is full. */
  readonly refusals: Stream
  /** Its id. */
  readonly register: (url: string, eventType: number) => Promise<number>
  readonly secretOf: (id: number) => Promise<string>
  readonly remove: (id: number) => Promise<void>
  /** Commits so many events of a kind, as copies of the newest one. */
  readonly raise: (eventType: number, count: number) => Promise<void>
}

const SANDBOX = { id: 1, secureUrl: 'https://sandbox.store-platform.test' }
const PRODUCTS = 200
const PER_REQUEST = 100

export async function openWebhookStore(server: BenchServer, stops: Stops): Promise<WebhookStore> {
  const origin = server.baseUrl.replace('localhost', '127.0.0.1')
  const wide = await subscribe(server, SANDBOX)
  const narrow = await subscribe(server, SANDBOX, { Capacity: 1, LeakPerSecond: 0.001 })
  const call = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
    callRest(origin, wide, method, path, body)
  const productIds: number[] = []
  for (let first = 1; first <= PRODUCTS; first += PER_REQUEST) {
    const items = (await call('POST', '/Products', newProducts(first))) as { Value: string }[]
    productIds.push(...items.map(({ Value }) => Number(Value)))
  }
  await callRest(origin, narrow, 'GET', `/Products/${productIds[0]}`)
  const database = new pg.Client({ connectionString: server.databaseUrl })
  await database.connect()
  await stops.add(() => database.end())
  const stream = { productIds, path: '/StoreWebAPI/v1/Products', headers: wide, perSecond: 0 }
  return {
    origin,
    orders: {
      ...stream,
      name: 'orders',
      kind: 'order',
      path: `/admin/stores/${SANDBOX.id}/orders`,
      headers: { authorization: `Bearer ${server.operatorKey}` },
      status: 201,
    },
    stocks: { ...stream, name: 'stocks', kind: 'stock', status: 200 },
    reads: { ...stream, name: 'reads', kind: 'read', status: 200 },
    refusals: { ...stream, name: 'refusals', kind: 'read', headers: narrow, status: 429 },
    register: async (Url, EventType) => {
      const body = { Name: 'Bench', Url, EventType, Enabled: true, Format: 'JSON' }
      const [item] = (await call('POST', '/Webhooks', body)) as [{ Value: string }]
      return Number(item.Value)
    },
    secretOf: async (id) => {
      const [{ Secret }] = (await call('GET', `/Webhooks/${id}/Secret`)) as [{ Secret: string }]
      return Secret
    },
    remove: async (id) => void (await call('DELETE', `/Webhooks/${id}`)),
    raise: async (eventType, count) => {
      await database.query({ name: 'raise', text: RAISE, values: [SANDBOX.id, eventType, count] })
      await database.query("SELECT pg_notify('events', '')")
    },
  }
}

const RAISE = `INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "createdAt")
  SELECT "storeId", "eventType", "recordId", "body", now() FROM (
    SELECT * FROM "Event" WHERE "storeId" = $1 AND "eventType" = $2 AND "sequence" > 0 ORDER BY "sequence" DESC LIMIT 1
  ) AS "newest", generate_series(1, $3)`

function newProducts(first: number): object[] {
  return Array.from({ length: PER_REQUEST }, (_, index) => ({
    SKUInfo: { SKU: `BENCH-${first + index}`, Name: `Product ${first + index} of the bench`, Price: 8, Stock: 500_000 },
  }))
}
