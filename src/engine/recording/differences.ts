import { isDeepStrictEqual } from 'node:util'
import type { Stored } from '../changing/write.ts'
import type { Resource } from '../definition/define.ts'
import { type FieldSet, hasRows, type ListField, type Scalar, stamps, type ValueField } from '../definition/fields.ts'
import type { Json } from '../definition/input.ts'
import { keyColumn } from '../definition/reader.ts'
import type { Document, Row } from '../definition/stored-row.ts'

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
}

/** Differences that are kept of one change. */
const CHANGED_MAX = 100
/** Characters that are kept of a text. */
const TEXT_MAX = 200

/**
 * Compares what a change read with what it leaves; `after` is null for a deletion. Leaves out what the platform keeps by itself,
 * and what the record's ledger tells. Of fields that answers do not show, it says only that they changed.
 */
export function differencesOf(resource: Resource, before: Stored, after: Stored | null): Differences {
  const found: Difference[] = []
  const isLeftOut = (column: string) => stamps.has(column) || column === resource.ledger?.column
  const compare = { found, isLeftOut, isShown: (name: string) => resource.fields.get(name) !== undefined }
  compareRows(compare, resource.storedFields, '', before.row, after?.row ?? {})
  for (const [name, rows] of Object.entries(after?.lists ?? {})) {
    const field = resource.fields.get(name)
    if (!hasRows(field)) continue
    const column = keyColumn(field)
    compareItems(compare, name, field, {
      before: before.lists[name] ?? [],
      after: rows,
      keyOf: (row) => row[column],
      compareItem: (path, one, other) => compareRows(compare, field.fields, path, one, other),
    })
  }
  return { changed: found.slice(0, CHANGED_MAX), more: Math.max(0, found.length - CHANGED_MAX) }
}

interface Comparison {
  readonly found: Difference[]
  readonly isLeftOut: (column: string) => boolean
  readonly isShown: (name: string) => boolean
}

function compareRows(compare: Comparison, fields: FieldSet, prefix: string, before: Row, after: Row): void {
  for (const [column, one] of Object.entries(before)) {
    const other = after[column] ?? null
    if (one === other || compare.isLeftOut(column)) continue
    if (column === 'details') {
      compareDocuments(compare, fields, prefix, (one ?? {}) as Document, (other ?? {}) as Document)
      continue
    }
    const leaf = byColumn(fields).get(column)
    if (leaf !== undefined) compareValues(compare, leaf.field, prefix + leaf.path, one, other)
  }
}

function compareDocuments(
  compare: Comparison,
  fields: FieldSet,
  prefix: string,
  before: Document,
  after: Document,
): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before[name] ?? null, after[name] ?? null]
    const field = fields.get(name)
    if (field === undefined || one === other || isDeepStrictEqual(one, other)) continue
    const path = prefix + name
    if (field.kind === 'object') {
      compareDocuments(compare, field.fields, `${path}.`, (one ?? {}) as Document, (other ?? {}) as Document)
    } else if (field.kind === 'list') {
      compareItems(compare, path, field, {
        before: (one ?? []) as Document[],
        after: (other ?? []) as Document[],
        keyOf: (item, index) => (field.key === undefined ? index : item[field.key]),
        compareItem: (itemPath, first, second) => compareDocuments(compare, field.fields, itemPath, first, second),
      })
    } else {
      compareValues(compare, field, path, one, other)
    }
  }
}

function compareValues({ found, isShown }: Comparison, field: ValueField, path: string, before: Json, after: Json) {
  if (field.access === 'ro' || field.access === 'key' || isSame(field, before, after)) return
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
  readonly compareItem: (path: string, before: Document, after: Document) => void
}

function compareItems({ found }: Comparison, path: string, { fields }: ListField, items: Items): void {
  const stored = new Map(items.before.map((item, index) => [items.keyOf(item, index), item]))
  for (const [index, item] of items.after.entries()) {
    const key = items.keyOf(item, index)
    const known = stored.get(key)
    stored.delete(key)
    if (known === undefined) found.push([`${path}[${key}]`, null, nameOf(fields, item)])
    else items.compareItem(`${path}[${key}].`, known, item)
  }
  for (const [key, item] of stored) found.push([`${path}[${key}]`, nameOf(fields, item), null])
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

interface ColumnLeaf {
  readonly path: string
  readonly field: ValueField
}

const known = new WeakMap<FieldSet, ReadonlyMap<string, ColumnLeaf>>()

function byColumn(fields: FieldSet): ReadonlyMap<string, ColumnLeaf> {
  const columns =
    known.get(fields) ??
    new Map(
      fields.leaves.flatMap(({ path, field }): [string, ColumnLeaf][] =>
        field.kind === 'list' || field.column === undefined ? [] : [[field.column, { path: path.join('.'), field }]],
      ),
    )
  known.set(fields, columns)
  return columns
}
