import { StoreFailure } from '../../foundation/values/failure.ts'

export function refused(field: string, message: string): StoreFailure {
  return new StoreFailure('bad-request', message, { field })
}

/** The refusal (400) of an invalid field, by the field's path. */
export function wrongField(field: string, problem: string): StoreFailure {
  return refused(field, `${field} ${problem}`)
}
