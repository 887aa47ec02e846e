import { StoreFailure } from '../values/failure.ts'
import type { Caller } from './caller.ts'
import type { NestedSubResource, Resource } from './define.ts'
import { hasRows, type ListField, type Scalar } from './fields.ts'
import { identifier } from './filters.ts'
import { type Patch, readInput } from './input.ts'
import { type Document, keep, sentKey } from './merge.ts'
import { cursorIn, emptyPage, getRecord, type Page, pageOf, type Query } from './read.ts'
import { keyColumn } from './reader.ts'
import { changeRecord, type Stored, type Terms } from './write.ts'

/** Items of one page of a list inside a record (contract §8), also where no limit is asked for. */
export const ITEMS_MAX = 500

/**
 * A page of the items of a list inside a record, in the order of the record: by `offset`, or by `cursor`, which reads on
 * behind the last item of a page whatever was inserted or deleted meanwhile. Items without a key are counted instead.
 * Throws `not-found` when the record is unknown or the list is empty (rest-resources 0.9), `bad-request` past the end, and
 * for a cursor whose place was lost with its item.
 */
export async function listItems(
  caller: Caller,
  resource: Resource,
  sub: NestedSubResource,
  id: number,
  query: Query,
): Promise<Page> {
  const field = listField(resource, sub)
  const cursor = cursorIn(query)
  const { limit, offset } = pageOf(query, ITEMS_MAX, ITEMS_MAX)
  const record = JSON.parse(await getRecord(caller, resource, id)) as Record<string, Document[]>
  const items = record[sub.list] ?? []
  const start = cursor === null ? offset : placeBehind(field, items, cursor)
  // A client that follows cursors to the end gets an empty page, not an error.
  if (cursor === null) {
    if (items.length === 0) throw new StoreFailure('not-found', `${resource.typeName} ${id} has no ${sub.list}`)
    if (start >= items.length) throw emptyPage(start, items.length)
  }
  const end = start + limit
  const page = items.slice(start, end)
  return {
    records: page.map((item) => JSON.stringify(item)),
    next: end < items.length ? cursorBehind(field, page, end) : null,
    total: null,
  }
}

function cursorBehind({ key }: ListField, page: readonly Document[], end: number): string {
  return key === undefined ? String(end) : encodeURIComponent(String(page.at(-1)?.[key]))
}

/**
 * The place of the first item behind the one that the cursor names. Where that item is gone, its key tells the place among
 * keys that ascend, as those of appended items do. In any other order the place is lost: a guess would skip or repeat items.
 */
function placeBehind(field: ListField, items: readonly Document[], cursor: string): number {
  const { key } = field
  if (key === undefined) return identifier(cursor, 'cursor')
  const last = field.fields.get(key)?.kind === 'text' ? cursor : identifier(cursor, 'cursor')
  const keys = items.map((item) => item[key] as number | string)
  const place = keys.indexOf(last)
  if (place !== -1) return place + 1
  // Key 0 stands for whichever item is left.
  const isOrdered = keys.every((each, index) => each !== 0 && (index === 0 || (keys[index - 1] as typeof each) < each))
  if (isOrdered) return keys.filter((each) => each < last).length
  const message = 'cursor names an item that was removed from the list; begin again without cursor'
  throw new StoreFailure('bad-request', message, { field: 'cursor' })
}

/** Adds an item to a list inside a record and returns its key. */
export async function addItem(
  caller: Caller,
  resource: Resource,
  sub: NestedSubResource,
  id: number,
  body: unknown,
  terms: Terms = {},
): Promise<Scalar> {
  const field = keyedList(resource, sub)
  const item = readItem(caller, field, body)
  return changeRecord(
    caller,
    resource,
    id,
    (stored) => listPatch(sub, [...keysOf(field, sub, stored).map(keep), { ...item, key: undefined }]),
    terms,
    {
      touches: [sub.list],
      newRows: 1 + countNested(field, item),
      keyOf: (after) => keysOf(field, sub, after).at(-1) as Scalar,
    },
  )
}

/**
 * Changes the item of a list inside a record whose key is `key`; the item's other fields and the other items stay.
 * Throws `not-found` when record or item is unknown.
 */
export async function updateItem(
  caller: Caller,
  resource: Resource,
  sub: NestedSubResource,
  id: number,
  key: number | string,
  body: unknown,
  terms: Terms = {},
): Promise<void> {
  const field = keyedList(resource, sub)
  const item = readItem(caller, field, body)
  const patchOf = (stored: Stored): Patch => {
    const keys = keysOf(field, sub, stored)
    const wanted = hasRows(field)
      ? sentKey(field, { ...item, key }, stored.lists[sub.list] ?? [], keyColumn(field))
      : key
    if (!keys.includes(wanted as number | string)) {
      throw new StoreFailure('not-found', `${resource.typeName} ${id} has no ${field.typeName} ${key}`, {
        field: String(key),
      })
    }
    return listPatch(
      sub,
      keys.map((known) => (known === wanted ? { ...item, key: known } : keep(known))),
    )
  }
  const computed = { touches: [sub.list], newRows: countNested(field, item), keyOf: () => key }
  await changeRecord(caller, resource, id, patchOf, terms, computed)
}

/** The key that an item of a body names, for updates of several items. */
export function itemKey(caller: Caller, resource: Resource, sub: NestedSubResource, body: unknown): Scalar | undefined {
  return readItem(caller, listField(resource, sub), body).key
}

function readItem(caller: Caller, field: ListField, body: unknown): Patch {
  return readInput(field.fields, body, { mode: 'update', timeZone: caller.store.timeZone })
}

export function listField(resource: Resource, sub: NestedSubResource): ListField {
  const field = resource.fields.get(sub.list)
  if (field?.kind !== 'list') throw new Error(`${resource.service}: no list ${sub.list}`)
  return field
}

function keyedList(resource: Resource, sub: NestedSubResource): ListField {
  const field = listField(resource, sub)
  if (field.key === undefined) throw new Error(`${resource.service}.${sub.list} has no key`)
  return field
}

function listPatch(sub: NestedSubResource, items: Patch[]): Patch {
  return { key: undefined, columns: {}, details: {}, lists: { [sub.list]: items }, writeOnly: {} }
}

function keysOf(field: ListField, sub: NestedSubResource, stored: Stored): (number | string)[] {
  if (hasRows(field)) {
    const column = keyColumn(field)
    return (stored.lists[sub.list] ?? []).map((row) => row[column] as number | string)
  }
  const items = ((stored.row.details as Document | undefined)?.[sub.list] ?? []) as Document[]
  return items.map((item) => item[field.key as string] as number | string)
}

/** How many rows of lists inside the item (the options of an option set) may need an id. */
function countNested(field: ListField, item: Patch): number {
  return Object.entries(item.lists).reduce((sum, [name, items]) => {
    const inner = field.fields.get(name)
    return inner?.kind === 'list' ? sum + items.length + items.reduce((n, one) => n + countNested(inner, one), 0) : sum
  }, 0)
}
