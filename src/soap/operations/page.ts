import type { Parameters } from '../operation.ts'
import { ResultError, type Xml } from '../result.ts'

const BATCH_SIZE_MAX = 100
/** Characters of an answer. A page of a hundred large orders has some megabytes. */
const ANSWER_LENGTH_MAX = 32 * 1024 * 1024

/**
 * Reads which page is asked for: 1 to 100 records from the position `startNum` on, which counts from 1 (0, missing or empty: 1).
 * The offset counts from 0. Refuses a missing batchSize (5) and other figures (33, 34).
 */
export function readBatch(parameters: Parameters): { limit: number; offset: number } {
  parameters.required('batchSize', 'batchSizeMissing')
  const limit = parameters.integer('batchSize', 'invalidBatchSize', `a whole number from 1 to ${BATCH_SIZE_MAX}`, {
    min: 1,
    max: BATCH_SIZE_MAX,
  })
  const startNum = parameters.integer('startNum', 'invalidStartNum', 'a whole number, not negative', { min: 0 })
  return { limit, offset: Math.max(0, startNum - 1) }
}

/** The result of a page: each record as `write` has it. Refuses (33) a page of more than 32 million characters. */
export function writePage<T>(root: string, records: readonly T[], write: (record: T) => string): Xml {
  let length = 0
  const pieces = records.map((record) => {
    const piece = write(record)
    length += piece.length
    if (length <= ANSWER_LENGTH_MAX) return piece
    throw new ResultError('invalidBatchSize', 'These records are too large for one answer; ask for fewer by batchSize')
  })
  return [`<${root} xmlns="">`, ...pieces, `</${root}>`]
}
