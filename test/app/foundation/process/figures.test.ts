import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterEach, describe, expect, test } from 'vitest'
import { connect, type Db, inTransaction } from '../../../../src/foundation/database/client.ts'
import { DatabaseHealth } from '../../../../src/foundation/database/health.ts'
import { createDatabaseMetrics } from '../../../../src/foundation/database/metrics.ts'
import { showShared } from '../../../../src/http/server/figures/figures.ts'
import { createBackupSchedule } from '../../../../src/operations/installation/backup/schedule.ts'
import { numberEvents } from '../../../../src/shop/webhooks/dispatch/number.ts'
import { sharedFolder } from '../../../support/folders.ts'
import { openGate } from '../../../support/gate.ts'
import { figureOf, samplesOf } from '../../../support/metrics-text.ts'
import { statementsOf } from '../../../support/statements.ts'
import { sharedServer } from '../../../support/store.ts'
import { productBody } from '../../http/rest/fixture.ts'
import { newWebhook } from '../../http/rest/webhooks-fixture.ts'
import { envelope, post, request } from '../../http/soap/support.ts'

const ORDER_NEW = 1
const PRODUCT_NEW = 4

const server = await sharedServer()
const shop = await server.openStore()
const backupDir = join(sharedFolder(), 'backups')

interface Shown {
  readonly db?: Db
  readonly dir?: string | null
  readonly warnings?: string[]
}

/** A registry with what a process shows of the database, sampled by its first scrape. */
function openFigures({ db = server.database.db, dir = null, warnings = [] }: Shown = {}) {
  const registry = new Registry()
  const failed = showShared(registry, {
    db,
    secrets: server.services.secrets,
    now: () => new Date(server.clock.ms),
    log: { warn: (_details, message) => warnings.push(message) },
    config: { backupDir: dir, backupHours: 24 },
  })
  return { registry, failed, scrape: () => registry.metrics() }
}

describe('what the database knows', () => {
  test('how far numbering and deliveries are behind, apart by whether the receiver answers, and what is paused', async () => {
    const { db } = server.database
    const now = () => new Date(server.clock.ms)
    for (const EventType of [PRODUCT_NEW, PRODUCT_NEW, ORDER_NEW, ORDER_NEW]) await newWebhook(shop.call, { EventType })
    const [, second, third, fourth] = await db.webhook.findMany({ orderBy: { id: 'asc' } })
    const change = (hook: typeof second, data: object) =>
      db.webhook.update({ where: { storeId_id: { storeId: shop.store.id, id: hook?.id ?? 0 } }, data })
    await change(third, { enabled: false, disabledAt: now(), pauseReason: 'it failed for five days' })
    await change(fourth, { enabled: false, disabledAt: now() })
    await numberEvents(db, now(), [], '')
    await shop.call('POST', '/Products', { body: [productBody('ONE'), productBody('TWO')] })
    server.clock.ms += 40_000

    const before = await openFigures().scrape()
    expect(figureOf(before, 'webhook_numbering_lag_seconds')).toBe(40)
    expect(figureOf(before, 'webhook_unnumbered_events')).toBeGreaterThanOrEqual(2)
    expect(figureOf(before, 'webhook_delivery_lag_seconds{receiver="answering"}')).toBe(0)
    expect(
      samplesOf(before)
        .filter(({ name }) => name === 'webhook_endpoints')
        .map(({ labels, value }) => [labels.state, value]),
    ).toEqual([
      ['enabled', 2],
      ['failing', 0],
      ['paused', 1],
      ['disabled', 1],
    ])

    await numberEvents(db, now(), [], '')
    server.clock.ms += 5_000
    await change(second, { failingSince: now() })
    server.clock.ms += 4_000
    await db.delivery.updateMany({
      where: { webhookId: second?.id ?? 0 },
      data: { dueAt: new Date(server.clock.ms - 7_000) },
    })
    const after = await openFigures().scrape()
    expect(figureOf(after, 'webhook_numbering_lag_seconds')).toBe(0)
    expect(figureOf(after, 'webhook_unnumbered_events')).toBe(0)
    expect(figureOf(after, 'webhook_pending_deliveries')).toBe(4)
    expect(figureOf(after, 'webhook_delivery_lag_seconds{receiver="answering"}')).toBe(9)
    expect(figureOf(after, 'webhook_delivery_lag_seconds{receiver="failing"}')).toBe(7)
  })

  test('the room of every table and the age of the oldest rows, and nothing of a store', async () => {
    const { db } = server.database
    const text = await openFigures().scrape()
    const sizes = samplesOf(text).filter(({ name }) => name === 'database_table_size_bytes')
    const models = await db.$queryRaw<{ name: string }[]>`
      SELECT relname::text AS "name" FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations'`
    expect(sizes.map(({ labels }) => labels.table).toSorted()).toEqual(models.map(({ name }) => name).toSorted())
    expect(figureOf(text, 'database_size_bytes')).toBeGreaterThan(1_000_000)
    expect(figureOf(text, 'database_migrations_applied')).toBeGreaterThan(20)
    expect(figureOf(text, 'database_server_connections')).toBeGreaterThan(0)
    expect(Math.abs(figureOf(text, 'database_clock_offset_seconds') ?? Number.NaN)).toBeLessThan(60)
    const oldest = await db.event.findFirstOrThrow({ orderBy: { id: 'asc' } })
    expect(figureOf(text, 'database_oldest_row_timestamp_seconds{table="Event"}')).toBe(
      oldest.createdAt.getTime() / 1_000,
    )
    const entry = await db.historyEntry.findFirstOrThrow({ orderBy: { at: 'asc' } })
    expect(figureOf(text, 'database_oldest_row_timestamp_seconds{table="HistoryEntry"}')).toBe(
      entry.at.getTime() / 1_000,
    )
    expect(text).not.toMatch(/shop-|example/)
  })

  test('is asked once, however many ask at once and soon after', async () => {
    const { scrape } = openFigures()
    const sizes = /pg_database_size/
    const first = await statementsOf(() => Promise.all(Array.from({ length: 20 }, scrape)))
    const second = await statementsOf(scrape)
    expect(first.filter(({ text }) => sizes.test(text))).toHaveLength(1)
    expect(second).toEqual([])
    expect(figureOf(await scrape(), 'webhook_unnumbered_events')).toBe(0)
  })

  test('is found by indexes, apart from tables of a few rows', async () => {
    const plans: string[] = []
    const { db } = server.database
    const sent = await statementsOf(openFigures().scrape)
    await db.$transaction(async (tx) => {
      await tx.$executeRaw`SET LOCAL enable_seqscan = off`
      for (const { text, values } of sent.filter((each) => /^\s*(SELECT|WITH)/.test(each.text))) {
        const lines = await tx.$queryRawUnsafe<{ 'QUERY PLAN': string }[]>(`EXPLAIN ${text}`, ...values)
        plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'))
      }
    })
    expect(plans.length).toBeGreaterThan(6)
    const scans = plans.join('\n').match(/Seq Scan on "\w+"/g) ?? []
    // It has two rows at most.
    expect(scans).toEqual(['Seq Scan on "Backup"'])
  })
})

