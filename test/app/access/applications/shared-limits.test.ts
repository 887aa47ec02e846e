import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { BucketTable } from '../../../../src/access/applications/limits/bucket-table.ts'
import { type Bucket, fillBucket } from '../../../../src/access/applications/limits/leaky-bucket.ts'
import { SharedBuckets } from '../../../../src/access/applications/limits/shared-buckets.ts'
import { createThrottle, type Throttle } from '../../../../src/access/applications/limits/throttle.ts'
import { buildApp } from '../../../../src/app.ts'
import { connect, type Db } from '../../../../src/foundation/database/client.ts'
import { sql } from '../../../../src/foundation/database/sql.ts'
import { openGate } from '../../../support/gate.ts'
import { ofTest } from '../../../support/shared.ts'
import { statementsOf } from '../../../support/statements.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { envelope, request } from '../../http/soap/support.ts'

// Several processes behind a balancer: what they count is counted once.

let shop: TestStore
const open = new Set<OpenProcess>()
const server = await sharedServer({ TRUST_PROXY: '127.0.0.1' })
/** Built servers that no process uses: a process that opens takes one, because building takes long. */
const idle: Pick<OpenProcess, 'app' | 'throttle'>[] = []
afterEach(async () => {
  for (const each of open) await each.leave()
  await server.database.db.rateBucket.deleteMany()
})
afterAll(async () => {
  for (const { app } of idle) await app.close()
})

interface OpenProcess {
  readonly app: FastifyInstance
  readonly throttle: Throttle
  readonly isAlone: () => boolean
  readonly leave: () => Promise<void>
}

/** A process whose clock, and that of the table, is the server's. */
async function openProcess({ url = server.database.url, leaseMs = 60_000 } = {}): Promise<OpenProcess> {
  const db = connect(url, { poolMax: 4 })
  const { now, log } = server.services
  const buckets = new SharedBuckets({ db, table: tableOn(db), leaseMs, now, log, everyMs: 10 })
  const { app, throttle } = idle.pop() ?? (await buildServer())
  Object.assign(throttle, createThrottle(now, buckets))
  await buckets.start()
  const opened = {
    app,
    throttle,
    isAlone: buckets.isAlone,
    leave: async () => {
      open.delete(opened)
      idle.push({ app, throttle })
      await buckets.stop()
      await db.$disconnect()
    },
  }
  open.add(opened)
  return opened
}

async function buildServer() {
  const { clock, services } = server
  const throttle = createThrottle(services.now)
  const app = buildApp({ ...services, throttle, setTimer: clock.setTimer })
  await app.ready()
  return { app, throttle }
}

const tableOn = (db: Db) => new BucketTable(db, () => sql`${server.clock.ms}::bigint`)

async function openProcesses(count: number): Promise<OpenProcess[]> {
  shop = await server.openStore({ throttle: null })
  const processes: OpenProcess[] = []
  for (let number = 0; number < count; number++) processes.push(await openProcess())
  return processes
}

/** Sends so many requests at once, to the processes in turn. */
function sendAtOnce(processes: readonly OpenProcess[], count: number, injection: () => InjectOptions) {
  const sent = Array.from({ length: count }, (_, number) =>
    processes[number % processes.length]?.app.inject(injection()),
  )
  return Promise.all(sent as Promise<LightMyRequestResponse>[])
}

const read = (headers: Record<string, string> = {}) => ({
  method: 'GET' as const,
  url: '/StoreWebAPI/v1/Products?countonly=1',
  headers: { ...shop.credentials, ...headers },
})

const readAtOnce = (processes: readonly OpenProcess[], count: number) => sendAtOnce(processes, count, read)

function statusesOf(answers: readonly LightMyRequestResponse[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { statusCode } of answers) counts[statusCode] = (counts[statusCode] ?? 0) + 1
  return counts
}

