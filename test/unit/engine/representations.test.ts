import { expect, test } from 'vitest'
import type { Caller } from '../../../src/engine/caller.ts'
import {
  forgetRepresentations,
  joined,
  jsonFrame,
  keepRepresentations,
  keptFor,
  ownBytes,
  type Representation,
} from '../../../src/engine/reading/representations.ts'
import type { Db } from '../../../src/foundation/database/client.ts'
import { sql } from '../../../src/foundation/database/sql.ts'

const MEGABYTE = 1024 * 1024

/** A client that keeps one megabyte. */
function openClient(): Db {
  const db = { $connect: () => {} } as unknown as Db
  keepRepresentations(db, 1)
  return db
}

function keptOf(db: Caller['db'], { name, storeId = 1 }: { name: string | null; storeId?: number }) {
  const as: Representation<Buffer> = { name, select: sql``, make: () => Buffer.of(), bytesOf: ({ length }) => length }
  return keptFor({ db, store: { id: storeId } } as Caller, as)
}

const names = Array.from({ length: 10_000 }, (_, id) => `${id} 700 1`)

test('what is kept stays within its bytes, of which each record needs some itself; the least recently used go', () => {
  const db = openClient()
  const products = keptOf(db, { name: 'Products' })
  for (const bytes of [20_000, 1]) {
    for (const name of names) {
      products?.set(name, Buffer.alloc(bytes))
      products?.get('0 700 1')
    }
    const still = names.filter((name) => products?.get(name) !== undefined)
    // A quarter is for pages.
    const room = (MEGABYTE * 3) / 4
    expect(still.length * (bytes + 300)).toBeLessThanOrEqual(room)
    expect(still.length * (bytes + 1_000)).toBeGreaterThan(room * 0.9)
    expect(still).toEqual(['0 700 1', ...names.slice(1 - still.length)])
  }
})

test('it is that of the store, the representation and the version, until everything is forgotten', () => {
  const db = openClient()
  const bytes = Buffer.from('{}')
  keptOf(db, { name: 'Products' })?.set('1 700 1', bytes)
  expect(keptOf(db, { name: 'Products' })?.get('1 700 1')).toBe(bytes)
  for (const name of ['1 701 1', '1 700 2', '2 700 1']) {
    expect(keptOf(db, { name: 'Products' })?.get(name)).toBeUndefined()
  }
  expect(keptOf(db, { name: 'Products xml' })?.get('1 700 1')).toBeUndefined()
  expect(keptOf(db, { name: 'Products', storeId: 2 })?.get('1 700 1')).toBeUndefined()
  expect(keptOf(openClient(), { name: 'Products' })?.get('1 700 1')).toBeUndefined()

  forgetRepresentations(db)
  expect(keptOf(db, { name: 'Products' })?.get('1 700 1')).toBeUndefined()
})

test('nothing is kept inside a transaction, of what has no name, and with a bound of 0', () => {
  expect(keptOf({} as Caller['db'], { name: 'Products' })).toBeNull()
  expect(keptOf(openClient(), { name: null })).toBeNull()
  const db = { $connect: () => {} } as unknown as Db
  keepRepresentations(db, 0)
  expect(keptOf(db, { name: 'Products' })).toBeNull()
})

test('a text has memory of its own, as much as it needs', () => {
  const bytes = ownBytes('Größe 🎁')
  expect(String(bytes)).toBe('Größe 🎁')
  expect(bytes.buffer.byteLength).toBe(bytes.length)
})

test('a page of the same kept records is the same bytes, and of others is not', () => {
  keptOf(openClient(), { name: 'Products' })
  const [first, second, third] = ['"a"', '"b"', '"c"'].map((text) => Buffer.from(text.padEnd(40_000))) as [
    Buffer,
    Buffer,
    Buffer,
  ]
  const page = joined([first, second], jsonFrame)
  expect(joined([first, second], jsonFrame)).toBe(page)
  for (const others of [[first, third], [first], [first, second, third], [Buffer.from(first), second]]) {
    expect(String(joined(others, jsonFrame))).toBe(`[${others.join(',')}]`)
  }
})

test('a page is joined of texts and bytes', () => {
  expect(String(joined([], jsonFrame))).toBe('[]')
  expect(String(joined(['"Größe"', Buffer.from('"🎁"')], jsonFrame))).toBe('["Größe","🎁"]')
})
