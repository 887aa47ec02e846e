import type { Field, FieldSet, ListField, ValueField } from '../../../src/engine/definition/fields.ts'
import { isWire } from './differences.ts'
import type { Wire } from './samples.ts'

/** A member of a record, or of an item of one of its lists, that a caller may send. */
export interface Member {
  /** As messages name it: `SKUInfo.SKU`, `OptionSetList[1].OptionList[1].OptionName`. */
  readonly path: string
  readonly field: Field
  /** A body that holds this member alone, with this value. */
  readonly body: (value: unknown) => Wire
}

/** Every writable member at every depth, objects and lists among them. In lists it is that of the second item. */
export function membersOf(fields: FieldSet, path = '', wrap = (body: Wire) => body, keys = false): Member[] {
  return fields.entries.flatMap(([name, field]) => {
    if (!isWritable(field, keys)) return []
    const at = path === '' ? name : `${path}.${name}`
    const body = (value: unknown) => wrap({ [name]: value })
    const member = { path: at, field, body }
    if (field.kind === 'object') return [member, ...membersOf(field.fields, at, body)]
    if (field.kind === 'list') {
      return [member, ...membersOf(field.fields, `${at}[1]`, (item) => body([{}, item]), field.keyFrom === 'caller')]
    }
    return [member]
  })
}

/** The members that hold a value. */
export function valuesOf(fields: FieldSet): (Member & { field: ValueField })[] {
  return membersOf(fields).filter((member): member is Member & { field: ValueField } => isValue(member.field))
}

/** The members of the record itself, and of its objects: those that no list holds. */
export function plainValuesOf(fields: FieldSet): (Member & { field: ValueField })[] {
  return valuesOf(fields).filter(({ path }) => !path.includes('['))
}

/** The lists of the record itself that a caller may send. */
export function listsOf(fields: FieldSet): { name: string; field: ListField }[] {
  return fields.entries.flatMap(([name, field]) =>
    field.kind === 'list' && isWritable(field) ? [{ name, field }] : [],
  )
}

export function isValue(field: Field): field is ValueField {
  return field.kind !== 'object' && field.kind !== 'list'
}

/** A text that may be any: not one of a few, nor one that answers leave out where it is empty. */
export function isFreeText(field: Field): boolean {
  return field.kind === 'text' && field.bounds.values === undefined && !isOptional(field)
}

/** Whether answers have it only where it is set. */
export function isOptional(field: Field): boolean {
  return isValue(field) && field.isOptional === true
}

/** Keys are sent where the caller chooses them. */
export function isWritable(field: Field, keys = false): boolean {
  if (field.kind === 'object') return true
  return field.access === 'rw' || field.access === 'wo' || (keys && field.access === 'key')
}

/** Whether a field is given with a new record alone. */
export function isNew(field: Field): boolean {
  return field.kind !== 'object' && field.access === 'new'
}

/** What stands at `SKUInfo.Name` of a record. */
export function at(record: Wire, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Wire | undefined)?.[name], record)
}

/** The record with another value at a path; objects on the way are copied. */
export function withValue(record: Wire, path: string, value: unknown): Wire {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) return { ...record, [name]: value }
  return { ...record, [name]: withValue((record[name] ?? {}) as Wire, rest.join('.'), value) }
}

/** All records in one, later members over earlier ones, objects member by member. */
export function merged(...records: readonly Wire[]): Wire {
  const whole: Wire = {}
  for (const [name, value] of records.flatMap((record) => Object.entries(record))) {
    const before = whole[name]
    whole[name] = isWire(before) && isWire(value) ? merged(before, value) : value
  }
  return whole
}