const remainingOf = (answers: readonly LightMyRequestResponse[]) =>
  answers
    .filter(({ statusCode }) => statusCode !== 429)
    .map(({ headers }) => Number(headers['x-ratelimit-remaining']))
    .toSorted((one, other) => other - one)

const from = (most: number) => Array.from({ length: most + 1 }, (_, index) => most - index)

const ofBuckets = async (work: () => Promise<unknown>) =>
  (await statementsOf(work)).filter(({ text }) => text.includes('"RateBucket"'))

describe('of three processes', () => {
  test('50 of 200 requests at once are answered, each with its own remaining count, then 2 a second', async () => {
    const processes = await openProcesses(3)
    const answers = await readAtOnce(processes, 200)
    expect(statusesOf(answers)).toEqual({ 200: 50, 429: 150 })
    expect(remainingOf(answers)).toEqual(from(49))
    const refused = answers.find(({ statusCode }) => statusCode === 429)
    expect(refused?.headers).toMatchObject({ 'retry-after': '1', 'x-ratelimit-remaining': '0' })
    server.clock.ms += 499
    expect(statusesOf(await readAtOnce(processes, 12))).toEqual({ 429: 12 })
    server.clock.ms += 4_501
    expect(statusesOf(await readAtOnce(processes, 30))).toEqual({ 200: 10, 429: 20 })
  })

  test('each answers for a full bucket without a statement, until it has room again', async () => {
    const processes = await openProcesses(3)
    await readAtOnce(processes, 153)
    const statements = await ofBuckets(async () => {
      expect(statusesOf(await readAtOnce(processes, 60))).toEqual({ 429: 60 })
    })
    expect(statements).toEqual([])
    server.clock.ms += 500
    expect(statusesOf(await readAtOnce(processes, 3))).toEqual({ 200: 1, 429: 2 })
  })

  test('a request is one statement', async () => {
    const processes = await openProcesses(3)
    const statements = await ofBuckets(() => readAtOnce(processes, 30))
    // Beside them, each process deletes empty buckets.
    expect(statements.filter(({ text }) => text.includes('INSERT'))).toHaveLength(30)
  })

  test('a refusal shows the bucket too, whatever it is refused for', async () => {
    const processes = await openProcesses(2)
    const answers = [
      ...(await sendAtOnce(processes, 2, () => ({ ...read(), url: '/StoreWebAPI/v1/Products/99' }))),
      ...(await sendAtOnce(processes, 2, () => ({ ...read(), url: '/StoreWebAPI/v1/Products/abc' }))),
      ...(await sendAtOnce(processes, 2, () => ({ ...read(), method: 'PATCH' as const }))),
    ]
    expect(statusesOf(answers)).toEqual({ 404: 2, 400: 2, 405: 2 })
    expect(remainingOf(answers)).toEqual(from(49).slice(0, 6))
  })

  test('50 requests with wrong credentials of one network are answered 401', async () => {
    const processes = await openProcesses(3)
    const headers = { token: 'guessed', 'x-forwarded-for': '198.51.100.1' }
    const answers = await sendAtOnce(processes, 90, () => read(headers))
    expect(statusesOf(answers)).toEqual({ 401: 50, 429: 40 })
    expect(remainingOf(answers)).toEqual(from(49))
  })

  test('100 sign-ins of one network are tried', async () => {
    const processes = await openProcesses(3)
    const network = '198.51.100.3'
    for (let count = 0; count < 99; count++) {
      await processes[count % 3]?.throttle.take(`sign-in:${network}`, { capacity: 100, leakPerSecond: 1 })
    }
    const payload = { Store: shop.store.secureUrl, Email: 'merchant@shop.example', Password: 'correct horse battery' }
    const signIn = { method: 'POST', url: '/admin/sign-in', headers: { 'x-forwarded-for': network }, payload } as const
    expect(statusesOf(await sendAtOnce(processes, 3, () => signIn))).toEqual({ 200: 1, 429: 2 })
  })

  test('calls of cartAPI wait for the slots of one bucket', async () => {
    const processes = await openProcesses(2)
    const wide = { method: 'POST', url: '/cart.asmx', headers: { 'content-type': 'text/xml' } } as const
    const call = () => ({ ...wide, payload: envelope(request(shop, 'getProductCount')) })
    await sendAtOnce(processes, 50, call)
    const waiting = sendAtOnce(processes, 4, call)
    const ended: number[] = []
    waiting.then((answers) => ended.push(...answers.map(({ statusCode }) => statusCode)))
    await vi.waitFor(async () => {
      await server.clock.pass(500)
      expect(ended).toEqual([200, 200, 200, 200])
    })
  })
})

