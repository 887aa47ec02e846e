import { z } from 'zod'
import { namedObject } from '../../foundation/values/input.ts'

export interface RateLimit {
  /** The number of requests allowed in one burst. */
  readonly capacity: number
  /** The sustained number of requests per second, with at most three decimals. */
  readonly leakPerSecond: number
}

const CAPACITY_MAX = 1_000_000
const LEAK_PER_SECOND_MAX = 10_000

const capacity = `must be a whole number from 1 to ${CAPACITY_MAX}`
const leak = `must be a number from 0.001 to ${LEAK_PER_SECOND_MAX} with at most three decimals`

/** What the members of a rate limit say. */
export const throttleWords = {
  Capacity: 'The maximum number of requests in one burst.',
  LeakPerSecond: 'The sustained number of requests per second.',
}

/** Validates `{"Capacity": 50, "LeakPerSecond": 2}`. Null: the contract's rate limit. */
export const throttleInput = namedObject({
  Capacity: z.int(capacity).min(1, capacity).max(CAPACITY_MAX, capacity).describe(throttleWords.Capacity),
  LeakPerSecond: z
    .number(leak)
    .min(0.001, leak)
    .max(LEAK_PER_SECOND_MAX, leak)
    .refine((value) => Number(value.toFixed(3)) === value, leak)
    .describe(throttleWords.LeakPerSecond),
})
  .transform(({ Capacity, LeakPerSecond }): RateLimit => ({ capacity: Capacity, leakPerSecond: LeakPerSecond }))
  .nullable()
  .optional()
  .describe('The rate limit. Null, or left out on creation: a burst of 50 requests, then 2 per second.')

/** The columns of a rate limit, on a store or an application. */
export function rateLimitColumns(rateLimit: RateLimit | null | undefined) {
  const { capacity: throttleCapacity = null, leakPerSecond: throttleLeakPerSecond = null } = rateLimit ?? {}
  return { throttleCapacity, throttleLeakPerSecond }
}

export function rateLimitOf(row: {
  throttleCapacity: number | null
  throttleLeakPerSecond: number | { toNumber(): number } | null
}): RateLimit | null {
  const { throttleCapacity: capacity, throttleLeakPerSecond: leakPerSecond } = row
  return capacity === null || leakPerSecond === null ? null : { capacity, leakPerSecond: Number(leakPerSecond) }
}
