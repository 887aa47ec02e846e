import { createProgress } from '../../src/cli/progress.ts'
import { fillLargeStore, recordsOf } from '../support/large-store/fill.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { markdownTable } from './markdown-table.ts'
import { signInTo } from './pages.ts'
import { median, number } from './rest-table.ts'

const PRODUCTS = 100_000
const ORDERS = 1_000_000
const ORDER = 500_000
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
  '/admin/csv',
  '/admin/customers',
  '/admin/customers/77777',
  '/admin/history',
  '/admin/history?by=nobody',
  '/admin/rma',
  '/admin/webhooks',
]

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
}

async function timeOf(url: string, headers: Record<string, string>): Promise<number> {
  const startMs = performance.now()
  const answer = await fetch(url, { headers, redirect: 'manual' })
  await answer.text()
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`)
  return performance.now() - startMs
}
