import fc from 'fast-check'
import type { OpenApi, Part } from '../support/openapi.ts'
import type { Draw } from './draw.ts'

export interface SchemaValues {
  readonly api: OpenApi
  readonly draw: Draw
  /** An identifier that the server knows, for a member or parameter of this name; undefined: no identifier is called so. */
  readonly identifier: (name: string) => number | string | undefined
}

const DEPTH_MAX = 4

/** A value that the schema allows, in most cases; `name` is that of the member or parameter. */
export function documentedValue(values: SchemaValues, schema: Part, name: string, depth = 0): unknown {
  const { api, draw } = values
  const { value } = schema
  if ('const' in value) return value.const
  if (Array.isArray(value.enum)) return draw.oneOf(value.enum)
  const choice = choicesIn(api, schema)
  if (choice.length > 0) return documentedValue(values, draw.oneOf(choice), name, depth)
  const type = Array.isArray(value.type) ? draw.oneOf(value.type as string[]) : value.type
  if (type === 'object' || 'properties' in value) return objectOf(values, schema, depth)
  if (type === 'array') return listOf(values, schema, name, depth)
  if (type === 'boolean') return draw.happens(50)
  if (type === 'integer' || type === 'number') return numberOf(values, value, name)
  return type === 'null' ? null : textOf(values, value, name)
}

function choicesIn(api: OpenApi, schema: Part): Part[] {
  const choices = api.member(schema, 'oneOf') ?? api.member(schema, 'anyOf')
  return api.members(choices).map(([, part]) => part)
}

/** Members that are required, and one in `rare` of the others. */
function objectOf(values: SchemaValues, schema: Part, depth: number): Record<string, unknown> {
  const { api, draw } = values
  const required = (schema.value.required ?? []) as readonly string[]
  const properties = api.members(api.member(schema, 'properties'))
  const share = properties.length > 20 ? 6 : 40
  return Object.fromEntries(
    properties
      .filter(
        ([name, part]) => required.includes(name) || (depth < DEPTH_MAX && isWritable(part) && draw.happens(share)),
      )
      .map(([name, part]) => [name, documentedValue(values, part, name, depth + 1)]),
  )
}

export function isWritable({ value }: Part): boolean {
  return value.readOnly !== true
}

function listOf(values: SchemaValues, schema: Part, name: string, depth: number): unknown[] {
  const items = values.api.member(schema, 'items')
  const min = Number(schema.value.minItems ?? 0)
  const count = items === undefined ? 0 : values.draw.int(min, Math.max(min, depth > 2 ? 1 : 3))
  return Array.from({ length: count }, () => documentedValue(values, items as Part, name, depth + 1))
}

function numberOf({ draw, identifier }: SchemaValues, value: Part['value'], name: string): number | string {
  const known = identifier(name)
  if (known !== undefined && draw.happens(90)) return known
  const min = Number(value.minimum ?? value.exclusiveMinimum ?? 0)
  const max = Number(value.maximum ?? min + 10_000)
  if (draw.happens(20)) return draw.oneOf([min, max])
  const whole = draw.int(Math.ceil(min), Math.max(Math.ceil(min), Math.floor(Math.min(max, min + 500))))
  return value.type === 'number' && draw.happens(50) ? Math.min(max, whole + 0.25) : whole
}

function textOf({ draw, identifier }: SchemaValues, value: Part['value'], name: string): string {
  const known = identifier(name)
  if (known !== undefined && draw.happens(90)) return String(known)
  const max = Number(value.maxLength ?? 50)
  if (typeof value.pattern === 'string') return draw.from(patternOf(value.pattern)).slice(0, max)
  if (value.format === 'date-time' || /date|start$|end$/i.test(name)) return draw.oneOf(dates)
  const words = Array.from({ length: draw.int(1, 3) }, () => draw.oneOf(plainWords)).join(' ')
  return words.slice(0, max)
}

const patterns = new Map<string, fc.Arbitrary<string>>()

function patternOf(pattern: string): fc.Arbitrary<string> {
  const made = patterns.get(pattern) ?? fc.stringMatching(new RegExp(pattern), { maxLength: 60 })
  patterns.set(pattern, made)
  return made
}

const dates = [
  '2026-03-01T10:00:00',
  '03/01/2026',
  '03/01/2026 14:05:00',
  '2025-12-31T23:59:59',
  '11/20/2026 01:02:03 PM',
  '2026-01-01',
]
const plainWords = [
  'Mug',
  'blue',
  'Straße',
  'Ann',
  'Müller & Co',
  '50%',
  'north',
  'A-1',
  'x',
  'gift',
  'é',
  "O'Neil",
  '12',
  'Ωmega',
  '<b>',
]
