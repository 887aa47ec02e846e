import { expect, test } from 'vitest'
import { runAtOnce, runInSlices, type Steps } from '../../../../src/foundation/values/slices.ts'

function* until(isOver: () => boolean): Steps<string> {
  while (!isOver()) yield
  return 'done'
}

test('others get their turns while steps run', async () => {
  let turns = 0
  const others = () => {
    if (++turns < 5) setImmediate(others)
  }
  setImmediate(others)
  // Steps that never paused would never end.
  expect(await runInSlices(until(() => turns === 5))).toBe('done')
})

test('several run side by side, and each goes on', async () => {
  let turns = 0
  const others = () => {
    if (++turns < 20) setImmediate(others)
  }
  setImmediate(others)
  const works = Array.from({ length: 5 }, () => runInSlices(until(() => turns === 20)))
  expect(await Promise.all(works)).toEqual(Array(5).fill('done'))
})

test('an error of the steps is that of the work', async () => {
  const failing = function* (): Steps<never> {
    yield
    throw new Error('broken')
  }
  await expect(runInSlices(failing())).rejects.toThrow('broken')
  expect(() => runAtOnce(failing())).toThrow('broken')
})
