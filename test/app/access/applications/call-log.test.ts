import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  type AnsweredCall,
  type CallLog,
  createCallLog,
  lastCalls,
} from '../../../../src/access/applications/calls/call-log.ts'
import { keepBodies } from '../../../../src/access/applications/subscriptions/terms.ts'
import { connect, type Db, type Transaction } from '../../../../src/foundation/database/client.ts'
import { openAccess, subscribed } from '../../../support/access.ts'
import { operator } from '../../../support/actors.ts'
import { openGate } from '../../../support/gate.ts'
import { shared } from '../../../support/shared.ts'

const access = await shared(openAccess())
const { services } = access
afterEach(() => {
  vi.useRealTimers()
})

/** What the log was told could not be written. */
function complaints() {
  const told: string[] = []
  const tell = (_details: object, message: string) => told.push(message)
  return { told, log: { warn: tell, error: tell } }
}

const call = (subscriptionId: number, changes: Partial<AnsweredCall> = {}): AnsweredCall => {
  const answered = { method: 'GET', path: '/v1/Products', status: 200, message: '' }
  return { subscriptionId, ...answered, requestId: 'r', ignored: [], body: null, ...changes }
}

/** Calls a millisecond apart, whose paths are /from and on. */
function recordMany(log: CallLog, subscriptionId: number, status: number, [from, to]: readonly [number, number]) {
  for (let number = from; number <= to; number++) {
    access.clock.ms++
    log.record(call(subscriptionId, { status, path: `/${number}` }))
  }
}

async function pathsOf(subscriptionId: number) {
  const rows = await services.db.apiCall.findMany({ where: { subscriptionId }, orderBy: { id: 'asc' } })
  const paths = (isRefusal: boolean) => rows.filter(({ status }) => status >= 400 === isRefusal).map(({ path }) => path)
  return { fine: paths(false), refused: paths(true) }
}

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `/${from + index}`)

async function lastUse(id: number) {
  const { lastUsedAt } = await services.db.subscription.findUniqueOrThrow({ where: { id } })
  return lastUsedAt
}

/** Runs `work` while another transaction holds what `lock` took. */
async function whileHeld(lock: (tx: Transaction) => Promise<unknown>, work: () => Promise<unknown>): Promise<void> {
  await services.db.$transaction(
    async (tx) => {
      await lock(tx)
      await work()
    },
    { timeout: 20_000 },
  )
}

describe('what is kept', () => {
  test('are the newest hundred fine calls and the newest hundred refusals, of each subscription', async () => {
    const log = createCallLog(services)
    const [one, other] = [await subscribed(services), await subscribed(services)]
    recordMany(log, other.subscriptionId, 200, [1, 3])
    recordMany(log, one.subscriptionId, 409, [1, 130])
    recordMany(log, one.subscriptionId, 200, [1, 60])
    await log.flush()
    expect(await pathsOf(one.subscriptionId)).toEqual({ fine: numbered(1, 60), refused: numbered(31, 130) })
    recordMany(log, one.subscriptionId, 200, [61, 101])
    recordMany(log, one.subscriptionId, 500, [131, 132])
    await log.flush()
    expect(await pathsOf(one.subscriptionId)).toEqual({ fine: numbered(2, 101), refused: numbered(33, 132) })
    expect(await pathsOf(other.subscriptionId)).toEqual({ fine: numbered(1, 3), refused: [] })
  })

  test('is the newest by time, whichever process wrote it first', async () => {
    const { subscriptionId } = await subscribed(services)
    const [early, late] = [createCallLog(services), createCallLog(services)]
    recordMany(early, subscriptionId, 200, [1, 60])
    recordMany(late, subscriptionId, 200, [61, 120])
    await late.flush()
    await early.flush()
    const { fine } = await pathsOf(subscriptionId)
    expect(new Set(fine)).toEqual(new Set(numbered(21, 120)))
    const { calls } = await lastCalls(services, { subscriptionId, limit: 100 })
    expect(calls.map(({ path }) => path)).toEqual(numbered(21, 120).reverse())
  })

  test('is read newest first, as many as wanted', async () => {
    const { subscriptionId } = await subscribed(services)
    const log = createCallLog(services)
    recordMany(log, subscriptionId, 200, [1, 5])
    recordMany(log, subscriptionId, 401, [6, 8])
    await log.flush()
    const { calls, refusals } = await lastCalls(services, { subscriptionId, limit: 2 })
    expect(calls.map(({ path }) => path)).toEqual(['/5', '/4'])
    expect(refusals.map(({ path }) => path)).toEqual(['/8', '/7'])
  })

  test('has at most 200 characters of a path and 300 of what was said, whatever they are', async () => {
    const { subscriptionId } = await subscribed(services)
    const log = createCallLog(services)
    log.record(
      call(subscriptionId, { path: `${'/'.repeat(199)}🛒`, status: 400, message: `a\0b\uD83D${'"'.repeat(400)}` }),
    )
    await log.flush()
    const { refusals } = await lastCalls(services, { subscriptionId, limit: 1 })
    expect(refusals[0]).toMatchObject({ path: `${'/'.repeat(199)}\uFFFD`, message: `a\uFFFDb\uFFFD${'"'.repeat(296)}` })
  })

  test('is one throttled request a second, as many as come', async () => {
    const { subscriptionId } = await subscribed(services)
    const other = await subscribed(services)
    const log = createCallLog(services)
    const throttle = (ms: number, path: string) => {
      access.clock.ms += ms
      log.record(call(subscriptionId, { status: 429, path }))
    }
    throttle(0, '/1')
    throttle(999, '/2')
    await log.flush()
    throttle(0, '/3')
    log.record(call(other.subscriptionId, { status: 429, path: '/other' }))
    log.record(call(subscriptionId, { status: 400, path: '/unknown' }))
    throttle(1, '/4')
    throttle(999, '/5')
    throttle(1, '/6')
    await log.flush()
    expect((await pathsOf(subscriptionId)).refused).toEqual(['/1', '/unknown', '/4', '/6'])
    expect((await pathsOf(other.subscriptionId)).refused).toEqual(['/other'])
  })
})

