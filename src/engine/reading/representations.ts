import { LRUCache } from 'lru-cache'
import { type Db, isClient } from '../../foundation/database/client.ts'
import type { Sql } from '../../foundation/database/sql.ts'
import type { Caller } from '../caller.ts'
import type { JsonText } from '../definition/endpoints.ts'
import type { Reader, Selected, WireRecord } from '../definition/reader.ts'

// What was made of a record is kept in the process and used as long as the record has that version, which every read asks the
// database for (docs/decisions/representations.md).

/** What is made of each record of a kind. */
export interface Representation<Made> {
  /** The cache key, which is unique. Null: nothing is cached. */
  readonly name: string | null
  /** The json array that a record is made from, over `t` (the record) and `s` (its store). */
  readonly select: Sql
  readonly make: (row: Selected) => Made
  readonly bytesOf: (made: Made) => number
}

/** Texts in bytes, of which pages are joined. */
export function textsOf(
  name: string | null,
  { select }: Reader,
  write: (row: Selected) => string,
): Representation<Buffer> {
  return { name, select, make: (row) => ownBytes(write(row)), bytesOf: ({ length }) => length }
}

/** The JSON texts that `reader` composes. */
export function jsonOf(name: string | null, reader: Reader): Representation<Buffer> {
  return textsOf(name, reader, reader.compose)
}

/** The records as values, of which nothing is kept. */
export function recordValues({ select, record }: Reader): Representation<WireRecord> {
  return { name: null, select, make: record, bytesOf: () => 0 }
}

/** A text in memory of its own, because what is kept would keep its neighbours in shared memory too. */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** What stands around the records of a page, in ASCII. */
export interface Frame {
  readonly first: string
  readonly between: string
  readonly last: string
}

export const jsonFrame: Frame = { first: '[', between: ',', last: ']' }

/**
 * Joins the records of a page, texts or their bytes. A page of the same kept records as before is the same bytes: nobody may
 * write into them.
 */
export function joined(records: readonly JsonText[], frame: Frame): Buffer {
  const [first] = records
  if (!Buffer.isBuffer(first)) return join(records, frame)
  // What is kept of a record is of one representation, which has one frame.
  const kept = pages?.get(first)
  if (kept && kept.records.length === records.length && kept.records.every((each, place) => each === records[place])) {
    return kept.page
  }
  const page = join(records, frame)
  if (page.length >= PAGE_BYTES_MIN) pages?.set(first, { records, page }, { size: page.length })
  return page
}

function join(records: readonly JsonText[], { first, between, last }: Frame): Buffer {
  let length = first.length + last.length + between.length * Math.max(0, records.length - 1)
  for (const record of records) length += Buffer.byteLength(record)
  const page = Buffer.allocUnsafeSlow(length)
  let end = page.write(first)
  records.forEach((record, place) => {
    if (place > 0) end += page.write(between, end)
    end += typeof record === 'string' ? page.write(record, end) : record.copy(page, end)
  })
  page.write(last, end)
  return page
}

const MEGABYTE = 1024 * 1024
/** What an entry takes besides its bytes. */
const ENTRY_BYTES = 400

/** Of a page that is kept: to join one of a megabyte takes as long as all else about it. */
const PAGE_BYTES_MIN = 64 * 1024
/** The part of the room that pages may have. */
const PAGES_SHARE = 1 / 4

/** By the bytes that are kept of its first record, so that it is nobody else's and never outdated. */
let pages: LRUCache<Buffer, { readonly records: readonly JsonText[]; readonly page: Buffer }> | undefined

const caches = new WeakMap<Db, LRUCache<string, object>>()

/** Keeps up to `megabytes` of what requests over this client read; 0: nothing. */
export function keepRepresentations(db: Db, megabytes: number): void {
  if (megabytes === 0) return
  const pagesMax = Math.ceil(megabytes * MEGABYTE * PAGES_SHARE)
  pages = new LRUCache({ maxSize: pagesMax })
  caches.set(db, new LRUCache({ maxSize: megabytes * MEGABYTE - pagesMax }))
}

/** Forgets everything: a database that takes the place of another may give its versions again. */
export function forgetRepresentations(db: Db): void {
  caches.get(db)?.clear()
}

/** The cache of a store's records. The key of a record names its version too. */
export interface Kept<Made> {
  readonly get: (record: string) => Made | undefined
  readonly set: (record: string, made: Made) => void
}

/** Null: nothing is. Inside a transaction, because it may see versions that nobody else will ever see. */
export function keptFor<Made extends object>(
  { db, store }: Caller,
  { name, bytesOf }: Representation<Made>,
): Kept<Made> | null {
  const cache = isClient(db) && name !== null ? caches.get(db) : undefined
  if (cache === undefined) return null
  const keyOf = (record: string) => `${store.id} ${name} ${record}`
  return {
    get: (record) => cache.get(keyOf(record)) as Made | undefined,
    set: (record, made) => void cache.set(keyOf(record), made, { size: ENTRY_BYTES + bytesOf(made) }),
  }
}
