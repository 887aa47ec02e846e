import { createHash } from 'node:crypto'
import {
  columnPath,
  type FieldSet,
  isFilledIn,
  type ListField,
  type ValueField,
} from '../../engine/definition/fields.ts'
import { isRecord, memberOf } from '../../engine/definition/input.ts'
import type { Resource } from '../../engine/definition/resource.ts'
import { isEmptyDate, readDate, writeDate } from '../../foundation/values/dates.ts'
import { isId } from '../../foundation/values/int32.ts'

/** A record in the form of an export: names and order of the definition, without derived and write-only fields. */
export type Shaped = Record<string, unknown>

export interface Shape {
  /** 0: the record has none, or one that no record can have. */
  readonly id: number
  readonly record: Shaped
}

export interface Shaping {
  /** The store's time zone, in which dates without an offset are read. */
  readonly timeZone: string
  /** Receives the path of each member that no field takes. */
  readonly unknown?: (path: string) => unknown
}

/**
 * Normalises a record of any source: names in another case, null and missing members, numbers as texts and texts as numbers, dates in
 * any form, a list that is an object when it has one item. Drops write-only fields, such as card numbers and passwords. Keeps an
 * invalid value as it is, so that the import names it.
 */
export function shapeRecord(resource: Resource, given: unknown, shaping: Shaping): Shape {
  const record = shapeMembers(resource.fields, given, shaping, '')
  return { id: idOf(resource, record), record }
}

/** 0: the record has none, or one that no record can have. */
export function idOf({ fields }: Resource, record: unknown): number {
  const id = Number(columnPath(fields, 'id')?.reduce<unknown>(memberOf, record))
  return isId(id) ? id : 0
}

/** Tells records of a list apart: the id; for a record without a usable one, its fingerprint. */
export function keyOf(resource: Resource, { id, record }: Shape): number | string {
  return id === 0 ? printOf(resource, record) : id
}

function shapeMembers(fields: FieldSet, given: unknown, shaping: Shaping, path: string): Shaped {
  const shaped: Shaped = {}
  if (!isRecord(given)) return shaped
  const members = new Map<string, unknown>()
  for (const [name, member] of Object.entries(given)) {
    const known = fields.byLowerName.get(name.toLowerCase())
    if (known === undefined) shaping.unknown?.(path === '' ? name : `${path}.${name}`)
    else if (member !== null && member !== undefined) members.set(known, member)
  }
  for (const [name, field] of fields.entries) {
    const member = members.get(name)
    if (member === undefined) continue
    const at = path === '' ? name : `${path}.${name}`
    if (field.kind === 'object') shaped[name] = shapeMembers(field.fields, member, shaping, at)
    else if (field.kind === 'list') {
      if (field.access !== 'derived')
        shaped[name] = itemsOf(field, member).map((each) => shapeMembers(field.fields, each, shaping, at))
    } else if (isKept(field)) {
      const value = shapeValue(field, member, shaping)
      if (value !== null) shaped[name] = value
    }
  }
  return shaped
}

/** Takes a list, a single item, or either inside a member named after the items' type, as in XML. */
function itemsOf({ typeName }: ListField, given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given
  if (!isRecord(given)) return []
  const [[name, inner] = ['', undefined], ...others] = Object.entries(given)
  const isWrapped = others.length === 0 && name.toLowerCase() === typeName.toLowerCase()
  if (!isWrapped) return Object.keys(given).length === 0 ? [] : [given]
  return Array.isArray(inner) ? inner : isRecord(inner) ? [inner] : []
}

function isKept({ access }: ValueField): boolean {
  return access !== 'wo' && access !== 'derived'
}

/** Null: the value counts as missing. */
function shapeValue(field: ValueField, given: unknown, { timeZone }: Shaping): unknown {
  if (field.kind === 'date' && (String(given).trim() === '' || isEmptyDate(String(given)))) return null
  const { success, data } = field.schema.safeParse(given)
  if (!success) return given
  if (field.kind !== 'date' || data === null) return data
  const read = readDate(String(data), timeZone)
  return read ? writeDate(read.instant, timeZone) : given
}

export interface Difference {
  /** Such as `OrderItemList[2].ItemQuantity`. */
  readonly member: string
  readonly there: unknown
  readonly here: unknown
}

