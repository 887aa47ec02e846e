import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Semaphore } from '../../../../src/foundation/values/semaphore.ts'

const roomy = { capacity: 2, capacityOfKey: 2, waitingMax: 10, waitingOfKeyMax: 5, waitMs: 60_000, message: 'busy' }

/** Starts turns that end when they are told to. `started` are their names, in order. */
function turns(bounds: Partial<typeof roomy> = {}) {
  const semaphore = new Semaphore({ ...roomy, ...bounds })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    semaphore,
    started,
    start: async (name: string, key: string, weight = 1, isFree?: () => boolean) => {
      const end = await semaphore.acquire(key, weight, isFree)
      started.push(name)
      ends.set(name, end)
    },
    end: async (name: string) => {
      ends.get(name)?.()
      await immediate()
    },
  }
}

test('no more run at once than the capacity; the next one starts when one ends', async () => {
  const { start, end, started } = turns()
  await Promise.all([start('a', 'k'), start('b', 'k')])
  const third = start('c', 'k')
  await immediate()
  expect(started).toEqual(['a', 'b'])

  await end('a')
  await third
  await end('a')
  expect(started).toEqual(['a', 'b', 'c'])
})

test('keys take turns: one that waits with many delays another by one', async () => {
  const { start, end, started } = turns({ capacity: 1 })
  await start('a1', 'a')
  for (const name of ['a2', 'a3', 'a4']) void start(name, 'a')
  void start('b1', 'b')
  for (const name of ['a1', 'a2', 'b1', 'a3']) await end(name)

  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
})

test('what is heavier than the capacity runs alone, and is not overtaken while it waits for that', async () => {
  const { start, end, started } = turns()
  await start('light', 'a')
  void start('heavy', 'b', 5)
  void start('later', 'c')
  await immediate()
  expect(started).toEqual(['light'])

  await end('light')
  expect(started).toEqual(['light', 'heavy'])
  await end('heavy')
  expect(started).toEqual(['light', 'heavy', 'later'])
})

test('one key leaves room for others', async () => {
  const { start, started } = turns({ capacityOfKey: 1 })
  await start('a1', 'a')
  void start('a2', 'a')
  await start('b1', 'b')

  expect(started).toEqual(['a1', 'b1'])
})

test('another condition holds up only those that need it', async () => {
  let isFree = false
  const { semaphore, start, started } = turns()
  void start('a', 'a', 1, () => isFree)
  await start('b', 'b')
  expect(started).toEqual(['b'])

  isFree = true
  semaphore.recheck()
  await immediate()
  expect(started).toEqual(['b', 'a'])
})

test.each([
  { problem: 'too many of one key', bounds: { waitingOfKeyMax: 1 } },
  { problem: 'too many in all', bounds: { waitingMax: 1 } },
  { problem: 'none in time', bounds: { waitMs: 1 } },
])('$problem: 503, to come again', async ({ bounds }) => {
  const { start } = turns({ capacity: 1, ...bounds })
  await start('running', 'k')
  const waiting = Promise.allSettled([start('first', 'k'), start('second', 'k')])
  if (!('waitMs' in bounds)) {
    await expect(start('third', 'k')).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 })
    return
  }
  for (const { status } of await waiting) expect(status).toBe('rejected')
})
