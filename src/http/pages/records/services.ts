import type { Leaf, ListField, ValueField } from '../../../engine/definition/fields.ts'
import { containing, type Filter, type FilterKind, type Filters } from '../../../engine/definition/filters.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import type { Order } from '../../../engine/reading/read.ts'
import { type Sql, sql } from '../../../foundation/database/sql.ts'
import { capital, labelOf, plural } from '../../../foundation/texts/label.ts'
import { type Text, t } from '../../../foundation/texts/text.ts'
import { resourceNamed, resources, targetOf } from '../../../shop/registry.ts'
import { type ServiceWords, serviceWords } from '../../../shop/staff/names.ts'
import { plain, type Special } from './special.ts'

// What the pages of a service's records are made from: its definition, and what is handed in beside it.

/** A value of a record, or of an item of a list. */
export interface Value {
  /** Wire names, from the record or item inwards. */
  readonly path: readonly string[]
  readonly field: ValueField
  readonly label: Text
  /** What it does for the shop and its customers. Omitted: its label says it. */
  readonly explains?: Text | undefined
  /** The service whose record it names by id; null: none. */
  readonly refersTo: Resource | null
  /** The service to whose record pages lead from it, where forms take its number. */
  readonly leadsTo?: Resource | null
  /** What its numbers mean. */
  readonly meanings?: ReadonlyMap<string, Text>
}

/** What a record, or an item of a list, consists of. */
export interface Parts {
  readonly values: readonly Value[]
  readonly lists: readonly List[]
}

/** A list as a table: its values are columns, and its lists stand in each row. */
export interface List extends Parts {
  readonly name: string
  readonly field: ListField
  /** In words: of all items and of one. */
  readonly label: Text
  readonly one: Text
  /** Likewise. */
  readonly explains?: Text | undefined
}

/** A part of a record that has a form of its own. */
export interface Section {
  readonly slug: string
  readonly title: Text
  readonly values: readonly Value[]
  /** The list that the section consists of; null: it consists of values. */
  readonly list: List | null
  /** The heading below which pages fold it; null: none. */
  readonly heading: { readonly slug: string; readonly title: Text } | null
}

export interface Service extends ServiceWords, Parts {
  readonly resource: Resource
  /** The address of its pages, such as `/admin/customers`. */
  readonly path: string
  readonly sections: readonly Section[]
  /** What a record is called: the required texts that answers show, or else its id. */
  readonly titles: readonly Value[]
  /** What a record is called instead: the first group of which something is set. Empty: the titles. */
  readonly called: readonly (readonly Value[])[]
  readonly key: Value
  /** Whose texts make the number by which people know a record; empty: the key. */
  readonly number: readonly Value[]
  readonly sorts: readonly Sorting[]
  /** By which the list can be filtered. */
  readonly filters: Filters
  readonly searches: readonly Search[]
  readonly special: Special
}

/** A way in which people look for a record. */
export interface Search {
  readonly value: Value
  readonly filter: Filter
}

/** What a list can be sorted by. */
export interface Sorting {
  readonly value: Value
  readonly by: Omit<Order, 'isDescending'>
  readonly kind: FilterKind | 'id'
}

const typeOf: Partial<Record<FilterKind, Sql>> = {
  integer: sql`int`,
  number: sql`numeric`,
  since: sql`timestamptz`,
  until: sql`timestamptz`,
}

/** Every service with records of a store that programs can read. */
export const services: readonly Service[] = resources.map((resource) => serviceOf(resource))

/** The pages of the records that a field names. */
export function targetService(refersTo: Resource): Service {
  const found = services.find(({ resource }) => resource === refersTo)
  if (found === undefined) throw new Error(`${refersTo.service} has no pages`)
  return found
}

/** The pages of the records that are rows of this table; null: there are none. */
export function serviceOfTable(table: string): Service | null {
  return services.find(({ resource }) => resource.table === table) ?? null
}

/** The address of a service's pages. */
export function pathOf({ service }: Resource): string {
  return `/admin/${service.toLowerCase()}`
}

/** Whether a file can change or add records. */
export function canImport({ resource: { methods } }: Service): boolean {
  return methods.includes('PUT') || methods.includes('POST')
}

