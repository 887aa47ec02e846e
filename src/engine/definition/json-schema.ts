import { dateForms } from '../../foundation/values/dates.ts'
import { INT32_MAX, INT32_MIN } from '../../foundation/values/int32.ts'
import {
  DATE_LENGTH_MAX,
  type Field,
  fieldText,
  isFilledIn,
  isHidden,
  type ListField,
  type Meanings,
  type ObjectType,
  type ValueField,
} from './fields.ts'
import { LIST_ITEMS_MAX } from './input.ts'

/** A JSON Schema (draft 2020-12), or a reference to one. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** `read`: a record in an answer; `create` and `update`: a record in a request; `item`: a list item in a request. */
export type SchemaMode = 'read' | 'create' | 'update' | 'item'

/** Schemas by name, for references as `#/components/schemas/{name}`. */
export type Schemas = Map<string, JsonSchema>

const suffixes: Readonly<Record<SchemaMode, string>> = { read: '', create: 'Create', update: 'Update', item: 'Input' }

/**
 * Adds the JSON Schema of a record, and of everything inside it, to `schemas`; returns the reference to it. The schema
 * follows the fields that validate the record. A `read` record has every member but optional ones, in this order, and no other. A record
 * in a request has the members that a caller may set; others are ignored. Tolerated spellings (numbers as text, null
 * for "not given", names in another case) are not described. `owner` names the enclosing record, because two types with
 * one name may differ.
 */
export function describeRecord(schemas: Schemas, type: ObjectType, mode: SchemaMode, owner = ''): JsonSchema {
  const { typeName, partName = typeName, fields } = type
  // That of a list or an object stands at the member.
  const description = 'kind' in type ? '' : (type.description ?? '')
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  for (const [name, field] of (mode === 'read' ? fields.shown : fields).entries) {
    if (!isDescribed(field, mode)) continue
    properties[name] = memberSchema(schemas, field, mode, typeName)
    if (mode === 'read' ? !isOptional(field) : mode === 'create' && isRequired(field)) required.push(name)
  }
  const schema: JsonSchema = {
    type: 'object',
    ...(description !== '' && { description }),
    properties,
    ...(required.length > 0 && { required }),
    ...(mode === 'read' && { additionalProperties: false }),
    xml: { name: typeName },
  }
  return addSchema(schemas, partName + suffixes[mode], schema, owner)
}

function isDescribed(field: Field, mode: SchemaMode): boolean {
  if (mode === 'read' || field.kind === 'object') return true
  if (field.access === 'key') return mode !== 'create'
  if (field.access === 'new') return mode === 'create'
  return ['rw', 'wo', 'sent', 'kept'].includes(field.access)
}

function isOptional(field: Field): boolean {
  return field.kind !== 'list' && field.isOptional === true
}

function isRequired(field: Field): boolean {
  if (field.kind === 'object') return !field.isOptional && field.fields.leaves.some((leaf) => isRequired(leaf.field))
  return field.required === true
}

function memberSchema(schemas: Schemas, field: Field, mode: SchemaMode, owner: string): JsonSchema {
  if (field.kind === 'object') {
    const { variants, description } = field
    const schema = variants
      ? { oneOf: variants.types.map((type) => describeRecord(schemas, type, mode, owner)) }
      : describeRecord(schemas, field, mode, owner)
    return { ...schema, ...(description !== '' && { description }) }
  }
  if (field.kind === 'list') return listSchema(schemas, field, mode, owner)
  const form = field.kind === 'date' ? 'In the form `yyyy-mm-ddThh:mm:ss`.' : ''
  const description = sentences(fieldText(field), form, accessNote(field, mode))
  // What is only acted on has no default: to send one is not the same as to leave it out.
  const { access, required, default: usual } = field
  return {
    ...valueSchema(schemas, field, mode),
    ...(mode === 'create' && !required && !field.isOptional && access !== 'sent' && usual !== '' && { default: usual }),
    ...(mode === 'read' && ['key', 'ro', 'derived'].includes(field.access) && { readOnly: true }),
    ...(mode !== 'read' && isHidden(field) && { writeOnly: true }),
    ...(description !== '' && { description }),
  }
}

function listSchema(schemas: Schemas, field: ListField, mode: SchemaMode, owner: string): JsonSchema {
  const items = describeRecord(schemas, field, mode === 'read' ? 'read' : 'item', owner)
  const needsKey = mode !== 'read' && field.keyFrom === 'caller' && field.key !== undefined
  const keeps = field.key === undefined ? '' : `; an item with a known ${field.key} keeps the fields that are not sent`
  const replaces = mode === 'update' ? `Replaces the stored list as a whole${keeps}.` : ''
  const description = sentences(field.description, replaces)
  return {
    type: 'array',
    items: needsKey ? { ...items, type: 'object', required: [field.key] } : items,
    ...(mode !== 'read' && { maxItems: field.itemsMax ?? LIST_ITEMS_MAX }),
    ...(field.required && { minItems: 1 }),
    xml: { wrapped: true },
    ...(mode === 'read' && field.access !== 'rw' && { readOnly: true }),
    ...(description !== '' && { description }),
  }
}

