import { shows } from '../../../access/applications/privileges.ts'
import type { Privileges } from '../../../engine/caller.ts'
import type { Filters } from '../../../engine/definition/filters.ts'
import { foundFilter } from '../../../engine/reading/find.ts'
import { findersOf } from './search.ts'
import { seenBy, seenValues } from './seen.ts'
import type { Service } from './services.ts'

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
