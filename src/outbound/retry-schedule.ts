import { DateTime } from 'luxon'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
/** The waits between tries that the Standard Webhooks specification recommends, in milliseconds: about 75 hours in all. */
const RETRY_MS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * SECOND_MS)
export const TRIES_MAX = RETRY_MS.length + 1
/** Each wait is up to this share longer or shorter, so that what failed together does not come back together. */
const JITTER = 0.2
/** A receiver that asks for a longer wait gets this one. */
const RETRY_AFTER_MS_MAX = 24 * HOUR_MS

/**
 * When to try again after so many tries (from 1 on), the last of which failed at `at`; null: never. `retryAfter`, the
 * header of the answer, may only make it later. `random` is from 0 to below 1.
 */
export function nextTry(
  tries: number,
  at: Date,
  retryAfter: string | null = null,
  random = Math.random(),
): Date | null {
  const waitMs = RETRY_MS[tries - 1]
  if (waitMs === undefined) return null
  const scheduledMs = waitMs * (1 + JITTER * (2 * random - 1))
  return new Date(at.getTime() + Math.max(scheduledMs, Math.min(askedWaitMs(retryAfter, at), RETRY_AFTER_MS_MAX)))
}

/** Seconds or an HTTP date (RFC 9110 §10.2.3); anything else asks for nothing. */
function askedWaitMs(retryAfter: string | null, at: Date): number {
  if (retryAfter === null) return 0
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * SECOND_MS
  const date = DateTime.fromHTTP(retryAfter)
  return date.isValid ? date.toMillis() - at.getTime() : 0
}