describe('the names that were passed over', () => {
  test('are kept in their order, those within 1 kB', async () => {
    const { subscriptionId } = await subscribed(services)
    const log = createCallLog(services)
    const ignored = ['SKUInfo.Prise', 'a\0"b,\uD83D', 'ä'.repeat(400), 'x'.repeat(300), 'y']
    log.record(call(subscriptionId, { ignored }))
    log.record(call(subscriptionId))
    await log.flush()
    const { calls } = await lastCalls(services, { subscriptionId, limit: 2 })
    expect(calls.map((one) => one.ignored)).toEqual([[], ['SKUInfo.Prise', 'a\uFFFD"b,\uFFFD', 'ä'.repeat(400)]])
  })
})

describe('the body of a refused request', () => {
  const refused = (subscriptionId: number, body: string) => call(subscriptionId, { status: 400, body })
  const keeping = (id: number, keepsBodies: boolean) =>
    services.db.subscription.update({ where: { id }, data: { keepsBodies } })
  const bodiesOf = async (subscriptionId: number) =>
    (await lastCalls(services, { subscriptionId, limit: 100 })).refusals.map(({ body }) => body)

  test('goes with its call, when a hundred newer ones were refused', async () => {
    const { subscriptionId } = await subscribed(services)
    await keeping(subscriptionId, true)
    const log = createCallLog(services)
    for (let count = 1; count <= 60; count++) log.record(refused(subscriptionId, `{"n":${count}}`))
    await log.flush()
    for (let count = 61; count <= 130; count++) log.record(refused(subscriptionId, `{"n":${count}}`))
    await log.flush()
    const bodies = await bodiesOf(subscriptionId)
    expect(bodies.toSorted()).toEqual(Array.from({ length: 100 }, (_, n) => `{"n":${n + 31}}`).toSorted())
    expect(await services.db.refusedBody.count()).toBe(100)
  })

  test('is not written while a change of the switch is under way; after it, only if it is on', async () => {
    const { subscriptionId } = await subscribed(services)
    await keeping(subscriptionId, true)
    const log = createCallLog(services)
    log.record(refused(subscriptionId, '{"n":1}'))
    const off = (tx: Transaction) =>
      tx.subscription.update({ where: { id: subscriptionId }, data: { keepsBodies: false } })
    await whileHeld(off, async () => {
      await log.flush()
      expect(await bodiesOf(subscriptionId)).toEqual([])
    })
    await log.flush()
    expect(await bodiesOf(subscriptionId)).toEqual([null])
    await keeping(subscriptionId, true)
    log.record(refused(subscriptionId, '{"n":2}'))
    await log.flush()
    expect(await bodiesOf(subscriptionId)).toEqual(['{"n":2}', null])
  })

  test('is never left behind by a switch that several processes write beside', async () => {
    const { store, subscriptionId } = await subscribed(services)
    const clients = Array.from({ length: 3 }, () => connect(access.url, { poolMax: 2 }))
    const logs = clients.map((db) => createCallLog({ ...services, db }))
    const change = (isKept: boolean) =>
      keepBodies(services, { storeId: store.id, subscriptionId, isKept, actor: operator })
    for (let round = 0; round < 10; round++) {
      await change(true)
      for (const log of logs) {
        for (let count = 0; count < 50; count++) log.record(refused(subscriptionId, '{}'))
      }
      await Promise.all([...logs.map((log) => log.flush()), change(false)])
      for (const log of logs) await log.flush()
      expect((await bodiesOf(subscriptionId)).filter((body) => body !== null)).toEqual([])
    }
    for (const log of logs) await log.stop()
    for (const db of clients) await db.$disconnect()
  })

  test('waits with 499 others at most, of all subscriptions: calls beyond them are written without theirs', async () => {
    const subscriptions = await Promise.all(Array.from({ length: 6 }, () => subscribed(services)))
    const log = createCallLog(services)
    for (const { subscriptionId } of subscriptions) {
      await keeping(subscriptionId, true)
      for (let count = 0; count < 100; count++) log.record(refused(subscriptionId, '{}'))
    }
    await log.flush()
    const bodies = await Promise.all(subscriptions.map(({ subscriptionId }) => bodiesOf(subscriptionId)))
    const kept = bodies.map((some) => some.filter((body) => body !== null).length)
    expect([bodies.flat().length, kept]).toEqual([600, [100, 100, 100, 100, 100, 0]])
  })
})

