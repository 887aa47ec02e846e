import { writeDate } from '../../foundation/values/dates.ts'
import type { StoreFailure } from '../../foundation/values/failure.ts'
import { valueIn } from '../../foundation/values/json.ts'
import { type FieldSet, hasRows, type ListField, type Scalar } from '../definition/fields.ts'
import type { Json, Patch, SentBack } from '../definition/input.ts'
import { keyColumn } from '../definition/reader.ts'
import type { Document, Row, Stored } from '../definition/stored-row.ts'
import { sentKey } from './merge.ts'

// Clients send back what they read. What a door shows of a stored value may be read as another one (a date without its fraction, a
// SKU without its white space), or be refused: an import takes a customer without an e-mail address. So a change keeps what was
// sent of such a member until the record is locked: if it is what the door shows of the stored value, that value stays.

/** Whether `shown`, as JSON has it, is what was sent. */
export function isShown({ field: { kind }, given, shownAs = asItIs }: SentBack, shown: Scalar): boolean {
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean') return false
  if (kind === 'text') return shownAs(String(given)) === shownAs(String(shown))
  const sent = String(given).trim()
  if (kind === 'integer' || kind === 'decimal') return sent !== '' && Number(sent) === shown
  return sent === String(shown)
}

const asItIs = (text: string) => text

/**
 * The patch with the stored values where it has what the door shows of them, and the refusals that are left. Without a stored
 * record all are.
 */
export function settled(fields: FieldSet, patch: Patch, stored: Stored | null, timeZone: string) {
  if (!hasSentBack(patch)) return { patch, refusals: [] }
  const shown = new Set<StoreFailure | null>()
  const { row, lists = {} } = stored ?? {}
  const itemsIn = (name: string, field: ListField) => (hasRows(field) ? lists[name] : itemsOf(row, name)) ?? []
  const next = settledPatch(fields, patch, { row, itemsIn, timeZone, shown })
  return { patch: next, refusals: patch.refusals?.filter((one) => !shown.has(one)) ?? [] }
}

interface Settling {
  /** The stored row or item; undefined: it is new. */
  readonly row: Row | undefined
  readonly itemsIn: (name: string, field: ListField) => readonly Row[]
  readonly timeZone: string
  /** The refusals of what is shown. */
  readonly shown: Set<StoreFailure | null>
}

function settledPatch(fields: FieldSet, patch: Patch, settling: Settling): Patch {
  if (!hasSentBack(patch)) return patch
  const { row, itemsIn, timeZone, shown } = settling
  const next = { ...patch, columns: { ...patch.columns }, details: structuredClone(patch.details) }
  for (const one of patch.sentBack ?? []) {
    if (row === undefined) break
    const stored = storedIn(row, one)
    if (!isOf(one, stored, next, timeZone)) continue
    shown.add(one.refusal)
    put(next, one, stored)
  }
  const lists = Object.entries(patch.lists).map(([name, items]): [string, Patch[]] => {
    const field = fields.get(name)
    return [name, field?.kind === 'list' ? settledItems(field, items, itemsIn(name, field), settling) : items]
  })
  return { ...next, lists: Object.fromEntries(lists) }
}

function settledItems(field: ListField, items: readonly Patch[], rows: readonly Row[], settling: Settling): Patch[] {
  const column = hasRows(field) ? keyColumn(field) : (field.key ?? '')
  const byKey = new Map(field.key === undefined ? [] : rows.map((row) => [row[column], row]))
  const storedKey = storedKeys(field, rows, column)
  return items.map((item, index) => {
    const key = field.key === undefined ? undefined : storedKey(item)
    const row = field.key === undefined ? rows[index] : byKey.get(key as Json)
    const itemsIn = (name: string) => itemsOf(row, name)
    return settledPatch(field.fields, { ...item, key }, { ...settling, row, itemsIn })
  })
}

/** Returns the function for the key of the stored item that the caller was shown, or else the one that was sent with an item. */
export function storedKeys(field: ListField, rows: readonly Row[], column: string): (item: Patch) => Patch['key'] {
  const keys = new Set(rows.map((row) => row[column]))
  let byShown: Map<string, Json | undefined> | undefined
  return (item) => {
    const sent = sentKey(field, item, rows, column) as Patch['key']
    const asKey = item.sentBack?.find((one) => one.field.access === 'key')
    if (asKey === undefined || keys.has(sent as Json)) return sent
    const { given, shownAs = asItIs } = asKey
    // Of two that are shown alike, the first is meant.
    byShown ??= new Map(rows.toReversed().map((row) => [shownAs(String(row[column])), row[column]]))
    return (byShown.get(shownAs(String(given))) ?? sent) as Patch['key']
  }
}

function hasSentBack({ sentBack, lists }: Patch): boolean {
  return sentBack !== undefined || Object.values(lists).some((items) => items.some(hasSentBack))
}

function isOf(one: SentBack, stored: Json | undefined, patch: Patch, timeZone: string): boolean {
  const { field, refusal } = one
  if (field.access === 'key') return false
  if (field.kind !== 'date' || stored === null || stored === undefined) {
    return isShown(one, (stored ?? field.default) as Scalar)
  }
  const instant = Date.parse(String(stored))
  if (isShown(one, writeDate(new Date(instant), timeZone))) return true
  const read = field.column === undefined ? valueIn(patch.details, one.path) : patch.columns[field.column]
  return refusal === null && Math.floor(Date.parse(String(read)) / 1000) === Math.floor(instant / 1000)
}

function storedIn(row: Row, { field: { column }, path }: SentBack): Json | undefined {
  return column === undefined ? (valueIn(row.details ?? row, path) as Json | undefined) : row[column]
}

function put(patch: Patch, { field: { column }, path }: SentBack, stored: Json | undefined): void {
  if (column !== undefined) {
    patch.columns[column] = (stored ?? null) as Scalar | null
    return
  }
  let document: Document = patch.details
  for (const name of path.slice(0, -1)) {
    const inner = (document[name] ?? {}) as Document
    document[name] = inner
    document = inner
  }
  const name = path.at(-1) as string
  if (stored === undefined) delete document[name]
  else document[name] = stored
}

function itemsOf(row: Row | undefined, name: string): readonly Row[] {
  return (valueIn(row?.details ?? row, [name]) ?? []) as Row[]
}
