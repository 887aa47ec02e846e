import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { type Db, isClient } from '../../database/client.ts'
import type { Sql } from '../../database/sql.ts'
import type { Caller } from '../caller.ts'
import type { Reader, Selected, WireRecord } from '../definition/reader.ts'

// What was made of records is kept in the process and used as long as it is their version, which every read asks the
// database for (docs/decisions/representations.md).

/** What is made of each record of a kind. A text is kept in bytes. */
export interface Representation<Made = JsonText> {
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
  return { name, select, make: write, bytesOf: Buffer.byteLength, frame }
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

/** What is kept of a record, for `opener`. */
export interface KeptRecord<Made> extends Version {
  readonly made: Made | Packed
}

/** What was made of a record. */
export interface MadeRecord<Made> extends Version {
  readonly id: number
  readonly made: Made
}

/** Records that are compressed together. */
class Pack {
  readonly bytes: Buffer
  /** Of the records before they were compressed. */
  readonly length: number
  /** Of the records that no later version has replaced. */
  readonly keys: Set<string>

  constructor(bytes: Buffer, length: number, keys: Iterable<string>) {
    this.bytes = bytes
    this.length = length
    this.keys = new Set(keys)
  }
}

/** The place of a record in a pack. */
class Packed {
  readonly pack: Pack
  readonly start: number
  readonly end: number

  constructor(pack: Pack, start: number, end: number) {
    this.pack = pack
    this.start = start
    this.end = end
  }
}

/** Returns what was made of kept records. Unpacks each pack once, so an opener must not be kept. */
export function opener(): <Made>(record: KeptRecord<Made>) => Made {
  const unpacked = new Map<Pack, Buffer>()
  return <Made>({ made }: KeptRecord<Made>): Made => {
    if (!(made instanceof Packed)) return made
    const { pack, start, end } = made
    const bytes = unpacked.get(pack) ?? zstdDecompressSync(pack.bytes, { chunkSize: pack.length + 1 })
    unpacked.set(pack, bytes)
    return bytes.subarray(start, end) as Made
  }
}

const MEGABYTE = 1024 * 1024
/** What an entry takes besides its bytes. */
const ENTRY_BYTES = 300
/** What a record in a pack takes besides its compressed bytes. */
const PACKED_ENTRY_BYTES = 200
/** The part of the room that one entry may have. */
const ENTRY_SHARE = 1 / 8
/** The part of the room that pages may have; the rest is for records. */
const PAGES_SHARE = 1 / 4
/** Records are packed if this is their size on average, because few of them would fit otherwise. */
const PACKED_MIN = 8 * 1024
/** Bytes of the records of a pack. Unpacking takes about 0.1 ms. */
const PACK_BYTES = 240 * 1024
const noFrame: Frame = { first: '', between: '', last: '' }
const packing = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const SCOPES_MAX = 10_000
/** The part of a page that must be kept to make it worth asking which records are. */
const USEFUL_SHARE = 1 / 8

function isText<Made>(record: MadeRecord<Made>): record is MadeRecord<Made & string> {
  return typeof record.made === 'string'
}

/** Divides records, in their order, by what goes into a pack. */
function inPacks(records: readonly MadeRecord<string>[]): MadeRecord<string>[][] {
  const packs: MadeRecord<string>[][] = []
  let room = 0
  for (const record of records) {
    room -= record.made.length
    if (packs.length === 0 || room < 0) {
      packs.push([])
      room = PACK_BYTES - record.made.length
    }
    packs.at(-1)?.push(record)
  }
  return packs
}

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
  readonly #records: KeptRecords
  readonly #readBefore = new ReadBefore()
  /** A page is kept as soon as it is read again. */
  readonly #pages: LRUCache<string, Buffer | 'read once'>
  /** Whether much of a scope's last page was kept. */
  readonly #useful = new LRUCache<string, boolean>({ max: SCOPES_MAX })

  constructor(bytesMax: number) {
    const pagesMax = Math.ceil(bytesMax * PAGES_SHARE)
    const maxEntrySize = Math.ceil(bytesMax * ENTRY_SHARE)
    this.#records = new KeptRecords(bytesMax - pagesMax, maxEntrySize)
    this.#pages = new LRUCache({ maxSize: pagesMax, maxEntrySize })
  }

  scopeOf({ store }: Caller, { name }: Pick<Representation, 'name'>): string {
    return `${store.id} ${name}`
  }

  /** The record as it was kept last, whatever its version. */
  record<Made>(scope: string, id: number): KeptRecord<Made> | undefined {
    return this.#records.get(`${scope} ${id}`) as KeptRecord<Made> | undefined
  }

