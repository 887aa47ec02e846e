import type { FastifyRequest } from 'fastify'
import { textIn } from '../../html/request.ts'

/** Rows of a page. */
export const PAGE = 100

const SEARCH_LENGTH_MAX = 254

/** Returns what the address of a list at `home` asks for, and looks for by `search`. An offset that is no number counts as 0. */
export function listedIn({ query }: FastifyRequest, home: string, search = '') {
  const offset = Number(/^\d{1,6}$/.exec(textIn(query, 'offset'))?.[0] ?? 0)
  const text = (search === '' ? '' : textIn(query, search)).trim().slice(0, SEARCH_LENGTH_MAX)
  // What no column can hold finds nothing, as other texts do.
  const sought = text.toWellFormed().replaceAll('\0', '\uFFFD')
  const next = new URLSearchParams({ ...(sought !== '' && { [search]: sought }), offset: String(offset + PAGE) })
  return {
    sought,
    /** The rows to read: one more than is shown, for a page may follow. */
    part: { skip: offset, take: PAGE + 1 },
    /** What the list's template shows of the rows that were read. */
    shown: <Row>(rows: readonly Row[]) => {
      return { rows: rows.slice(0, PAGE), offset, next: rows.length > PAGE ? `${home}?${next}` : null }
    },
  }
}
