import { LRUCache } from 'lru-cache'
import { networkOf } from '../values/address-blocks.ts'
import { StoreFailure } from '../values/failure.ts'

export interface Figures {
  /** Requests that may come in one burst. */
  readonly capacity: number
  /** Requests a second that may go on; three decimals at most. */
  readonly leakPerSecond: number
}

/** contract §8 */
export const contractFigures: Figures = { capacity: 50, leakPerSecond: 2 }

export interface Bucket {
  /** In millionths of a request: with rates of three decimals, what leaks in whole milliseconds is a whole number. */
  readonly level: number
  readonly atMs: number
}

export interface Pour {
  readonly accepted: boolean
  /** The bucket from now on; a refused request has not filled it. */
  readonly bucket: Bucket
  /** What it holds now, in requests; what leaked in part makes fractions. */
  readonly level: number
  /** How many more requests would be accepted at this moment. */
  readonly remaining: number
  /** Whole seconds until the bucket is empty, 0 when it is. */
  readonly resetSeconds: number
  /** Whole milliseconds, at least 1, until a refused request will be accepted; 0 for an accepted one. */
  readonly retryAfterMs: number
  /** The same in whole seconds, rounded up. */
  readonly retryAfterSeconds: number
}

const REQUEST = 1_000_000

/** One more request into the bucket (undefined: an empty one). A clock that went back leaks nothing. */
export function pour(bucket: Bucket | undefined, { capacity, leakPerSecond }: Figures, nowMs: number): Pour {
  const leakPerMs = Math.round(leakPerSecond * 1000)
  const room = capacity * REQUEST
  const leaked = bucket ? Math.max(0, nowMs - bucket.atMs) * leakPerMs : 0
  const before = Math.max(0, (bucket?.level ?? 0) - leaked)
  const accepted = before + REQUEST <= room
  const level = accepted ? before + REQUEST : before
  const retryAfterMs = accepted ? 0 : Math.ceil((before + REQUEST - room) / leakPerMs)
  return {
    accepted,
    bucket: { level, atMs: nowMs },
    level: level / REQUEST,
    remaining: Math.max(0, Math.floor((room - level) / REQUEST)),
    resetSeconds: wholeSeconds(level, leakPerMs),
    retryAfterMs,
    retryAfterSeconds: Math.ceil(retryAfterMs / 1000),
  }
}

function wholeSeconds(amount: number, leakPerMs: number): number {
  return Math.ceil(amount / leakPerMs / 1000)
}

/**
 * Tells a caller of its bucket in the headers of the answer, as every throttled route does (design.md). Throws `throttled` when
 * it took no more.
 */
export function showBucket(
  reply: { headers(values: Record<string, string>): unknown },
  { capacity, leakPerSecond }: Figures,
  poured: Pour,
): void {
  const { accepted, remaining, resetSeconds, retryAfterSeconds } = poured
  reply.headers({
    'x-ratelimit-limit': String(capacity),
    'x-ratelimit-remaining': String(remaining),
    'ratelimit-policy': `"default";q=${capacity};w=${Math.ceil(capacity / leakPerSecond)}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
    ...(!accepted && { 'retry-after': String(retryAfterSeconds) }),
  })
  if (!accepted) throw tooMany(poured)
}

/** The refusal of a request that the bucket did not take. */
export function tooMany({ retryAfterSeconds }: Pour): StoreFailure {
  return new StoreFailure('throttled', `Too many requests; come back in ${retryAfterSeconds} s`, { retryAfterSeconds })
}

export interface Throttle {
  /** Counts a request against the bucket `key`. */
  take(key: string, figures: Figures): Pour
  /** Counts a request that was refused with 401 against the network of its client address, with the contract's figures (rest-protocol 6). */
  takeRefused(address: string): Pour
}

/**
 * Above the bound the bucket that was left alone longest is forgotten. A bucket of the contract's figures is empty 25 s
 * after its last request, so one that still counted is lost only when more than this many others were used within 25 s.
 */
const BUCKETS_MAX = 50_000

/** Buckets of this process, in memory. Addresses have a space of their own, so that strangers cannot push a caller's bucket out. */
export function createThrottle(now: () => Date): Throttle {
  const callers = bucketSpace(now)
  const addresses = bucketSpace(now)
  return { take: callers, takeRefused: (address) => addresses(networkOf(address), contractFigures) }
}

interface Kept {
  readonly bucket: Bucket
  /** From then on the bucket is as good as none. */
  readonly emptyAtMs: number
}

function bucketSpace(now: () => Date) {
  const kept = new LRUCache<string, Kept>({ max: BUCKETS_MAX })
  return (key: string, figures: Figures): Pour => {
    const nowMs = now().getTime()
    const poured = pour(kept.get(key)?.bucket, figures, nowMs)
    kept.set(key, { bucket: poured.bucket, emptyAtMs: nowMs + poured.resetSeconds * 1000 })
    dropEmpty(kept, nowMs)
    return poured
  }
}

/** Two at most for the one that came, beginning with those left alone longest: in the long run no empty bucket stays, and no request waits. */
function dropEmpty(kept: LRUCache<string, Kept>, nowMs: number) {
  for (let count = 0; count < 2; count++) {
    const key = kept.rkeys().next().value
    if (key === undefined || (kept.peek(key)?.emptyAtMs ?? 0) > nowMs) return
    kept.delete(key)
  }
}
