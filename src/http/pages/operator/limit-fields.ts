import type { RateLimit } from '../../../access/stores/rate-limit.ts'
import { numberIn, type Writing } from '../../html/numbers.ts'
import type { Form } from '../../html/request.ts'

// The two fields of a limit of calls. Both empty: the contract's.

/** Returns what a form says; null: the contract's limit. */
export function limitIn(form: Form, writing: Writing) {
  const Capacity = numberIn(form, 'Capacity', writing)
  const LeakPerSecond = numberIn(form, 'LeakPerSecond', writing)
  return Capacity === null && LeakPerSecond === null ? null : { Capacity, LeakPerSecond }
}

export function limitValues(limit: RateLimit | null, { typed }: Writing): Form {
  return limit === null
    ? { Capacity: '', LeakPerSecond: '' }
    : { Capacity: typed(limit.capacity), LeakPerSecond: typed(limit.leakPerSecond) }
}

/** The form's field for a field of the body. */
export function limitFields(field: string): string {
  return field.replace(/^Throttle\.?/, '') || 'Capacity'
}
