import fc from 'fast-check'
import { expect, test } from 'vitest'
import { align } from '../../../../../src/http/pages/records/align.ts'

const list = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 })

/** The length of the longest list that is a part of both, by the table that everybody knows. */
function longestCommon(one: readonly string[], other: readonly string[]): number {
  let row = new Array<number>(other.length + 1).fill(0)
  for (const item of one) {
    const next = [0]
    for (const [at, each] of other.entries()) {
      next.push(item === each ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

test('as many items as possible are matched, in their order, each with its like', () => {
  fc.assert(
    fc.property(list, list, (former, next) => {
      const found = align(former, next)
      expect(found).toHaveLength(next.length)
      const matched = found.filter((place) => place >= 0)
      expect(matched).toEqual([...new Set(matched)].sort((one, other) => one - other))
      for (const [at, place] of found.entries()) if (place >= 0) expect(former[place]).toBe(next[at])
      expect(matched).toHaveLength(longestCommon(former, next))
    }),
    { numRuns: 500 },
  )
})

test('of two long lists that have little in common, beginnings and ends are matched', () => {
  const items = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word}${at}`)
  const former = ['begin', ...items('a'), 'end']
  const found = align(former, ['begin', ...items('b'), 'end'])
  expect([found[0], found.at(-1)]).toEqual([0, former.length - 1])
  expect(found.filter((place) => place >= 0)).toHaveLength(2)
})
