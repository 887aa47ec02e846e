import { DateTime } from 'luxon'
import { retryWaitMs } from '../../outbound/retry-schedule.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

/** Who asks for more patience than this gets this much. */
const RETRY_AFTER_MS_MAX = 24 * HOUR_MS

/**
 * When to try again after so many tries (from 1 on), the last of which failed at `at`; null: never. `retryAfter`, the
 * header of the answer, may only make it later. `random` is from 0 to below 1.
 */
export function nextTry(tries: number, at: Date, retryAfter: string | null, random: number): Date | null {
  const scheduledMs = retryWaitMs(tries, random)
  if (scheduledMs === null) return null
  const askedMs = Math.min(askedWaitMs(retryAfter, at), RETRY_AFTER_MS_MAX)
  return new Date(at.getTime() + Math.max(scheduledMs, askedMs))
}

/** Seconds or an HTTP date (RFC 9110 10.2.3); anything else asks for nothing. */
function askedWaitMs(retryAfter: string | null, at: Date): number {
  if (retryAfter === null) return 0
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * SECOND_MS
  const date = DateTime.fromHTTP(retryAfter)
  return date.isValid ? date.toMillis() - at.getTime() : 0
}