  /** Keeps those that have been read before of records that were read together. Returns how many. */
  keepRecords<Made>(
    scope: string,
    all: readonly MadeRecord<Made>[],
    { bytesOf }: Pick<Representation<Made>, 'bytesOf'>,
  ): number {
    const records = all.filter(({ id }) => this.#readBefore.note(`${scope} ${id}`))
    const bytes = records.reduce((sum, { made }) => sum + bytesOf(made), 0)
    if (bytes >= records.length * PACKED_MIN && records.every(isText)) {
      for (const together of inPacks(records)) {
        this.#records.setTogether(new Map(together.map((record) => [`${scope} ${record.id}`, record])))
      }
    } else {
      for (const { id, row, referenced, made } of records) {
        const kept = typeof made === 'string' ? ownBytes(made) : made
        this.#records.set(`${scope} ${id}`, { row, referenced, made: kept }, bytesOf(made))
      }
    }
    return records.length
  }

  /** The page of these records, named by their ids and versions. Undefined unless it was read again. */
  page(scope: string, records: string): Buffer | undefined {
    const kept = this.#pages.get(`${scope} of ${records}`)
    return kept instanceof Buffer ? kept : undefined
  }

  keepPage(scope: string, records: string, page: Buffer): void {
    const key = `${scope} of ${records}`
    const size = ENTRY_BYTES + key.length
    if (this.#pages.has(key)) this.#pages.set(key, page, { size: size + page.length })
    else this.#pages.set(key, 'read once', { size })
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
    this.#records.clear()
    this.#pages.clear()
  }
}

const NOTED_BITS = 2 ** 20
const NOTED_MAX = NOTED_BITS / 4

/** Remembers which records were read lately: what is read once only, such as a whole store in turn, is not worth keeping. */
class ReadBefore {
  /** A bit for each hash of a key. Two keys may have the same, which does no harm. */
  readonly #bits = new Uint8Array(NOTED_BITS / 8)
  #noted = 0

  /** Notes that a record is read. Returns whether it was noted before. */
  note(key: string): boolean {
    let hash = 0
    for (let place = 0; place < key.length; place++) hash = (Math.imul(hash, 31) + key.charCodeAt(place)) | 0
    const place = (hash >>> 0) % NOTED_BITS
    const [byte, bit] = [place >>> 3, 1 << (place & 7)]
    if (((this.#bits[byte] as number) & bit) !== 0) return true
    if (++this.#noted > NOTED_MAX) {
      this.#bits.fill(0)
      this.#noted = 1
    }
    this.#bits[byte] = (this.#bits[byte] as number) | bit
    return false
  }
}

/** Records by key, the least recently used of which go first. */
class KeptRecords {
  readonly #kept: LRUCache<string | Pack, KeptRecord<unknown> | Pack>
  /** Records in packs of `#kept`. */
  readonly #packed = new Map<string, KeptRecord<unknown> & { readonly made: Packed }>()

  constructor(maxSize: number, maxEntrySize: number) {
    this.#kept = new LRUCache({
      maxSize,
      maxEntrySize,
      dispose: (gone) => {
        if (gone instanceof Pack) for (const key of gone.keys) this.#packed.delete(key)
      },
    })
  }

  get(key: string): KeptRecord<unknown> | undefined {
    const packed = this.#packed.get(key)
    if (packed === undefined) return this.#kept.get(key) as KeptRecord<unknown> | undefined
    // Marks the pack as used.
    this.#kept.get(packed.made.pack)
    return packed
  }

  set(key: string, record: KeptRecord<unknown>, bytes: number): void {
    this.#delete(key)
    this.#kept.set(key, record, { size: ENTRY_BYTES + key.length + bytes })
  }

  setTogether(records: ReadonlyMap<string, Version & { readonly made: string }>): void {
    const whole = joined(
      [...records.values()].map(({ made }) => made),
      noFrame,
    )
    const pack = new Pack(zstdCompressSync(whole, packing), whole.length, [...records.keys()])
    const size = ENTRY_BYTES + records.size * PACKED_ENTRY_BYTES + pack.bytes.length
    for (const key of records.keys()) this.#delete(key)
    this.#kept.set(pack, pack, { size })
    // It may be too large for an entry.
    if (!this.#kept.has(pack)) return
    let end = 0
    for (const [key, { row, referenced, made }] of records) {
      const start = end
      end += Buffer.byteLength(made)
      this.#packed.set(key, { row, referenced, made: new Packed(pack, start, end) })
    }
  }

  clear(): void {
    this.#kept.clear()
  }

  #delete(key: string): void {
    const packed = this.#packed.get(key)
    if (packed === undefined) {
      this.#kept.delete(key)
      return
    }
    const { pack } = packed.made
    this.#packed.delete(key)
    pack.keys.delete(key)
    if (pack.keys.size === 0) this.#kept.delete(pack)
  }
}
