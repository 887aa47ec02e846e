import { existsSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { contractRateLimit } from '../../../../src/access/applications/limits/throttle.ts'
import { locks as numbers } from '../../../../src/foundation/database/advisory-locks.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import { withConnection } from '../../../../src/foundation/database/connection.ts'
import { requireDirect } from '../../../../src/foundation/database/direct.ts'
import { DatabaseHealth } from '../../../../src/foundation/database/health.ts'
import { requestLimits } from '../../../../src/foundation/database/limits.ts'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { productBody, type Result } from '../../../app/http/rest/fixture.ts'
import { throughPort } from '../../../support/gate.ts'
import { hasPostgres15, ordinaryUser, type Postgres15, startPostgres15 } from '../../../support/postgres-15.ts'
import { freePort, type Run, runProgram } from '../../../support/run-server.ts'
import { operatorKey } from '../../../support/services.ts'
import { openServer, type TestServer, type TestStore } from '../../../support/store.ts'
import { serverProcess } from '../../shop/webhooks/server-process.ts'

const pgbouncer = '/usr/sbin/pgbouncer'
const isRequired = process.env.REQUIRE_POOLER === 'true'

describe.skipIf(!isRequired && !(hasPostgres15 && existsSync(pgbouncer)))(
  'behind PgBouncer, where each transaction may have another session (needs pgbouncer and postgresql-15)',
  () => {
    let postgres: Postgres15
    let pooler: Run
    let folder: string
    let poolerUrl: string
    let server: TestServer
    let store: TestStore

    beforeAll(async () => {
      postgres = await startPostgres15()
      const port = await freePort()
      folder = await mkdtemp(join(tmpdir(), 'pooler-'))
      if (ordinaryUser.uid !== undefined) await chown(folder, ordinaryUser.uid, ordinaryUser.gid)
      const { hostname, port: databasePort } = new URL(postgres.url)
      const settings = join(folder, 'pgbouncer.ini')
      await writeFile(
        settings,
        `[databases]
        postgres = host=${hostname} port=${databasePort} user=store
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = ${port}
        unix_socket_dir =
        auth_type = any
        pool_mode = transaction
        logfile =
        `.replace(/^ +/gm, ''),
      )
      poolerUrl = throughPort(postgres.url, port)
      pooler = runProgram(pgbouncer, [settings], ordinaryUser)
      await pooler.shows('process up')
    })
    afterAll(async () => {
      await server?.close()
      await pooler?.end('SIGKILL')
      await postgres?.stop()
      await rm(folder, { recursive: true, force: true })
    })

    test('processes that start at once find one schema, and a later one waits for nobody', async () => {
      await Promise.all([1, 2, 3].map(() => migrate(poolerUrl)))
      expect(await migrate(poolerUrl)).toEqual([])
    })

    test('past it, processes hold locks of their own, as long as they live', async () => {
      const direct = postgres.url
      const settings = { DATABASE_DIRECT_URL: direct, DATABASE_PREPARED_STATEMENTS: 'false' }
      const servers = await Promise.all([1, 2].map(() => serverProcess(poolerUrl, settings)))
      const kinds = [numbers.process, numbers.readableKey, numbers.writtenKey]
      const locks = () =>
        withConnection(direct, async (client) => {
          const { rows } = await client.query(
            `SELECT "classid"::bigint::int AS "kind", count(*)::int FROM pg_locks
             WHERE "locktype" = 'advisory' AND "objsubid" = 2 AND "classid"::bigint::int = ANY($1) GROUP BY 1 ORDER BY 1`,
            [kinds],
          )
          return rows.map(({ kind, count }) => [kind, count])
        })
      try {
        await Promise.all(servers.map(({ start }) => start()))
        const each = (count: number) => kinds.map((kind) => [kind, count])
        expect(await locks()).toEqual(each(2))
        await servers[0]?.kill()
        await vi.waitFor(async () => expect(await locks()).toEqual(each(1)))
      } finally {
        for (const { kill } of servers) await kill()
      }
    })

    test('processes behind it share a rate limit: 50 of 120 requests at once, each with its own remaining count', async () => {
      const settings = { DATABASE_DIRECT_URL: postgres.url, DATABASE_PREPARED_STATEMENTS: 'false' }
      const servers = await Promise.all([1, 2, 3].map(() => serverProcess(poolerUrl, settings)))
      try {
        for (const { start } of servers) await start()
        const headers = await newCaller(servers[0]?.baseUrl ?? '')
        const startedAt = performance.now()
        const answers = await Promise.all(
          Array.from({ length: 120 }, (_, number) =>
            fetch(`${servers[number % 3]?.baseUrl}/StoreWebAPI/v1/Products?countonly=1`, { headers }),
          ),
        )
        const leaked = Math.ceil(((performance.now() - startedAt) / 1_000) * contractRateLimit.leakPerSecond)
        const accepted = answers.filter(({ status }) => status === 200)
        expect(accepted.length).toBeGreaterThanOrEqual(50)
        expect(accepted.length).toBeLessThanOrEqual(50 + leaked)
        const remaining = new Set(accepted.map((answer) => answer.headers.get('x-ratelimit-remaining')))
        expect(remaining.size).toBeGreaterThanOrEqual(50 - leaked)
      } finally {
        for (const { kill } of servers) await kill()
      }
    })

    /** The credentials of an application that a new store let in. */
    async function newCaller(baseUrl: string): Promise<Record<string, string>> {
      const post = async (path: string, body: object) => {
        const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
        const answer = await fetch(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
        return (await answer.json()) as Record<string, string>
      }
      const SecureURL = 'https://limited.example'
      const account = { Email: 'merchant@limited.example', Password: 'correct horse battery' }
      const { Id } = await post('/admin/stores', { Name: 'Limited', SecureURL, ...account })
      const { PublicKey, PrivateKey = '' } = await post('/admin/applications', { Name: 'Of the contract' })
      const { Token = '' } = await post(`/admin/stores/${Id}/subscriptions`, { PublicKey })
      return { SecureURL, PrivateKey, Token }
    }

    test('an address that is said to lead past it, and does not, is refused', async () => {
      const other = Object.assign(new URL(postgres.url), { pathname: '/template1' }).href
      await requireDirect(poolerUrl, postgres.url)
      await expect(requireDirect(poolerUrl, poolerUrl)).rejects.toThrow('DATABASE_DIRECT_URL leads through a pooler')
      await expect(requireDirect(poolerUrl, other)).rejects.toThrow('DATABASE_DIRECT_URL leads to a different database')
    })

    test('locks, statements and idle transactions have their limits', async () => {
      const health = new DatabaseHealth(poolerUrl, { warn: () => {}, error: () => {} })
      const limits = { ...requestLimits, lockMs: 300, idleMs: 700 }
      const db = connect(poolerUrl, { limits, isPreparing: false, health })
      const drop = async () => {
        await Promise.all([health.stop(), db.$disconnect()])
      }
      server = await openServer({}, async () => ({ url: poolerUrl, db, drop }))
      store = await server.openStore()
      await store.call('POST', '/Products', { body: productBody('HELD') })
      expect(await health.fault('changes')).toBeNull()

      const locker = connect(poolerUrl, { isPreparing: false })
      await locker.$transaction(
        async (tx) => {
          await tx.$queryRaw`SELECT FROM "Product" FOR UPDATE`
          // More than the pooler's sessions that ever began, so that each has had one.
          const changes = Array.from({ length: 12 }, () =>
            store.call('PUT', '/Products/1', { body: { SKUInfo: { Name: 'LATE' } } }),
          )
          for (const { statusCode } of await Promise.all(changes)) expect(statusCode).toBe(503)
          expect((await store.call('GET', '/Products/1')).json<Result[]>()).toHaveLength(1)
        },
        { timeout: 60_000 },
      )
      await locker.$disconnect()
      expect((await store.call('PUT', '/Products/1', { body: { SKUInfo: { Name: 'NOW' } } })).statusCode).toBe(200)

      const idle = db.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT FROM "Product" FOR UPDATE`
        await expect
          .poll(async () => (await store.call('PUT', '/Products/1', { body: { SKUInfo: { Name: 'IN' } } })).statusCode)
          .toBe(200)
        return tx.$queryRaw`SELECT 1`
      })
      await expect(idle).rejects.toThrow()
    })
  },
)
