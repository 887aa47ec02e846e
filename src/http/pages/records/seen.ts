import { mayRead, shows } from '../../../access/applications/privileges.ts'
import type { Privileges } from '../../../engine/caller.ts'
import type { FieldSet } from '../../../engine/definition/fields.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { seesAll } from '../../../shop/staff/roles.ts'
import type { Wire } from '../frame/pages.ts'
import type { List, Service, Value } from './services.ts'

// What somebody of a store is shown of records: the privileges leave out fields (`needs` in the definitions) and the names of records of
// services that they may not read. What a form does not show, it does not change.

/** Returns the service as somebody with these privileges sees it, for lists, pages, forms and files alike. */
export function seenBy(privileges: Privileges, service: Service): Service {
  if (privileges === null) return service
  const { values, sections, titles, called, number, sorts, searches, filters } = service
  const isSeen = ({ field }: Value) => shows(privileges, field)
  const hidden = new Set(values.filter((value) => !isSeen(value)).map(({ field }) => field.column))
  const seen = sections.map((section) => ({
    ...section,
    values: seenValues(privileges, section.values),
    list: section.list && seenList(privileges, section.list),
  }))
  return {
    ...service,
    values: seenValues(privileges, values),
    lists: seen.flatMap(({ list }) => list ?? []),
    sections: seen.filter(({ values: left, list }) => left.length > 0 || list !== null),
    titles: titles.filter(isSeen),
    called: called.map((group) => group.filter(isSeen)),
    number: number.filter(isSeen),
    sorts: sorts.filter(({ value }) => isSeen(value)),
    searches: searches.filter(({ value }) => isSeen(value)),
    filters: Object.fromEntries(
      Object.entries(filters).filter(([, { column }]) => column === undefined || !hidden.has(column)),
    ),
  }
}

/** Without those that need other privileges. Of a record of a service that may not be read, the number alone is left. */
export function seenValues(privileges: Privileges, values: readonly Value[]): readonly Value[] {
  return values
    .filter(({ field }) => shows(privileges, field))
    .map((value) => {
      const target = value.leadsTo ?? value.refersTo
      return target === null || mayRead(privileges, target) ? value : { ...value, refersTo: null, leadsTo: null }
    })
}

export function seenList(privileges: Privileges, list: List): List {
  const lists = list.lists.map((inner) => seenList(privileges, inner))
  return { ...list, values: seenValues(privileges, list.values), lists }
}

/** Takes the members that need other privileges out of a whole record, as programs read it. */
export function recordSeenBy(privileges: Privileges, resource: Resource): (record: Wire) => Wire {
  return seesAll(privileges, resource)
    ? (record) => record
    : (record) => membersSeen(privileges, resource.fields, record)
}

/** The same of its JSON text. */
export function textSeenBy(privileges: Privileges, resource: Resource): (text: string) => string {
  if (seesAll(privileges, resource)) return (text) => text
  const seen = recordSeenBy(privileges, resource)
  return (text) => JSON.stringify(seen(JSON.parse(text)))
}

function membersSeen(privileges: Privileges, fields: FieldSet, members: Wire): Wire {
  const seen = Object.entries(members).flatMap(([name, value]) => {
    const field = fields.get(name)
    // Bodies of events may have members that a later version took away.
    if (field === undefined) return []
    if (field.kind !== 'list' && field.kind !== 'object')
      return shows(privileges, field) ? [[name, value] as const] : []
    const inner = (item: Wire) => membersSeen(privileges, field.fields, item)
    return [[name, field.kind === 'list' ? (value as Wire[]).map(inner) : inner(value as Wire)] as const]
  })
  return Object.fromEntries(seen)
}
