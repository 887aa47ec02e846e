import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { KeptRepresentations, opener, ownBytes } from '../../../src/engine/definition/representations.ts'

const MEGABYTE = 1024 * 1024
const version = { row: '1', referenced: '1' }

/** Reads a record twice, because only then it is kept. */
function keep(kept: KeptRepresentations, id: number, bytes: number): void {
  for (const _time of ['first', 'second']) {
    kept.keepRecords('1 Products', [{ id, ...version, made: Buffer.alloc(bytes) }], { bytesOf: ({ length }) => length })
  }
}

const keptOf = (kept: KeptRepresentations, count: number) =>
  Array.from({ length: count }, (_, id) => id).filter((id) => kept.record('1 Products', id) !== undefined)

describe('what is kept', () => {
  test('stays within its bytes; what was used least recently goes', () => {
    const kept = new KeptRepresentations(MEGABYTE)
    for (let id = 0; id < 100; id++) {
      keep(kept, id, 20_000)
      kept.record('1 Products', 0)
    }
    const ids = keptOf(kept, 100)
    expect(ids.length * 20_000).toBeLessThanOrEqual(MEGABYTE)
    // A quarter is for pages.
    expect(ids.length * 20_000).toBeGreaterThan(MEGABYTE * 0.7)
    expect(ids).toEqual([0, ...Array.from({ length: ids.length - 1 }, (_, place) => 100 - ids.length + 1 + place)])
  })

  test('counts what it needs itself, so that many small records do not go past the bound', () => {
    const kept = new KeptRepresentations(MEGABYTE)
    for (let id = 0; id < 10_000; id++) keep(kept, id, 1)
    expect(keptOf(kept, 10_000).length).toBeLessThan(MEGABYTE / 300)
  })

  test('has no record of more than an eighth of it, and forgets the former version of one that became so', () => {
    const kept = new KeptRepresentations(MEGABYTE)
    keep(kept, 1, 10)
    keep(kept, 1, MEGABYTE / 8)
    expect(kept.record('1 Products', 1)).toBeUndefined()
  })

  test('has a page when it is read again, under the names of its records and their versions', () => {
    const kept = new KeptRepresentations(MEGABYTE)
    const page = Buffer.from('[]')
    kept.keepPage('1 Products', '10 1 5 700', page)
    expect(kept.page('1 Products', '10 1 5 700')).toBeUndefined()
    kept.keepPage('1 Products', '10 1 5 700', page)
    expect(kept.page('1 Products', '10 1 5 700')).toBe(page)
    expect(kept.page('1 Products', '10 1 5 701')).toBeUndefined()
    expect(kept.page('2 Products', '10 1 5 700')).toBeUndefined()
    kept.clear()
    expect(kept.page('1 Products', '10 1 5 700')).toBeUndefined()
  })
})

test('a record is kept when it is read again, of whatever version', () => {
  const kept = new KeptRepresentations(MEGABYTE)
  const read = (id: number, row: string) =>
    kept.keepRecords('1 Products', [{ id, row, referenced: '1', made: `${id}` }], { bytesOf: Buffer.byteLength })
  read(1, '1')
  read(2, '1')
  expect(keptOf(kept, 10)).toEqual([])
  read(1, '2')
  expect(keptOf(kept, 10)).toEqual([1])
  expect(kept.record('1 Products', 1)?.row).toBe('2')
})

describe('large records', () => {
  const textOf = (id: number) => `${id} ${`a récord of a store ${id % 7} `.repeat(1_000)}`
  const ids = Array.from({ length: 300 }, (_, id) => id)

  function keepTexts(
    kept: KeptRepresentations,
    all: readonly number[],
    write: (id: number) => string,
    row = '1',
  ): void {
    const records = all.map((id) => ({ id, row, referenced: '1', made: write(id) }))
    for (const _time of ['first', 'second']) kept.keepRecords('1 Orders', records, { bytesOf: Buffer.byteLength })
  }
  const keptIn = (kept: KeptRepresentations) => ids.filter((id) => kept.record('1 Orders', id) !== undefined)
  function shown(kept: KeptRepresentations, all: readonly number[]): (string | undefined)[] {
    const open = opener()
    return all.map((id) => {
      const record = kept.record<Buffer>('1 Orders', id)
      return record && String(open(record))
    })
  }

  test('are packed, so that many times as many fit', () => {
    const kept = new KeptRepresentations(MEGABYTE)
    keepTexts(kept, ids, textOf)
    expect(shown(kept, ids)).toEqual(ids.map(textOf))
  })

  test('stay within their bytes where they cannot be made smaller, and the packs that were used least recently go', () => {
    const kept = new KeptRepresentations(4 * MEGABYTE)
    for (const id of ids) {
      keepTexts(kept, [id], () => randomBytes(15_000).toString('base64'))
      kept.record('1 Orders', 0)
    }
    expect(keptIn(kept).length * 15_000).toBeLessThan(3 * MEGABYTE)
    expect(keptIn(kept).length * 15_000).toBeGreaterThan(2 * MEGABYTE)
    expect(keptIn(kept)).toEqual([0, ...ids.slice(1 - keptIn(kept).length)])
  })

  test('of which a pack would be too large for an entry are not kept', () => {
    const kept = new KeptRepresentations(MEGABYTE)
    keepTexts(kept, ids.slice(0, 10), () => randomBytes(15_000).toString('base64'))
    expect(keptIn(kept)).toEqual([])
  })

  test('have the version that was kept last, among others of their pack', () => {
    const kept = new KeptRepresentations(MEGABYTE)
    keepTexts(kept, ids, textOf)
    keepTexts(kept, [3, 4], (id) => `changed ${id}`, '2')
    expect(shown(kept, [2, 3, 4, 5])).toEqual([textOf(2), 'changed 3', 'changed 4', textOf(5)])
    expect([2, 3].map((id) => kept.record('1 Orders', id)?.row)).toEqual(['1', '2'])
    keepTexts(kept, [3], textOf, '3')
    expect(shown(kept, [3, 4])).toEqual([textOf(3), 'changed 4'])
  })

  test('are forgotten with everything else', () => {
    const kept = new KeptRepresentations(MEGABYTE)
    keepTexts(kept, ids, textOf)
    kept.clear()
    expect(keptIn(kept)).toEqual([])
  })
})

test('a text has memory of its own, as much as it needs', () => {
  const bytes = ownBytes('Größe 🎁')
  expect(String(bytes)).toBe('Größe 🎁')
  expect(bytes.buffer.byteLength).toBe(bytes.length)
})
