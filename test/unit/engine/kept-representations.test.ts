import { describe, expect, test } from 'vitest'
import { KeptRepresentations, ownBytes } from '../../../src/engine/representations.ts'

const MEGABYTE = 1024 * 1024
const version = { row: '1', referenced: '1' }

function keep(kept: KeptRepresentations, id: number, bytes: number): void {
  kept.keepRecord('1 Products', id, { ...version, made: Buffer.alloc(bytes) }, bytes)
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
    expect(ids.length * 20_000).toBeGreaterThan(MEGABYTE * 0.9)
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

test('a text has memory of its own, as much as it needs', () => {
  const bytes = ownBytes('Größe 🎁')
  expect(String(bytes)).toBe('Größe 🎁')
  expect(bytes.buffer.byteLength).toBe(bytes.length)
})
