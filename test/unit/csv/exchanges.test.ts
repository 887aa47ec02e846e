import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Exchanges } from '../../../src/csv/exchanges.ts'
import { SECRET_LINES_MAX, TOGETHER_MAX } from '../../../src/csv/limits.ts'

/** Records hold the texts of their own numbers; a number beyond them is a free text. */
const renamings = fc.integer({ min: 1, max: 350 }).chain((count) =>
  fc.record({
    texts: fc.oneof(
      fc.shuffledSubarray(
        Array.from({ length: count + 3 }, (_, at) => at),
        { minLength: count, maxLength: count },
      ),
      // Long chains and cycles, which chance does not bring.
      fc.integer({ min: 1, max: 3 }).map((by) => Array.from({ length: count }, (_, at) => at + by)),
      fc.constant(Array.from({ length: count }, (_, at) => (at + 1) % count)),
    ),
    places: fc.shuffledSubarray(
      Array.from({ length: count }, (_, at) => at),
      { minLength: 1 },
    ),
    secretEvery: fc.integer({ min: 1, max: 400 }),
  }),
)

test('groups of lines, made one after the other, give every record its text, within the bounds of a transaction', () => {
  fc.assert(
    fc.property(renamings, ({ texts, places, secretEvery }) => {
      const exchanges = new Exchanges()
      const lines = places.map((recordId, at) => {
        const name = texts[recordId] as number
        const holder = name < texts.length ? name : undefined
        return { line: at + 2, recordId, name: String(name), holder, hasSecret: at % secretEvery === 0 }
      })
      for (const line of lines) exchanges.add(line)
      const { refused, together } = exchanges.settle('SKU', 'Product')
      const isRefused = new Set(refused.map(({ line }) => line))
      const groupOf = new Map(together.map(({ line, together }) => [line, together]))
      const groups = Map.groupBy(
        lines.filter(({ line }) => !isRefused.has(line)),
        ({ line }) => groupOf.get(line) ?? 0,
      )
      const held = new Map(texts.map((_, recordId) => [recordId, String(recordId)]))
      for (const [number, group] of [...groups].toSorted(([one], [other]) => one - other)) {
        if (number > 0) expect(group.length).toBeLessThanOrEqual(TOGETHER_MAX)
        if (number > 0) expect(group.filter(({ hasSecret }) => hasSecret).length).toBeLessThanOrEqual(SECRET_LINES_MAX)
        for (const { recordId, name } of group) held.set(recordId, name)
        expect(new Set(held.values()).size).toBe(held.size)
      }
      for (const [line, problem] of refused.map((one) => [one.line, one.problem[2]] as const)) {
        if (problem.startsWith('is exchanged')) expect(isInCycle(lines, line)).toBe(true)
      }
    }),
    { numRuns: 200 },
  )
})

function isInCycle(lines: readonly { line: number; recordId: number; holder: number | undefined }[], line: number) {
  const byRecord = new Map(lines.map((one) => [one.recordId, one]))
  const first = lines.find((one) => one.line === line)
  let next = byRecord.get(first?.holder ?? -1)
  for (let steps = 0; next !== undefined && next !== first && steps < lines.length; steps++) {
    next = byRecord.get(next.holder ?? -1)
  }
  return next !== undefined && next === first
}