/**
 * Compares a shaped source record with its copy. A member missing in the source must have its default in the copy, unless the platform
 * fills it in. Derived members are not compared.
 */
export function differencesOf({ fields }: Resource, there: Shaped, here: Shaped): Difference[] {
  const found: Difference[] = []
  compareMembers(fields, { there, here, path: '', isOnlyItem: true }, found)
  return found
}

interface Pair {
  readonly there: Shaped
  readonly here: Shaped
  readonly path: string
  /** Whether the item is the only one of its list: some members then show the record's values. */
  readonly isOnlyItem: boolean
}

function compareMembers(fields: FieldSet, { there, here, path, isOnlyItem }: Pair, found: Difference[]): void {
  for (const [name, field] of fields.entries) {
    const member = path === '' ? name : `${path}.${name}`
    const [one, other] = [there[name], here[name]]
    if (field.kind === 'object') {
      const pair = { there: (one ?? {}) as Shaped, here: (other ?? {}) as Shaped, path: member, isOnlyItem }
      compareMembers(field.fields, pair, found)
    } else if (field.kind === 'list') {
      if (field.access !== 'derived')
        compareItems(field, (one ?? []) as Shaped[], (other ?? []) as Shaped[], member, found)
    } else if (isCompared(field, one, isOnlyItem)) {
      const expected = one ?? field.default
      const actual = other ?? field.default
      if (expected !== actual) found.push({ member, there: expected, here: actual })
    }
  }
}

function isCompared(field: ValueField, there: unknown, isOnlyItem: boolean): boolean {
  if (!isKept(field) || field.access === 'key') return false
  const isFilled = isFilledIn(field) || field.defaultNow || field.access === 'ro'
  if (there === undefined && isFilled) return false
  // The wire shows a computed value in place of the column's.
  return field.sql === undefined || field.column === undefined || !isOnlyItem
}

function compareItems(
  field: ListField,
  there: readonly Shaped[],
  here: readonly Shaped[],
  path: string,
  found: Difference[],
): void {
  if (there.length !== here.length) {
    found.push({ member: path, there: `${there.length} items`, here: `${here.length} items` })
    return
  }
  const isOnlyItem = there.length === 1
  for (const [index, [one, other]] of pairsOf(field, there, here).entries()) {
    const at = `${path}[${index}]`
    const { key } = field
    if (key !== undefined && !(field.zeroKeyIsOnly && isOnlyItem)) {
      const [a, b] = [one[key], other[key]]
      if (isKey(a) && a !== b) found.push({ member: `${at}.${key}`, there: a, here: b })
    }
    compareMembers(field.fields, { there: one, here: other, path: at, isOnlyItem }, found)
  }
}

/** Pairs items by key; items without a key in order, as an import assigns the remaining keys. */
function pairsOf({ key }: ListField, there: readonly Shaped[], here: readonly Shaped[]): [Shaped, Shaped][] {
  if (key === undefined) return there.map((item, index) => [item, here[index] as Shaped])
  const byKey = new Map(here.map((item) => [item[key], item]))
  const isNamed = (item: Shaped) => isKey(item[key]) && byKey.has(item[key])
  const named = new Set(there.filter(isNamed).map((item) => item[key]))
  const rest = here.filter((item) => !named.has(item[key]))
  let next = 0
  return there.map((item) => [item, (isNamed(item) ? byKey.get(item[key]) : rest[next++]) as Shaped])
}

function isKey(value: unknown): boolean {
  return value !== undefined && value !== 0 && value !== ''
}

/** Returns the fingerprint of a shaped record, without members that the platform fills in. */
export function printOf({ fields }: Resource, record: Shaped): string {
  return createHash('sha256')
    .update(JSON.stringify(ownMembers(fields, record)))
    .digest('base64url')
    .slice(0, 22)
}

function ownMembers(fields: FieldSet, record: Shaped): Shaped {
  return Object.fromEntries(
    fields.entries.flatMap(([name, field]): [string, unknown][] => {
      const value = record[name]
      if (value === undefined) return []
      if (field.kind === 'object') return [[name, ownMembers(field.fields, value as Shaped)]]
      if (field.kind === 'list') return [[name, (value as Shaped[]).map((item) => ownMembers(field.fields, item))]]
      return field.sql !== undefined && field.access !== 'key' ? [] : [[name, value]]
    }),
  )
}
