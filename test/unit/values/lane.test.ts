import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Lane } from '../../../src/values/lane.ts'

/** Work that ends when it is told to. */
function stage() {
  const lane = new Lane()
  const begun: string[] = []
  const running: (() => void)[] = []
  const start = (key: string, name = key) =>
    lane.run(key, () => {
      begun.push(name)
      const { promise, resolve } = Promise.withResolvers<void>()
      running.push(resolve)
      return promise
    })
  const endOne = async () => {
    running.shift()?.()
    await setImmediate()
  }
  return { lane, begun, start, endOne }
}

test('one runs at a time; the keys take turns, and one key is served first come, first served', async () => {
  const { begun, start, endOne } = stage()
  const works = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => start(name.charAt(0), name))
  expect(begun).toEqual(['a1'])
  for (let ended = 0; ended < 7; ended++) await endOne()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  await Promise.all(works)
})

test('a place is free again after work that failed', async () => {
  const lane = new Lane()
  const failing = async () => {
    throw new Error('broken')
  }
  for (let tried = 0; tried < 5; tried++) await expect(lane.run('a', failing)).rejects.toThrow('broken')
  expect(await lane.run('a', async () => 'done')).toBe('done')
})

test('20 of a key wait, and 200 in all; more are refused, and others go on', async () => {
  const { start, endOne, begun } = stage()
  const works = Array.from({ length: 21 }, () => start('a'))
  await expect(start('a')).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 })
  for (let key = 0; key < 9; key++) works.push(...Array.from({ length: 20 }, () => start(`other ${key}`)))
  await expect(start('one more')).rejects.toMatchObject({ kind: 'unavailable' })
  for (let ended = 0; ended < 201; ended++) await endOne()
  await Promise.all(works)
  expect(begun).toHaveLength(201)
})
