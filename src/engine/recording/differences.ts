import { isDeepStrictEqual } from 'node:util'
import { remembered } from '../../foundation/values/remembered.ts'
import { type FieldSet, hasRows, type ListField, type Scalar, stamps, type ValueField } from '../definition/fields.ts'
import type { Json } from '../definition/input.ts'
import { keyColumn } from '../definition/reader.ts'
import type { Change, Resource } from '../definition/resource.ts'
import type { Document, Row, Stored } from '../definition/stored-row.ts'

// What differs between two states of a record, in the terms of its definition.

/**
 * A value that a change replaced: its wire path, such as `SKUInfo.Price` or `OrderItemList[12].ItemQuantity`, and what was and is
 * stored. Null: the field's default, or no item; of an item that came or went, its first text.
 */
export type Difference = readonly [path: string, before: Scalar | null, after: Scalar | null]

export interface Differences {
  readonly changed: readonly Difference[]
  /** How many more there are than `changed` holds. */
  readonly more: number
  /**
   * The wire paths of all that differs, without keys, each once: `OrderItemList.ItemQuantity`. Where items came, went or changed
   * places, that of the list.
   */
  readonly members: readonly string[]
}

/** A change with what it makes different. Null: there was no record before. */
export interface ComparedChange extends Change {
  readonly differences: Differences | null
}

/** Differences that are kept of one change. */
const CHANGED_MAX = 100
/** Characters that are kept of a text. */
const TEXT_MAX = 200

/**
 * Compares what a change read with what it leaves; `after` is null for a deletion. Leaves out the stamps of the change, and what the
 * record's ledger tells. Of fields that answers do not show, `changed` says only that they changed; what the platform keeps by itself
 * stands in `members` alone.
 */
export function differencesOf(resource: Resource, before: Stored, after: Stored | null): Differences {
  const found: Difference[] = []
  const members: string[] = []
  const isLeftOut = (column: string) => stamps.has(column) || column === resource.ledger?.column
  const isShown = (name: string) => resource.fields.get(name) !== undefined
  const compare = { found, members, isLeftOut, isShown }
  compareRows(compare, resource.storedFields, record, before.row, after?.row ?? {})
  for (const [name, rows] of Object.entries(after?.lists ?? {})) {
    const field = resource.fields.get(name)
    if (!hasRows(field)) continue
    const column = keyColumn(field)
    const stored = before.lists[name] ?? []
    compareItems(compare, inside(record, name), field, {
      before: stored,
      after: rows,
      keyOf: (row) => row[column],
      compareItem: (place, one, other) => compareRows(compare, field.fields, place, one, other),
      isSame: () => haveSameRows(column, stored, rows, isLeftOut),
    })
  }
  const more = Math.max(0, found.length - CHANGED_MAX)
  return { changed: found.slice(0, CHANGED_MAX), more, members: [...new Set(members)] }
}

/** Whether two lists have the same rows by key, apart from some columns. */
export function haveSameRows(
  key: string,
  before: readonly Row[],
  after: readonly Row[],
  isLeftOut: (column: string) => boolean = () => false,
): boolean {
  if (before === after) return true
  const stored = new Map(before.map((row) => [row[key], row]))
  const areSame = (one: Row | undefined, other: Row) =>
    isDeepStrictEqual(one, other) ||
    (one !== undefined &&
      Object.keys(other).every((column) => isLeftOut(column) || isDeepStrictEqual(one[column], other[column])))
  return before.length === after.length && after.every((row) => areSame(stored.get(row[key]), row))
}

interface Comparison {
  readonly found: Difference[]
  readonly members: string[]
  readonly isLeftOut: (column: string) => boolean
  readonly isShown: (name: string) => boolean
}

/** Where values are compared: the path with the keys of items, and the one without. Both end in a point, or are empty. */
interface Place {
  readonly path: string
  readonly member: string
}

const record: Place = { path: '', member: '' }

function inside(place: Place, name: string): Place {
  return { path: place.path + name, member: place.member + name }
}

