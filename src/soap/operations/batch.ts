import { integerParameter, type Parameters } from '../parameters.ts'
import { ResultError } from '../result-errors.ts'

const BATCH_SIZE_MAX = 100

/**
 * Which page is asked for: 1 to 100 records from the position `startNum` on, which counts from 1; 0, which programs send too, is
 * 1. The offset counts from 0. Refuses other figures (33, 34).
 */
export function readBatch(parameters: Parameters): { limit: number; offset: number } {
  const limit = integerParameter(parameters, 'batchSize')
  if (!(limit >= 1 && limit <= BATCH_SIZE_MAX)) {
    throw new ResultError('invalidBatchSize', `batchSize must be a whole number from 1 to ${BATCH_SIZE_MAX}`)
  }
  const startNum = integerParameter(parameters, 'startNum')
  if (!(startNum >= 0)) throw new ResultError('invalidStartNum', 'startNum must be a whole number, not negative')
  return { limit, offset: Math.max(0, startNum - 1) }
}