export function serviceOf(resource: Resource, special: Partial<Special> = {}): Service {
  const { service, typeName, groups } = resource
  const fields = resource.fields.shown
  const values = valuesOf(fields.leaves, resource, [], typeName)
  const key = values.find(({ field }) => field.column === 'id')
  if (key === undefined) throw new Error(`${service} has no identifier`)
  const lists = fields.leaves.flatMap(({ path, field }) =>
    field.kind === 'list' && field.fields.leaves.length > 0 ? [listOf(path[0] ?? '', field, resource, typeName)] : [],
  )
  const ofLists = lists.map((list): Section => {
    const slug = slugOf(plural(itemLabel(list.name, typeName)))
    return { slug, title: list.label, values: [], list, heading: null }
  })
  const titles = values.filter(({ field }) => field.kind === 'text' && field.required && field.access !== 'wo')
  return {
    resource,
    path: pathOf(resource),
    ...serviceWords(resource),
    values,
    lists,
    sections: arranged(resource, values, ofLists) ?? [...grouped(values, groups), ...ofLists],
    titles,
    called: (resource.calledBy ?? []).map((names) => valuesNamed(values, names)),
    key,
    number: valuesNamed(values, resource.numberedBy ?? []),
    sorts: sortsOf(resource, values, key),
    filters: resource.filters,
    searches: searchesOf(resource, values, titles),
    special: { ...plain, ...special },
  }
}

export function valuesNamed(values: readonly Value[], names: readonly string[]): readonly Value[] {
  return values.filter(({ path }) => names.includes(path.join('.')))
}

/** The value of a record, or of a list, with this name. */
export function pickValue({ values }: Pick<Service, 'values'>, name: string): Value {
  const found = values.find(({ path }) => path.join('.') === name)
  if (found === undefined) throw new Error(`There is no value ${name}`)
  return found
}

/** Those with these names, in the order of the names. */
export function pickValues(of: Pick<Service, 'values'>, ...names: readonly string[]): readonly Value[] {
  return names.map((name) => pickValue(of, name))
}

/** The list of a record with this name. */
export function pickList({ lists, resource }: Service, name: string): List {
  const found = lists.find((list) => list.name === name)
  if (!found) throw new Error(`${resource.service} has no list ${name}`)
  return found
}

/** Filters of the service have an index. A title without one is searched by a filter that only pages have. */
function searchesOf({ filters, searchedBy }: Resource, values: readonly Value[], titles: readonly Value[]): Search[] {
  const ofColumn = (name: string | undefined) => values.find(({ field }) => name !== undefined && field.column === name)
  const isWanted = (name: string, { kind, column }: Filter) =>
    searchedBy?.includes(name) ??
    ((kind === 'text' || kind === 'part') && titles.some(({ field }) => field.column === column))
  const indexed = Object.entries(filters).flatMap(([name, filter]) => {
    const value = ofColumn(filter.column)
    return value !== undefined && isWanted(name, filter) ? [{ value, filter }] : []
  })
  const others = titles.filter((title) => !indexed.some(({ value }) => value === title))
  const walks = others.flatMap((value) =>
    value.field.column === undefined ? [] : [{ value, filter: containing(value.field.column) }],
  )
  return [...indexed, ...walks]
}

/** What a list can be sorted by: the identifier, and columns with an index for a range. */
function sortsOf({ filters }: Resource, values: readonly Value[], key: Value): Sorting[] {
  const sorts = new Map<string, Sorting>([['id', { value: key, by: { column: 'id', type: sql`int` }, kind: 'id' }]])
  for (const { kind, column } of Object.values(filters)) {
    const type = typeOf[kind]
    const value = values.find(({ field }) => field.column === column)
    if (column === undefined || type === undefined || value === undefined || value.field.nullable) continue
    sorts.set(column, { value, by: { column, type }, kind })
  }
  return [...sorts.values()]
}

