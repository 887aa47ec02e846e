import { StoreFailure } from '../values/failure.ts'

export function refused(field: string, message: string): StoreFailure {
  return new StoreFailure('bad-request', message, { field })
}
