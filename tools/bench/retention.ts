import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { oldEntries } from '../../src/access/audit/old-entries.ts'
import { createProgress } from '../../src/cli/progress.ts'
import { connect } from '../../src/foundation/database/client.ts'
import { backgroundLimits } from '../../src/foundation/database/limits.ts'
import type { Sweep } from '../../src/foundation/database/sweeper.ts'
import { archivedSweep } from '../../src/operations/installation/archive.ts'
import { sweepsByAge } from '../../src/parts/retention.ts'
import { oldMovements } from '../../src/shop/resources/products/carry-forward.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { type Child, startChild } from './child.ts'
import { markdownTable } from './markdown-table.ts'
import { processorTimeOf } from './processor-time.ts'
import { number } from './rest-table.ts'
import { fillPast, type Past, rowsOfAChange, type Table } from './retention-rows.ts'
import type { OpenLoad, OpenLoadResult, Stream } from './webhooks-messages.ts'
import { openWebhookStore, type WebhookStore } from './webhooks-store.ts'

const PER_SECOND = 100
/** Of twenty minutes. */
const OLD_CHANGES = 1_200 * PER_SECOND
const DAYS = 30
/** What has to go, and what must stay beside it. */
const pasts: readonly Past[] = [
  { changes: OLD_CHANGES, endedHoursAgo: DAYS * 24 + 1, keysEndedHoursAgo: 25 },
  { changes: 3 * OLD_CHANGES, endedHoursAgo: 1, keysEndedHoursAgo: 1 },
]
/** The load is asked for in such pieces while sweeps run. */
const PIECE_S = 5

interface SweptTables {
  readonly tables: readonly Table[]
  readonly sweep: Sweep
}

/**
 * Fills the tables with twenty minutes of a hundred changes a second that are older than what is kept, beside three times as much, and prints how
 * fast the sweeps delete it while the server takes a hundred changes a second, and what these take meanwhile.
 */
export async function benchRetention({ seconds }: BenchOptions, stops: Stops): Promise<void> {
  const server = await startBenchServer(stops)
  const store = await openWebhookStore(server, stops)
  const child = startChild('webhooks-load.ts')
  await stops.add(child.stop)
  const client = new pg.Client({ connectionString: server.databaseUrl })
  await client.connect()
  await stops.add(() => client.end())
  const changes = { ...store.stocks, perSecond: PER_SECOND }
  const orders = { ...store.orders, perSecond: PER_SECOND / 2 }
  await send(child, store, changes, seconds)
  const progress = createProgress({ label: 'Filling the tables' })
  let shown = 0
  const fill = fillPast(server, pasts, (made) => {
    progress.advance(made - shown)
    shown = made
  })
  await fill.finally(progress.done)
  print(['table', 'rows', 'bytes of a row, with indexes'], await sizes(client))
  const alone = await measureAlone(server, client, () => send(child, store, changes, seconds))
  const ordersAlone = await measureAlone(server, client, () => send(child, store, orders, seconds))
  const rows: string[][] = []
  const beside: number[] = []
  let sweptS = 0
  for (const [title, { tables, sweep }] of Object.entries(await openSweeps(server, stops))) {
    const load = () => send(child, store, changes, PIECE_S)
    const swept = await timed(() => sweep(() => false), load, beside)
    await expectNoneOld(client, tables)
    const written = tables.reduce((sum, table) => sum + rowsOfAChange[table] * PER_SECOND, 0)
    const deleted = written * (OLD_CHANGES / PER_SECOND)
    rows.push([title, ...[written, deleted, swept, deleted / swept, deleted / swept / written].map(number)])
    sweptS += swept
  }
  print(['sweep', 'written rows/s', 'deleted rows', 'in s', 'rows/s', 'pace'], rows)
  const pace = OLD_CHANGES / PER_SECOND / sweptS
  process.stdout.write(
    `\n${PER_SECOND} changes a second are deleted ${number(pace)} times as fast, one table after another.\n`,
  )
  print(
    [
      'load',
      'requests',
      'p50 ms',
      'p99 ms',
      'server ms each',
      'PostgreSQL ms each',
      'KB of WAL each behind a checkpoint',
      'and later',
    ],
    [
      [`${PER_SECOND} changes/s alone`, ...alone],
      [`${PER_SECOND} changes/s beside the sweeps`, ...figures(beside), '–', '–', '–', '–'],
      [`${orders.perSecond} orders/s alone`, ...ordersAlone],
    ],
  )
}

/** As a server runs them, with the same connections. */
async function openSweeps({ databaseUrl: url }: BenchServer, stops: Stops): Promise<Record<string, SweptTables>> {
  const db = connect(url, { poolMax: 4, limits: backgroundLimits })
  await stops.add(() => db.$disconnect())
  const dir = await mkdtemp(join(tmpdir(), 'store-platform-archive-'))
  await stops.add(() => reportFiles(dir).finally(() => rm(dir, { recursive: true, force: true })))
  const services = { url, db, dir, now: () => new Date(), log: { info: () => {} } }
  const byAge = sweepsByAge(services, { historyDays: DAYS })
  return {
    'attempts, deliveries, events': {
      tables: ['DeliveryAttempt', 'Delivery', 'Event'],
      sweep: byAge['old deliveries and events'],
    },
    'idempotency keys, answers': {
      tables: ['IdempotencyKey', 'IdempotencyAnswer'],
      sweep: byAge['old idempotency keys'],
    },
    history: { tables: ['HistoryEntry'], sweep: byAge['old history'] },
    'stock movements, archived': { tables: ['StockMovement'], sweep: archivedSweep(services, DAYS, oldMovements) },
    'audit log, archived': { tables: ['AuditEntry'], sweep: archivedSweep(services, DAYS, oldEntries) },
  }
}

