import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { BytesInFlight } from '../../../../src/foundation/process/bytes-in-flight.ts'
import type { StoreFailure } from '../../../../src/foundation/values/failure.ts'

const bounds = { processMax: 100, callerMax: 40, uncountedMax: 1, largeMin: 5, largeMax: 20 }

function refusal(work: () => void): Partial<StoreFailure> | null {
  try {
    work()
    return null
  } catch (error) {
    return { code: (error as StoreFailure).code, retryAfterSeconds: (error as StoreFailure).retryAfterSeconds ?? 0 }
  }
}

const tooMany = { code: 'rate-limited', retryAfterSeconds: 1 }
const busy = { code: 'unavailable', retryAfterSeconds: 1 }

test('beyond its own bound a caller is throttled, in all its requests together', () => {
  const bytes = new BytesInFlight(bounds)
  bytes.open('a').receive(30)

  expect(refusal(() => bytes.open('a').receive(11))).toEqual(tooMany)
  expect(refusal(() => bytes.open('a').receive(10))).toBeNull()
  expect(refusal(() => bytes.admit('a'))).toEqual(tooMany)
  expect(refusal(() => bytes.admit('b'))).toBeNull()
})

test('beyond the process’s bound those that hold much are refused, and one that holds little is not', () => {
  const bytes = new BytesInFlight(bounds)
  const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((caller) => bytes.open(caller))
  const refusals = new Set<string | undefined>()
  for (let round = 0; round < 40; round++) {
    for (const each of many) refusals.add(refusal(() => each.receive(1))?.code)
  }

  expect(refusals).toEqual(new Set([undefined, 'unavailable']))
  expect(bytes.total).toBeLessThan(100)
  expect(refusal(() => bytes.open('small').receive(10))).toBeNull()
  expect(refusal(() => bytes.open('large').receive(30))).toEqual(busy)
})

test('what is released can be held again; what comes after the end of a request counts no more', () => {
  const bytes = new BytesInFlight(bounds)
  const holding = bytes.open('a')
  holding.receive(40)
  holding.drop()
  holding.receive(40)
  holding.close()
  holding.send(10)

  expect(bytes.total).toBe(0)
  holding.close()
  expect(refusal(() => bytes.open('a').receive(40))).toBeNull()
})

test('a large answer is read when there is room for it, after those that were there before', async () => {
  const bytes = new BytesInFlight(bounds)
  const held = bytes.open('a')
  held.send(35)
  let isRead = false
  const reading = bytes.readLarge('a', { bytes: 10 }, async () => {
    isRead = true
  })
  await immediate()
  expect(isRead).toBe(false)
  expect(await bytes.readLarge('b', { bytes: 10 }, async () => 'read')).toBe('read')

  held.close()
  await reading
  expect(isRead).toBe(true)
})

test('an answer that nobody waits for is not read', async () => {
  const bytes = new BytesInFlight(bounds)
  const reading = bytes.readLarge('a', { bytes: 10, isGone: () => true }, async () => 'read')

  await expect(reading).rejects.toMatchObject({ code: 'unavailable' })
  expect(await bytes.readLarge('a', { bytes: 20 }, async () => 'read')).toBe('read')
})

test('uploads of one caller wait for one another, and end with their requests', async () => {
  const bytes = new BytesInFlight(bounds)
  const [first, second, other] = [bytes.open('a'), bytes.open('a'), bytes.open('b')]
  await first.waitForUpload(30)
  await other.waitForUpload(30)
  let isWaiting = true
  const waiting = second.waitForUpload(30).then(() => {
    isWaiting = false
  })
  await immediate()
  expect(isWaiting).toBe(true)

  first.close()
  await waiting
  second.close()
  await bytes.open('a').waitForUpload(30)
})

test('a turn that comes after the connection was lost ends at once', async () => {
  const bytes = new BytesInFlight(bounds)
  const [first, second] = [bytes.open('a'), bytes.open('b')]
  await first.waitForWork(20)
  const waiting = second.waitForWork(20)
  second.close()
  first.close()

  await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
  await bytes.open('c').waitForWork(20)
})