function valueSchema(schemas: Schemas, field: ValueField, mode: SchemaMode): JsonSchema {
  if (mode === 'read' && field.access === 'wo') return { type: types[field.kind], const: field.default }
  const { min, max, maxLength, values, format, constants } = field.bounds
  // A secret sent back empty, as it was read, counts as not given.
  const isNeeded = field.required && (mode === 'create' || (mode === 'update' && field.access !== 'wo'))
  switch (field.kind) {
    case 'date':
      if (mode === 'read') return addSchema(schemas, 'LocalTime', localTime)
      return addSchema(schemas, 'LocalTimeInput', localTimeInput)
    case 'decimal':
      if (field.access === 'derived') return { type: 'number' }
      return min === -(max ?? 0)
        ? addSchema(schemas, 'Decimal', { ...decimal, minimum: min, maximum: max })
        : { type: 'number', minimum: min, maximum: max }
    case 'integer':
      if (constants !== undefined) return addSchema(schemas, constants.typeName, enumeration(constants.names))
      return {
        type: 'integer',
        format: (max ?? 0) > INT32_MAX ? 'int64' : 'int32',
        ...(min !== INT32_MIN && { minimum: min }),
        ...(max !== INT32_MAX && { maximum: max }),
      }
    case 'boolean':
      return { type: 'boolean' }
    case 'text':
      if (values !== undefined) return { type: 'string', enum: values }
      return {
        type: 'string',
        ...(mode !== 'read' && format !== undefined && { format }),
        ...(isNeeded && { minLength: 1 }),
        maxLength,
      }
  }
}

/** Generators read the names by one of two members: most by x-enum-varnames, those of .NET by x-enumNames. */
function enumeration(byNumber: Meanings): JsonSchema {
  const names = Object.values(byNumber).map((name) => name.replaceAll(' ', ''))
  const numbers = Object.keys(byNumber).map(Number)
  return { type: 'integer', format: 'int32', enum: numbers, 'x-enum-varnames': names, 'x-enumNames': names }
}

const decimal: JsonSchema = { type: 'number', description: 'Stored with four decimals.', examples: [12.5] }

export const localTime = {
  type: 'string',
  pattern: String.raw`^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})?$`,
  description: 'A time in the zone of the store, to the second; empty: not set.',
  examples: ['2026-03-10T12:00:00'],
}

const localTimeInput: JsonSchema = {
  type: 'string',
  maxLength: DATE_LENGTH_MAX,
  description: `A time in the zone of the store: ${dateForms}.`,
}

const types = { text: 'string', date: 'string', integer: 'integer', decimal: 'number', boolean: 'boolean' }

function sentences(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ')
}

/** What follows from the access. */
function accessNote(field: ValueField, mode: SchemaMode): string {
  const { access, nullable, kind, required } = field
  if (mode === 'read' && access === 'wo') return 'Always empty in answers.'
  if (isHidden(field)) return 'Write-only: accepted, never returned.'
  if (access === 'key') return keyDescriptions[mode]
  if (mode === 'read' && (access === 'derived' || isFilledIn(field))) return 'Computed on read; ignored in requests.'
  if (mode === 'read' && access === 'new') return 'Set when the record is created; ignored afterwards.'
  if (mode === 'read' && access === 'ro') return 'Maintained by the store; ignored in requests.'
  if (kind === 'integer' && nullable) return `The identifier of another record${required ? '' : '; 0: none'}.`
  return ''
}

const keyDescriptions: Readonly<Record<SchemaMode, string>> = {
  read: '',
  create: '',
  update: 'Names the record in a list of updates; in an update of one record the address names it.',
  item: 'Inside the record’s list: names a stored item, which keeps the members that are not sent; an item with another key, or none, is new. At the address of the items: PUT names the item by it unless the address does, and an unknown one is a 404; POST ignores it.',
}

/** Throws if two types with the same name and owner differ: a mistake in the definitions. */
function addSchema(schemas: Schemas, name: string, schema: JsonSchema, owner = ''): JsonSchema {
  for (const candidate of new Set([name, owner + name])) {
    const known = schemas.get(candidate)
    if (known === undefined) schemas.set(candidate, schema)
    if (known === undefined || JSON.stringify(known) === JSON.stringify(schema)) {
      return { $ref: `#/components/schemas/${candidate}` }
    }
  }
  throw new Error(`two types are named ${name} and differ`)
}
