import type { FastifyRequest } from 'fastify'
import { textIn } from '../../html/request.ts'

/** Rows of a page. */
export const PAGE = 100

const OFFSET = /^\d{1,6}$/

/** Returns the number of rows before the page; anything else than a number counts as 0. */
export function offsetIn(request: FastifyRequest): number {
  return Number(OFFSET.exec(textIn(request.query, 'offset'))?.[0] ?? 0)
}

const SEARCH_LENGTH_MAX = 254

/** Returns what somebody looks for. What no column can hold finds nothing, as other texts do. */
export function searchIn(request: FastifyRequest, name: string): string {
  const text = textIn(request.query, name).trim().slice(0, SEARCH_LENGTH_MAX)
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** Returns what a list's template shows of `rows`, one of which may be the first of the next page. */
export function pageOf<Row>(
  rows: readonly Row[],
  { home, offset, filters = {} }: { home: string; offset: number; filters?: Readonly<Record<string, string>> },
) {
  const given = Object.entries(filters).filter(([, value]) => value !== '')
  const next = new URLSearchParams([...given, ['offset', String(offset + PAGE)]])
  return { rows: rows.slice(0, PAGE), offset, next: rows.length > PAGE ? `${home}?${next}` : null }
}
