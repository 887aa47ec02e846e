import { expect, test } from 'vitest'
import type { Caller } from '../../../../src/engine/caller.ts'
import { columnsOf, isTaken } from '../../../../src/shop/csv/lines/columns.ts'
import { changedCells, readRow, refusedCells } from '../../../../src/shop/csv/lines/records.ts'
import type { References } from '../../../../src/shop/csv/lines/references.ts'
import { resourceNamed } from '../../../../src/shop/registry.ts'

test('what a row has sent back is looked up by name, not searched for each cell', async () => {
  const resource = resourceNamed('Products')
  const columns = columnsOf(resource).filter((column) => isTaken(column) && column.field.kind === 'text')
  const cells = columns.map(({ field }) => field.bounds.values?.[0] ?? 'text'.slice(0, field.bounds.maxLength))
  const caller = { store: { timeZone: 'UTC' } } as Caller
  const references = {
    numberOf: (_: unknown, typed: string) => typed,
    problemOf: () => null,
  } as unknown as References
  const row = { line: 2, cells, length: 1, separator: ',' }
  const written = { decimal: null, locale: null }
  const record = await readRow(caller, { resource, headings: { columns, ignored: [] }, references, written }, row)
  let reads = 0
  const counted = (record.patch.sentBack ?? []).map((one) => ({
    ...one,
    get path() {
      reads++
      return one.path
    },
  }))
  expect(counted.length).toBeGreaterThan(20)
  const watched = { ...record, patch: { ...record.patch, sentBack: counted } }
  expect(refusedCells(watched, {})).toEqual([])
  expect(changedCells(caller, watched, {}, () => false).length).toBeGreaterThan(20)
  // Once for the name, and once for the stored value.
  expect(reads).toBeLessThanOrEqual(2 * counted.length)
})
