import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../src/foundation/process/log.ts'
import { programVersion } from '../../src/foundation/process/version.ts'
import { openClient } from '../../test/support/client.ts'
import { fillLargeStore } from '../../test/support/large-store/fill.ts'
import type { StoreSize } from '../../test/support/large-store/statements.ts'
import { otherVersion } from '../../test/support/other-version.ts'
import { callRest, subscribe } from './application.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { startBenchServer } from './bench-server.ts'
import { ascending, P99_MAX_MS, RATIO_MAX } from './isolation/isolation.ts'
import { markdownTable } from './markdown-table.ts'
import { number, quantile } from './rest-table.ts'
import { readSize } from './scale.ts'

/** Between two requests of a program. */
const EVERY_MS = 20
/** What a request may take beside a migration. */
const MS_MAX = 400
/** An order whose row is held, in the first slice; no program changes it. */
const HELD = 500
const [column, index] = ['29990101000000_column', '29990101000001_index']
const beside = `-- Servers from ${programVersion} on may run on it.`
const migrations = {
  [column]: {
    migration: `${beside}
      ALTER TABLE "Product" ADD COLUMN "later" INT;
      ALTER TABLE "Order" ADD COLUMN "later" INT;`,
    slices: `-- Slices of "Order" by "storeId", "id".\nUPDATE "Order" r SET "later" = "id" * 2 WHERE $slice;`,
  },
  [index]: { migration: `${beside}\nCREATE INDEX CONCURRENTLY "Order_later_idx" ON "Order" ("storeId", "later");` },
}

const head = ['situation', 'program', 'requests', 'p50 ms', 'p99 ms', 'slowest ms', 'within']

/** Programs of the store, one request at a time each. */
type Programs = Readonly<Record<string, () => Promise<unknown>>>
/** By program, the sorted milliseconds of its requests; one that failed took for ever. */
type Times = Readonly<Record<string, readonly number[]>>

/**
 * Prints what programs wait while a later version migrates a store of the last size: beside a transaction that holds an order's row for so
 * many seconds, while an index is built, and while the rows of all orders are rewritten, with and without one that is held. "Within" says
 * whether nobody waited longer than 400 ms, and whether the bar of `isolation` holds.
 */
export async function benchUpgrade({ seconds, sizes }: BenchOptions, stops: Stops): Promise<void> {
  const { url, programs } = await openStore(readSize(sizes.at(-1) ?? ''), stops)
  const later = otherVersion('9.1.0', migrations)
  await stops.add(async () => later.remove())
  const { migrate } = await later.load('foundation/database/migrations.ts')
  const { createUpgrades } = await later.load('operations/installation/upgrades.ts')
  const db = (await later.load('foundation/database/client.ts')).connect(url)
  await stops.add(() => db.$disconnect())
  const upgrades = createUpgrades({ db, log: console as unknown as Log })
  await stops.add(upgrades.stop)
  const wait = () => sleep(seconds * 1_000)
  const hold = async () => {
    const holder = await openClient(url)
    await holder.query(`BEGIN; UPDATE "Order" SET "id" = "id" WHERE "id" = ${HELD}`)
    await wait().finally(() => holder.end())
  }
  const measured: [situation: string, times: Times][] = []
  const measure = async (situation: string, work: Promise<unknown>) =>
    measured.push([situation, await timesWhile(work, programs)])

  await measure('alone', wait())
  const held = hold()
  await sleep(EVERY_MS)
  const migrated = migrate(url)
  migrated.catch(() => {})
  await measure('beside a held row', held)
  await measure('while an index is built', migrated)
  const heldAgain = hold()
  upgrades.start()
  await measure('rows, one of them held', heldAgain)
  await measure('rows', wait())

  const rows = measured.flatMap(([situation, times]) =>
    Object.entries(times).map(([program, all]) => {
      const [p50, p99, slowest] = [0.5, 0.99, 1].map((share) => quantile(all, share)) as [number, number, number]
      const p99Max = Math.max(P99_MAX_MS, RATIO_MAX * quantile(measured[0]?.[1][program] ?? [], 0.99))
      const within = p99 <= p99Max && slowest <= MS_MAX ? 'yes' : 'no'
      return [situation, program, String(all.length), ...[p50, p99, slowest].map(number), within]
    }),
  )
  process.stdout.write(markdownTable(head, rows))
}

/** Its programs read and change the first orders and products, and place new ones. */
async function openStore(size: StoreSize, stops: Stops): Promise<{ url: string; programs: Programs }> {
  const server = await startBenchServer(stops)
  const { baseUrl, databaseUrl: url, post } = server
  const secureUrl = 'https://large.example'
  const account = { Name: 'Large', Email: 'owner@large.example', Password: 'correct horse battery' }
  const { Id = 0 } = await post('/admin/stores', { ...account, SecureURL: secureUrl })
  await fillLargeStore(url, Number(Id), size, { isWhole: true })
  const credentials = await subscribe(server, { id: Number(Id), secureUrl })
  const some = (count: number) => 1 + Math.floor(Math.random() * count)
  const order = () => `/Orders/${some(HELD - 1)}`
  const stock = () => ({ SKUInfo: { Stock: 1_000 + some(1_000) } })
  const placed = { BillingEmail: 'guest@shop.example', OrderItemList: [{ CatalogID: 1, ItemQuantity: 1 }] }
  return {
    url,
    programs: {
      'GET of an order': () => callRest(baseUrl, credentials, 'GET', order()),
      'PUT of an order': () =>
        callRest(baseUrl, credentials, 'PUT', order(), { InternalComments: String(some(1_000)) }),
      'PUT of a stock': () => callRest(baseUrl, credentials, 'PUT', `/Products/${some(99)}`, stock()),
      'an order placed': () => post(`/admin/stores/${Id}/orders`, placed),
    },
  }
}

async function timesWhile(work: Promise<unknown>, programs: Programs): Promise<Times> {
  let isOver = false
  const measured = Object.entries(programs).map(async ([name, ask]) => {
    const times: number[] = []
    for (; !isOver; await sleep(EVERY_MS)) {
      const startedAt = performance.now()
      const isServed = await ask().then(
        () => true,
        (error) => console.error(error),
      )
      times.push(isServed ? performance.now() - startedAt : Number.POSITIVE_INFINITY)
    }
    return [name, times.toSorted(ascending)] as const
  })
  await work.finally(() => {
    isOver = true
  })
  return Object.fromEntries(await Promise.all(measured))
}
