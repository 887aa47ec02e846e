import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildApp } from '../../../../src/app.ts'
import { connect, inTransaction } from '../../../../src/foundation/database/client.ts'
import { DatabaseHealth } from '../../../../src/foundation/database/health.ts'
import { requestLimits } from '../../../../src/foundation/database/limits.ts'
import { outageOf } from '../../../../src/foundation/database/outage.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { openGate } from '../../../support/gate.ts'
import { holdIn } from '../../../support/held.ts'
import { operatorKey } from '../../../support/services.ts'
import { ofTest } from '../../../support/shared.ts'
import { merchantIn } from '../../../support/signed-in.ts'
import { openServer, type TestServer, type TestStore } from '../../../support/store.ts'
import { productBody, type Result } from '../../http/rest/fixture.ts'
import { post, request } from '../../http/soap/support.ts'

const limits = { ...requestLimits, lockMs: 1_000, statementMs: 1_500, idleMs: 1_000, singleMs: 3_000 }

let server: TestServer
let gate: Awaited<ReturnType<typeof openGate>>
let health: DatabaseHealth
let app: FastifyInstance
let store: TestStore
let other: TestStore

beforeAll(async () => {
  server = await openServer({}, async () => {
    const database = await cloneDatabase()
    gate = await openGate(database.url)
    health = new DatabaseHealth(gate.url, { warn: () => {}, error: () => {} })
    const db = connect(gate.url, { limits, health })
    const drop = async () => {
      await Promise.all([health.stop(), db.$disconnect()])
      await gate.close()
      await database.drop()
    }
    return { ...database, db, drop }
  })
  app = buildApp({ ...server.services, databaseHealth: health })
  store = await server.openStore()
  other = await server.openStore()
  await store.call('POST', '/Products', { body: [productBody('HELD'), productBody('FREE')] })
  await other.call('POST', '/Products', { body: productBody('OTHER') })
})
afterAll(async () => {
  await app.close()
  await server.close()
})

function call(method: 'GET' | 'PUT', path: string, body?: object, { credentials } = store) {
  const url = `/StoreWebAPI/v1${path}`
  return app.inject({ method, url, headers: credentials, ...(body && { payload: body }) })
}

const named = (name: string) => ({ SKUInfo: { Name: name } })

const statuses = (answer: LightMyRequestResponse) => answer.json<Result[]>().map(({ Status }) => Status)

async function readiness(of = '') {
  const answer = await app.inject(`/readyz${of}`)
  return { status: answer.statusCode, reason: answer.json<{ reason?: string }>().reason }
}

const outage = (message: string) => ({ status: 503, again: '1', message: `${message}; try again in a moment` })

function outageIn(answer: LightMyRequestResponse) {
  const [item] = answer.json<Result[]>()
  return { status: answer.statusCode, again: answer.headers['retry-after'], message: item?.Message }
}

/** Locks the first product of the first store while `work` runs. */
async function locked(work: () => Promise<void>): Promise<void> {
  const locker = connect(server.database.url)
  const release = await holdIn(
    locker,
    (tx) => tx.$queryRaw`SELECT FROM "Product" WHERE "storeId" = ${store.store.id} AND "id" = 1 FOR UPDATE`,
  )
  await work().finally(release)
  await locker.$disconnect()
}

