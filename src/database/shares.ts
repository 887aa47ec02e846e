import { type BulkheadPolicy, BulkheadRejectedError, bulkhead } from 'cockatiel'
import { Outage } from './outage.ts'

/** How long work waits for its turn, and how much of one key waits. */
const WAIT_MS_MAX = 10_000
const WAITING_MAX = 200

/** Runs work of a key (such as a store's id) when its turn comes. */
export type Share = <T>(key: number | string, work: () => Promise<T>) => Promise<T>

/** Of keys without work, this many are kept. */
const IDLE_KEYS_MAX = 1_000

/**
 * Lets each key run `most` pieces of work at a time; more wait, first come first served. Throws an `Outage`, with `reason`, for
 * work that waited 10 s, or found 200 waiting.
 */
export function createShare(most: number, reason: string): Share {
  const byKey = new Map<number | string, BulkheadPolicy>()
  const dropIfIdle = (key: number | string, { executionSlots, queueSlots }: BulkheadPolicy) => {
    const isIdle = executionSlots === most && queueSlots === WAITING_MAX
    if (isIdle && byKey.size > IDLE_KEYS_MAX) byKey.delete(key)
  }
  return async (key, work) => {
    const own = byKey.get(key) ?? bulkhead(most, WAITING_MAX)
    byKey.set(key, own)
    try {
      return await (own.executionSlots > 0 ? own.execute(work) : inTurn(own, work, reason))
    } catch (error) {
      throw error instanceof BulkheadRejectedError ? new Outage(reason) : error
    } finally {
      dropIfIdle(key, own)
    }
  }
}

async function inTurn<T>(own: BulkheadPolicy, work: () => Promise<T>, reason: string): Promise<T> {
  const waiting = new AbortController()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    waiting.abort()
    reject(new Outage(reason))
  }, WAIT_MS_MAX)
  const begin = () => {
    clearTimeout(timer)
    return work()
  }
  try {
    return await Promise.race([own.execute(begin, waiting.signal), late])
  } finally {
    clearTimeout(timer)
  }
}

/** The share of reads: half of the connections of a client for each store. */
export function createStoreReads(connections: number): Share {
  return createShare(Math.ceil(connections / 2), 'Too many reads of this store are under way')
}
