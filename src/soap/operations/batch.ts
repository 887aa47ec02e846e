import { rootPieces } from '../elements.ts'
import type { Xml } from '../operation.ts'
import { integerParameter, type Parameters, textParameter } from '../parameters.ts'
import { ResultError } from '../result-errors.ts'

const BATCH_SIZE_MAX = 100
/** Of an answer. A page of a hundred large orders has some megabytes. */
const LENGTH_MAX = 32 * 1024 * 1024

/**
 * Reads which page is asked for: 1 to 100 records from the position `startNum` on, which counts from 1 (0, missing or empty: 1).
 * The offset counts from 0. Refuses a missing or empty batchSize (5) and other figures (33, 34).
 */
export function readBatch(parameters: Parameters): { limit: number; offset: number } {
  if (textParameter(parameters, 'batchSize') === '') throw new ResultError('batchSizeMissing', 'batchSize is missing')
  const limit = integerParameter(parameters, 'batchSize')
  if (!(limit >= 1 && limit <= BATCH_SIZE_MAX)) {
    throw new ResultError('invalidBatchSize', `batchSize must be a whole number from 1 to ${BATCH_SIZE_MAX}`)
  }
  const startNum = integerParameter(parameters, 'startNum')
  if (!(startNum >= 0)) throw new ResultError('invalidStartNum', 'startNum must be a whole number, not negative')
  return { limit, offset: Math.max(0, startNum - 1) }
}

/** The result of a page: each record as `write` has it. Refuses (33) a page of more than 32 million characters. */
export function writePage<T>(root: string, records: readonly T[], write: (record: T) => string): Xml {
  let length = 0
  const pieces = records.map((record) => {
    const piece = write(record)
    length += piece.length
    if (length <= LENGTH_MAX) return piece
    throw new ResultError('invalidBatchSize', 'These records are too large for one answer; ask for fewer by batchSize')
  })
  return rootPieces(root, pieces)
}
