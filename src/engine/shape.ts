import { StoreFailure } from '../values/failure.ts'
import type { Field, FieldSet } from './fields.ts'
import type { Json } from './input.ts'
import type { Document } from './merge.ts'
import type { Query } from './read.ts'

/** Maximum names in one `$select` or `$orderby`. */
const NAMES_MAX = 200

/**
 * Applies `$orderby` and `$select` to the JSON texts of a page already read (rest-protocol §8.1); returns the texts
 * unparsed without either. Throws `bad-request` for a name that is not a property of the record.
 */
export function shapeRecords(records: readonly string[], fields: FieldSet, query: Query): readonly string[] {
  const orderby = query.get('$orderby')
  const select = query.get('$select')
  if (orderby === undefined && select === undefined) return records
  const orders = orderby === undefined ? [] : readOrders(orderby, fields)
  const selection = select === undefined ? null : readSelection(select, fields)
  const page = records.map((text) => ({ text, record: JSON.parse(text) as Document }))
  if (orders.length > 0) page.sort((one, other) => compareRecords(one.record, other.record, orders))
  return page.map(({ text, record }) => (selection === null ? text : JSON.stringify(chosen(record, selection))))
}

interface Order {
  /** Wire names, from the record inwards. */
  readonly path: readonly string[]
  readonly sign: 1 | -1
}

function readOrders(given: string, fields: FieldSet): Order[] {
  return namesIn(given, '$orderby').map((term) => {
    const [, property = '', direction = 'asc'] = /^(\S+)(?:\s+(asc|desc))?$/i.exec(term) ?? []
    if (property === '') throw invalid('$orderby', 'must be property names, each with asc, desc or neither', term)
    return { path: valuePath(property, fields), sign: direction.toLowerCase() === 'desc' ? -1 : 1 }
  })
}

function valuePath(property: string, fields: FieldSet): string[] {
  const path: string[] = []
  let set: FieldSet | null = fields
  for (const segment of property.split('/')) {
    const name: string | undefined = set?.byLowerName.get(segment.toLowerCase())
    const field: Field | undefined = name === undefined ? undefined : set?.get(name)
    if (name === undefined || field === undefined) throw unknownProperty('$orderby', property)
    if (field.kind === 'list') throw invalid('$orderby', 'cannot sort by a list', property)
    path.push(name)
    set = field.kind === 'object' ? field.fields : null
  }
  if (set !== null) throw invalid('$orderby', 'cannot sort by an object; name one of its members', property)
  return path
}

/** Maps wire names to the selection among their members; null: the whole member. */
type Selection = Map<string, Selection | null>

function readSelection(given: string, fields: FieldSet): Selection {
  const selection: Selection = new Map()
  for (const property of namesIn(given, '$select')) addChoice(selection, property, property.split('/'), fields)
  return selection
}

function addChoice(selection: Selection, property: string, segments: readonly string[], fields: FieldSet): void {
  const [segment = '', ...rest] = segments
  const name = fields.byLowerName.get(segment.toLowerCase())
  const field = name === undefined ? undefined : fields.get(name)
  if (name === undefined || field === undefined) throw unknownProperty('$select', property)
  if (rest.length === 0) {
    selection.set(name, null)
    return
  }
  if (field.kind !== 'object' && field.kind !== 'list') throw unknownProperty('$select', property)
  const known = selection.get(name)
  // If the whole member is selected, it already includes this one.
  const inner: Selection = known ?? new Map()
  addChoice(inner, property, rest, field.fields)
  if (known !== null) selection.set(name, inner)
}

function namesIn(given: string, parameter: string): string[] {
  const names = given
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length === 0) throw new StoreFailure('bad-request', `${parameter} names no property`, { field: parameter })
  if (names.length > NAMES_MAX) {
    throw new StoreFailure('bad-request', `${parameter} has ${names.length} names; at most ${NAMES_MAX} are allowed`, {
      field: parameter,
    })
  }
  return names
}

function unknownProperty(parameter: string, property: string): StoreFailure {
  return invalid(parameter, 'names what is not a property of the record', property)
}

function invalid(parameter: string, problem: string, given: string): StoreFailure {
  const shown = given.length > 80 ? `${given.slice(0, 80)}…` : given
  return new StoreFailure('bad-request', `${parameter} ${problem}: "${shown}"`, { field: parameter })
}

function compareRecords(one: Document, other: Document, orders: readonly Order[]): number {
  for (const { path, sign } of orders) {
    const difference = compareValues(valueAt(one, path), valueAt(other, path))
    if (difference !== 0) return sign * difference
  }
  return 0
}

function valueAt(record: Document, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, name) => (value as Document | undefined)?.[name], record)
}

/** Both values have the type of the field: texts, numbers, or booleans (false before true). */
function compareValues(one: Json | undefined, other: Json | undefined): number {
  if (typeof one === 'string' && typeof other === 'string') return compareCodePoints(one, other)
  return Number(one) - Number(other)
}

/** Compares code points, because UTF-16 units put characters above U+FFFF before U+E000 to U+FFFF. */
function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let index = 0; index < length; index++) {
    const unit = one.charCodeAt(index)
    const otherUnit = other.charCodeAt(index)
    if (unit !== otherUnit) return ranked(unit) - ranked(otherUnit)
  }
  return one.length - other.length
}

/** Ranks surrogates after all other units. */
function ranked(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800
  return unit >= 0xd800 ? unit + 0x2000 : unit
}

/** Keeps only the selected members, in record order. */
function chosen(value: Json, selection: Selection): Json {
  if (Array.isArray(value)) return value.map((item) => chosen(item, selection))
  const members = Object.entries(value as Document).filter(([name]) => selection.has(name))
  return Object.fromEntries(
    members.map(([name, member]) => {
      const inner = selection.get(name)
      return [name, inner ? chosen(member, inner) : member]
    }),
  )
}
