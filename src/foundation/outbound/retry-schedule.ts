import { DateTime } from 'luxon'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
/** The delays between tries that the Standard Webhooks specification recommends, in ms: about 75 hours in all. */
const RETRY_MS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * SECOND_MS)
export const TRIES_MAX = RETRY_MS.length + 1
/** Each delay varies by up to ± this fraction, so that simultaneous failures are not retried simultaneously. */
const JITTER = 0.2
/** Caps a receiver's Retry-After. */
const RETRY_AFTER_MS_MAX = 24 * HOUR_MS

/**
 * Returns when to try again after `tries` tries (from 1), the last of which failed at `at`; null: never. The answer's
 * Retry-After header (`retryAfter`) can only delay the next try. `random` is from 0 to below 1.
 */
export function nextTry(tries: number, at: Date, retryAfter: string | null = null, random = Math.random()) {
  const waitMs = RETRY_MS[tries - 1]
  if (waitMs === undefined) return null
  const scheduledMs = waitMs * (1 + JITTER * (2 * random - 1))
  return new Date(at.getTime() + Math.max(scheduledMs, Math.min(retryAfterMs(retryAfter, at) ?? 0, RETRY_AFTER_MS_MAX)))
}

/** Reads a Retry-After header as a wait from `at`: seconds or an HTTP date (RFC 9110 §10.2.3). Null: neither. */
export function retryAfterMs(retryAfter: string | null, at: Date): number | null {
  if (retryAfter === null) return null
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * SECOND_MS
  const date = DateTime.fromHTTP(retryAfter)
  return date.isValid ? date.toMillis() - at.getTime() : null
}