/** `prefix` is the path of the list that they are in. */
function valuesOf(leaves: readonly Leaf[], resource: Resource, prefix: readonly string[], typeName: string): Value[] {
  return leaves.flatMap(({ path, field }) => {
    if (field.kind === 'list') return []
    const label = field.label || labelOf(path.at(-1) ?? '', typeName)
    const whole = [...prefix, ...path]
    const refersTo = targetOf(resource, whole.join('.'))
    const leadsTo = field.leadsTo === undefined ? refersTo : resourceNamed(field.leadsTo)
    const meanings = new Map(Object.entries(field.meanings ?? {}).map(([number, words]) => [number, t(capital(words))]))
    return [{ path, field, label: t(label), explains: explained(resource, whole), refersTo, leadsTo, meanings }]
  })
}

function explained({ explains }: Resource, path: readonly string[]): Text | undefined {
  const said = explains[path.join('.')]
  return said === undefined ? undefined : t(said)
}

function listOf(
  name: string,
  field: ListField,
  resource: Resource,
  typeName: string,
  prefix: readonly string[] = [],
): List {
  const path = [...prefix, name]
  const own = itemLabel(name, typeName)
  const [one, all] = field.labels ?? [own, plural(own)]
  const { leaves } = field.fields
  return {
    name,
    field,
    label: t(all),
    one: t(one),
    explains: explained(resource, path),
    values: valuesOf(leaves, resource, path, field.typeName),
    lists: leaves.flatMap((leaf) =>
      leaf.field.kind === 'list' ? [listOf(leaf.path[0] ?? '', leaf.field, resource, field.typeName, path)] : [],
    ),
  }
}

/** The name of an item of a list, such as `Image gallery` of `ImageGalleryList`. */
export function itemLabel(name: string, typeName = ''): string {
  return labelOf(name.replace(/s?List$/, ''), typeName)
}

/** A title as a part of an address, such as `price-levels`. */
export function slugOf(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}

/** The sections as headings have them; null: there are none. What they do not name stands in the last one. */
function arranged({ service, headings }: Resource, values: readonly Value[], lists: readonly Section[]) {
  const groups = Object.entries(headings).flatMap(([title, each]) => {
    const heading = title === '' ? null : { slug: slugOf(title), title: t(title) }
    return Object.entries(each).map(([name, names]) => ({ heading, title: name, names: names.split(/\s+/) }))
  })
  if (groups.length === 0) return null
  const named = new Set(groups.flatMap(({ names }) => names))
  const all = new Set([...values.map(({ path }) => path.join('.')), ...lists.map(({ list }) => list?.name ?? '')])
  for (const name of named.difference(all)) throw new Error(`${service} has no ${name} to stand below a heading`)
  groups.at(-1)?.names.push(...all.difference(named))
  return groups.flatMap(({ heading, title, names }): Section[] => {
    const own = names.flatMap((name) => valuesNamed(values, [name]))
    const section = { slug: slugOf(title), title: t(title), values: own, list: null, heading }
    const ofLists = names.flatMap((name) => lists.filter(({ list }) => list?.name === name))
    return [...(own.length > 0 ? [section] : []), ...ofLists.map((list) => ({ ...list, heading }))]
  })
}

/** The groups of a definition, each from the field on with which it begins. */
function grouped(values: readonly Value[], groups: Resource['groups']): Section[] {
  const beginning = new Map(Object.entries(groups).map(([title, first]) => [first, title]))
  let last = 'General'
  const byTitle = Map.groupBy(values, ({ path }) => {
    last = beginning.get(path[0] ?? '') ?? last
    return last
  })
  return [...byTitle].map(([title, own]) => ({
    slug: slugOf(title),
    title: t(title),
    values: title.endsWith(' address') ? asAddress(title, own) : own,
    list: null,
    heading: null,
  }))
}

/** The name comes first, and what is said by the title is not said again: `First name` for `Billing first name`. */
function asAddress(title: string, values: readonly Value[]): Value[] {
  const whose = title.replace(/address$/, '')
  const short = values.map((value) => {
    const { key } = value.label
    return key.startsWith(whose) ? { ...value, label: t(capital(key.slice(whose.length))) } : value
  })
  const isName = ({ label: { key } }: Value) => key === 'First name' || key === 'Last name'
  return [...short.filter(isName), ...short.filter((value) => !isName(value))]
}
