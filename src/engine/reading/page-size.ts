import { LRUCache } from 'lru-cache'
import { isClient } from '../../database/client.ts'
import { constant, type Sql, sql } from '../../database/sql.ts'
import { bytesInFlight } from '../../process/bytes-in-flight.ts'
import { StoreFailure } from '../../values/failure.ts'
import { type Caller, callerKey } from '../caller.ts'

// How large a page may be. Its size is known to PostgreSQL alone, which hands over a larger one only when it is asked again.

const { largeMin, callerMax } = bytesInFlight
const MEGABYTE = 1024 * 1024

/** Bytes per record of the last large page, by store and table. */
const bytesPerRecord = new LRUCache<string, number>({ max: 10_000 })
/** Room for records that have grown since. */
const MARGIN = 1.25
const ATTEMPTS_MAX = 3

/** A JSON text if it has at most `room` bytes; otherwise their number. Null: the text, whatever its size. */
export function within(room: number | null, text: Sql): Sql {
  if (room === null) return text
  // In the statement itself for the usual size, so that one plan serves every page.
  const bytes = room === largeMin ? sql`${constant(room)}` : sql`${room}::int`
  return sql`CASE WHEN octet_length(${text}) <= ${bytes} THEN ${text} ELSE octet_length(${text})::text END`
}

/** What a statement read: a value of so many bytes; without one, only their number, because there is no room for so many. */
export interface Sized<T> {
  readonly bytes: number
  readonly value?: T
}

/** Reads what `within` gave. */
export function sized(text: string | null): Sized<string | null> {
  if (text === null || text.startsWith('[')) return { bytes: text?.length ?? 0, value: text }
  return { bytes: Number(text) }
}

/** Whether `readWithin` found a page to be large, which has a turn then. */
export function isLarge(room: number | null): room is number {
  return room !== null && room > largeMin
}

/**
 * Reads JSON arrays, at most `limit` records. `read` gets the bytes that there is room for; null: any number. What is large
 * waits for its turn. Throws `bad-request` for more than 24 MB, and `throttled` or `unavailable` if too many bytes are in
 * flight.
 */
export async function readWithin<T>(
  caller: Caller,
  { table, limit }: { table: string; limit: number },
  read: (room: number | null) => Promise<Sized<T>>,
): Promise<T> {
  // Waiting inside a transaction would keep its connection from those who have a turn.
  if (!isClient(caller.db)) return (await read(null)).value as T
  const key = `${caller.store.id} ${table}`
  let bytes = (bytesPerRecord.get(key) ?? 0) * limit
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const found = await readOnce(caller, bytes, read)
    if (found.value !== undefined) {
      if (bytes > largeMin) bytesPerRecord.set(key, found.bytes / limit)
      return found.value
    }
    bytes = found.bytes
    refuseTooLarge(bytes)
  }
  throw new StoreFailure('unavailable', 'The records are being changed; try again in a moment')
}

function readOnce<T>(caller: Caller, bytes: number, read: (room: number) => Promise<T>): Promise<T> {
  if (bytes <= largeMin) return read(largeMin)
  const expected = Math.min(bytes, callerMax)
  return bytesInFlight.readLarge(callerKey(caller), { bytes: expected, isGone: caller.isGone }, () =>
    read(Math.ceil(expected * MARGIN)),
  )
}

/** Throws `bad-request` for a page of more than 24 MB. */
export function refuseTooLarge(bytes: number): void {
  if (bytes <= callerMax) return
  const [size, most] = [bytes, callerMax].map((each) => Math.ceil(each / MEGABYTE))
  const message = `The page has ${size} MB; at most ${most} MB are allowed. Ask for fewer records by limit`
  throw new StoreFailure('bad-request', message, { field: 'limit' })
}
