import { StoreFailure } from '../values/failure.ts'

export function refused(field: string, message: string): StoreFailure {
  return new StoreFailure('bad-request', message, { field })
}

/** A refusal (400) of what was sent in a field, by the field's path. */
export function wrongField(field: string, problem: string): StoreFailure {
  return new StoreFailure('bad-request', `${field} ${problem}`, { field })
}
