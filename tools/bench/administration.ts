import pg from 'pg'
import { createProgress } from '../../src/cli/progress.ts'
import { fillLargeStore, recordsOf } from '../../test/support/large-store/fill.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { markdownTable } from './markdown-table.ts'
import { signInTo } from './pages.ts'
import { median, number } from './rest-table.ts'

const PRODUCTS = 100_000
const ORDERS = 1_000_000
const ORDER = 500_000
const HISTORY_ENTRIES = 1_000_000
/** Requests of a page in a round, one after another. */
const REQUESTS = 20

/** Every kind of page whose work could grow with the store. */
const pages = [
  '/admin',
  '/admin/orders',
  '/admin/orders?find=AB-500000',
  '/admin/orders?find=Lewis',
  '/admin/search?q=AB-500000',
  '/admin/search?q=Lewis',
  '/admin/search?q=0199',
  '/admin/orders?orderstatus=1&sort=-OrderDate',
  `/admin/orders/${ORDER}`,
  `/admin/orders/${ORDER}/fields`,
  `/admin/orders/${ORDER}/lines`,
  `/admin/orders/${ORDER}/shipments/0`,
  `/admin/orders/${ORDER}/events`,
  `/admin/orders/${ORDER}/history`,
  `/admin/orders/${ORDER}/invoice`,
  '/admin/products',
  '/admin/products?name=cotton&sort=SKUInfo.Price',
  '/admin/products/1',
  '/admin/products/77777',
  '/admin/products/1/edit',
  '/admin/products/1/stock',
  '/admin/products/1/prices',
  '/admin/products/1/options',
  '/admin/products/1/categories',
  '/admin/products/1/history',
  '/admin/products/search?q=cotton%20bag',
  '/admin/categories/tree',
  '/admin/orders/new',
  '/admin/reports',
  '/admin/reports?period=last-year',
  '/admin/csv',
  '/admin/customers',
  '/admin/customers/77777',
  '/admin/history',
  '/admin/history?by=nobody',
  '/admin/history?of=Products&field=SKUInfo.Price',
  `/admin/history?to=${daysAgo(365)}`,
  '/admin/rma',
  '/admin/webhooks',
]

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 'yyyy-mm-dd'.length)
}

/** Prints how long each page of the administration takes in a store of a million orders, one request after another. */
export async function benchAdministration({ rounds, cases }: BenchOptions, stops: Stops): Promise<void> {
  const chosen = pages.filter((page) => cases.length === 0 || cases.some((text) => page.includes(text)))
  const server = await startBenchServer(stops)
  const account = { Email: 'merchant@large.example', Password: 'correct horse battery' }
  const store = { Name: 'Large', SecureURL: 'https://large.example', Currency: 'USD', ...account }
  await fill(server, Number((await server.post('/admin/stores', store)).Id))
  const headers = { accept: 'text/html', cookie: await signInTo(server, account) }
  const progress = createProgress({ label: 'Measuring', total: chosen.length * rounds })
  const rows: string[][] = []
  for (const page of chosen) {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n < REQUESTS; n++) times.push(await timeOf(`${server.baseUrl}${page}`, headers))
      progress.advance(1)
    }
    times.sort((one, other) => one - other)
    rows.push([page, number(median(times)), number(times.at(-2) ?? 0)])
  }
  progress.done()
  process.stdout.write(markdownTable(['page', 'p50 ms', 'next to slowest, ms'], rows))
}

async function fill({ databaseUrl }: BenchServer, storeId: number): Promise<void> {
  const size = { products: PRODUCTS, customers: PRODUCTS, orders: ORDERS }
  const progress = createProgress({ label: 'Filling the store', total: recordsOf(size) })
  await fillLargeStore(databaseUrl, storeId, size, { isWhole: true, onRecords: progress.advance })
  progress.done()
  await fillHistory(databaseUrl, storeId)
}

/** A price of each product and the status of each order has changed now and then, evenly over two years. */
async function fillHistory(databaseUrl: string, storeId: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    `INSERT INTO "HistoryEntry" ("storeId", "at", "recordType", "recordId", "kind", "actorKind", "actor", "changed", "more")
    SELECT $1::int, now() - interval '730 days' * (1 - n / $2::float8), CASE n % 2 WHEN 0 THEN 'Product' ELSE 'Order' END,
      CASE n % 2 WHEN 0 THEN 1 + n % $3::int ELSE 1 + n % $4::int END, 'update', 'merchant', 'merchant@large.example',
      CASE n % 2 WHEN 0 THEN '[["SKUInfo.Price", 9.99, 12]]' ELSE '[["OrderStatusID", 1, 4]]' END::json, 0
    FROM generate_series(1, $2::int) n`,
    [storeId, HISTORY_ENTRIES, PRODUCTS, ORDERS],
  )
  await client.query('ANALYZE "HistoryEntry"')
  await client.end()
}

async function timeOf(url: string, headers: Record<string, string>): Promise<number> {
  const startMs = performance.now()
  const answer = await fetch(url, { headers, redirect: 'manual' })
  await answer.text()
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`)
  return performance.now() - startMs
}