describe('while the database does not answer', () => {
  test('a scrape answers without its figures, says that the breaker is open, and logs it once', async () => {
    const gate = await openGate(server.database.url)
    const health = new DatabaseHealth(gate.url, { warn: () => {}, error: () => {} })
    const warnings: string[] = []
    const metrics = new Registry()
    const figures = createDatabaseMetrics(metrics, health)
    const db = connect(gate.url, { health, observer: figures.pool('background') })
    try {
      const { registry, scrape } = openFigures({ db, dir: backupDir, warnings })
      gate.stall()
      const text = await scrape()
      expect(figureOf(text, 'database_size_bytes')).toBeUndefined()
      expect(figureOf(text, 'webhook_numbering_lag_seconds')).toBeUndefined()
      expect(figureOf(text, 'backup_newest_file_timestamp_seconds')).toBe(0)
      expect(text).toContain('# TYPE database_size_bytes gauge')
      const own = await metrics.metrics()
      expect(figureOf(own, 'database_breaker_open')).toBe(1)
      expect(figureOf(own, 'database_breaker_openings_total')).toBe(1)
      await registry.metrics()
      expect(warnings).toEqual(['figures of the database are missing in /metrics'])
    } finally {
      gate.resume()
      await Promise.all([health.stop(), db.$disconnect()])
      await gate.close()
    }
  })
})