describe('the time of the last use', () => {
  test('is that of the last call, answered or refused', async () => {
    const { subscriptionId } = await subscribed(services)
    const log = createCallLog(services)
    expect(await lastUse(subscriptionId)).toBeNull()
    recordMany(log, subscriptionId, 200, [1, 2])
    recordMany(log, subscriptionId, 409, [3, 3])
    await log.flush()
    expect(await lastUse(subscriptionId)).toEqual(services.now())
  })

  test('is not that of a 401: wrong credentials are no use', async () => {
    const { subscriptionId } = await subscribed(services)
    const log = createCallLog(services)
    recordMany(log, subscriptionId, 401, [1, 1])
    await log.flush()
    expect(await lastUse(subscriptionId)).toBeNull()
    expect((await pathsOf(subscriptionId)).refused).toEqual(['/1'])
  })

  test('never goes back, when a slower process writes what is older', async () => {
    const { subscriptionId } = await subscribed(services)
    const [slow, quick] = [createCallLog(services), createCallLog(services)]
    recordMany(slow, subscriptionId, 200, [1, 1])
    recordMany(quick, subscriptionId, 200, [2, 2])
    await quick.flush()
    await slow.flush()
    expect(await lastUse(subscriptionId)).toEqual(services.now())
  })
})

describe('a subscription that is gone', () => {
  test('loses its calls without a word, and the others keep theirs', async () => {
    const [gone, kept] = [await subscribed(services), await subscribed(services)]
    const { told, log: told_ } = complaints()
    const log = createCallLog({ ...services, log: told_ })
    recordMany(log, gone.subscriptionId, 200, [1, 2])
    recordMany(log, kept.subscriptionId, 200, [3, 4])
    await services.db.subscription.delete({ where: { id: gone.subscriptionId } })
    await log.flush()
    expect((await pathsOf(kept.subscriptionId)).fine).toEqual(['/3', '/4'])
    expect(told).toEqual([])
  })

  test('being removed at this moment is not waited for, nor hinders its removal', async () => {
    const [leaving, kept] = [await subscribed(services), await subscribed(services)]
    const { told, log: told_ } = complaints()
    const log = createCallLog({ ...services, log: told_ })
    recordMany(log, leaving.subscriptionId, 200, [1, 1])
    await log.flush()
    recordMany(log, leaving.subscriptionId, 200, [2, 2])
    recordMany(log, kept.subscriptionId, 200, [3, 3])
    await whileHeld(
      (tx) => tx.subscription.delete({ where: { id: leaving.subscriptionId } }),
      () => log.flush(),
    )
    expect((await pathsOf(kept.subscriptionId)).fine).toEqual(['/3'])
    await log.flush()
    expect(await services.db.apiCall.count({ where: { subscriptionId: leaving.subscriptionId } })).toBe(0)
    expect(told).toEqual([])
  })

  test('after all not: its calls are written the next time', async () => {
    const { subscriptionId } = await subscribed(services)
    const log = createCallLog(services)
    recordMany(log, subscriptionId, 200, [1, 1])
    const locked = whileHeld(
      (tx) => tx.subscription.delete({ where: { id: subscriptionId } }),
      async () => {
        await log.flush()
        recordMany(log, subscriptionId, 200, [2, 2])
        throw new Error('taken back')
      },
    )
    await expect(locked).rejects.toThrow('taken back')
    await log.flush()
    await log.flush()
    expect((await pathsOf(subscriptionId)).fine).toEqual(['/1', '/2'])
  })
})

