import { LRUCache } from 'lru-cache'
import { isClient } from '../../foundation/database/client.ts'
import { bytesInFlight } from '../../foundation/process/bytes-in-flight.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import { type Caller, callerKey } from '../caller.ts'

// How large a page may be. Only PostgreSQL knows its size; it hands over a larger one only when it is asked again.

const { largeMin, callerMax } = bytesInFlight.bounds
const MEGABYTE = 1024 * 1024

/** Bytes per record of the last large page, by store and table. */
const bytesPerRecord = new LRUCache<string, number>({ max: 10_000 })
/** Room for records that have grown since. */
const MARGIN = 1.25
const ATTEMPTS_MAX = 3

/** What a statement read: a value of so many bytes; without one, only their number, because there is no room for so many. */
export interface Sized<T> {
  readonly bytes: number
  readonly value?: T
}

/**
 * Reads JSON arrays, at most `limit` records. `read` gets the bytes that there is room for. What is large waits for its turn.
 * Throws a 400 for more than 24 MB, and `rate-limited` or `unavailable` if too many bytes are in flight.
 */
export async function readWithin<T>(
  caller: Caller,
  { table, limit }: { table: string; limit: number },
  read: (room: number) => Promise<Sized<T>>,
): Promise<T> {
  // Waiting inside a transaction would keep its connection from those who have a turn.
  if (!isClient(caller.db)) return (await read(INT32_MAX)).value as T
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

/** Throws a 400 for a page of more than 24 MB. */
export function refuseTooLarge(bytes: number): void {
  if (bytes <= callerMax) return
  const [size, most] = [bytes, callerMax].map((each) => Math.ceil(each / MEGABYTE))
  const message = `The page has ${size} MB; at most ${most} MB are allowed. Ask for fewer records by limit`
  throw new StoreFailure('out-of-range', message, { field: 'limit' })
}
