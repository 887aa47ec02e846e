import { BulkheadRejectedError, bulkhead } from 'cockatiel'
import { Outage } from './outage.ts'

/** How long work waits for its turn, and how much of one key waits. */
const WAIT_MS_MAX = 10_000
const WAITING_MAX = 200

/** Runs work of a key (a store's id) when its turn comes. */
export type Share = <T>(key: number, work: () => Promise<T>) => Promise<T>

/**
 * Lets each key run `most` pieces of work at a time; more wait, first come first served. Throws an `Outage`, with `reason`, for
 * work that waited 10 s, or found 200 waiting.
 */
export function createShare(most: number, reason: string): Share {
  const byKey = new Map<number, ReturnType<typeof bulkhead>>()
  const refused = () => new Outage(reason)
  return async (key, work) => {
    const own = byKey.get(key) ?? bulkhead(most, WAITING_MAX)
    byKey.set(key, own)
    const waiting = new AbortController()
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      waiting.abort()
      reject(refused())
    }, WAIT_MS_MAX)
    try {
      const begun = () => {
        clearTimeout(timer)
        return work()
      }
      return await Promise.race([own.execute(begun, waiting.signal), late])
    } catch (error) {
      throw error instanceof BulkheadRejectedError ? refused() : error
    } finally {
      clearTimeout(timer)
      if (own.executionSlots === most && own.queueSlots === WAITING_MAX) byKey.delete(key)
    }
  }
}

/** The share of reads: half of the connections of a client for each store. */
export function createStoreReads(connections: number): Share {
  return createShare(Math.ceil(connections / 2), 'Too many reads of this store are under way')
}