describe('a process', () => {
  test('that is alone asks no statement', async () => {
    const [one] = (await openProcesses(1)) as [OpenProcess]
    expect(one.isAlone()).toBe(true)
    const statements = await ofBuckets(async () => {
      expect(statusesOf(await readAtOnce([one], 60))).toEqual({ 200: 50, 429: 10 })
    })
    expect(statements).toEqual([])
  })

  test('that joins finds what the first one has counted', async () => {
    const [one] = (await openProcesses(1)) as [OpenProcess]
    await readAtOnce([one], 25)
    const other = await openProcess()
    expect(one.isAlone()).toBe(false)
    const answers = await readAtOnce([one, other], 60)
    expect(statusesOf(answers)).toEqual({ 200: 25, 429: 35 })
    expect(remainingOf(answers)).toEqual(from(24))
  })

  test('that stays alone goes on with what both have counted', async () => {
    const [one, other] = (await openProcesses(2)) as [OpenProcess, OpenProcess]
    await readAtOnce([one, other], 30)
    await other.leave()
    await vi.waitFor(() => expect(one.isAlone()).toBe(true))
    const statements = await ofBuckets(async () => {
      expect(remainingOf(await readAtOnce([one], 25))).toEqual(from(19))
    })
    expect(statements).toEqual([])
    expect(await server.database.db.rateBucket.count()).toBe(0)
  })

  test('that takes over from another lets no more through while they change', async () => {
    const [one] = (await openProcesses(1)) as [OpenProcess]
    await readAtOnce([one], 20)
    const next = await openProcess()
    const ofOne = readAtOnce([one], 10)
    const ofNext = readAtOnce([next], 10)
    // A server leaves when its requests have been answered.
    const left = ofOne.then(() => one.leave())
    const answers = [...(await ofOne), ...(await ofNext), ...(await readAtOnce([next], 40))]
    await left
    expect(statusesOf(answers)).toEqual({ 200: 30, 429: 30 })
  })

  test('that starts after the last one has ended finds what that one has counted', async () => {
    const [one] = (await openProcesses(1)) as [OpenProcess]
    await readAtOnce([one], 45)
    await one.leave()
    const next = await openProcess()
    expect(statusesOf(await readAtOnce([next], 10))).toEqual({ 200: 5, 429: 5 })
  })

  test('that was killed is not waited for longer than its lease', async () => {
    const { db } = server.database
    await db.serverProcess.create({ data: { id: 'killed', seenAt: new Date() } })
    const { isAlone } = await openProcess({ leaseMs: 200 })
    expect(isAlone()).toBe(true)
    expect(await db.serverProcess.count({ where: { id: 'killed' } })).toBe(0)
  })

  test('that cannot reach the table counts for itself, from what it knew, until it can', async () => {
    const gate = await ofTest(openGate(server.database.url))
    const [one] = (await openProcesses(1)) as [OpenProcess]
    const other = await openProcess({ url: gate.url })
    await readAtOnce([one], 10)
    await readAtOnce([other], 10)
    await gate.close()
    expect(statusesOf(await readAtOnce([other], 60))).toEqual({ 200: 30, 429: 30 })
    await readAtOnce([one], 30)
    await gate.open()
    await vi.waitFor(async () => expect(statusesOf(await readAtOnce([one, other], 4))).toEqual({ 429: 4 }), 5_000)
    await other.leave()
  })

  test('that was alone and cannot reach the table goes on, and shares what it counted', async () => {
    const gate = await ofTest(openGate(server.database.url))
    shop = await server.openStore({ throttle: null })
    const one = await openProcess({ url: gate.url, leaseMs: 2_000 })
    await readAtOnce([one], 10)
    await gate.close()
    await vi.waitFor(() => expect(one.isAlone()).toBe(false), 10_000)
    expect(statusesOf(await readAtOnce([one], 20))).toEqual({ 200: 20 })
    const other = await openProcess({ leaseMs: 2_000 })
    await gate.open()
    await vi.waitFor(() => expect(other.isAlone()).toBe(false), 10_000)
    await vi.waitFor(async () => expect(await server.database.db.rateBucket.count()).toBe(1), 10_000)
    // One that failed tries again after a second.
    await sleep(1_000)
    expect(statusesOf(await readAtOnce([one, other], 40))).toEqual({ 200: 20, 429: 20 })
    await one.leave()
  })
})

