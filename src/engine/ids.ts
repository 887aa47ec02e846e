import { StoreFailure } from '../values/failure.ts'
import { INT32_MAX } from '../values/int32.ts'
import type { Caller } from './caller.ts'

/** The counter of the ids of nested rows, one for all kinds in a store. */
export const ROW_COUNTER = 'row'

/**
 * Reserves `count` ids of a kind of record in the caller's store and returns the first of them.
 * Called outside of transactions: ids are then never waited for, and a transaction that fails leaves a gap.
 */
export async function reserveIds(caller: Caller, counter: string, count: number): Promise<number> {
  const [row] = await caller.db.$queryRawUnsafe<{ value: number | bigint }[]>(
    `INSERT INTO "Counter" AS c ("storeId", "name", "value") VALUES ($1::int, $2, $3::int)
     ON CONFLICT ("storeId", "name") DO UPDATE SET "value" = least(c."value"::bigint + $3::int, ${INT32_MAX})
     RETURNING "value"`,
    caller.store.id,
    counter,
    count,
  )
  const last = Number(row?.value)
  if (last >= INT32_MAX) throw new StoreFailure('unavailable', `The store has no ${counter} identifiers left`)
  return last - count + 1
}

/** Raises a counter so that the ids up to `used` are not given out again. */
export async function raiseCounter(caller: Caller, counter: string, used: number): Promise<void> {
  await caller.db.$executeRawUnsafe(
    `INSERT INTO "Counter" AS c ("storeId", "name", "value") VALUES ($1::int, $2, $3::int)
     ON CONFLICT ("storeId", "name") DO UPDATE SET "value" = greatest(c."value", excluded."value")`,
    caller.store.id,
    counter,
    used,
  )
}

/** Thrown inside a transaction when more new rows turn up than ids were reserved for; the transaction is run again with enough. */
export class RowIdsExhausted extends Error {}

/** Ids for the new nested rows of one write. */
export class RowIds {
  #next: number
  readonly #end: number

  constructor(first: number, count: number) {
    this.#next = first
    this.#end = first + count
  }

  take(): number {
    if (this.#next >= this.#end) throw new RowIdsExhausted()
    return this.#next++
  }
}

/**
 * Runs a write that may need ids for nested rows: `expected` for the rows without a key, which are surely new;
 * where rows with an unknown key turn up as well, it runs again with `most`.
 */
export async function withRowIds<T>(
  caller: Caller,
  expected: number,
  most: number,
  write: (ids: RowIds) => Promise<T>,
): Promise<T> {
  try {
    return await write(await reserveRowIds(caller, expected))
  } catch (error) {
    if (!(error instanceof RowIdsExhausted)) throw error
    return write(await reserveRowIds(caller, most))
  }
}

async function reserveRowIds(caller: Caller, count: number): Promise<RowIds> {
  return count === 0 ? new RowIds(0, 0) : new RowIds(await reserveIds(caller, ROW_COUNTER, count), count)
}
