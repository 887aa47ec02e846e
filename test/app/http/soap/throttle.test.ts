import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { LightMyRequestResponse } from 'fastify'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rotateUserKey, updateStore } from '../../../../src/access/stores/stores.ts'
import { operator } from '../../../support/actors.ts'
import { openServer, sharedServer, type TestStore } from '../../../support/store.ts'
import { envelope, faultOf, post, request } from './support.ts'

// One bucket for each store (contract §8; soap-cartapi §1.2 names no other caller than the store).

const server = await sharedServer()
beforeEach(() => {
  server.clock.ms += 60_000
})

type Parameters = Record<string, string>

async function burst(shop: TestStore, count: number, parameters: Parameters = {}, version: '1.1' | '1.2' = '1.1') {
  const answers: LightMyRequestResponse[] = []
  const payload = envelope(request(shop, 'getProductCount', parameters), version)
  for (let sent = 0; sent < count; sent++) answers.push(await post(server, payload, { version }))
  return answers
}

/** The refusal by a full bucket: proxies of SOAP 1.1 read a fault from 500 alone. */
const tooMany = (version: '1.1' | '1.2') => (version === '1.1' ? 500 : 429)

/** The status of a fault, the number of an error document, or 200. */
const kinds = (answers: LightMyRequestResponse[]) =>
  answers.map(({ statusCode, body }) => {
    if (statusCode !== 200) return statusCode
    return Number(/<Id>(\d+)<\/Id>/.exec(body)?.[1] ?? statusCode)
  })

const countOf = (answers: LightMyRequestResponse[], kind: number) =>
  kinds(answers).filter((each) => each === kind).length

const setFigures = (shop: TestStore, Throttle: { capacity: number; leakPerSecond: number } | null) =>
  updateStore(server.services, shop.store.id, { Throttle }, operator)

/** Slots that come too late to be waited for. */
const scarce = { capacity: 2, leakPerSecond: 0.01 }

type Sent = Promise<LightMyRequestResponse>

/** What a call asks for that only counts. */
const count = (shop: TestStore) => envelope(request(shop, 'getProductCount'))

/** Sends one call after another, and comes back when all of them wait. */
async function queue(shop: TestStore, calls: number, payload = count(shop)): Promise<{ readonly answers: Sent[] }> {
  const answers: Sent[] = []
  for (let index = 0; index < calls; index++) {
    const before = await waiting()
    answers.push(post(server, payload))
    await untilWaiting(before + 1)
  }
  return { answers }
}

/** The calls that wait, as `/metrics` has them. */
async function waiting({ services } = server): Promise<number> {
  const figure = await services.metrics.registry.getSingleMetric('cartapi_waiting_calls')?.get()
  return Number(figure?.values[0]?.value)
}

async function untilWaiting(calls: number, at = server): Promise<void> {
  while ((await waiting(at)) !== calls) await setImmediate()
}

async function figureOf(name: string): Promise<number> {
  const { body } = await server.app.inject('/metrics')
  const line = body.split('\n').find((each) => each.startsWith(`${name} `))
  return line === undefined ? 0 : Number(line.slice(name.length))
}

describe('a call that finds the bucket full', () => {
  test('waits for its turn: 350 calls in a row get 350 results, at two a second', async () => {
    const shop = await server.openStore({ throttle: null })
    const startMs = server.clock.ms
    for (let call = 1; call <= 350; call++) {
      const answer = post(server, count(shop))
      let isOver = false
      answer.finally(() => {
        isOver = true
      })
      while (!isOver) {
        await setImmediate()
        if ((await waiting()) === 1) await server.clock.pass(1)
      }
      expect(kinds([await answer])).toEqual([200])
      expect(server.clock.ms - startMs).toBe(Math.max(0, call - 50) * 500)
    }
  })

  test('is answered to the millisecond when its slot comes, first come first served', async () => {
    const shop = await server.openStore({ throttle: null })
    await burst(shop, 50)
    const { answers } = await queue(shop, 3)
    const order: number[] = []
    for (const [index, answer] of answers.entries()) answer.then(() => order.push(index))
    for (const [index, answer] of answers.entries()) {
      await server.clock.pass(499)
      expect(await waiting()).toBe(3 - index)
      await server.clock.pass(1)
      expect(kinds([await answer])).toEqual([200])
      expect(order).toHaveLength(index + 1)
    }
    expect(order).toEqual([0, 1, 2])
  })

  test('waits before its work begins, with a callBackURL too', async () => {
    const shop = await server.openStore({ throttle: null })
    await burst(shop, 50)
    const { answers } = await queue(shop, 1, envelope(request(shop, 'getProductCount', { callBackURL: 'string' })))
    await server.clock.pass(500)
    expect(kinds(await Promise.all(answers))).toEqual([40])
  })

  test('holds no connection to the database while it waits', async () => {
    const shop = await server.openStore({ throttle: null })
    await burst(shop, 50)
    const { answers } = await queue(shop, 60)
    const rows = await server.database.db.$queryRaw<unknown[]>`
      SELECT "query" FROM pg_stat_activity
      WHERE "datname" = current_database() AND "state" LIKE 'idle in transaction%'`
    expect(rows).toEqual([])
    await server.clock.pass(30_000)
    expect(countOf(await Promise.all(answers), 200)).toBe(60)
  })
})

