import type { RateLimit } from '../../applications/leaky-bucket.ts'
import { numberIn } from '../../html/numbers.ts'
import type { Form } from '../../html/request.ts'

// The two fields of a limit of calls. Both empty: the contract's.

/** Returns what a form says; null: the contract's limit. */
export function limitIn(form: Form): { Capacity: number | null; LeakPerSecond: number | null } | null {
  const [Capacity, LeakPerSecond] = [numberIn(form, 'Capacity'), numberIn(form, 'LeakPerSecond')]
  return Capacity === null && LeakPerSecond === null ? null : { Capacity, LeakPerSecond }
}

export function limitValues(limit: RateLimit | null): Form {
  return limit === null
    ? { Capacity: '', LeakPerSecond: '' }
    : { Capacity: String(limit.capacity), LeakPerSecond: String(limit.leakPerSecond) }
}

/** The form's field for a field of the body. */
export function limitFields(field: string): string {
  return field.replace(/^Throttle\.?/, '') || 'Capacity'
}
