import type { LightMyRequestResponse } from 'fastify'
import { expect, test } from 'vitest'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { refusalOf } from './fixture.ts'

const server = await sharedServer()

async function burst({ call }: TestStore, count: number, headers: Record<string, string> = {}) {
  const answers: LightMyRequestResponse[] = []
  for (let sent = 0; sent < count; sent++) answers.push(await call('GET', '/Products?countonly=1', { headers }))
  return answers
}

const countOf = (answers: LightMyRequestResponse[], status: number) =>
  answers.filter(({ statusCode }) => statusCode === status).length

test('of 60 requests in a burst 50 are answered and 10 refused, and ten more are answered after 5 s', async () => {
  const shop = await server.openStore({ throttle: null })
  const first = await burst(shop, 60)
  expect([countOf(first, 200), countOf(first, 429)]).toEqual([50, 10])
  server.clock.ms += 5_000
  const second = await burst(shop, 12)
  expect([countOf(second, 200), countOf(second, 429)]).toEqual([10, 2])
})

test('every answer tells the state of the bucket', async () => {
  const shop = await server.openStore({ throttle: null })
  const [first] = await burst(shop, 1)
  expect(first?.headers).toMatchObject({
    'x-ratelimit-limit': '50',
    'x-ratelimit-remaining': '49',
    'ratelimit-policy': '"default";q=50;w=25',
    ratelimit: '"default";r=49;t=1',
  })
  const refused = [
    await shop.call('GET', '/Products/99'),
    await shop.call('GET', '/Products/abc'),
    await shop.call('PATCH', '/Products'),
  ]
  expect(refused.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['48', '47', '46'])
})

test('a refused request says when to come back, and is right', async () => {
  const shop = await server.openStore({ throttle: { capacity: 3, leakPerSecond: 0.4 } })
  const last = (await burst(shop, 4)).at(-1) as LightMyRequestResponse
  expect(refusalOf(last)).toEqual({
    statusCode: 429,
    field: '',
    status: '429',
    message: 'Too many requests; come back in 3 s',
  })
  expect(last.headers).toMatchObject({
    'retry-after': '3',
    'x-ratelimit-limit': '3',
    'x-ratelimit-remaining': '0',
    'ratelimit-policy': '"default";q=3;w=8',
    ratelimit: '"default";r=0;t=8',
  })
  server.clock.ms += 2_000
  expect(countOf(await burst(shop, 1), 429)).toBe(1)
  server.clock.ms += 1_000
  expect(countOf(await burst(shop, 1), 200)).toBe(1)
})

test('stores do not share a bucket, v1 and v2 and all services of one store do', async () => {
  const throttle = { capacity: 2, leakPerSecond: 1 }
  const shop = await server.openStore({ throttle })
  const other = await server.openStore({ throttle })
  await shop.call('GET', '/Products?countonly=1')
  await shop.call('GET', '/Orders?countonly=1', { version: 'v2' })
  expect((await shop.call('GET', '/Customers?countonly=1')).statusCode).toBe(429)
  expect((await other.call('GET', '/Products?countonly=1')).statusCode).toBe(200)
})

test('a request refused with 401 counts against its address, and leaves the bucket of the right token alone', async () => {
  const shop = await server.openStore({ throttle: null })
  const strangers = await burst(shop, 52, { token: 'guessed' })
  expect([countOf(strangers, 401), countOf(strangers, 429)]).toEqual([50, 2])
  expect(strangers.at(-1)?.headers['retry-after']).toBe('1')
  const [right] = await burst(shop, 1)
  expect(right?.headers['x-ratelimit-remaining']).toBe('49')
})
