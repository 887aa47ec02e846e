import type { Field, FieldSet } from '../../../src/engine/definition/fields.ts'
import { isOptional } from './paths.ts'
import type { Wire } from './samples.ts'

/**
 * Where a record differs from what is expected of it, a line each: texts shortened, so that a record with fields of
 * 65,535 characters fails readably. Of objects only the members that `expected` has are compared; lists item by item;
 * an asymmetric matcher (`expect.any(Number)`) is asked.
 */
export function differences(actual: unknown, expected: unknown, path = ''): string[] {
  if (isMatcher(expected)) return expected.asymmetricMatch(actual) ? [] : [`${path}: ${shown(actual)}`]
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [`${path}: ${shown(actual)} is not a list`]
    if (actual.length !== expected.length) return [`${path}: ${actual.length} items, expected ${expected.length}`]
    return expected.flatMap((item, index) => differences(actual[index], item, `${path}[${index}]`))
  }
  if (isWire(expected)) {
    if (!isWire(actual)) return [`${path}: ${shown(actual)} is not an object`]
    return Object.entries(expected).flatMap(([name, value]) =>
      differences(actual[name], value, path === '' ? name : `${path}.${name}`),
    )
  }
  return Object.is(actual, expected) ? [] : [`${path}: ${shown(actual)}, expected ${shown(expected)}`]
}

/** The names in a record, in its order, with those inside it: what the definition promises of every record (rest-resources §0.10). */
export function namesIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => namesIn(item, `${path}[${index}]`))
  if (!isWire(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`
    return [at, ...namesIn(member, at)]
  })
}

/** The same by the definition, for a record with as many items in its lists. */
export function namesOf(fields: FieldSet, record: unknown, path = ''): string[] {
  return fields.shown.entries.flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    const value = isWire(record) ? record[name] : undefined
    return value === undefined && isOptional(field) ? [] : [at, ...namesWithin(field, value, at)]
  })
}

function namesWithin(field: Field, value: unknown, path: string): string[] {
  if (field.kind === 'object') return namesOf(field.fields, value, path)
  if (field.kind !== 'list' || !Array.isArray(value)) return []
  return value.flatMap((item, index) => namesOf(field.fields, item, `${path}[${index}]`))
}

/** The record of which nothing was ever said. */
export function defaultsOf(fields: FieldSet): Wire {
  return Object.fromEntries(
    fields.shown.entries.flatMap(([name, field]) => (isOptional(field) ? [] : [[name, defaultOf(field)]])),
  )
}

function defaultOf(field: Field): unknown {
  if (field.kind === 'list') return []
  return field.kind === 'object' ? defaultsOf(field.fields) : field.default
}

/** A body as its record shows it: what is taken and never given back stands at its default. */
export function shownOf(fields: FieldSet, body: Wire): Wire {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const field = fields.get(name)
      if (field?.kind === 'object') return [name, shownOf(field.fields, value as Wire)]
      if (field?.kind === 'list') return [name, (value as Wire[]).map((item) => shownOf(field.fields, item))]
      return [name, field?.access === 'wo' ? field.default : value]
    }),
  )
}

export function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface Matcher {
  asymmetricMatch(value: unknown): boolean
}

function isMatcher(value: unknown): value is Matcher {
  return isWire(value) && typeof value.asymmetricMatch === 'function'
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 100 ? `${text.slice(0, 100)}… (${text.length})` : text
}
