import { shows } from '../../../access/applications/privileges.ts'
import type { Caller, Privileges } from '../../../engine/caller.ts'
import type { Filters } from '../../../engine/definition/filters.ts'
import { byFilter, byId, type Finder, TYPED_MAX } from '../../../engine/definition/finders.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import { findRecords, foundFilter } from '../../../engine/reading/find.ts'
import { findOrdered } from '../../../engine/reading/read.ts'
import { sql } from '../../../foundation/database/sql.ts'
import { textIn } from '../../html/request.ts'
import type { PageRequest } from '../frame/pages.ts'
import { readNames } from './names.ts'
import { seenBy, seenValues } from './seen.ts'
import type { Service } from './services.ts'

export type Matches = Awaited<ReturnType<typeof findMatches>>

const MATCHES_MAX = 20

const newest = { column: 'id', type: sql`int`, isDescending: true }

/** How people find records of a service: as its definition says, or by number and titles. */
export function findersOf({ resource, searches }: Service): readonly Finder[] {
  const { finders, table } = resource
  return finders ?? [byId(table), ...searches.map(({ filter }) => byFilter(table, filter))]
}

/** A service as its list reads it for somebody with these privileges: with `find`, and the filters that only the list has. */
export function listedOf(privileges: Privileges, service: Service): Service {
  const { resource, special } = service
  const seen = seenBy(privileges, service)
  // A field that the reader is not shown is none to filter by either.
  const isUnseen = (column?: string) =>
    resource.fields.shown.leaves.some(({ field }) => {
      return field.kind !== 'list' && column !== undefined && field.column === column && !shows(privileges, field)
    })
  const own = Object.entries(special.listFilters).filter(([, { column }]) => !isUnseen(column))
  const find = foundFilter(findersOf(seen), privileges)
  const withOwn = (filters: Filters) => ({ find, ...Object.fromEntries(own), ...filters })
  return {
    ...seen,
    filters: withOwn(seen.filters),
    resource: { ...resource, filters: withOwn(resource.filters) },
    special: { ...special, listValues: seenValues(privileges, special.listValues) },
  }
}

/** Finds the records that a person may mean, best first, then the newest; by an empty text, the newest. */
export async function findMatches(caller: Caller, service: Service, typed: string) {
  const text = typed.trim()
  if (text.length > TYPED_MAX || text.includes('\0') || !text.isWellFormed()) return { matches: [], isMore: false }
  const { resource } = service
  const by = { order: newest, behind: null, limit: MATCHES_MAX + 1 }
  const found =
    text === ''
      ? (await findOrdered(caller, resource, { filters: {}, query: new Map() }, by)).ids
      : await findRecords(caller, findersOf(service), text, MATCHES_MAX + 1)
  const ids = found.slice(0, MATCHES_MAX)
  const names = await readNames(caller, service, ids)
  return { matches: ids.map((id) => ({ id, name: names.get(id) ?? '' })), isMore: found.length > MATCHES_MAX }
}

/** Answers the script of pages while somebody types into a field that refers to a record. */
export async function suggestions({ caller, query }: PageRequest, service: Service) {
  const typed = textIn(query, 'q')
  if (typed.length > TYPED_MAX) throw wrongField('q', `has more than ${TYPED_MAX} characters`)
  const { matches } = await findMatches(caller, service, typed)
  return matches.map(({ id, name }) => ({ ID: id, Name: name }))
}