describe('while a row is locked', () => {
  test('changes of it answer 503, and everybody else is served: readers, other stores, readiness', () =>
    locked(async () => {
      let isAnyOver = false
      const blocked = Array.from({ length: 40 }, () =>
        call('PUT', '/Products/1', named('LATE')).finally(() => {
          isAnyOver = true
        }),
      )
      const goOn = await Promise.all([
        call('GET', '/Products/1'),
        call('GET', '/Products', undefined, other),
        call('PUT', '/Products/1', named('MEANWHILE'), other),
        app.inject('/readyz'),
      ])
      expect(isAnyOver).toBe(false)
      expect(goOn.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
      const refused = (await Promise.all(blocked)).map(outageIn)
      expect(new Set(refused.map(({ status, again }) => `${status} ${again}`))).toEqual(new Set(['503 1']))
      expect(refused).toContainEqual(outage('Another change holds the record'))
      expect((await readiness()).status).toBe(200)
    }))

  test('of a list, its record alone answers 503', () =>
    locked(async () => {
      const body = [
        { SKUInfo: { CatalogID: 1, Name: 'A' } },
        { SKUInfo: { CatalogID: 2, Name: 'B' } },
        { SKUInfo: { CatalogID: 1, Name: 'C' } },
      ]
      const answer = await call('PUT', '/Products', body)
      expect(statuses(answer)).toEqual(['503', '200', '503'])
      expect(answer.statusCode).toBe(206)
    }))
})

test('while the counter of ids is held, new records of the store wait, and other stores are served', async () => {
  const locker = await ofTest(connect(server.database.url))
  await locker.$transaction(
    async (tx) => {
      await tx.$queryRaw`SELECT FROM "Counter" WHERE "storeId" = ${store.store.id} FOR UPDATE`
      const url = '/StoreWebAPI/v1/Products'
      const blocked = Array.from({ length: 14 }, (_, index) =>
        app.inject({ method: 'POST', url, headers: store.credentials, payload: productBody(`NEW-${index}`) }),
      )
      expect((await call('GET', '/Products', undefined, other)).statusCode).toBe(200)
      expect((await call('PUT', '/Products/1', named('MEANWHILE'), other)).statusCode).toBe(200)
      for (const answer of await Promise.all(blocked)) expect(answer.statusCode).toBe(503)
    },
    { timeout: 60_000 },
  )
})

test('while rows of two stores are locked, a third one changes its own', async () => {
  const third = await server.openStore()
  await third.call('POST', '/Products', { body: productBody('THIRD') })
  const locker = await ofTest(connect(server.database.url))
  await locker.$transaction(
    async (tx) => {
      await tx.$queryRaw`SELECT FROM "Product" WHERE "storeId" <> ${third.store.id} FOR UPDATE`
      let isAnyOver = false
      const blocked = [store, other].flatMap((one) =>
        Array.from({ length: 10 }, () =>
          call('PUT', '/Products/1', named('LATE'), one).finally(() => {
            isAnyOver = true
          }),
        ),
      )
      expect((await call('PUT', '/Products/1', named('MEANWHILE'), third)).statusCode).toBe(200)
      expect(isAnyOver).toBe(false)
      await Promise.all(blocked)
    },
    { timeout: 60_000 },
  )
})

test.each([
  ['past Prisma', 'Product', () => call('GET', '/Products/2')],
  [
    'by Prisma',
    'Store',
    () => app.inject({ url: '/admin/stores', headers: { authorization: `Bearer ${operatorKey}` } }),
  ],
])(
  'a read %s that waits too long for the locked table %s is 503, and leaves nothing behind in PostgreSQL',
  async (_by, table, read) => {
    const locker = connect(server.database.url)
    await locker.$transaction(async (tx) => {
      await tx.$executeRawUnsafe(`LOCK TABLE "${table}" IN ACCESS EXCLUSIVE MODE`)
      expect(outageIn(await read())).toEqual(outage('It took longer than the time limit of the database'))
      const waiting = () => locker.$queryRaw`
      SELECT "query" FROM "pg_stat_activity" WHERE "datname" = current_database() AND "wait_event_type" = 'Lock'`
      await expect.poll(waiting).toEqual([])
    })
    await locker.$disconnect()
    expect((await read()).statusCode).toBe(200)
  },
)

test('of one person, four requests run at a time, and another person is served meanwhile', async () => {
  const [person, someone] = await Promise.all([merchantIn(server, store.store), merchantIn(server, other.store)])
  const locker = await ofTest(connect(server.database.url))
  const waiting = async () => {
    const rows = await locker.$queryRaw<unknown[]>`
      SELECT FROM "pg_stat_activity" WHERE "datname" = current_database() AND "wait_event_type" = 'Lock'`
    return rows.length
  }
  const release = await holdIn(locker, (tx) => tx.$executeRaw`LOCK TABLE "Product" IN ACCESS EXCLUSIVE MODE`)
  const pages = Array.from({ length: 10 }, () => person.open('/admin/products'))
  await expect.poll(waiting).toBe(4)
  expect((await someone.open('/admin/orders')).statusCode).toBe(200)
  expect(await waiting()).toBe(4)
  await release()
  for (const page of await Promise.all(pages)) expect(page.statusCode).toBe(200)
})

test('a transaction whose process does nothing for too long gives up its locks, and another one can go on', async () => {
  const { db } = server.database
  const product = { where: { storeId_id: { storeId: store.store.id, id: 2 } }, data: { updatedBy: 'someone' } }
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>()
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  const frozen = inTransaction(db, async (tx) => {
    await tx.product.update(product)
    hold()
    await isOver
    await tx.product.update(product)
  })
  await isHeld
  const patient = connect(server.database.url)
  await patient.product.update(product)
  await patient.$disconnect()
  end()
  const error = await frozen.catch((reason: unknown) => reason)
  expect(outageOf(error)?.code).toBe('unavailable')
})

describe('what PostgreSQL refuses for reasons that pass', () => {
  const failing = async (statement: string, work: () => Promise<void>) => {
    const { db } = server.database
    await db.$executeRawUnsafe(
      `CREATE FUNCTION "fail"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statement}; RETURN NEW; END $$`,
    )
    await db.$executeRaw`CREATE TRIGGER "fail" BEFORE UPDATE ON "Product" FOR EACH ROW EXECUTE FUNCTION "fail"()`
    await work().finally(() => db.$executeRaw`DROP FUNCTION "fail" CASCADE`)
  }

  test.each([
    ['55P03', 'Another change holds the record'],
    ['40P01', 'Another change holds the record'],
    ['57014', 'It took longer than the time limit of the database'],
    ['53200', 'The database cannot do this at present'],
    ['53300', 'The database does not answer'],
    ['57P01', 'The database does not answer'],
    ['53100', 'The database cannot do this at present'],
  ])('%s: 503 with Retry-After, not a defect', (state, message) =>
    failing(`RAISE EXCEPTION 'inside' USING ERRCODE = '${state}'`, async () => {
      const answer = await call('PUT', '/Products/2', named('X'))
      expect(outageIn(answer)).toEqual(outage(message))
      expect((await call('GET', '/Products/2')).statusCode).toBe(200)
      const isReady = state !== '53100'
      expect((await readiness()).status).toBe(isReady ? 200 : 503)
      expect((await readiness('?for=reads')).status).toBe(200)
    }),
  )

  test('a statement that takes too long', () =>
    failing('PERFORM pg_sleep(20)', async () => {
      const answer = await call('PUT', '/Products/2', named('X'))
      expect(outageIn(answer)).toEqual(outage('It took longer than the time limit of the database'))
    }))

  test('cartAPI answers with a fault of the server, and Retry-After', () =>
    failing(`RAISE EXCEPTION 'inside' USING ERRCODE = '57014'`, async () => {
      const parameters = { productId: 'FREE', quantity: 1, replaceStock: true }
      const answer = await post(
        { app },
        `<?xml version="1.0"?>${inEnvelope(request(store, 'updateProductInventory', parameters))}`,
      )
      expect(answer.statusCode).toBe(500)
      expect(answer.headers['retry-after']).toBe('1')
      expect(answer.body).toContain('It took longer than the time limit of the database')
    }))
})

const inEnvelope = (body: string) =>
  `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`

describe('a database that only reads', () => {
  /** Runs `work` with connections that only read. What begins after `end` may write. */
  async function reading(work: (end: () => Promise<void>) => Promise<void>): Promise<void> {
    const { db } = server.database
    const [row] = await db.$queryRaw<{ name: string }[]>`SELECT current_database() AS "name"`
    const set = (value: string) =>
      db.$transaction(async (tx) => {
        await tx.$executeRaw`SET TRANSACTION READ WRITE`
        await tx.$executeRawUnsafe(`ALTER DATABASE "${row?.name}" SET default_transaction_read_only = ${value}`)
      })
    const reconnect = async () => {
      await gate.close()
      await gate.open()
      await expect.poll(async () => (await call('GET', '/Products/2')).statusCode, { timeout: 10_000 }).toBe(200)
    }
    await set('on')
    await reconnect()
    try {
      await work(() => set('off'))
    } finally {
      await set('off')
      await reconnect()
    }
  }

  test('reads go on; changes answer 503, and readiness says why', () =>
    reading(async () => {
      expect((await call('GET', '/Products/2')).statusCode).toBe(200)
      expect(outageIn(await call('PUT', '/Products/2', named('X')))).toEqual(
        outage('The database cannot do this at present'),
      )
      await expect.poll(() => readiness()).toEqual({ status: 503, reason: 'the database only reads' })
      expect((await readiness('?for=reads')).status).toBe(200)
    }))

  test('its connections are given up, so that changes go on as soon as another one takes them', async () => {
    await reading(async (end) => {
      const { db } = server.database
      await Promise.all(Array.from({ length: 8 }, () => db.$queryRaw`SELECT 1 FROM pg_sleep(0.2)`))
      await end()
      // Otherwise the log of calls may have one of the connections in the moment in which they are given up.
      await server.services.callLog.flush()
      // Refused, unless an entry in the log of calls was refused before it.
      expect([200, 503]).toContain((await call('PUT', '/Products/2', named('X'))).statusCode)
      const changes = Array.from({ length: 5 }, (_, index) => call('PUT', '/Products/2', named(`X${index}`)))
      for (const { statusCode } of await Promise.all(changes)) expect(statusCode).toBe(200)
    })
  })

  test('/readyz names what may be asked', async () => {
    const answer = await app.inject('/readyz?for=writes')
    expect(answer.statusCode).toBe(400)
    expect(answer.json<Result[]>()[0]?.Message).toBe('for must be reads or changes')
  })
})

test('a database that falls silent: who waits gets 503, who comes later too, and all goes on with it', async () => {
  gate.stall()
  const waiting = await Promise.all([call('GET', '/Products'), call('PUT', '/Products/2', named('Y'), store)])
  expect(waiting.map(outageIn)).toEqual([
    outage('The database does not answer'),
    outage('The database does not answer'),
  ])
  expect(outageIn(await call('GET', '/Products/2'))).toEqual(outage('The database does not answer'))
  expect(await readiness('?for=reads')).toEqual({ status: 503, reason: 'the database does not answer' })
  gate.resume()
  await expect.poll(async () => (await readiness()).status, { timeout: 10_000 }).toBe(200)
  expect((await call('GET', '/Products/2')).statusCode).toBe(200)
  expect((await call('PUT', '/Products/2', named('Z'))).statusCode).toBe(200)
})

test('a database that is gone without a word, with another at its address: no request waits for its connections', async () => {
  const calls = () => Promise.all(Array.from({ length: 5 }, () => call('GET', '/Products/2')))
  for (const { statusCode } of await calls()) expect(statusCode).toBe(200)
  gate.lose()
  expect(outageIn(await call('GET', '/Products/2'))).toEqual(outage('The database does not answer'))
  await expect.poll(async () => (await readiness()).status, { timeout: 10_000 }).toBe(200)
  for (const { statusCode } of await calls()) expect(statusCode).toBe(200)
})

test('a request with an Idempotency-Key that an outage broke off is made by its retry, as soon as the database is back', async () => {
  const url = '/StoreWebAPI/v1/Products/1'
  const headers = { ...store.credentials, 'idempotency-key': 'broken-off' }
  const send = () => app.inject({ method: 'PUT', url, headers, payload: named('KEPT') })
  const { db } = server.database
  await locked(async () => {
    const broken = send()
    await expect.poll(() => db.idempotencyKey.count()).toBe(1)
    await gate.close()
    expect((await broken).statusCode).toBe(503)
    await gate.open()
  })
  await expect.poll(async () => (await send()).statusCode, { timeout: 10_000 }).toBe(200)
})
