import { z } from 'zod'
import { namedObject } from '../values/input.ts'
import type { Figures } from './throttle.ts'

const CAPACITY_MAX = 1_000_000
const LEAK_PER_SECOND_MAX = 10_000

const capacity = `must be a whole number from 1 to ${CAPACITY_MAX}`
const leak = `must be a number from 0.001 to ${LEAK_PER_SECOND_MAX} with at most three decimals`

/** `{"Capacity": 50, "LeakPerSecond": 2}`; null: the contract's figures. */
export const throttleInput = namedObject({
  Capacity: z.int(capacity).min(1, capacity).max(CAPACITY_MAX, capacity),
  LeakPerSecond: z
    .number(leak)
    .min(0.001, leak)
    .max(LEAK_PER_SECOND_MAX, leak)
    .refine((value) => Number(value.toFixed(3)) === value, leak),
})
  .nullable()
  .optional()

/** The two columns that a store and an application keep figures in. */
export interface FiguresColumns {
  throttleCapacity: number | null
  throttleLeakPerSecond: { toNumber(): number } | null
}

export function columnsOf(figures: z.output<typeof throttleInput>) {
  return {
    throttleCapacity: figures?.Capacity ?? null,
    throttleLeakPerSecond: figures?.LeakPerSecond ?? null,
  }
}

export function figuresOf({ throttleCapacity, throttleLeakPerSecond }: FiguresColumns): Figures | null {
  if (throttleCapacity === null || throttleLeakPerSecond === null) return null
  return { capacity: throttleCapacity, leakPerSecond: throttleLeakPerSecond.toNumber() }
}
