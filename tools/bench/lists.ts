import { createProgress, type Progress } from '../../src/cli/progress.ts'
import { servedResources } from '../../src/shop/registry.ts'
import { shares } from '../../test/support/large-store/statements.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type LargeServer, openLargeServer } from './large-server.ts'
import { markdownTable } from './markdown-table.ts'
import { startPostgres, versions } from './postgres-versions.ts'
import { median, number } from './rest-table.ts'

const PRODUCTS = 200_000

/** Of a record that half of the others refer to: the first page, one far behind by cursor and by offset, the count, a filter. */
const queries = [
  '',
  `?cursor=${PRODUCTS * 0.9}`,
  `?offset=${PRODUCTS * 0.4}`,
  '?countonly=1',
  '?lastupdatestart=2020-01-01',
]

const lists = servedResources.flatMap(({ service, subResources }) =>
  Object.entries(subResources).flatMap(([name, { kind }]) =>
    kind === 'related'
      ? [
          ...queries.map((query) => `${service}/${shares.half}/${name}${query}`),
          `${service}/${shares.lastTwenty}/${name}`,
        ]
      : [],
  ),
)
const items = ['RMA', 'GiftRegistries'].flatMap((service) => [
  `${service}?catalogid=${shares.half}`,
  `${service}?sku=SKU-${shares.lastTwenty}`,
])

/** Prints how long one page of each related list takes in a store of 200,000 products, on the versions that are there. */
export async function benchLists({ rounds, cases }: BenchOptions, stops: Stops): Promise<void> {
  const paths = [...lists, ...items].filter((path) => cases.length === 0 || cases.some((text) => path.includes(text)))
  const columns: Awaited<ReturnType<typeof measureOn>>[] = []
  for (const version of versions) columns.push(await measureOn(version, paths, rounds, stops))
  const head = ['one client, ms', ...columns.map(({ title }) => title)]
  process.stdout.write(
    markdownTable(
      head,
      paths.map((path, row) => [path, ...columns.map(({ times }) => number(times[row] ?? 0))]),
    ),
  )
}

async function measureOn(version: string, paths: readonly string[], rounds: number, stops: Stops) {
  const { createDatabase } = await startPostgres(version, stops)
  const url = await createDatabase('lists')
  const server = await openLargeServer(url, { products: PRODUCTS, customers: PRODUCTS, orders: PRODUCTS / 10 })
  await stops.add(server.close)
  const title = `PostgreSQL ${version}`
  const progress = createProgress({ label: title, total: paths.length * rounds })
  const times: number[] = []
  for (const path of paths) times.push(await medianTime(server, `/StoreWebAPI/v1/${path}`, rounds, progress))
  progress.done()
  return { title, times }
}

/** The first request of each address is left out: it finds nothing in memory. */
async function medianTime(
  { timeOf, application: headers }: LargeServer,
  url: string,
  rounds: number,
  progress: Progress,
): Promise<number> {
  await timeOf({ url, headers })
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    times.push(await timeOf({ url, headers }))
    progress.advance(1)
  }
  return median(times)
}
