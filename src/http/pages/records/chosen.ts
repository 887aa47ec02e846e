import type { FastifyReply } from 'fastify'
import { findOrdered, notFound, readTexts } from '../../../engine/reading/read.ts'
import type { Text } from '../../../foundation/texts/text.ts'
import { isId } from '../../../foundation/values/int32.ts'
import { CHOSEN_MAX as ALL_MAX } from '../../../shop/csv/lines/limits.ts'
import type { HtmlPage } from '../../html/page.ts'
import { refusedFields } from '../../html/page-routes.ts'
import { textIn } from '../../html/request.ts'
import type { PageRequest, Sent } from '../frame/pages.ts'
import { askedIn, listPage, orderOf } from './list-page.ts'
import { listedOf } from './search.ts'
import type { Service } from './services.ts'

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

/** The list, where the form of what is to be done with the records that it chooses was refused; `labels` are of its fields. */
export async function listShownAgain(
  asked: PageRequest,
  reply: FastifyReply,
  service: Service,
  labels: Readonly<Record<string, Text>>,
): Promise<HtmlPage> {
  const page = await listPage(asked, service, reply)
  return { ...page, values: { ...page.values, ...asked.typed }, data: { ...page.data, labels } }
}

/** Whether the form of a list chooses everything that the filters of its address match. */
export function isAllChosen(sent: unknown): boolean {
  return textIn(sent, 'all') !== ''
}

/**
 * The records that the form of a list chooses: those that are ticked, or all that the filters of its address match, in the order of the
 * list. Throws where there are none, or more than 10,000, and `not-found` for one that is ticked and gone.
 */
export async function chosenOrAll(
  { caller, query: sent, typed }: Sent<PageRequest>,
  service: Service,
): Promise<readonly number[]> {
  const listed = listedOf(caller.privileges, service)
  const { resource } = listed
  if (!isAllChosen(typed)) {
    const ticked = chosenIn(typed)
    const found = await readTexts(caller, resource, ticked, ['id'])
    const gone = ticked.find((id) => !found.has(id))
    if (gone !== undefined) throw notFound(resource, gone)
    return ticked
  }
  const { filters, sort } = askedIn(sent, listed)
  const query = new Map(Object.entries(filters))
  const page = { order: orderOf(listed, sort).order.by, behind: null, limit: ALL_MAX }
  const { ids, next } = await findOrdered(caller, resource, { filters: resource.filters, query }, page)
  const problem =
    ids.length === 0
      ? 'are none: nothing matches any more'
      : `are more than ${ALL_MAX} that match. Filter the list further`
  if (ids.length === 0 || next !== null) throw refusedFields([{ field: 'ids', problem }])
  return ids
}