async function reportFiles(dir: string): Promise<void> {
  const files = await readdir(dir)
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(dir, name))).size))
  const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1e6
  process.stdout.write(`\nThe archive has ${files.length} files, ${number(megabytes)} MB in all.\n`)
}

/** The seconds that `work` takes while `load` is repeated; what each request took is added to `milliseconds`. */
async function timed(
  work: () => Promise<void>,
  load: () => Promise<readonly number[]>,
  milliseconds: number[],
): Promise<number> {
  const startedAt = performance.now()
  let seconds = 0
  const working = work().then(() => {
    seconds = (performance.now() - startedAt) / 1_000
  })
  let hasFailed = false
  working.catch(() => {
    hasFailed = true
  })
  while (seconds === 0) {
    milliseconds.push(...(await load()))
    if (hasFailed) break
  }
  await working
  return seconds
}

/** Milliseconds of each request. */
async function send(
  load: Child,
  { origin }: WebhookStore,
  stream: Stream,
  seconds: number,
): Promise<readonly number[]> {
  const { streams } = await load.ask<OpenLoadResult>({ origin, seconds, streams: [stream] } satisfies OpenLoad)
  return streams[0]?.milliseconds ?? []
}

/** Twice: each page that is changed first behind a checkpoint is logged whole. */
async function measureAlone(
  server: BenchServer,
  client: pg.Client,
  load: () => Promise<readonly number[]>,
): Promise<string[]> {
  const position = async () => {
    const { rows } = await client.query(`SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS "bytes"`)
    return Number(rows[0].bytes)
  }
  await checkpoint(server)
  const positions = [await position()]
  const milliseconds: number[] = []
  const { node, postgres } = await processorTimeOf(server, async () => {
    for (let turn = 0; turn < 2; turn++) {
      milliseconds.push(...(await load()))
      positions.push(await position())
    }
  })
  const each = (turn: number) =>
    ((positions[turn + 1] ?? 0) - (positions[turn] ?? 0)) / (milliseconds.length / 2) / 1_000
  const times = [node, postgres].map((ms) => number(ms / milliseconds.length))
  return [...figures(milliseconds), ...times, number(each(0)), number(each(1))]
}

async function checkpoint({ administratorUrl }: BenchServer): Promise<void> {
  const client = new pg.Client({ connectionString: administratorUrl })
  await client.connect()
  await client.query('CHECKPOINT').finally(() => client.end())
}

/** Throws when a row is older than what is kept. */
async function expectNoneOld(client: pg.Client, tables: readonly Table[]): Promise<void> {
  for (const table of tables) {
    const isOld = oldRows[table]
    const { rows } = await client.query(`SELECT count(*) AS "count" FROM "${table}" WHERE ${isOld}`)
    if (Number(rows[0].count) > 0) throw new Error(`${rows[0].count} old rows of ${table} are left`)
  }
}

const isOld = (time: string) => `"${time}" < now() - interval '${DAYS} days'`
const oldRows: Readonly<Record<Table, string>> = {
  Event: isOld('createdAt'),
  Delivery: isOld('createdAt'),
  DeliveryAttempt: isOld('at'),
  HistoryEntry: isOld('at'),
  StockMovement: `${isOld('createdAt')} AND "cause" <> 'carried-forward'`,
  IdempotencyKey: `"claimedAt" < now() - interval '1 day'`,
  IdempotencyAnswer:
    'NOT EXISTS (SELECT FROM "IdempotencyKey" k WHERE k."storeId" = "IdempotencyAnswer"."storeId" AND k."scope" = "IdempotencyAnswer"."scope")',
  AuditEntry: isOld('at'),
}

async function sizes(client: pg.Client): Promise<string[][]> {
  const tables = Object.keys(rowsOfAChange)
  const each = tables.map(
    (table) =>
      `SELECT '${table}' AS "table", (SELECT count(*) FROM "${table}")::float8 AS "rows", pg_total_relation_size('"${table}"')::float8 AS "bytes"`,
  )
  const { rows } = await client.query<{ table: string; rows: number; bytes: number }>(each.join(' UNION ALL '))
  return rows.map((row) => [row.table, row.rows.toLocaleString('en-US'), number(row.bytes / row.rows)])
}

function figures(milliseconds: readonly number[]): string[] {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const at = (share: number) => number(sorted[Math.floor(sorted.length * share)] ?? Number.NaN)
  return [sorted.length.toLocaleString('en-US'), at(0.5), at(0.99)]
}

function print(head: readonly string[], rows: readonly (readonly string[])[]): void {
  process.stdout.write(`\n${markdownTable(head, rows)}`)
}
