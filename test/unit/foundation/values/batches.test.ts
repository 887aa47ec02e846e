import { expect, test } from 'vitest'
import { createBatches } from '../../../../src/foundation/values/batches.ts'

interface Run {
  readonly items: readonly number[]
  readonly end: (results: ReadonlyMap<number, string>) => void
  readonly fail: (reason: Error) => void
}

/** Joins numbers; each run is under way until the test ends it. */
function joining(togetherMax: number) {
  const runs: Run[] = []
  const join = createBatches<number, string>({ underWayMax: 1, togetherMax }, (items) => {
    const { promise, resolve: end, reject: fail } = Promise.withResolvers<ReadonlyMap<number, string>>()
    runs.push({ items, end, fail })
    return promise
  })
  return { runs, join: (item: number, key = 'lane') => join(key, item) }
}

function made({ items, end }: Run | undefined = { items: [], end: () => {}, fail: () => {} }): void {
  end(new Map(items.map((item) => [item, `made ${item}`])))
}

test('what comes alone begins at once; what comes meanwhile waits, and is made together, in its order', async () => {
  const { runs, join } = joining(3)
  const all = [1, 2, 3, 4, 5].map((item) => join(item))
  expect(runs.map(({ items }) => items)).toEqual([[1]])

  made(runs[0])
  await all[0]
  await expect.poll(() => runs.map(({ items }) => items)).toEqual([[1], [2, 3, 4]])
  made(runs[1])
  await all[1]
  await expect.poll(() => runs.length).toBe(3)
  made(runs[2])

  expect(await Promise.all(all)).toEqual(['made 1', 'made 2', 'made 3', 'made 4', 'made 5'])
  expect(runs[2]?.items).toEqual([5])
})

test('different keys do not wait for one another', async () => {
  const { runs, join } = joining(3)
  const all = [join(1, 'one'), join(2, 'other')]

  expect(runs.map(({ items }) => items)).toEqual([[1], [2]])
  runs.forEach(made)
  expect(await Promise.all(all)).toEqual(['made 1', 'made 2'])
})

test('an item without a result gets none; the others get theirs', async () => {
  const { runs, join } = joining(3)
  const all = [1, 2, 3].map((item) => join(item))
  made(runs[0])
  await all[0]
  await expect.poll(() => runs.length).toBe(2)
  runs[1]?.end(new Map([[3, 'made 3']]))

  expect(await Promise.all(all)).toEqual(['made 1', undefined, 'made 3'])
})

test('what a run throws, all of its items are told, and the next run begins', async () => {
  const { runs, join } = joining(2)
  const all = [1, 2, 3, 4].map((item) => join(item))
  const told = Promise.allSettled(all)
  made(runs[0])
  await expect.poll(() => runs.length).toBe(2)
  runs[1]?.fail(new Error('lost'))
  await expect.poll(() => runs.length).toBe(3)
  made(runs[2])

  const reasons = (await told).map((one) => (one.status === 'rejected' ? String(one.reason) : one.value))
  expect(reasons).toEqual(['made 1', 'Error: lost', 'Error: lost', 'made 4'])
})
