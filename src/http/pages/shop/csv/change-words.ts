import type { Caller } from '../../../../engine/caller.ts'
import { type Phrase, t } from '../../../../foundation/texts/text.ts'
import { findImport, type Import } from '../../../../shop/csv/lines/imports.ts'
import type { Back } from '../../../../shop/csv/undo/back.ts'
import { type StatusChange, statusWords } from '../orders/bulk.ts'
import { type ProductChange, productWords } from '../products/bulk.ts'

/** What people read of a change of many records. */
export interface ChangeWords {
  readonly title: Phrase
  /** Whole sentences, before it is made. */
  readonly notes: readonly Phrase[]
  /** A value of a column in words; null: it speaks for itself. Absent: all do. */
  readonly textOf?: (column: string, value: string) => Phrase | null
}

/** What a person has said is to be done. */
type Change = StatusChange | ProductChange | Back

/** What is done, in words. */
export async function wordsOf(caller: Caller, found: Import): Promise<ChangeWords> {
  const { source, fileName, change: stored } = found
  const change = stored as unknown as Change | null
  if (change === null) return plain(source === 'bulk' ? t('Bulk change') : fileName || t('CSV file'))
  if (change.kind === 'back') return plain(await backTitle(caller, change))
  return change.kind === 'status' ? statusWords(caller, found, change) : productWords(caller, change)
}

function plain(title: Phrase): ChangeWords {
  return { title, notes: [] }
}

async function backTitle(caller: Caller, change: Back): Promise<Phrase> {
  if ('entry' in change) return t('Put back a change of one record')
  const of = await findImport(caller, change.of).catch(() => null)
  if (of === null) return t('Put back an earlier change')
  if (of.source === 'back') return t('Put back what was put back')
  return t('Put back: {change}', { change: (await wordsOf(caller, of)).title })
}
