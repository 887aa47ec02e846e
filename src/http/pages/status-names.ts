import type { Caller } from '../../engine/caller.ts'
import { type Phrase, type Text, t, written } from '../../foundation/texts/text.ts'
import { listStatuses } from '../../shop/resources/order-statuses/status-texts.ts'
import { orderStatusMeanings } from '../../shop/resources/orders/statuses.ts'

/** What the statuses that every store has are called where nobody has given them another text. */
const builtIn: Readonly<Record<string, Text>> = {
  New: t('New'),
  Processing: t('Processing'),
  Partial: t('Partly shipped'),
  Shipped: t('Shipped'),
  Cancel: t('Cancelled'),
  Hold: t('On hold'),
  'Not Completed': t('Not completed'),
  'Custom 1': t('Custom 1'),
  'Custom 2': t('Custom 2'),
  'Custom 3': t('Custom 3'),
  Unpaid: t('Unpaid'),
  Review: t('In review'),
}

type Named = { readonly id: number; readonly definition: string }

/** A status that every store has is called in the reader's language, one of the store's own as it was named. */
export function builtInName({ id, definition }: Named): Phrase {
  return builtIn[orderStatusMeanings[id] === definition ? definition : ''] ?? definition
}

/** The text of a status; in other languages than English the name of one whose text nobody has changed. */
export function statusName({ text, ...named }: Named & { readonly text: string }): Phrase {
  const name = builtInName(named)
  if (text !== named.definition || name === text) return text
  return written(({ format, say }) => (format.locale.startsWith('en') ? text : say(name)))
}

/** Returns a store's order statuses, in the merchant's order, with the texts that pages show. */
export async function listStatusNames(db: Caller['db'], storeId: number) {
  const statuses = await listStatuses(db, storeId)
  return statuses.map((status) => ({ ...status, text: statusName(status) }))
}
