import {
  type FieldSet,
  type Folded,
  foldOnce,
  isDocumentMember,
  type ListField,
  type ListRows,
  type Scalar,
} from '../definition/fields.ts'
import type { Json, Patch } from '../definition/input.ts'
import { keyColumn } from '../definition/reader.ts'
import type { Document, Row } from '../definition/stored-row.ts'

/** Assigns the key of a new item. */
export type NewKey = (field: ListField, patch: Patch, others: readonly Json[]) => Scalar

/** A patch that keeps the item with this key unchanged in a replaced list. */
export function keep(key: number | string): Patch {
  return { key, columns: {}, details: {}, lists: {}, writeOnly: {} }
}

type MergeMember = (current: Json | undefined, patch: Patch, newKey: NewKey) => Json | undefined

const membersOf = foldOnce<MergeMember | null>({
  value: (field, name) => {
    if (!isDocumentMember(field)) return null
    return (current, { details }) => {
      const value = details[name] ?? current
      // Early versions stored defaults; one that stays is no change.
      return value === field.default && value !== current ? undefined : value
    }
  },
  object: (_field, members, name) => (current, patch, newKey) => {
    const inner = { ...patch, details: (patch.details[name] ?? {}) as Document, lists: {} }
    const merged = mergeMembers(members, (current ?? {}) as Document, inner, newKey)
    return Object.keys(merged).length > 0 ? merged : undefined
  },
  list: (field, members, name) => {
    if (!isDocumentMember(field)) return null
    return (current, { lists }, newKey) => {
      const given = lists[name]
      const stored = (current ?? []) as Document[]
      const items = given === undefined ? stored : mergeItems(field, members, stored, given, newKey)
      return items.length > 0 ? items : undefined
    }
  },
})

/** The document after a patch, in wire order: given members replace stored ones; defaults are omitted. Unknown members stay. */
export function mergeDocument(fields: FieldSet, current: Document, patch: Patch, newKey: NewKey): Document {
  return mergeMembers(membersOf(fields), current, patch, newKey)
}

function mergeMembers(members: Folded<MergeMember | null>, current: Document, patch: Patch, newKey: NewKey): Document {
  const next: Document = {}
  for (const [name, merge] of members) {
    // Skips members neither stored nor given, which are most of a wide record's.
    if (current[name] === undefined && patch.details[name] === undefined && patch.lists[name] === undefined) continue
    const value = merge?.(current[name], patch, newKey)
    if (value !== undefined) next[name] = value
  }
  // A server of a later version, which runs beside this one, stores members that this one does not know.
  for (const name of Object.keys(current))
    if (!members.some(([known]) => known === name)) next[name] = current[name] as Json
  return next
}

/**
 * The list after its replacement: an item with a known key keeps that key and the members not given; any other item is
 * new; items not sent are removed (rest-resources §0.8).
 */
function mergeItems(
  field: ListField,
  members: Folded<MergeMember | null>,
  current: readonly Document[],
  given: readonly Patch[],
  newKey: NewKey,
): Document[] {
  const { key } = field
  if (key === undefined) return given.map((patch) => mergeMembers(members, {}, patch, newKey))
  const known = new Map(current.map((item) => [item[key] as Scalar, item]))
  const keysInUse = current.map((item) => item[key] as Json)
  return given.map((patch) => {
    const existing = takeKnown(known, patch.key)
    const keyValue = existing === undefined ? newKey(field, patch, keysInUse) : (patch.key as Scalar)
    keysInUse.push(keyValue)
    const details = { ...patch.details, [key]: keyValue }
    return mergeMembers(members, existing ?? {}, { ...patch, details }, newKey)
  })
}

/** The same as `mergeItems` for a list in a table: the rows after its replacement. */
export function mergeRows(
  field: ListField,
  rows: ListRows,
  current: readonly Row[],
  given: readonly Patch[],
  newRow: Row,
  newKey: NewKey,
): Row[] {
  if (field.keyFrom === 'none') return positionedRows(field, rows, given, newRow, newKey)
  const column = keyColumn(field)
  const known = new Map(current.map((row) => [row[column] as Scalar, row]))
  const seen = new Set<Json>()
  const merged: Row[] = []
  for (const patch of given) {
    const existing = takeKnown(known, sentKey(field, patch, current, column))
    const keyValue = existing === undefined ? newKey(field, patch, []) : (existing[column] as Scalar)
    // If a key that callers choose is sent twice, the first item applies.
    if (seen.has(keyValue)) continue
    seen.add(keyValue)
    const base = existing ?? newRow
    const row: Row = { ...base, ...patch.columns, [column]: keyValue }
    if ('details' in base) row.details = mergeDocument(field.fields, (base.details ?? {}) as Document, patch, newKey)
    if (rows.position !== undefined) row[rows.position] = merged.length
    merged.push(row)
  }
  const { position } = rows
  const isSameOrder =
    merged.length === current.length && merged.every((row, at) => row[column] === current[at]?.[column])
  // Removed references leave gaps between positions.
  if (position !== undefined && isSameOrder)
    for (const [at, row] of merged.entries()) row[position] = current[at]?.[position] as Json
  return merged
}

/** Every item is new, because without a key nothing identifies stored items. */
function positionedRows(field: ListField, rows: ListRows, given: readonly Patch[], newRow: Row, newKey: NewKey): Row[] {
  return given.map((patch, index) => {
    const row: Row = { ...newRow, ...patch.columns, [rows.position as string]: index }
    if ('details' in newRow) row.details = mergeDocument(field.fields, {}, patch, newKey)
    return row
  })
}

/** The key that the caller means; 0 may name the only row. */
export function sentKey(field: ListField, { key }: Patch, current: readonly Row[], column: string): Scalar | undefined {
  return key === 0 && field.zeroKeyIsOnly && current.length === 1 ? (current[0]?.[column] as Scalar) : key
}

function takeKnown<T>(known: Map<Scalar, T>, key: Scalar | undefined): T | undefined {
  if (key === undefined) return undefined
  const item = known.get(key)
  known.delete(key)
  return item
}
