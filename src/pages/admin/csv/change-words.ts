import type { Import } from '../../../csv/imports.ts'
import type { Caller } from '../../../engine/caller.ts'
import { type StatusChange, statusWords } from '../orders/bulk.ts'
import { type ProductChange, productWords } from '../products/bulk.ts'

/** What people read of a change of many records. */
export interface ChangeWords {
  readonly title: string
  /** Whole sentences, before it is made. */
  readonly notes: readonly string[]
  /** A value of a column in words; null: it speaks for itself. */
  readonly textOf: (column: string, value: string) => string | null
}

/** What a person has said is to be done. */
export type Change = StatusChange | ProductChange

/** The words for what is done with chosen records; null: nobody has said it yet, or there is a file. */
export async function wordsOf(caller: Caller, found: Import): Promise<ChangeWords | null> {
  const { source, change: stored } = found
  if (source !== 'bulk' || stored === null) return null
  const change = stored as unknown as Change
  return change.kind === 'status' ? statusWords(caller, found, change) : productWords(caller, change)
}
