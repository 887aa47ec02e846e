import type { ErrorCode, StoreFailure } from '../../foundation/values/failure.ts'
import { valueIn } from '../../foundation/values/json.ts'
import { preferenceIn } from '../../foundation/values/preferences.ts'
import type { Answer, Call, Endpoint, JsonText, Query, RecordType } from '../definition/endpoints.ts'
import type { FieldSet } from '../definition/fields.ts'
import type { Json } from '../definition/input.ts'
import { refused } from '../definition/refused.ts'
import type { Resource } from '../definition/resource.ts'
import type { Document } from '../definition/stored-row.ts'
import type { Listing, ListOptions } from './read.ts'

/** The parameter of an address that names a record. */
export function idOf({ idParam }: Resource): Endpoint['params'] {
  return { id: { name: idParam, min: 1 } }
}

/** A list after `$select` and `$orderby`, or the number of its records, which ignores both (rest-protocol §8.1). */
export function listingAnswer(listing: Listing, type: RecordType, query: Query): Answer {
  if ('count' in listing) return { kind: 'count', count: listing.count }
  return { kind: 'records', type, ...listing, records: shapeRecords(listing.records, type.fields, query) }
}

/** Reads `Prefer: count=exact`, which requests the number of all matches. */
export function listOptions({ headers: { prefer } }: Call): ListOptions {
  return { counted: preferenceIn(prefer, 'count') === 'exact' }
}

/** Maximum names in one `$select` or `$orderby`. */
const NAMES_MAX = 200

/** Whether `shapeRecords` would change the page. */
export function isShaped(query: Query): boolean {
  return query.has('$orderby') || query.has('$select')
}

/**
 * Applies `$orderby` and `$select` to the JSON texts of a page already read (rest-protocol §8.1); returns the texts
 * unparsed without either. Throws a 400 for a name that is not a property of the record.
 */
export function shapeRecords(records: readonly JsonText[], fields: FieldSet, query: Query): readonly JsonText[] {
  const orderby = query.get('$orderby')
  const select = query.get('$select')
  if (orderby === undefined && select === undefined) return records
  const orders = orderby === undefined ? [] : readOrders(orderby, fields)
  const selected = select === undefined ? [] : namesIn(select, '$select')
  const selection: Selection = new Map()
  for (const property of selected) addChoice(selection, property, property.split('/'), fields)
  const page = records.map((text) => ({ text, record: JSON.parse(String(text)) as Document }))
  if (orders.length > 0) page.sort((one, other) => compareRecords(one.record, other.record, orders))
  return page.map(({ text, record }) => (select === undefined ? text : JSON.stringify(chosen(record, selection))))
}

/** `path`: wire names, from the record inwards. */
type Order = { readonly path: readonly string[]; readonly sign: 1 | -1 }

function readOrders(given: string, fields: FieldSet): Order[] {
  return namesIn(given, '$orderby').map((term) => {
    const [, property = '', direction = 'asc'] = /^(\S+)(?:\s+(asc|desc))?$/i.exec(term) ?? []
    if (property === '') throw wrongName('$orderby', 'must be property names, each with asc, desc or neither', term)
    return { path: valuePath(property, fields), sign: direction.toLowerCase() === 'desc' ? -1 : 1 }
  })
}

function valuePath(property: string, fields: FieldSet): string[] {
  const path: string[] = []
  let set: FieldSet | null = fields
  for (const segment of property.split('/')) {
    const { name, field } = findMember('$orderby', property, set, segment)
    if (field.kind === 'list') throw wrongName('$orderby', 'cannot sort by a list', property)
    path.push(name)
    set = field.kind === 'object' ? field.fields : null
  }
  if (set !== null) throw wrongName('$orderby', 'cannot sort by an object; name one of its members', property)
  return path
}

/** The member of a set that a segment of a property names; a value has no members. */
function findMember(parameter: string, property: string, set: FieldSet | null, segment: string) {
  const name = set?.shown.byLowerName.get(segment.toLowerCase())
  const field = name === undefined ? undefined : set?.shown.get(name)
  if (name === undefined || field === undefined) {
    throw wrongName(parameter, 'names an unknown property', property, 'unknown-field')
  }
  return { name, field }
}

/** Maps wire names to the selection among their members; null: the whole member. */
type Selection = Map<string, Selection | null>

function addChoice(selection: Selection, property: string, segments: string[], set: FieldSet | null): void {
  const [segment = '', ...rest] = segments
  const { name, field } = findMember('$select', property, set, segment)
  if (rest.length === 0) return void selection.set(name, null)
  const known = selection.get(name)
  // If the whole member is selected, it already includes this one.
  const inner: Selection = known ?? new Map()
  addChoice(inner, property, rest, 'fields' in field ? field.fields : null)
  if (known !== null) selection.set(name, inner)
}

function namesIn(given: string, parameter: string): string[] {
  const names = given.split(',').flatMap((name) => name.trim() || [])
  if (names.length === 0) throw refused(parameter, `${parameter} names no property`)
  if (names.length <= NAMES_MAX) return names
  throw refused(parameter, `${parameter} has ${names.length} names; at most ${NAMES_MAX} are allowed`, 'too-many-items')
}

function wrongName(parameter: string, problem: string, given: string, code?: ErrorCode): StoreFailure {
  const shown = given.length > 80 ? `${given.slice(0, 80)}…` : given
  return refused(parameter, `${parameter} ${problem}: "${shown}"`, code)
}

function compareRecords(one: Document, other: Document, orders: readonly Order[]): number {
  for (const { path, sign } of orders) {
    const difference = compareValues(valueIn(one, path), valueIn(other, path))
    if (difference !== 0) return sign * difference
  }
  return 0
}

/** Both values have the type of the field: texts, numbers, or booleans (false before true). */
function compareValues(one: unknown, other: unknown): number {
  // By code points, as UTF-8 orders them: UTF-16 puts characters above U+FFFF before U+E000 to U+FFFF.
  if (typeof one === 'string' && typeof other === 'string') return Buffer.from(one).compare(Buffer.from(other))
  return Number(one) - Number(other)
}

function chosen(value: Json, selection: Selection): Json {
  if (Array.isArray(value)) return value.map((item) => chosen(item, selection))
  const members = Object.entries(value as Document).flatMap(([name, member]) => {
    const inner = selection.get(name)
    return selection.has(name) ? [[name, inner ? chosen(member, inner) : member]] : []
  })
  return Object.fromEntries(members)
}
