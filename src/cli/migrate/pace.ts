import { setTimeout as sleep } from 'node:timers/promises'
import { retryAfterMs } from '../../foundation/outbound/retry-schedule.ts'

/** The source's bucket, unless its headers say otherwise (contract §8). */
const CAPACITY = 50
const LEAK_PER_SECOND = 2

/** Seconds to wait after each failure in a row; the last value repeats. */
const BACKOFF_SECONDS = [1, 2, 5, 10, 30, 60]
/** Longer values of Retry-After are cut. */
const RETRY_AFTER_MAX_SECONDS = 3_600

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** Paces requests by a model of the source's leaky bucket. */
export class Pace {
  readonly #nowMs: () => number
  readonly #wait: (ms: number) => Promise<unknown>
  #capacity = CAPACITY
  #leakPerSecond = LEAK_PER_SECOND
  #level = 0
  #countedAtMs: number

  constructor(nowMs = () => performance.now(), wait: (ms: number) => Promise<unknown> = (ms) => sleep(ms)) {
    this.#nowMs = nowMs
    this.#wait = wait
    this.#countedAtMs = nowMs()
  }

  /** Waits until the bucket has room for a request, and counts it. */
  async take(): Promise<void> {
    this.#leak()
    const excess = this.#level + 1 - this.#capacity
    if (excess > 0) await this.#wait((excess / this.#leakPerSecond) * 1_000)
    this.#leak()
    this.#level++
  }

  /** Adopts the capacity, leak rate and level that the headers of an answer show. */
  learn(headers: Headers): void {
    const { q, w } = parameters(headers['ratelimit-policy'])
    const limit = numberIn(headers['x-ratelimit-limit']) ?? q
    if (limit !== undefined && limit >= 1) this.#capacity = limit
    if (q !== undefined && w !== undefined && q > 0 && w > 0) this.#leakPerSecond = q / w
    const remaining = numberIn(headers['x-ratelimit-remaining']) ?? parameters(headers.ratelimit).r
    if (remaining === undefined) return
    this.#leak()
    // Other programs share the bucket.
    this.#level = Math.max(this.#level, this.#capacity - remaining)
  }

  /** Marks the bucket as full, after a 429. */
  full(): void {
    this.#leak()
    this.#level = Math.max(this.#level, this.#capacity)
  }

  #leak(): void {
    const nowMs = this.#nowMs()
    this.#level = Math.max(0, this.#level - ((nowMs - this.#countedAtMs) / 1_000) * this.#leakPerSecond)
    this.#countedAtMs = nowMs
  }
}

/** Returns the seconds to wait after `failures` failures in a row. */
export function secondsToWait(failures: number, headers: Headers = {}, now = new Date()): number {
  const askedMs = retryAfterMs(String(headers['retry-after'] ?? '').trim(), now)
  if (askedMs !== null) return Math.min(Math.max(askedMs / 1_000, 0), RETRY_AFTER_MAX_SECONDS)
  return BACKOFF_SECONDS[Math.min(failures, BACKOFF_SECONDS.length) - 1] ?? 1
}

/** The numbers of `"default";q=50;w=25`. */
function parameters(given: string | readonly string[] | undefined): Partial<Record<string, number>> {
  const found = String(given ?? '').matchAll(/;\s*(?<name>[a-z]+)=(?<value>\d+(?:\.\d+)?)/g)
  return Object.fromEntries(Array.from(found, ({ groups = {} }) => [groups.name, Number(groups.value)]))
}

function numberIn(given: string | readonly string[] | undefined): number | undefined {
  const text = String(given ?? '')
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