describe('a call is refused at once, by a fault with Retry-After', () => {
  test('when 60 of its store wait already; those of another store wait all the same', async () => {
    const [shop, other] = [await server.openStore({ throttle: null }), await server.openStore({ throttle: null })]
    for (const each of [shop, other]) await burst(each, 50)
    const { answers } = await queue(shop, 60)
    const over = await burst(shop, 2)
    expect(kinds(over)).toEqual([500, 500])
    for (const { headers } of over) expect(headers).toMatchObject({ 'retry-after': '1', 'x-ratelimit-remaining': '0' })
    const others = await queue(other, 1)
    await server.clock.pass(30_000)
    expect(countOf(await Promise.all([...answers, ...others.answers]), 200)).toBe(61)
  })

  test('when its turn would come later than in 30 s; the time that it is told is right', async () => {
    const shop = await server.openStore({ throttle: null })
    await setFigures(shop, { capacity: 3, leakPerSecond: 0.4 })
    await burst(shop, 3)
    const { answers } = await queue(shop, 12)
    for (const version of ['1.1', '1.2'] as const) {
      const [refused] = (await burst(shop, 1, {}, version)) as [LightMyRequestResponse]
      expect(faultOf(refused)).toEqual({
        status: tooMany(version),
        version,
        code: version === '1.1' ? 'Server' : 'Receiver',
        reason: 'Too many requests; come back in 3 s',
        header: '',
      })
      expect(refused.headers).toMatchObject({
        'retry-after': '3',
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '0',
        'ratelimit-policy': '"default";q=3;w=8',
        ratelimit: '"default";r=0;t=8',
      })
    }
    await server.clock.pass(2_499)
    expect(kinds(await burst(shop, 1))).toEqual([500])
    await server.clock.pass(1)
    answers.push(...(await queue(shop, 1)).answers)
    await server.clock.pass(30_000)
    expect(countOf(await Promise.all(answers), 200)).toBe(13)
  })

  test('when the store gets other figures while it waits, under which its turn would come too late', async () => {
    const shop = await server.openStore({ throttle: null })
    await setFigures(shop, { capacity: 1, leakPerSecond: 1 })
    await burst(shop, 1)
    const { answers } = await queue(shop, 4)
    await setFigures(shop, { capacity: 1, leakPerSecond: 0.1 })
    expect(kinds(await burst(shop, 1))).toEqual([500])
    await server.clock.pass(30_000)
    expect(kinds(await Promise.all(answers))).toEqual([200, 200, 200, 500])
  })

  test('and counted', async () => {
    const refused = 'store_platform_cartapi_given_up_calls_total{reason="refused"}'
    const before = await figureOf(refused)
    const shop = await server.openStore({ throttle: null })
    await setFigures(shop, scarce)
    await burst(shop, 4)
    expect((await figureOf(refused)) - before).toBe(2)
  })
})

