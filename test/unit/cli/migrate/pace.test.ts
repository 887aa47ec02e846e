import { expect, test } from 'vitest'
import { Pace, secondsToWait } from '../../../../src/cli/migrate/pace.ts'

function openPace() {
  const clock = { ms: 1_000 }
  const pace = new Pace(
    () => clock.ms,
    async (ms) => {
      clock.ms += ms
    },
  )
  /** When each of so many requests is sent, if an answer takes `answerMs`. */
  const take = async (count: number, answerMs = 0) => {
    const times: number[] = []
    for (let index = 0; index < count; index++) {
      await pace.take()
      times.push(clock.ms)
      clock.ms += answerMs
    }
    return times
  }
  return { pace, clock, take }
}

function expectWithin(
  times: readonly number[],
  { capacity, perSecond }: { capacity: number; perSecond: number },
): void {
  let most = 0
  for (const [first, from] of times.entries()) {
    for (let last = first; last < times.length; last++) {
      const leaked = (((times[last] ?? 0) - from) / 1_000) * perSecond
      most = Math.max(most, last - first + 1 - leaked)
    }
  }
  expect(most).toBeLessThanOrEqual(capacity + 1e-6)
}

test.each([0, 7, 300, 900])('never more than 50 and 2 a second in any window, answered in %d ms', async (answerMs) => {
  const times = await openPace().take(200, answerMs)
  expectWithin(times, { capacity: 50, perSecond: 2 })
})

test('uses what the bucket allows', async () => {
  const { take, clock } = openPace()
  const times = await take(150)
  expect(times[49]).toBe(1_000)
  expect(clock.ms).toBeCloseTo(1_000 + 100 * 500)
})

test.each([
  { 'ratelimit-policy': '"default";q=500;w=25', ratelimit: '"default";r=499;t=1' },
  { 'x-ratelimit-limit': '500', 'ratelimit-policy': '"default";q=500;w=25', 'x-ratelimit-remaining': '499' },
])('learns its figures from %j', async (headers) => {
  const { pace, take } = openPace()
  pace.learn(headers)
  const times = await take(1_200)
  expectWithin(times, { capacity: 500, perSecond: 20 })
  expect((times.at(-1) ?? 0) - 1_000).toBeCloseTo(((1_200 - 499) / 20) * 1_000)
})

test('learns of requests that others have made', async () => {
  const { pace, take } = openPace()
  pace.learn({ 'x-ratelimit-remaining': '0' })
  expect(await take(2)).toEqual([1_500, 2_000])
})

test('a bucket that refused is full', async () => {
  const { pace, take } = openPace()
  pace.full()
  expect(await take(1)).toEqual([1_500])
})

test('waits as long as Retry-After says, in seconds or until a date, and an hour at most', () => {
  const now = new Date('2026-03-10T12:00:00Z')
  expect(secondsToWait(1, { 'retry-after': '17' }, now)).toBe(17)
  expect(secondsToWait(1, { 'retry-after': 'Tue, 10 Mar 2026 12:00:30 GMT' }, now)).toBe(30)
  expect(secondsToWait(1, { 'retry-after': 'Tue, 10 Mar 2026 11:00:00 GMT' }, now)).toBe(0)
  expect(secondsToWait(1, { 'retry-after': '999999' }, now)).toBe(3_600)
})

test('without Retry-After waits longer each time, up to a minute', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 100].map((failures) => secondsToWait(failures))).toEqual([1, 2, 5, 10, 30, 60, 60, 60])
  expect(secondsToWait(2, { 'retry-after': 'soon' })).toBe(2)
})