describe('backups', () => {
  const schedule = (dir: string, onFailure: () => void) =>
    createBackupSchedule({
      url: server.database.url,
      secrets: server.services.secrets,
      files: server.services.files,
      now: () => new Date(server.clock.ms),
      log: { info: () => {}, warn: () => {}, error: () => {} },
      dir,
      hours: 24,
      keep: 2,
      onFailure,
    })

  test('are 0 before the first one, known to every process after it, and the folder tells by itself what it has', async () => {
    const none = await openFigures({ dir: backupDir }).scrape()
    expect(figureOf(none, 'backup_last_success_timestamp_seconds{by="schedule"}')).toBe(0)
    expect(figureOf(none, 'backup_newest_file_timestamp_seconds')).toBe(0)
    expect(figureOf(none, 'backup_interval_seconds')).toBe(86_400)

    await schedule(backupDir, () => {}).runDue()
    const madeAt = server.clock.ms / 1_000
    const others = await openFigures().scrape()
    expect(figureOf(others, 'backup_last_success_timestamp_seconds{by="schedule"}')).toBe(madeAt)
    expect(figureOf(others, 'backup_last_size_bytes{by="schedule"}')).toBeGreaterThan(1_000)
    expect(figureOf(others, 'backup_last_success_timestamp_seconds{by="command"}')).toBe(0)
    expect(figureOf(others, 'backup_newest_file_timestamp_seconds')).toBeUndefined()

    rmSync(backupDir, { recursive: true })
    const emptied = await openFigures({ dir: backupDir }).scrape()
    expect(figureOf(emptied, 'backup_newest_file_timestamp_seconds')).toBe(0)
    expect(figureOf(emptied, 'backup_last_success_timestamp_seconds{by="schedule"}')).toBe(madeAt)
  })

  test('that fail are counted', async () => {
    const { registry, failed } = openFigures({ dir: backupDir })
    mkdirSync(backupDir, { recursive: true })
    server.clock.ms += 25 * 3_600_000
    const url = 'postgresql://127.0.0.1:1/nowhere'
    const broken = createBackupSchedule({
      url,
      secrets: server.services.secrets,
      files: server.services.files,
      now: () => new Date(server.clock.ms),
      log: { info: () => {}, warn: () => {}, error: () => {} },
      dir: backupDir,
      hours: 24,
      keep: 2,
      onFailure: failed,
    })
    await broken.runDue()
    expect(figureOf(await registry.metrics(), 'backup_failures_total')).toBe(1)
  })
})

describe('the pools', () => {
  let db: Db | undefined
  afterEach(() => db?.$disconnect())

  test('show who has a connection, who waits for one, and how long it took', async () => {
    const registry = new Registry()
    const { pool } = createDatabaseMetrics(registry, { breaker: () => ({ isOpen: false, openings: 0 }) })
    const own = connect(server.database.url, { poolMax: 4, observer: pool('requests') })
    db = own
    const enough = Promise.withResolvers<void>()
    const held = [1, 2, 3, 4].map((storeId) => {
      const isIn = Promise.withResolvers<void>()
      const done = own.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT ${storeId}::int`
        isIn.resolve()
        await enough.promise
      })
      return { isIn: isIn.promise, done }
    })
    await Promise.all(held.map(({ isIn }) => isIn))
    const waits = own.$queryRaw`SELECT 1`.then((rows) => rows)
    let text = await registry.metrics()
    while (figureOf(text, 'database_pool_waiting{pool="requests"}') === 0) text = await registry.metrics()
    expect(figureOf(text, 'database_pool_waiting{pool="requests"}')).toBe(1)
    expect(figureOf(text, 'database_pool_connections{pool="requests",state="in_use"}')).toBe(4)
    expect(figureOf(text, 'database_pool_connections_max{pool="requests"}')).toBe(4)
    expect(figureOf(text, 'database_pool_wait_seconds_count{pool="requests"}')).toBe(4)
    enough.resolve()
    await Promise.all([waits, ...held.map(({ done }) => done)])
    await inTransaction(own, async (tx) => tx.$queryRaw`SELECT 1`, { storeId: 1 })
    const after = await registry.metrics()
    expect(figureOf(after, 'database_pool_wait_seconds_count{pool="requests"}')).toBe(6)
    expect(figureOf(after, 'database_turn_wait_seconds_count{pool="requests",of="changes"}')).toBe(1)
    expect(figureOf(after, 'database_pool_connections{pool="requests",state="in_use"}')).toBe(0)
  })
})

describe('requests that a bucket refuses are counted by the bucket', () => {
  const counted = async (bucket: string) => {
    const { body } = await server.app.inject('/metrics')
    return figureOf(body, `store_platform_http_throttled_requests_total{bucket="${bucket}"}`)
  }

  test('of an application, a store by cartAPI, 401s and what nobody signed in sends', async () => {
    const narrow = await server.openStore({ throttle: { capacity: 1, leakPerSecond: 0.01 } })
    for (const status of [200, 429, 429]) {
      expect((await narrow.call('GET', '/Products?countonly=1')).statusCode).toBe(status)
    }
    expect(await counted('application')).toBe(2)

    const call = envelope(request(narrow, 'getProductCount'))
    expect([(await post(server, call)).statusCode, (await post(server, call)).statusCode]).toEqual([200, 500])
    expect(await counted('cartapi')).toBe(1)

    const wrong = { url: '/StoreWebAPI/v1/Products', headers: { ...narrow.credentials, token: 'wrong' } }
    for (let sent = 0; sent < 52; sent++) await server.app.inject(wrong)
    expect(await counted('refused')).toBe(2)

    const signIn = { method: 'POST', url: '/oauth/token', remoteAddress: '192.0.2.7' } as const
    for (let sent = 0; sent < 1_001; sent++) await server.app.inject(signIn)
    expect(await counted('anonymous')).toBe(1)
    expect(await counted('application')).toBe(2)
  })
})
