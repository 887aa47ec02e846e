import type { FastifyRequest } from 'fastify'
import { sql } from '../../../database/sql.ts'
import type { Caller } from '../../../engine/caller.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import { countUpTo, findOrdered } from '../../../engine/reading/read.ts'
import { type CallerServices, merchantCaller, textIn } from '../../../html/request.ts'
import { INT32_MAX } from '../../../values/int32.ts'
import { readNames } from './names.ts'
import type { Service } from './services.ts'

export interface Match {
  readonly id: number
  readonly name: string
}

export interface Matches {
  /** Those of the number first, then whole texts, then the newest. */
  readonly matches: readonly Match[]
  readonly isMore: boolean
}

const MATCHES_MAX = 20
const TEXT_MAX = 255
/** An index of trigrams finds no part that is shorter. */
const PART_MIN = 3
/** A store with no more records may be walked through. */
const WALKED_MAX = 1_000

const newest = { column: 'id', type: sql`int`, isDescending: true }

/** Finds the records that a person may mean by a number, a whole text or a part of a name; by an empty text, the newest. */
export async function findMatches(caller: Caller, service: Service, typed: string): Promise<Matches> {
  const text = typed.trim()
  if (text.length > TEXT_MAX || text.includes('\0') || !text.isWellFormed()) return { matches: [], isMore: false }
  const { resource } = service
  const isSmall = (await countUpTo(caller, resource, new Map(), WALKED_MAX)) <= WALKED_MAX
  const found = new Set<number>()
  for (const lookUp of lookUpsOf(service, text, isSmall)) {
    const by = { order: newest, behind: null, limit: MATCHES_MAX + 1 }
    for (const id of (await findOrdered(caller, resource, lookUp, by)).ids) found.add(id)
    if (found.size > MATCHES_MAX) break
  }
  const ids = [...found].slice(0, MATCHES_MAX)
  const names = await readNames(caller, service, ids)
  return { matches: ids.map((id) => ({ id, name: names.get(id) ?? '' })), isMore: found.size > MATCHES_MAX }
}

function lookUpsOf({ resource, searches }: Service, text: string, isSmall: boolean) {
  if (text === '') return [{ filters: {}, query: new Map<string, string>() }]
  const isId = /^\d{1,10}$/.test(text) && Number(text) >= 1 && Number(text) <= INT32_MAX
  const byId = isId ? [{ filters: {}, query: new Map([[resource.idParam, text]]) }] : []
  const allowed = searches.filter(
    ({ filter, isIndexed }) => isSmall || (isIndexed && (filter.kind === 'text' || text.length >= PART_MIN)),
  )
  const wholeFirst = allowed.toSorted(
    (one, other) => Number(one.filter.kind === 'part') - Number(other.filter.kind === 'part'),
  )
  return [...byId, ...wholeFirst.map(({ filter }) => ({ filters: { q: filter }, query: new Map([['q', text]]) }))]
}

/** Answers the script of pages while somebody types into a field that refers to a record. */
export async function suggestions(request: FastifyRequest, services: CallerServices, service: Service) {
  const typed = textIn(request.query, 'q')
  if (typed.length > TEXT_MAX) throw wrongField('q', `has more than ${TEXT_MAX} characters`)
  const { matches } = await findMatches(merchantCaller(request, services), service, typed)
  return matches.map(({ id, name }) => ({ ID: id, Name: name }))
}