describe('a client that leaves', () => {
  /** Sends a call over a connection of its own. */
  function dial(shop: TestStore, port: number): Socket {
    const body = count(shop)
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(
      `POST /cart.asmx HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    return socket
  }

  let port: number
  beforeAll(async () => {
    await server.app.listen({ port: 0, host: '127.0.0.1' })
    port = (server.app.server.address() as AddressInfo).port
  })

  test('makes room for those behind, who move up', async () => {
    const shop = await server.openStore({ throttle: null })
    const left = 'store_platform_cartapi_given_up_calls_total{reason="left"}'
    const before = await figureOf(left)
    await burst(shop, 50)
    const first = await queue(shop, 1)
    const leaving = dial(shop, port)
    await untilWaiting(2)
    const third = await queue(shop, 1)
    expect(await figureOf('store_platform_cartapi_waiting_calls')).toBe(3)
    leaving.destroy()
    await untilWaiting(2)
    expect([await figureOf('store_platform_cartapi_waiting_calls'), (await figureOf(left)) - before]).toEqual([2, 1])
    await server.clock.pass(1_000)
    expect(kinds(await Promise.all([...first.answers, ...third.answers]))).toEqual([200, 200])
    // The slot that would have been its own is there for another.
    await server.clock.pass(500)
    expect(kinds(await burst(shop, 1))).toEqual([200])
  })

  test('leaves no trace, also when all of them leave', async () => {
    const shop = await server.openStore({ throttle: null })
    await burst(shop, 50)
    const sockets = Array.from({ length: 60 }, () => dial(shop, port))
    await untilWaiting(60)
    expect(kinds(await burst(shop, 1))).toEqual([500])
    for (const socket of sockets) socket.destroy()
    await untilWaiting(0)
    const { answers } = await queue(shop, 60)
    await server.clock.pass(30_000)
    expect(countOf(await Promise.all(answers), 200)).toBe(60)
  })
})

describe('when its turn comes, a call is let in by the access of that moment', () => {
  const set = (shop: TestStore, CartAPI: object) => updateStore(server.services, shop.store.id, { CartAPI }, operator)

  test.each([
    ['switched off', 18, (shop: TestStore) => set(shop, { Enabled: false })],
    ['closed to its address', 16, (shop: TestStore) => set(shop, { Addresses: ['10.0.0.5'] })],
    ['under another key', 17, (shop: TestStore) => rotateUserKey(server.services, shop.store.id, operator)],
  ] as const)('cartAPI is %s by then: error %i, and nothing is done', async (_name, error, change) => {
    const shop = await server.openStore({ throttle: null })
    const body = { SKUInfo: { SKU: 'L-1', Name: 'Lamp', Stock: 10 } }
    const id = (await shop.call('POST', '/Products', { body })).json()[0].Value
    await burst(shop, 50)
    const parameters = { productId: 'L-1', quantity: '7', replaceStock: 'true' }
    const { answers } = await queue(shop, 1, envelope(request(shop, 'updateProductInventory', parameters)))
    await change(shop)
    await server.clock.pass(500)
    expect(kinds(await Promise.all(answers))).toEqual([error])
    const [record] = (await shop.call('GET', `/Products/${id}`)).json()
    expect(record.SKUInfo.Stock).toBe(10)
  })

  test('a wrong key does not wait', async () => {
    const shop = await server.openStore({ throttle: null })
    await burst(shop, 50)
    const { answers } = await queue(shop, 1)
    expect(kinds(await burst(shop, 1, { userKey: 'guessed' }))).toEqual([17])
    await server.clock.pass(500)
    await Promise.all(answers)
  })
})

test('when the server stops, those who wait are answered at once with the time to come back', async () => {
  const stopping = await openServer()
  const shop = await stopping.openStore({ throttle: { capacity: 1, leakPerSecond: 1 } })
  const call = (version: '1.1' | '1.2') =>
    post(stopping, envelope(request(shop, 'getProductCount'), version), { version })
  expect((await call('1.1')).statusCode).toBe(200)
  const answers = [call('1.1'), call('1.2')]
  await untilWaiting(2, stopping)
  const closed = stopping.close()
  for (const answer of await Promise.all(answers)) {
    expect(faultOf(answer)).toMatchObject({ status: 500, reason: 'The server is stopping; try again in a moment' })
    expect(answer.headers['retry-after']).toBe('1')
  }
  await closed
})

test('every answer tells the state of the bucket, error documents and faults behind the door too', async () => {
  const shop = await server.openStore({ throttle: null })
  const [first] = (await burst(shop, 1)) as [LightMyRequestResponse]
  expect(first.headers).toMatchObject({
    'x-ratelimit-limit': '50',
    'x-ratelimit-remaining': '49',
    'ratelimit-policy': '"default";q=50;w=25',
    ratelimit: '"default";r=49;t=1',
  })
  expect(first.headers['retry-after']).toBeUndefined()
  const [error] = (await burst(shop, 1, { callBackURL: 'string' })) as [LightMyRequestResponse]
  expect(kinds([error])).toEqual([40])
  expect(error.headers['x-ratelimit-remaining']).toBe('48')
})

test('the store’s own figures count at once, and the contract’s when they are taken away', async () => {
  const shop = await server.openStore({ throttle: null })
  await setFigures(shop, scarce)
  expect(kinds(await burst(shop, 3))).toEqual([200, 200, 500])
  await setFigures(shop, { capacity: 100, leakPerSecond: 0.01 })
  const more = await burst(shop, 99)
  expect([countOf(more, 200), countOf(more, 500)]).toEqual([98, 1])
  await setFigures(shop, null)
  server.clock.ms += 60_000
  expect((await burst(shop, 1))[0]?.headers['x-ratelimit-limit']).toBe('50')
})

test('stores do not share a bucket; the operations, both versions and all namespaces of one store do', async () => {
  const figures = { capacity: 3, leakPerSecond: 0.01 }
  const [shop, other] = [await server.openStore({ throttle: null }), await server.openStore({ throttle: null })]
  for (const each of [shop, other]) await setFigures(each, figures)
  expect(kinds(await burst(shop, 1))).toEqual([200])
  expect(kinds(await burst(shop, 1, {}, '1.2'))).toEqual([200])
  const customers = await post(server, envelope(request(shop, 'getCustomerCount')))
  expect(kinds([customers])).toEqual([200])
  expect(kinds(await burst(shop, 1, { storeUrl: `www.${new URL(shop.store.secureUrl).host}` }))).toEqual([500])
  expect(kinds(await burst(other, 3))).toEqual([200, 200, 200])
})

test('REST has a bucket of its own', async () => {
  const shop = await server.openStore({ throttle: { capacity: 2, leakPerSecond: 1 } })
  await setFigures(shop, scarce)
  expect(kinds(await burst(shop, 3))).toEqual([200, 200, 500])
  const rest = async () => (await shop.call('GET', '/Products?countonly=1')).statusCode
  expect([await rest(), await rest(), await rest()]).toEqual([200, 200, 429])
  server.clock.ms += 1_000
  expect(await rest()).toBe(200)
  expect(kinds(await burst(shop, 1))).toEqual([500])
})

test('a full bucket refuses before anything is looked at: what is wrong is not told then', async () => {
  const shop = await server.openStore({ throttle: null })
  await setFigures(shop, { capacity: 1, leakPerSecond: 0.01 })
  expect(kinds(await burst(shop, 2, { callBackURL: 'string' }))).toEqual([40, 500])
})

test('refused credentials count against the address, and leave the bucket of the right key alone', async () => {
  const shop = await server.openStore({ throttle: null })
  const strangers = await burst(shop, 52, { userKey: 'guessed' })
  expect(kinds(strangers)).toEqual([...Array(50).fill(17), 500, 500])
  const last = strangers.at(-1) as LightMyRequestResponse
  expect(faultOf(last)).toMatchObject({ status: 500, code: 'Server' })
  expect(last.headers['retry-after']).toBe('1')
  expect(last.headers['x-ratelimit-remaining']).toBe('0')
  const [right] = await burst(shop, 1)
  expect([right?.statusCode, right?.headers['x-ratelimit-remaining']]).toEqual([200, '49'])
  // The same for what is switched off, or from an address that may not.
  const set = (CartAPI: object) => updateStore(server.services, shop.store.id, { CartAPI }, operator)
  await set({ Enabled: false })
  expect(kinds(await burst(shop, 1))).toEqual([500])
  await set({ Enabled: true, Addresses: ['10.0.0.5'] })
  expect(kinds(await burst(shop, 1))).toEqual([500])
  server.clock.ms += 500
  expect(kinds(await burst(shop, 2))).toEqual([16, 500])
})

test('every kind of refusal fills the bucket of the address, and REST’s refusals the same one', async () => {
  const shop = await server.openStore({ throttle: null })
  const remaining = async (parameters: Parameters) =>
    (await burst(shop, 1, parameters))[0]?.headers['x-ratelimit-remaining']
  expect(await remaining({ userKey: '' })).toBe('49')
  expect(await remaining({ storeUrl: '' })).toBe('48')
  expect(await remaining({ storeUrl: 'elsewhere.example' })).toBe('47')
  expect((await shop.call('GET', '/Products', { headers: { token: 'guessed' } })).statusCode).toBe(401)
  expect(await remaining({ userKey: 'guessed' })).toBe('45')
})

test('one address does not use up another’s', async () => {
  const shop = await server.openStore({ throttle: null })
  await burst(shop, 51, { userKey: 'guessed' })
  const from = (remoteAddress: string) =>
    server.app.inject({
      method: 'POST',
      url: '/cart.asmx',
      remoteAddress,
      headers: { 'content-type': 'text/xml' },
      payload: envelope(request(shop, 'getProductCount', { userKey: 'guessed' })),
    })
  expect(kinds([await from('127.0.0.1'), await from('203.0.113.7')])).toEqual([500, 17])
})
