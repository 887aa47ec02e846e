import type { BucketReading } from '../../../access/applications/limits/leaky-bucket.ts'
import { type Throttle, tooMany } from '../../../access/applications/limits/throttle.ts'
import type { RateLimit } from '../../../access/stores/rate-limit.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import type { BucketName, Metrics } from '../figures/metrics.ts'

/** The beginnings of keys that `take` counts by. Calls of cartAPI wait for theirs, so that no refusal by it is final. */
const beginnings: readonly (readonly [string, BucketName | null])[] = [
  ['cartAPI ', null],
  ['sign-in:', 'sign-in'],
  ['callback-test:', 'callback-test'],
]

/** Counts what the buckets of `throttle` refuse. */
export function countThrottled(throttle: Throttle, metrics: Pick<Metrics, 'throttledRequests'>): Throttle {
  const counted = (bucket: BucketName | null, reading: BucketReading): BucketReading => {
    if (bucket !== null && !reading.accepted) metrics.throttledRequests.inc({ bucket })
    return reading
  }
  return {
    ...throttle,
    take: async (key, rateLimit) => counted(bucketOf(key), await throttle.take(key, rateLimit)),
    takeRefused: async (address) => counted('refused', await throttle.takeRefused(address)),
    requireAnonymous: (address) => {
      try {
        throttle.requireAnonymous(address)
      } catch (error) {
        if (error instanceof StoreFailure) metrics.throttledRequests.inc({ bucket: 'anonymous' })
        throw error
      }
    },
  }
}

function bucketOf(key: string): BucketName | null {
  const [, bucket] = beginnings.find(([beginning]) => key.startsWith(beginning)) ?? [key, 'application' as const]
  return bucket
}

/** Sets the rate limit headers of a response, as on every throttled route. Throws `rate-limited` for a refused request. */
export function showBucket(
  reply: { headers(values: Record<string, string>): unknown },
  { capacity, leakPerSecond }: RateLimit,
  reading: BucketReading,
): void {
  const { accepted, remaining, resetSeconds, retryAfterSeconds } = reading
  reply.headers({
    'x-ratelimit-limit': String(capacity),
    'x-ratelimit-remaining': String(remaining),
    'ratelimit-policy': `"default";q=${capacity};w=${Math.ceil(capacity / leakPerSecond)}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
    ...(!accepted && { 'retry-after': String(retryAfterSeconds) }),
  })
  if (!accepted) throw tooMany(reading)
}
