import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openSnapshot } from '../../src/foundation/database/snapshot.ts'
import { diskFiles } from '../../src/foundation/files/disk.ts'
import { writeWholeFile } from '../../src/foundation/process/whole-file.ts'
import { createSecrets } from '../../src/foundation/values/secrets.ts'
import { writeBackup } from '../../src/operations/installation/backup/write.ts'
import { residentMb } from '../../test/support/resident-memory.ts'
import { callRest } from './application.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { markdownTable } from './markdown-table.ts'
import { type BenchStore, openBenchStores } from './rest-stores.ts'
import { number } from './rest-table.ts'

/** What belongs to a record of each service, in tables. */
const belonging: Readonly<Record<string, readonly string[]>> = {
  products: ['Product', 'ProductCategory', 'ProductDistributor', 'AdvancedOption', 'RecordCount'],
  customers: ['Customer'],
  orders: ['Order', 'OrderItem', 'OrderShipment', 'OrderTransaction', 'SalesSum'],
  events: ['Event'],
  'history entries': ['HistoryEntry'],
  deliveries: ['Delivery', 'DeliveryAttempt'],
}

const CLIENTS = 16
const REST_MS = 70_000
const LIST = 100

interface Size {
  readonly rows: number
  readonly bytes: number
}

/**
 * Prints the room that records, events, history and deliveries take on disk and in a backup, and the memory and the sessions of a
 * server process, at rest and while clients read and change.
 */
export async function benchRoom({ file, seconds }: BenchOptions, stops: Stops): Promise<void> {
  const server = await startBenchServer(stops)
  const before = await sizesOf(server)
  const { year } = await openBenchStores(server, file)
  const loaded = await sizesOf(server)
  const rest = await atRest(server)
  const receiver = await openReceiver(stops)
  const webhook = { Name: 'Room', Url: receiver, EventType: 5, Enabled: true }
  await callRest(server.baseUrl, year.headers, 'POST', '/Webhooks', webhook)
  const load = await underLoad(server, year, seconds)
  await untilDelivered(server)
  const changed = await sizesOf(server)
  const rows = [
    ...roomOf(['products', 'customers', 'orders'], before, loaded),
    ...roomOf(['events', 'history entries', 'deliveries'], loaded, changed),
  ]
  print(['kind', 'rows', 'MB', 'kB per 1,000'], rows)
  print(['database MB', 'backup MB', 'backup s'], [await backUp(server, stops)])
  print(
    ['state', 'RSS MB', 'sessions'],
    [
      ['at rest', ...rest],
      [`${CLIENTS} clients`, ...load],
    ],
  )
}

function print(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? number(cell) : cell)))
  process.stdout.write(`${markdownTable([...head], cells)}\n`)
}

async function query<R extends pg.QueryResultRow>(server: BenchServer, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: server.databaseUrl })
  await client.connect()
  return (await client.query<R>(text).finally(() => client.end())).rows
}

async function sizesOf(server: BenchServer): Promise<Map<string, Size>> {
  await query(server, 'VACUUM ANALYZE')
  const tables = Object.values(belonging).flat()
  const sizes = await query<{ table: string; rows: number; bytes: number }>(
    server,
    tables
      .map(
        (table) =>
          `SELECT '${table}' AS "table", (SELECT count(*)::float8 FROM "${table}") AS "rows", pg_total_relation_size('"${table}"')::float8 AS "bytes"`,
      )
      .join(' UNION ALL '),
  )
  return new Map(sizes.map(({ table, rows, bytes }) => [table, { rows, bytes }]))
}

/** What was added between two measurements; the first table of a kind has its records. */
function roomOf(kinds: readonly string[], before: Map<string, Size>, after: Map<string, Size>) {
  return kinds.map((kind) => {
    const tables = belonging[kind] ?? []
    const [records = 0] = tables.map((table) => (after.get(table)?.rows ?? 0) - (before.get(table)?.rows ?? 0))
    const bytes = tables.reduce(
      (sum, table) => sum + (after.get(table)?.bytes ?? 0) - (before.get(table)?.bytes ?? 0),
      0,
    )
    return [kind, records, bytes / 1e6, bytes / records]
  })
}

/** Longer than the process waits before it gives memory back. */
async function atRest(server: BenchServer): Promise<number[]> {
  await sleep(REST_MS)
  return [residentMb(server.pid), await sessionsOf(server)]
}

async function sessionsOf(server: BenchServer): Promise<number> {
  const [found] = await query<{ count: number }>(
    server,
    'SELECT count(*)::int AS "count" FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  return found?.count ?? 0
}

async function openReceiver(stops: Stops): Promise<string> {
  const receiver = createServer((received, answer) => received.resume().on('end', () => answer.end())).listen(
    0,
    '127.0.0.1',
  )
  await once(receiver, 'listening')
  await stops.add(async () => {
    receiver.closeAllConnections()
    receiver.close()
  })
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
}

/** Changes the price of each product, while others read pages of orders and products. Returns the highest figures. */
async function underLoad(server: BenchServer, year: BenchStore, seconds: number): Promise<number[]> {
  const endMs = performance.now() + seconds * 1_000
  let isChanging = true
  let memory = 0
  let sessions = 0
  const isOver = () => performance.now() > endMs && !isChanging
  const watch = async () => {
    while (!isOver()) {
      memory = Math.max(memory, residentMb(server.pid))
      sessions = Math.max(sessions, await sessionsOf(server))
      await sleep(100)
    }
  }
  const read = async (index: number) => {
    const path = index % 2 ? '/Orders?limit=100' : '/Products?limit=200'
    while (!isOver()) await callRest(server.baseUrl, year.headers, 'GET', path)
  }
  const change = async () => {
    for (let from = 0; from < year.productIds.length; from += LIST) {
      const ids = year.productIds.slice(from, from + LIST)
      const body = ids.map((CatalogID) => ({ SKUInfo: { CatalogID, Price: 12.34, Cost: 5.67 } }))
      await callRest(server.baseUrl, year.headers, 'PUT', '/Products', body)
    }
    isChanging = false
  }
  await Promise.all([change(), watch(), ...Array.from({ length: CLIENTS }, (_, index) => read(index))])
  return [memory, sessions]
}

async function untilDelivered(server: BenchServer): Promise<void> {
  const waiting = `SELECT (SELECT count(*) FROM "Event" WHERE "sequence" IS NULL) + (SELECT count(*) FROM "Delivery" WHERE "state" = 'pending') AS "count"`
  while (Number((await query<{ count: string }>(server, waiting))[0]?.count) > 0) await sleep(500)
}

async function backUp(server: BenchServer, stops: Stops): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'store-platform-room-'))
  await stops.add(() => rm(folder, { recursive: true }))
  const path = join(folder, 'room.backup')
  const [database] = await query<{ bytes: number }>(
    server,
    'SELECT pg_database_size(current_database())::float8 AS "bytes"',
  )
  const startedMs = performance.now()
  const snapshot = await openSnapshot(server.databaseUrl)
  const services = { secrets: createSecrets(server.secretKey), files: diskFiles(folder) }
  await writeWholeFile(path, (target) => writeBackup(snapshot, target, { ...services, createdAt: new Date() }))
  await snapshot.close()
  const { size } = await stat(path)
  return [(database?.bytes ?? 0) / 1e6, size / 1e6, (performance.now() - startedMs) / 1_000]
}
