import { refusedFields } from '../../../html/page-routes.ts'
import { isId } from '../../../values/int32.ts'

/** Records that one form or address may name. */
export const CHOSEN_MAX = 100

/** The records that a form or an address names by `ids`: repeated, or with commas between. Throws unless they are 1 to 100. */
export function chosenIn(sent: unknown): number[] {
  const { ids = [] } = (sent ?? {}) as { ids?: string | string[] }
  const texts = [ids].flat().flatMap((text) => (text === '' ? [] : String(text).split(',', CHOSEN_MAX + 1)))
  if (texts.length === 0) throw refusedFields([{ field: 'ids', problem: `have to be chosen, from 1 to ${CHOSEN_MAX}` }])
  const chosen = new Set(texts.slice(0, CHOSEN_MAX + 1).map(Number))
  if (chosen.size > CHOSEN_MAX) throw refusedFields([{ field: 'ids', problem: `may be ${CHOSEN_MAX} at most` }])
  if (![...chosen].every(isId)) {
    throw refusedFields([{ field: 'ids', problem: 'must be the numbers of records, with commas between them' }])
  }
  return [...chosen]
}
