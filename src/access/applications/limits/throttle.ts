import { networkOf } from '../../../foundation/values/address-blocks.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import type { RateLimit } from '../../stores/rate-limit.ts'
import { type BucketReading, MemoryBuckets } from './leaky-bucket.ts'
import type { SharedBuckets } from './shared-buckets.ts'

/** contract §8 */
export const contractRateLimit: RateLimit = { capacity: 50, leakPerSecond: 2 }

/** The error for a request that the bucket refused. */
export function tooMany({ retryAfterSeconds }: BucketReading): StoreFailure {
  const message = `Too many requests; come back in ${retryAfterSeconds} s`
  return new StoreFailure('rate-limited', message, { retryAfterSeconds })
}

/**
 * Bodies that come without a session or credentials in the headers, of one network. Wide enough for offices and hosted
 * programs behind one address; narrow enough that what they cost does not matter.
 */
const anonymousRateLimit: RateLimit = { capacity: 1_000, leakPerSecond: 10 }

export type Throttle = ReturnType<typeof createThrottle>

/** Counts requests in buckets; without `buckets`, in those of this process alone. */
export function createThrottle(now: () => Date, buckets: SharedBuckets | MemoryBuckets = new MemoryBuckets(now)) {
  // Each process has its own, because they bound its work before it knows who asks.
  const anonymous = new MemoryBuckets(now)
  return {
    /** Counts a request in the bucket `key`. Never rejects. */
    take: async (key: string, rateLimit: RateLimit) => buckets.take(key, rateLimit),
    /** Counts a 401 in the bucket of the client's network, with the contract's rate limit (rest-protocol §6). */
    takeRefused: async (address: string) => buckets.take(`refused ${networkOf(address)}`, contractRateLimit),
    /** Counts a request before its body says who sent it. Throws `rate-limited` after too many from the client's network. */
    requireAnonymous: (address: string) => {
      const reading = anonymous.take(networkOf(address), anonymousRateLimit)
      if (!reading.accepted) throw tooMany(reading)
    },
    /** Takes back what `requireAnonymous` counted, because the body had valid credentials. */
    returnAnonymous: (address: string) => anonymous.giveBack(networkOf(address)),
  }
}
