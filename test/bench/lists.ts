import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '../../src/app.ts'
import { createProgress, type Progress } from '../../src/cli/progress.ts'
import { connect, type Db } from '../../src/database/client.ts'
import { startEmbedded } from '../../src/database/embedded/embedded.ts'
import { migrate } from '../../src/database/migrations.ts'
import { servedResources } from '../../src/registry.ts'
import { fillLargeStore, shares } from '../support/large-store.ts'
import { hasPostgres15, startPostgres15 } from '../support/postgres-15.ts'
import { operatorKey, servicesOn } from '../support/services.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { markdownTable } from './markdown-table.ts'
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
  const columns = [await measureOn('PostgreSQL 18', await openEmbedded(stops), paths, rounds, stops)]
  if (hasPostgres15) {
    const { url, stop } = await startPostgres15()
    await stops.add(stop)
    columns.push(await measureOn('PostgreSQL 15', url, paths, rounds, stops))
  }
  const head = ['one client, ms', ...columns.map(({ title }) => title)]
  process.stdout.write(
    markdownTable(
      head,
      paths.map((path, row) => [path, ...columns.map(({ times }) => number(times[row] ?? 0))]),
    ),
  )
}

async function openEmbedded(stops: Stops): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'store-platform-bench-'))
  await stops.add(() => rm(dataDir, { recursive: true, force: true }))
  const { url, stop } = await startEmbedded({ dataDir })
  await stops.add(stop)
  return url
}

async function measureOn(title: string, url: string, paths: readonly string[], rounds: number, stops: Stops) {
  await migrate(url)
  const db = connect(url)
  await stops.add(() => db.$disconnect())
  const progress = createProgress({ label: title, total: paths.length * rounds })
  const { app, headers } = await openLargeStore(db)
  const times: number[] = []
  for (const path of paths) times.push(await medianTime(app, `/StoreWebAPI/v1/${path}`, headers, rounds, progress))
  progress.done()
  await app.close()
  return { title, times }
}

/** The first request of each address is left out: it finds nothing in memory. */
async function medianTime(
  app: FastifyInstance,
  url: string,
  headers: Record<string, string>,
  rounds: number,
  progress: Progress,
): Promise<number> {
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const startMs = performance.now()
    const { statusCode } = await app.inject({ url, headers })
    if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`)
    if (round > 0) times.push(performance.now() - startMs)
    if (round > 0) progress.advance(1)
  }
  return median(times)
}

async function openLargeStore(db: Db) {
  const services = {
    ...servicesOn(db, { LOG_LEVEL: 'silent' }),
    services: servedResources.map(({ service }) => service),
  }
  const app = buildApp(services)
  const post = async (path: string, payload: object) => {
    const answer = await app.inject({
      method: 'POST',
      url: `/admin/${path}`,
      headers: { authorization: `Bearer ${operatorKey}` },
      payload,
    })
    if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${answer.body}`)
    return answer.json() as Record<string, string | number>
  }
  const secureurl = 'https://large.example'
  const Throttle = { Capacity: 1_000_000, LeakPerSecond: 10_000 }
  const account = { Email: 'merchant@large.example', Password: 'correct horse battery' }
  const { Id } = await post('stores', { Name: 'Large', SecureURL: secureurl, Currency: 'USD', ...account })
  const { PublicKey, PrivateKey } = await post('applications', { Name: 'Bench', Throttle })
  const { Token } = await post(`stores/${Id}/subscriptions`, { PublicKey })
  await fillLargeStore(db, Number(Id), PRODUCTS)
  await db.$executeRaw`VACUUM ANALYZE`
  return { app, headers: { secureurl, privatekey: String(PrivateKey), token: String(Token) } }
}
