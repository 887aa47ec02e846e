import type { BucketReading } from '../../access/applications/limits/leaky-bucket.ts'
import type { RateLimit } from '../../access/stores/rate-limit.ts'
import { type SetTimer, startTimer } from '../../foundation/process/timer.ts'

export type Turn =
  | { readonly kind: 'granted'; readonly bucket: BucketReading; readonly hasWaited: boolean }
  /** The wait would be too long, or too many wait. `bucket` says when to try again. */
  | { readonly kind: 'refused'; readonly bucket: BucketReading }
  | { readonly kind: 'left' }
  | { readonly kind: 'stopped' }

export interface QueueServices {
  throttle: {
    /** Takes a slot of the bucket `key` if the bucket has one. */
    readonly take: (key: string, rateLimit: RateLimit) => BucketReading | Promise<BucketReading>
  }
  now: () => Date
  /** Absent: timers of the process. */
  setTimer?: SetTimer
}

/** Proxies and HTTP clients give up after 60 s or more. */
const WAIT_MS_MAX = 30_000
/** The slots that a bucket of the contract's rate limit has in that time. */
const WAITING_OF_BUCKET_MAX = 60
/** A waiting request keeps its connection and what it sent. */
const WAITING_MAX = 1_000

/** The requests that want a slot of one bucket. */
interface Line {
  readonly key: string
  /** Of the last request: the store may have got another one meanwhile. */
  rateLimit: RateLimit
  /** In the order of their arrival. */
  readonly entries: Set<Entry>
  isTaking: boolean
  cancelTimer: () => void
}

interface Entry {
  readonly deadlineMs: number
  /** False until the bucket was found full. */
  isWaiting: boolean
  readonly end: (turn: Turn | Promise<never>) => void
}

/** Queues before buckets. A timer wakes each queue exactly when its bucket has the next slot; nothing is polled. */
export class Queue {
  readonly #services: Required<QueueServices>
  readonly #lines = new Map<string, Line>()
  #waiting = 0
  #isStopped = false

  constructor({ setTimer = startTimer, ...services }: QueueServices) {
    this.#services = { ...services, setTimer }
  }

  get size(): number {
    return this.#waiting
  }

  /**
   * Waits for a slot of the bucket `key`, first come first served, for 30 s at most. 60 requests may wait for one bucket and
   * 1,000 in all. Rejects only when the bucket itself fails.
   */
  async takeTurn(key: string, rateLimit: RateLimit, left: AbortSignal): Promise<Turn> {
    if (left.aborted) return { kind: 'left' }
    const line = this.#lines.get(key) ?? { key, rateLimit, entries: new Set(), isTaking: false, cancelTimer: () => {} }
    this.#lines.set(key, line)
    line.rateLimit = rateLimit
    const { promise, resolve } = Promise.withResolvers<Turn>()
    const leave = () => entry.end({ kind: 'left' })
    const entry: Entry = {
      deadlineMs: this.#services.now().getTime() + WAIT_MS_MAX,
      isWaiting: false,
      end: (turn) => {
        left.removeEventListener('abort', leave)
        line.entries.delete(entry)
        if (entry.isWaiting) this.#waiting--
        this.#dropIfEmpty(line)
        resolve(turn)
      },
    }
    left.addEventListener('abort', leave)
    line.entries.add(entry)
    this.#serve(line)
    return promise
  }

  /** Ends every wait. From then on a request gets a slot at once, or none. */
  stop(): void {
    this.#isStopped = true
    for (const { entries } of this.#lines.values()) for (const { end } of entries) end({ kind: 'stopped' })
  }

  /** Gives slots to the first in line while the bucket has some. */
  async #serve(line: Line): Promise<void> {
    // One at a time: a request that asks a bucket later must not be answered sooner.
    if (line.isTaking) return
    line.isTaking = true
    line.cancelTimer()
    try {
      while (line.entries.size > 0) {
        const bucket = await this.#services.throttle.take(line.key, line.rateLimit)
        const [first] = line.entries
        if (!bucket.accepted) {
          this.#waitForNextSlot(line, bucket)
          break
        }
        first?.end({ kind: 'granted', bucket, hasWaited: first.isWaiting })
      }
    } catch (error) {
      for (const { end } of line.entries) end(Promise.reject(error))
    }
    line.isTaking = false
    this.#dropIfEmpty(line)
  }

  #waitForNextSlot(line: Line, bucket: BucketReading): void {
    const { now, setTimer } = this.#services
    let ahead = 0
    for (const entry of line.entries) {
      const waitMs = bucket.retryAfterMs + (ahead * 1000) / line.rateLimit.leakPerSecond
      const isInTime = now().getTime() + waitMs <= entry.deadlineMs
      const hasRoom = entry.isWaiting || (ahead < WAITING_OF_BUCKET_MAX && this.#waiting < WAITING_MAX)
      if (this.#isStopped) entry.end({ kind: 'stopped' })
      else if (!isInTime || !hasRoom) entry.end({ kind: 'refused', bucket: withRetryAfter(bucket, waitMs) })
      else {
        if (!entry.isWaiting) this.#waiting++
        entry.isWaiting = true
        ahead++
      }
    }
    if (ahead > 0) line.cancelTimer = setTimer(() => this.#serve(line), bucket.retryAfterMs)
  }

  #dropIfEmpty(line: Line): void {
    if (line.entries.size > 0 || line.isTaking) return
    line.cancelTimer()
    this.#lines.delete(line.key)
  }
}

/** The request may come again when there is room to wait, and its own slot is at most 30 s away. */
function withRetryAfter(bucket: BucketReading, waitMs: number): BucketReading {
  const retryAfterMs = Math.max(bucket.retryAfterMs, waitMs - WAIT_MS_MAX)
  return { ...bucket, retryAfterMs, retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }
}