describe('several processes on one database', () => {
  test('write while another has just told the last use, and do not wait for it', async () => {
    const { subscriptionId } = await subscribed(services)
    const log = createCallLog(services)
    recordMany(log, subscriptionId, 200, [1, 1])
    await whileHeld(
      (tx) => tx.subscription.update({ where: { id: subscriptionId }, data: { lastUsedAt: services.now() } }),
      () => log.flush(),
    )
    expect((await pathsOf(subscriptionId)).fine).toEqual(['/1'])
  })

  test('trim past the rows that another is deleting, and do not wait for it', async () => {
    const { subscriptionId } = await subscribed(services)
    const log = createCallLog(services)
    recordMany(log, subscriptionId, 200, [1, 100])
    await log.flush()
    recordMany(log, subscriptionId, 200, [101, 102])
    await whileHeld(
      (tx) =>
        tx.$queryRaw`SELECT "id" FROM "ApiCall" WHERE "path" = '/1' AND "subscriptionId" = ${subscriptionId} FOR UPDATE`,
      () => log.flush(),
    )
    expect((await pathsOf(subscriptionId)).fine).toEqual(['/1', ...numbered(3, 102)])
  })

  test('keep the newest hundred of each between them, in any order, while subscriptions come to an end', async () => {
    const subscriptions = await Promise.all(Array.from({ length: 8 }, () => subscribed(services)))
    const ids = subscriptions.map(({ subscriptionId }) => subscriptionId)
    const [ending = 0, ...staying] = ids
    const clients = Array.from({ length: 4 }, () => connect(access.url, { poolMax: 2 }))
    const { told, log: told_ } = complaints()
    const logs = clients.map((db) => createCallLog({ ...services, db, log: told_ }))
    for (let round = 0; round < 15; round++) {
      for (const [place, log] of logs.entries()) {
        for (const id of place % 2 === 0 ? ids : ids.toReversed()) {
          recordMany(log, id, 200, [1, 30])
          recordMany(log, id, 409, [1, 10])
        }
      }
      const removal = round === 7 ? [services.db.subscription.delete({ where: { id: ending } })] : []
      await Promise.all([...logs.map((log) => log.flush()), ...removal])
    }
    for (const log of logs) await log.stop()
    for (const db of clients) await db.$disconnect()
    expect(told).toEqual([])
    expect(await services.db.apiCall.count({ where: { subscriptionId: ending } })).toBe(0)
    for (const id of staying) {
      const { fine, refused } = await pathsOf(id)
      expect([fine.length, refused.length]).toEqual([100, 100])
    }
  })
})

