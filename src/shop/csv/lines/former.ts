import { hash } from 'node:crypto'
import { isRecord, type Patch, readPatch } from '../../../engine/definition/input.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { setIn, valueIn } from '../../../foundation/values/json.ts'
import { type Column, columnsOf, type ListColumn, listColumnsOf } from './columns.ts'

// What a change replaces, and how a stock is changed by a difference.

type Json = Record<string, unknown>

/** The stock of a product, as its record shows it. */
export const STOCK = ['SKUInfo', 'Stock'] as const
/** What a body adds to it. A body of a program adds whole pieces; the platform's own may add a part of one. */
export const STOCK_ADJUST = ['SKUInfo', 'StockAdjust'] as const

/** The columns that a body gives: the values that answers show, and the lists that name records. */
export function* givenIn(resource: Resource, body: object): Generator<Column | ListColumn> {
  const isShown = ({ field: { access } }: Column) => access !== 'wo' && access !== 'key' && access !== 'sent'
  for (const column of columnsOf(resource)) {
    if (isShown(column) && valueIn(body, column.path) !== undefined) yield column
  }
  for (const list of listColumnsOf(resource)) if (list.name in body) yield list
}

/** What a record has of a column: a value, or the keys of a list's items. */
export function storedOf(column: Column | ListColumn, record: unknown): unknown {
  if (!('key' in column)) return valueIn(record, column.path) ?? column.field.default
  const items = (valueIn(record, [column.name]) ?? []) as Json[]
  return items.map(({ [column.key]: key }) => ({ [column.key]: key }))
}

/** What a record has in place of what a body gives, as the body of a request. */
export function formerOf(resource: Resource, body: object, record: unknown): Json {
  const former: Json = {}
  for (const column of givenIn(resource, body)) {
    setIn(former, 'key' in column ? [column.name] : column.path, storedOf(column, record))
  }
  return former
}

/** The body without what it adds to the stock, and that. */
export function withoutAdjust(body: object): { readonly body: Json; readonly adjust: number } {
  const adjust = Number(valueIn(body, STOCK_ADJUST) ?? 0)
  const { SKUInfo, ...others } = body as Json
  if (!isRecord(SKUInfo)) return { body: others, adjust }
  const { StockAdjust: _, ...own } = SKUInfo
  return { body: Object.keys(own).length === 0 ? others : { ...others, SKUInfo: own }, adjust }
}

/** A body of the platform's own, which may add a part of a piece to a stock. Throws a 400 that names the field. */
export function patchOf(resource: Resource, stored: object, timeZone: string): Patch {
  const { body, adjust } = withoutAdjust(stored)
  const patch = readPatch(resource.fields, body, { mode: 'update', timeZone })
  return adjust === 0 ? patch : { ...patch, writeOnly: { ...patch.writeOnly, StockAdjust: adjust } }
}

/** Tells a record as it was shown from one that has been changed since. */
export function tagOf(text: string): string {
  return hash('sha256', text, 'base64url')
}
