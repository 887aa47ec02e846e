import { StoreFailure } from '../../foundation/values/failure.ts'
import type { Caller } from '../caller.ts'
import type { Query } from '../definition/endpoints.ts'
import type { ListField } from '../definition/fields.ts'
import { readId } from '../definition/filters.ts'
import { refused } from '../definition/refused.ts'
import type { NestedSubResource, Resource } from '../definition/resource.ts'
import type { Document } from '../definition/stored-row.ts'
import { cursorIn, emptyPage, pageOf } from './paging.ts'
import { getRecord, type RecordPage } from './read.ts'

/** Maximum and default items per page of a list inside a record (contract §8). */
export const ITEMS_MAX = 500

/**
 * A page of the items of a list inside a record, in record order: by `offset`, or by `cursor`, which continues after
 * the last item of a page regardless of inserts and deletes in between. For items without a key the cursor is a
 * position. Throws `not-found` if the record is unknown or the list is empty (rest-resources §0.9), a 400 past
 * the end, and for a cursor whose position is lost because its item was removed.
 */
export async function listItems(caller: Caller, resource: Resource, sub: NestedSubResource, id: number, query: Query) {
  const read = async () => {
    const record = JSON.parse(await getRecord(caller, resource, id)) as Record<string, Document[]>
    return record[sub.list] ?? []
  }
  return pageOfItems(listField(resource, sub), query, read, `${resource.typeName} ${id} has no ${sub.list}`)
}

/** The same of items that `read` returns, in order; `none` says that there are none. */
export async function pageOfItems(
  field: Pick<ListField, 'key' | 'fields'>,
  query: Query,
  read: () => Promise<readonly Document[]>,
  none: string,
): Promise<RecordPage> {
  const cursor = cursorIn(query)
  const { limit, offset } = pageOf(query, ITEMS_MAX, ITEMS_MAX)
  const items = await read()
  const start = cursor === null ? offset : placeBehind(field, items, cursor)
  // A client that follows cursors to the end gets an empty page, not an error.
  if (cursor === null) {
    if (items.length === 0) throw new StoreFailure('not-found', none)
    if (start >= items.length) throw emptyPage(start, items.length)
  }
  const end = start + limit
  const page = items.slice(start, end)
  const cursorAfter = field.key === undefined ? String(end) : encodeURIComponent(String(page.at(-1)?.[field.key]))
  const next = end < items.length ? cursorAfter : null
  return { records: page.map((item) => JSON.stringify(item)), next, total: null }
}

/**
 * The index after the item that the cursor names. If it was removed, its key still gives the position among ascending
 * keys, as appended items have. In any other order the position is lost: a guess would skip or repeat items.
 */
function placeBehind({ key, fields }: Pick<ListField, 'key' | 'fields'>, items: readonly Document[], cursor: string) {
  if (key === undefined) return readId(cursor, 'cursor')
  const last = fields.get(key)?.kind === 'text' ? cursor : readId(cursor, 'cursor')
  const keys = items.map((item) => item[key] as number | string)
  const place = keys.indexOf(last)
  if (place !== -1) return place + 1
  // Key 0 names the only item, whichever it is.
  const isOrdered = keys.every((each, index) => each !== 0 && (index === 0 || (keys[index - 1] as typeof each) < each))
  if (isOrdered) return keys.filter((each) => each < last).length
  throw refused('cursor', 'cursor names an item that was removed from the list; begin again without cursor')
}

export function listField(resource: Resource, sub: NestedSubResource): ListField {
  const field = resource.fields.get(sub.list)
  if (field?.kind !== 'list') throw new Error(`${resource.service}: no list ${sub.list}`)
  return field
}
