import { type ErrorCode, StoreFailure } from '../../foundation/values/failure.ts'

/** The refusal (400) of a field, a parameter or the whole input. */
export function refused(field: string, message: string, code: ErrorCode = 'invalid-value'): StoreFailure {
  return new StoreFailure(code, message, { field, status: 400 })
}

/** The refusal (400) of an invalid field, by the field's path. */
export function wrongField(field: string, problem: string, code?: ErrorCode): StoreFailure {
  return refused(field, `${field} ${problem}`, code)
}