describe('without the database', () => {
  test('the newest calls wait for it, without a word after the first; then they are written', async () => {
    const { subscriptionId } = await subscribed(services)
    const gate = await openGate(access.url)
    const db = connect(gate.url)
    const { told, log: told_ } = complaints()
    const log = createCallLog({ ...services, db, log: told_ })
    try {
      recordMany(log, subscriptionId, 200, [1, 50])
      await gate.close()
      const flushed = log.flush()
      recordMany(log, subscriptionId, 200, [51, 130])
      recordMany(log, subscriptionId, 503, [1, 1])
      await flushed
      await log.flush()
      expect(told).toEqual(['calls are not logged until the database answers'])

      await gate.open()
      await log.flush()
      expect(await pathsOf(subscriptionId)).toEqual({ fine: numbered(31, 130), refused: ['/1'] })
      expect(told).toHaveLength(1)
    } finally {
      await log.stop()
      await db.$disconnect()
      await gate.close()
    }
  })

  test('what the database itself refuses is let go with a word, not sent for ever', async () => {
    const { subscriptionId } = await subscribed(services)
    const { told, log: told_ } = complaints()
    const log = createCallLog({ ...services, log: told_ })
    log.record(call(subscriptionId, { status: 10_000_000_000 }))
    await log.flush()
    expect(told).toEqual(['calls could not be logged'])
    recordMany(log, subscriptionId, 200, [1, 1])
    await log.flush()
    expect(await pathsOf(subscriptionId)).toEqual({ fine: ['/1'], refused: [] })
    expect(told).toHaveLength(1)
  })

  test('a flood of one subscription pushes out no other', async () => {
    const [quiet, loud] = [await subscribed(services), await subscribed(services)]
    const log = createCallLog(services)
    recordMany(log, quiet.subscriptionId, 200, [1, 1])
    recordMany(log, loud.subscriptionId, 200, [1, 20_001])
    await log.flush()
    expect((await pathsOf(quiet.subscriptionId)).fine).toEqual(['/1'])
  })

  test('20,000 calls wait at most: those of the subscription go that has waited longest', async () => {
    const [first, second] = [await subscribed(services), await subscribed(services)]
    const log = createCallLog(services)
    recordMany(log, first.subscriptionId, 200, [1, 2])
    recordMany(log, second.subscriptionId, 200, [3, 3])
    for (let nobody = 1; nobody <= 19_997; nobody++) log.record(call(-nobody))
    recordMany(log, second.subscriptionId, 200, [4, 4])
    await log.flush()
    expect((await pathsOf(first.subscriptionId)).fine).toEqual([])
    expect((await pathsOf(second.subscriptionId)).fine).toEqual(['/3', '/4'])
  })
})

describe('the time of writing', () => {
  /** The client, which says when it is asked to write. With `answer`, that is what it gives. */
  function watched(onAsked: () => void, answer?: Promise<never>): Db {
    const ask = (target: Db) => {
      return (...statement: Parameters<Db['$queryRaw']>) => {
        onAsked()
        return answer ?? target.$queryRaw(...statement)
      }
    }
    return new Proxy(services.db, {
      get: (target, name) => (name === '$queryRaw' ? ask(target) : Reflect.get(target, name)),
    })
  }

  test('comes two seconds after the first call that waits, and after the next one again', async () => {
    const { subscriptionId } = await subscribed(services)
    const onAsked = vi.fn<() => void>()
    const log = createCallLog({ ...services, db: watched(onAsked) })
    for (const path of ['/1', '/2']) {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      onAsked.mockClear()
      log.record(call(subscriptionId, { path }))
      vi.advanceTimersByTime(1_999)
      expect(onAsked).not.toHaveBeenCalled()
      vi.advanceTimersByTime(1)
      expect(onAsked).toHaveBeenCalledOnce()
      vi.useRealTimers()
      // Waits for the one under way; itself it has nothing to write.
      await log.flush()
    }
    expect((await pathsOf(subscriptionId)).fine).toEqual(['/1', '/2'])
  })

  test('holds up no process that could end', async () => {
    const { subscriptionId } = await subscribed(services)
    const log = createCallLog(services)
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    const before = timers()
    log.record(call(subscriptionId))
    expect(timers()).toBe(before)
    await log.stop()
  })

  test('comes once more when the log is stopped', async () => {
    const { subscriptionId } = await subscribed(services)
    const log = createCallLog(services)
    recordMany(log, subscriptionId, 200, [1, 2])
    await log.stop()
    expect((await pathsOf(subscriptionId)).fine).toEqual(['/1', '/2'])
  })

  test('is five seconds at most when the log is stopped while the database hangs; noting a call never waits', async () => {
    const { subscriptionId } = await subscribed(services)
    const onAsked = vi.fn<() => void>()
    const log = createCallLog({ ...services, db: watched(onAsked, new Promise<never>(() => {})) })
    recordMany(log, subscriptionId, 200, [1, 1])
    log.flush()
    expect(onAsked).toHaveBeenCalledOnce()
    recordMany(log, subscriptionId, 200, [2, 1_000])
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stopped = log.stop()
    vi.advanceTimersByTime(5_000)
    await stopped
  })
})
