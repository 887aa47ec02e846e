import { LRUCache } from 'lru-cache'
import { type Db, isClient } from '../database/client.ts'
import type { Sql } from '../database/sql.ts'
import type { Caller } from './caller.ts'
import type { Reader, Selected, WireRecord } from './reader.ts'

// What was made of records is kept in the process and used as long as it is their version, which every read asks the
// database for (docs/decisions/representations.md).

/** What is made of each record of a kind. */
export interface Representation<Made = Buffer> {
  /** Unique: what is kept goes by it. Null: nothing is kept. */
  readonly name: string | null
  /** The json array that a record is made from, over `t` (the record) and `s` (its store). */
  readonly select: Sql
  readonly make: (row: Selected) => Made
  readonly bytesOf: (made: Made) => number
}

/** A JSON text, or its UTF-8 bytes. */
export type JsonText = string | Buffer

/** What stands around the records of a page, in ASCII. */
interface Frame {
  readonly first: string
  readonly between: string
  readonly last: string
}

/** A representation in bytes, of which pages can be made. */
export interface BytesRepresentation extends Representation {
  readonly frame: Frame
}

export function bytesRepresentation(
  name: string,
  { select }: Pick<Reader, 'select'>,
  { write, frame }: { write: (row: Selected) => string; frame: Frame },
): BytesRepresentation {
  return { name, select, make: (row) => ownBytes(write(row)), bytesOf: ({ length }) => length, frame }
}

/** A text in memory of its own, because what is kept would keep its neighbours in shared memory too. */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** The records as values, of which nothing is kept. */
export function recordValues({ select, record }: Reader): Representation<WireRecord> {
  return { name: null, select, make: record, bytesOf: () => 0 }
}

/** Around JSON texts. */
export const jsonFrame: Frame = { first: '[', between: ',', last: ']' }

/** The JSON texts that `reader` composes. */
export function jsonRepresentation(name: string, reader: Reader): BytesRepresentation {
  return bytesRepresentation(name, reader, { write: reader.compose, frame: jsonFrame })
}

/** Joins the records of a page, texts or their bytes. */
export function joined(records: readonly JsonText[], { first, between, last }: Frame): Buffer {
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

/** The version of a record: that of its row, and that of what it shows of others. */
export interface Version {
  readonly row: string
  readonly referenced: string
}

interface KeptRecord extends Version {
  readonly made: unknown
}

/** A page is kept as soon as it is read again. */
type Kept = KeptRecord | 'read once' | Buffer

const MEGABYTE = 1024 * 1024
/** What an entry takes besides its bytes. */
const ENTRY_BYTES = 300
/** The part of the room that one entry may have. */
const ENTRY_SHARE = 1 / 8
const SCOPES_MAX = 10_000
/** The part of a page that must be kept to make it worth asking which records are. */
const USEFUL_SHARE = 1 / 8

const caches = new WeakMap<Db, KeptRepresentations>()

/** Keeps up to `megabytes` of what requests over this client read; 0: nothing. */
export function keepRepresentations(db: Db, megabytes: number): void {
  if (megabytes > 0) caches.set(db, new KeptRepresentations(megabytes * MEGABYTE))
}

/** What is kept. Null inside a transaction, which may see versions that nobody else will ever see. */
export function keptFor({ db }: Caller, { name }: Pick<Representation, 'name'>): KeptRepresentations | null {
  return isClient(db) && name !== null ? (caches.get(db) ?? null) : null
}

/** Forgets everything: a database that takes the place of another may give its versions again. */
export function forgetRepresentations(db: Db): void {
  caches.get(db)?.clear()
}

/** The representations of all stores, within a number of bytes. A `scope` is a representation in a store. */
export class KeptRepresentations {
  readonly #kept: LRUCache<string, Kept>
  /** Whether much of a scope's last page was kept. */
  readonly #useful = new LRUCache<string, boolean>({ max: SCOPES_MAX })

  constructor(bytesMax: number) {
    this.#kept = new LRUCache({ maxSize: bytesMax, maxEntrySize: Math.ceil(bytesMax * ENTRY_SHARE) })
  }

  scopeOf({ store }: Caller, { name }: Pick<Representation, 'name'>): string {
    return `${store.id} ${name}`
  }

  /** The record as it was kept last, whatever its version. */
  record<Made>(scope: string, id: number): (Version & { readonly made: Made }) | undefined {
    return this.#kept.get(`${scope} ${id}`) as (KeptRecord & { made: Made }) | undefined
  }

  keepRecord(scope: string, id: number, record: KeptRecord, bytes: number): void {
    const key = `${scope} ${id}`
    this.#kept.set(key, record, { size: ENTRY_BYTES + key.length + bytes })
  }

  /** The page of these records, named by their ids and versions. Undefined unless it was read again. */
  page(scope: string, records: string): Buffer | undefined {
    const kept = this.#kept.get(`${scope} of ${records}`)
    return kept instanceof Buffer ? kept : undefined
  }

  keepPage(scope: string, records: string, page: Buffer): void {
    const key = `${scope} of ${records}`
    const size = ENTRY_BYTES + key.length
    if (this.#kept.has(key)) this.#kept.set(key, page, { size: size + page.length })
    else this.#kept.set(key, 'read once', { size })
  }

  isUseful(scope: string): boolean {
    return this.#useful.get(scope) === true
  }

  /** Notes how much of a page was kept. */
  note(scope: string, kept: number, all: number): void {
    // The last page may be empty.
    if (all > 0) this.#useful.set(scope, kept > all * USEFUL_SHARE)
  }

  clear(): void {
    this.#kept.clear()
  }
}
