import type { BucketReading } from '../applications/leaky-bucket.ts'
import type { Throttle } from '../applications/throttle.ts'
import { StoreFailure } from '../values/failure.ts'
import type { BucketName, Metrics } from './metrics.ts'

/** The beginnings of keys that `take` counts by. Calls of cartAPI wait for theirs, so that no refusal by it is final. */
const beginnings: readonly (readonly [string, BucketName | null])[] = [
  ['cartAPI ', null],
  ['sign-in:', 'sign-in'],
  ['callback-test:', 'callback-test'],
]

/** Counts what the buckets of `throttle` refuse. */
export function countThrottled(
  throttle: Throttle,
  { throttledRequests }: Pick<Metrics, 'throttledRequests'>,
): Throttle {
  const count = (bucket: BucketName | null, reading: BucketReading): BucketReading => {
    if (bucket !== null && !reading.accepted) throttledRequests.inc({ bucket })
    return reading
  }
  const seen = (bucket: BucketName | null, taken: Taken): Taken =>
    taken instanceof Promise ? taken.then((reading) => count(bucket, reading)) : count(bucket, taken)
  return {
    ...throttle,
    take: (key, rateLimit) => seen(bucketOf(key), throttle.take(key, rateLimit)),
    takeRefused: (address) => seen('refused', throttle.takeRefused(address)),
    requireAnonymous: async (address) => {
      try {
        await throttle.requireAnonymous(address)
      } catch (error) {
        if (error instanceof StoreFailure) throttledRequests.inc({ bucket: 'anonymous' })
        throw error
      }
    },
  }
}

type Taken = ReturnType<Throttle['take']>

function bucketOf(key: string): BucketName | null {
  const [, bucket] = beginnings.find(([beginning]) => key.startsWith(beginning)) ?? [key, 'application' as const]
  return bucket
}
