import { dateForms, instantText, readDate } from '../values/dates.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Field, FieldSet, ListField, Scalar, ValueField } from './fields.ts'

export type Json = Scalar | null | Json[] | { [name: string]: Json }

/** What a caller gave of one record or list item, checked; what was not given is absent. */
export interface Patch {
  /** The identifier that was sent along; it finds a record or an item, and never changes one. */
  key: number | string | undefined
  /** By column name. */
  columns: Record<string, Scalar | null>
  /** Members of the `details` document, by wire name. */
  details: Record<string, Json>
  /** By wire name; each replaces the stored list. */
  lists: Record<string, Patch[]>
  /** Fields that are taken and never shown, by wire name. */
  writeOnly: Record<string, Scalar>
}

export interface InputRules {
  /** `create` demands the required fields, `update` takes what is there, `import` also keeps what only the platform writes. */
  mode: 'create' | 'update' | 'import'
  timeZone: string
}

/** Items of one nested list. */
export const LIST_ITEMS_MAX = 10_000

/**
 * Reads a wire record: names without regard to case, unknown ones ignored, null as absent (rest-resources 0.8).
 * Throws `bad-request` that names the first wrong field by its path, such as `OrderItemList[2].ItemQuantity`.
 */
export function readInput(fields: FieldSet, body: unknown, rules: InputRules, path = ''): Patch {
  const patch: Patch = { key: undefined, columns: {}, details: {}, lists: {}, writeOnly: {} }
  readMembers(fields, body, rules, path, patch, patch.details)
  return patch
}

function readMembers(
  fields: FieldSet,
  body: unknown,
  rules: InputRules,
  path: string,
  patch: Patch,
  details: Record<string, Json>,
): void {
  if (!isRecord(body)) {
    throw new StoreFailure('bad-request', `${path || 'The record'} must be an object with fields`, { field: path })
  }
  const given = canonicalNames(fields, body)
  for (const [name, field] of fields.entries) {
    const at = path === '' ? name : `${path}.${name}`
    const member = given.get(name)
    if (field.kind === 'object') {
      if (member === undefined && rules.mode !== 'create') continue
      const inner: Record<string, Json> = {}
      readMembers(field.fields, member ?? {}, rules, at, patch, inner)
      if (Object.keys(inner).length > 0) details[name] = inner
    } else if (field.kind === 'list') {
      if (member !== undefined && isTaken(field, rules)) patch.lists[name] = readList(field, member, rules, at)
    } else {
      readValue(name, field, member, rules, at, patch, details)
    }
  }
}

function readList(field: ListField, given: unknown, rules: InputRules, path: string): Patch[] {
  if (!Array.isArray(given)) throw new StoreFailure('bad-request', `${path} must be a list`, { field: path })
  if (given.length > LIST_ITEMS_MAX) {
    throw new StoreFailure('bad-request', `${path} has ${given.length} items; at most ${LIST_ITEMS_MAX} are allowed`, {
      field: path,
    })
  }
  // An item that carries a key may be a known one of which a part is sent; whether it must be whole is known when it is stored.
  const items = given.map((item, index) =>
    readInput(
      field.fields,
      item,
      { ...rules, mode: rules.mode === 'import' ? 'import' : 'update' },
      `${path}[${index}]`,
    ),
  )
  if (field.keyFrom === 'caller' && field.key !== undefined) refuseMissingKeys(items, field.key, path)
  return items
}

function refuseMissingKeys(items: readonly Patch[], key: string, path: string): void {
  items.forEach((item, index) => {
    if (item.key === undefined || String(item.key).trim() === '' || item.key === 0) {
      throw new StoreFailure('bad-request', `${path}[${index}].${key} is required`, {
        field: `${path}[${index}].${key}`,
      })
    }
  })
}

function readValue(
  name: string,
  field: ValueField,
  given: unknown,
  rules: InputRules,
  path: string,
  patch: Patch,
  details: Record<string, Json>,
): void {
  const value = isGiven(field, given, rules) ? checked(field, given, rules, path) : null
  if (field.required && rules.mode !== 'import') {
    const empty = value === null ? rules.mode === 'create' : typeof value === 'string' && value.trim() === ''
    if (empty) throw new StoreFailure('bad-request', `${path} is required and must not be empty`, { field: path })
  }
  if (value === null) return
  if (field.access === 'key') patch.key = value as string | number
  else if (field.access === 'wo') patch.writeOnly[name] = value
  else if (field.column === undefined) details[name] = value
  else patch.columns[field.column] = field.nullable && value === field.default ? null : value
}

/** What is never given back is read as its default, and clients send back what they read. */
function isGiven(field: ValueField, given: unknown, rules: InputRules): boolean {
  if (given === undefined || !isTaken(field, rules)) return false
  return field.access !== 'wo' || given !== field.default
}

function checked(field: ValueField, given: unknown, rules: InputRules, path: string): Scalar | null {
  const result = field.schema.safeParse(given)
  if (!result.success) {
    throw new StoreFailure('bad-request', `${path} ${result.error.issues[0]?.message ?? 'is not valid'}`, {
      field: path,
    })
  }
  if (field.kind !== 'date' || result.data === null || result.data === '') return dateOrValue(field, result.data)
  const read = readDate(String(result.data), rules.timeZone)
  if (!read) throw new StoreFailure('bad-request', `${path} is not a date; allowed: ${dateForms}`, { field: path })
  return instantText(read.instant)
}

/** An empty date clears a date that may be missing, and is "not given" for one that may not. */
function dateOrValue(field: ValueField, value: Scalar | null): Scalar | null {
  return field.kind === 'date' && value === '' && !field.nullable ? null : value
}

function isTaken(field: Field, { mode }: InputRules): boolean {
  if (field.kind === 'object') return true
  if (field.access === 'derived') return false
  if (field.access === 'new') return mode !== 'update'
  return field.access !== 'ro' || mode === 'import'
}

function canonicalNames(fields: FieldSet, body: Record<string, unknown>): Map<string, unknown> {
  const given = new Map<string, unknown>()
  for (const [name, member] of Object.entries(body)) {
    const canonical = fields.byLowerName.get(name.toLowerCase())
    if (canonical !== undefined && member !== null && member !== undefined) given.set(canonical, member)
  }
  return given
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
