/** The waits between tries that the Standard Webhooks specification recommends, in milliseconds: about 75 hours in all. */
const RETRY_MS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * 1_000)
export const TRIES_MAX = RETRY_MS.length + 1
/** Each wait is up to this share longer or shorter, so that what failed together does not come back together. */
const JITTER = 0.2

/** How long to wait after so many tries (from 1 on) that failed; null: that was the last one. `random` is from 0 to below 1. */
export function retryWaitMs(tries: number, random: number): number | null {
  const waitMs = RETRY_MS[tries - 1]
  return waitMs === undefined ? null : waitMs * (1 + JITTER * (2 * random - 1))
}