function compareRows(compare: Comparison, fields: FieldSet, place: Place, before: Row, after: Row): void {
  for (const [column, one] of Object.entries(before)) {
    const other = after[column] ?? null
    if (one === other || compare.isLeftOut(column)) continue
    if (column === 'details') {
      compareDocuments(compare, fields, place, (one ?? {}) as Document, (other ?? {}) as Document)
      continue
    }
    const leaf = byColumn(fields).get(column)
    if (leaf !== undefined) compareValues(compare, leaf.field, inside(place, leaf.path), one, other)
  }
}

function compareDocuments(compare: Comparison, fields: FieldSet, place: Place, before: Document, after: Document) {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before[name] ?? null, after[name] ?? null]
    const field = fields.get(name)
    if (field === undefined || one === other || isDeepStrictEqual(one, other)) continue
    const own = inside(place, name)
    if (field.kind === 'object') {
      compareDocuments(compare, field.fields, inside(own, '.'), (one ?? {}) as Document, (other ?? {}) as Document)
    } else if (field.kind === 'list') {
      compareItems(compare, own, field, {
        before: (one ?? []) as Document[],
        after: (other ?? []) as Document[],
        keyOf: (item, index) => (field.key === undefined ? index : item[field.key]),
        compareItem: (item, first, second) => compareDocuments(compare, field.fields, item, first, second),
        isSame: () => false,
      })
    } else {
      compareValues(compare, field, own, one, other)
    }
  }
}

function compareValues(compare: Comparison, field: ValueField, { path, member }: Place, before: Json, after: Json) {
  const { found, members, isShown } = compare
  if (field.access === 'key' || isSame(field, before, after)) return
  members.push(member)
  if (field.access === 'ro') return
  const values = isShown(path.split(/[.[]/, 1)[0] ?? '')
    ? ([kept(before), kept(after)] as const)
    : ([null, null] as const)
  found.push([path, ...values])
}

function isSame({ kind, default: unset }: ValueField, before: Json, after: Json): boolean {
  const [one, other] = [before ?? unset, after ?? unset]
  if (kind === 'date') return one === other || Date.parse(String(one)) === Date.parse(String(other))
  return one === other
}

function kept(value: Json | undefined): Scalar | null {
  if (value === null || value === undefined || typeof value === 'object') return null
  if (typeof value !== 'string' || value.length <= TEXT_MAX) return value
  return `${value.slice(0, TEXT_MAX).toWellFormed()}…`
}

interface Items {
  readonly before: readonly Document[]
  readonly after: readonly Document[]
  readonly keyOf: (item: Document, index: number) => Json | undefined
  readonly compareItem: (item: Place, before: Document, after: Document) => void
  /** Whether nothing differs, where the items have no difference. */
  readonly isSame: () => boolean
}

function compareItems({ found, members }: Comparison, list: Place, { fields }: ListField, items: Items): void {
  const { path, member } = list
  const known = members.length
  const come = (...difference: Difference) => {
    found.push(difference)
    members.push(member)
  }
  const stored = new Map(items.before.map((item, index) => [items.keyOf(item, index), item]))
  for (const [index, item] of items.after.entries()) {
    const key = items.keyOf(item, index)
    const same = stored.get(key)
    stored.delete(key)
    if (same === undefined) come(`${path}[${key}]`, null, nameOf(fields, item))
    else items.compareItem({ path: `${path}[${key}].`, member: `${member}.` }, same, item)
  }
  for (const [key, item] of stored) come(`${path}[${key}]`, nameOf(fields, item), null)
  if (members.length === known && !items.isSame()) members.push(member)
}

/** What tells an item from others to a person: its first text, or a word that it was there. */
function nameOf({ leaves }: FieldSet, item: Document): Scalar {
  const details = (item.details ?? item) as Document
  for (const { path, field } of leaves) {
    if (field.kind !== 'text') continue
    const value = field.column === undefined ? details[path[0] ?? ''] : item[field.column]
    if (typeof value === 'string' && value !== '') return kept(value) as string
  }
  return true
}

const byColumn = remembered(({ leaves }: FieldSet) => {
  const stored = leaves.flatMap(({ path, field }) =>
    field.kind === 'list' || field.column === undefined ? [] : { path: path.join('.'), field, column: field.column },
  )
  return new Map(stored.map((leaf) => [leaf.column, leaf]))
})