describe('two processes that start at once', () => {
  test('see one another before they answer', async () => {
    shop = await server.openStore({ throttle: null })
    const processes = await Promise.all([openProcess(), openProcess()])
    expect(processes.map(({ isAlone }) => isAlone())).toEqual([false, false])
    expect(statusesOf(await readAtOnce(processes, 60))).toEqual({ 200: 50, 429: 10 })
  })
})

describe('the table', () => {
  const steps = fc.record({
    capacity: fc.integer({ min: 1, max: 20 }),
    leakPerSecond: fc.integer({ min: 1, max: 20_000 }).map((thousandths) => thousandths / 1000),
    takes: fc.array(
      fc.record({ gapMs: fc.integer({ min: -1_000, max: 3_000 }), count: fc.integer({ min: 1, max: 4 }) }),
      { minLength: 1, maxLength: 8 },
    ),
  })

  test('counts as the memory of a process does', () =>
    fc.assert(
      fc.asyncProperty(steps, async ({ takes, ...rateLimit }) => {
        const { db } = server.database
        await db.rateBucket.deleteMany()
        let nowMs = server.clock.ms
        const table = new BucketTable(db, () => sql`${nowMs}::bigint`)
        let bucket: Bucket | undefined
        for (const { gapMs, count } of takes) {
          nowMs += gapMs
          for (let taken = 0; taken < count; taken++) {
            const reading = fillBucket(bucket, rateLimit, nowMs)
            bucket = reading.bucket
            expect(await table.take('a', rateLimit)).toEqual(reading)
          }
        }
      }),
      { numRuns: 60 },
    ))

  const rateLimit = { capacity: 5, leakPerSecond: 1 }

  test('adds what was counted elsewhere, whatever the capacity, and gives it all away', async () => {
    const table = tableOn(server.database.db)
    await table.take('a', rateLimit)
    await table.add(['b', 'a'].map((key) => ({ key, level: 7_000_000, leakPerMs: 1_000 })))
    expect(await table.take('a', rateLimit)).toMatchObject({
      accepted: false,
      bucket: { level: 8_000_000 },
      retryAfterMs: 4_000,
    })
    server.clock.ms += 1_500
    const all = [
      { key: 'a', level: 6_500_000, leakPerMs: 1_000 },
      { key: 'b', level: 5_500_000, leakPerMs: 1_000 },
    ]
    const removed = await table.removeAll()
    expect(removed.toSorted((one, other) => one.key.localeCompare(other.key))).toEqual(all)
    expect(await table.removeAll()).toEqual([])
  })

  test('loses the buckets that have run empty', async () => {
    const table = tableOn(server.database.db)
    for (const key of ['soon', 'later', 'later']) await table.take(key, rateLimit)
    server.clock.ms += 1_000
    await table.deleteEmpty()
    expect(await server.database.db.rateBucket.findMany({ select: { key: true } })).toEqual([{ key: 'later' }])
  })
})
