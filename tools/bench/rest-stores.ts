import { createReadStream } from 'node:fs'
import pg from 'pg'
import { createProgress } from '../../src/cli/progress.ts'
import { StartupError } from '../../src/foundation/process/startup-error.ts'
import { INT32_MAX } from '../../src/foundation/values/int32.ts'
import { importLines } from '../../test/support/import.ts'
import { convertRetail } from '../realistic/convert.ts'
import { fullYear, generatedSource } from '../realistic/generate.ts'
import { callRest, subscribe, wide } from './application.ts'
import type { BenchServer } from './bench-server.ts'

/** A store of the server, and the headers of an application that no throttle holds up. */
export interface BenchStore {
  readonly id: number
  readonly headers: Readonly<Record<string, string>>
  /** In an order of no meaning. */
  readonly productIds: readonly number[]
  /** In an order of no meaning. */
  readonly orderIds: readonly number[]
}

export interface BenchStores {
  /** The year of orders: many narrow records. */
  readonly year: BenchStore
  /** The sandbox: few products, with long texts, options, categories and pictures. */
  readonly sandbox: BenchStore
  /** The store of the year by another application, which places orders of products of its own. */
  readonly till: BenchStore
}

/** Fills a store through the import route, as a user would. `file` null: with a generated year. */
export async function openBenchStores(server: BenchServer, file: string | null): Promise<BenchStores> {
  if (file !== null) await expectReadable(file)
  const open = async (id: number, secureUrl: string): Promise<BenchStore> => {
    const headers = await subscribe(server, { id, secureUrl })
    return { id, headers, productIds: await idsOf(server, id, 'Product'), orderIds: await idsOf(server, id, 'Order') }
  }
  const year = {
    Name: 'Online Retail',
    SecureURL: 'https://retail.example',
    Email: 'merchant@retail.example',
    Password: 'correct horse battery',
    Currency: 'GBP',
    TimeZone: 'Europe/London',
  }
  const { Id } = await server.post('/admin/stores', year)
  await load(server, Number(Id), file)
  const { rows } = await query<{ id: number; secureUrl: string }>(
    server,
    'SELECT id, "secureUrl" FROM "Store" ORDER BY id',
  )
  const [sandbox, ...others] = rows
  if (!sandbox || others.length !== 1) throw new Error('The sandbox and one store were expected')
  // What a database that has been up for a while has done by itself; it must not happen in the middle of a measurement.
  await query(server, 'VACUUM ANALYZE')
  await query({ databaseUrl: server.administratorUrl }, 'CHECKPOINT')
  const opened = await open(Number(Id), year.SecureURL)
  return {
    year: opened,
    sandbox: await open(sandbox.id, sandbox.secureUrl),
    till: await openTill(server, opened, year.SecureURL).catch(() => opened),
  }
}

const placing = { Privileges: { Checkout: ['write'] } }

/** Throws on a server of a commit that knows no such privilege. */
async function openTill(server: BenchServer, year: BenchStore, secureUrl: string): Promise<BenchStore> {
  const headers = await subscribe(server, { id: year.id, secureUrl }, wide, placing)
  await query(server, 'UPDATE "Subscription" SET "ordersPerHour" = $1 WHERE "storeId" = $2', [INT32_MAX, year.id])
  const products = Array.from({ length: 100 }, (_, index) => ({
    SKUInfo: { SKU: `TILL-${index}`, Name: 'Sold by the bench', Price: 1.25, Stock: 1_000_000 },
  }))
  const made = await callRest(server.baseUrl, year.headers, 'POST', '/Products', products)
  return { ...year, headers, productIds: (made as { Value: string }[]).map(({ Value }) => Number(Value)) }
}

async function expectReadable(file: string): Promise<void> {
  const stream = createReadStream(file)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  stream.once('open', () => resolve()).once('error', reject)
  await promise.catch(({ code }: NodeJS.ErrnoException) => {
    throw new StartupError(`${file} cannot be read (${code})`)
  })
  stream.destroy()
}

async function load(server: BenchServer, storeId: number, file: string | null): Promise<void> {
  const progress = createProgress({ label: file === null ? 'Loading a generated year' : 'Loading the file' })
  let shown = 0
  const lines = convertRetail(file ?? generatedSource(fullYear))
  const { counts } = await importLines({ ...server, storeId }, lines, (count) => {
    progress.advance(count - shown)
    shown = count
  }).finally(progress.done)
  if (counts.refused > 0) throw new Error(`${counts.refused} of ${counts.lines} lines were refused`)
}

/** In the same order in every run. */
async function idsOf(server: BenchServer, storeId: number, table: string): Promise<number[]> {
  const select = `SELECT id FROM "${table}" WHERE "storeId" = $1 ORDER BY md5(id::text)`
  return (await query<{ id: number }>(server, select, [storeId])).rows.map(({ id }) => id)
}

async function query<R extends pg.QueryResultRow>(
  { databaseUrl }: Pick<BenchServer, 'databaseUrl'>,
  sql: string,
  values: unknown[] = [],
) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return await client.query<R>(sql, values)
  } finally {
    await client.end()
  }
}
