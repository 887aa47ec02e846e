// Turns JSON Schemas into lines of a table that people read.

import { type JsonSchema, localTime } from '../../engine/definition/json-schema.ts'
import { INT32_MAX, INT32_MIN } from '../../foundation/values/int32.ts'
import { nameIn } from '../server/json/openapi.ts'

/** A member of a body or an answer. */
export interface Row {
  /** With the members around it, such as `SKUInfo.Price`. */
  readonly path: string
  /** In words, with its bounds. */
  readonly type: string
  /** Markdown. */
  readonly description: string
  /** Of a body: it must be sent. Of an answer: it is always there. */
  readonly isRequired: boolean
  readonly isReadOnly: boolean
  /** Empty: none that says more than the type. */
  readonly example: string
}

/** Returns a schema with what it refers to. What stands beside `$ref` goes before what it refers to. */
export type Resolve = (schema: JsonSchema) => JsonSchema

/** No record is nested as deeply. */
const DEPTH_MAX = 8
/** Longer ones, such as those of dates, say nothing to people. */
const PATTERN_LENGTH_MAX = 60

/** Returns the members of an object, of the items of a list, or of the variants of either. */
export function rowsOf(schema: JsonSchema, resolve: Resolve): Row[] {
  return membersOf(schema, resolve, '', 0)
}

function membersOf(schema: JsonSchema, resolve: Resolve, prefix: string, depth: number): Row[] {
  if (depth > DEPTH_MAX) return []
  const whole = resolve(schema)
  const { properties, items, additionalProperties } = whole
  const variants = variantsOf(whole)
  // A member that is one of several records refers to their own pages by its type.
  if (variants.length > 1 && depth > 0 && variants.every(isRecord)) return []
  if (variants.length > 0) return unique(variants.flatMap((each) => membersOf(each, resolve, prefix, depth)))
  if (isSchema(items)) return membersOf(items, resolve, prefix, depth)
  const required = new Set((whole.required as readonly string[] | undefined) ?? [])
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>)
  const named = isSchema(additionalProperties) ? [...members, ['*', additionalProperties] as const] : members
  return named.flatMap(([name, member]) => {
    const { description = name === '*' ? 'What stands under each name.' : '', readOnly, examples } = resolve(member)
    const path = prefix + name
    const row: Row = {
      path,
      type: typeInWords(member, resolve),
      description: String(description),
      isRequired: required.has(name),
      isReadOnly: readOnly === true,
      example: exampleIn(examples),
    }
    return [row, ...membersOf(member, resolve, `${path}.`, depth + 1)]
  })
}

const EXAMPLE_LENGTH_MAX = 40

/** Of numbers and texts, but for the text that stands for any other. */
function exampleIn(examples: unknown): string {
  const [example] = Array.isArray(examples) ? examples : []
  const isTelling = ['string', 'number'].includes(typeof example) && example !== 'text' && example !== 0
  return isTelling && String(example).length <= EXAMPLE_LENGTH_MAX ? String(example) : ''
}

/** Variants share members. */
function unique(rows: readonly Row[]): Row[] {
  return [...new Map(rows.toReversed().map((row) => [row.path, row])).values()].toReversed()
}

/** Lists of names and bounds stay readable: `a text of at most 50 characters`. */
export function typeInWords(schema: JsonSchema, resolve: Resolve): string {
  const whole = resolve(schema)
  const { type, items, maxItems, minItems } = whole
  const names = whole.enum as readonly unknown[] | undefined
  const variants = [...((whole.oneOf ?? whole.anyOf ?? []) as JsonSchema[])]
  const given = 'default' in whole && whole.default !== '' ? `; default ${JSON.stringify(whole.default)}` : ''
  if (variants.length > 1 && variants.every(isRecord)) {
    return `one of the records ${variants.map(nameIn).join(', ')}`
  }
  const [one, list] = variants
  const item = variants.length === 2 ? list?.items : undefined
  if (one && list && isSchema(item) && typeInWords(item, resolve) === typeInWords(one, resolve)) {
    return `${typeInWords(one, resolve)}; or a list of such${between(list.minItems, list.maxItems, 'items')}${given}`
  }
  if (variants.length > 0) {
    const kinds = new Set(variants.map((each) => typeInWords(each, resolve)))
    return `${[...kinds].join(', or ')}${given}`
  }
  if ('const' in whole) return `always ${JSON.stringify(whole.const)}`
  if (names) {
    const called = whole['x-enum-varnames'] as readonly string[] | undefined
    const all = names.map((name, index) => JSON.stringify(name) + (called ? ` (${called[index]})` : ''))
    return `${names.length === 1 ? 'always' : 'one of'} ${all.join(', ')}${given}`
  }
  if (Array.isArray(type)) {
    const kinds = type.map((each) => typeInWords({ ...whole, type: each, default: '' }, resolve))
    return `${kinds.join(', or ')}${given}`
  }
  if (type === 'array') {
    const of = isSchema(items) ? typeInWords(items, resolve) : 'anything'
    const what = of === 'object' ? `${recordName(items as JsonSchema)} objects`.trim() : `(${of})`
    return `list of ${what}${between(minItems, maxItems, 'items')}`
  }
  if (type === 'string') return textInWords(whole) + given
  if (type === 'integer' || type === 'number') return numberInWords(whole) + given
  if (type === 'boolean') return `true or false${given}`
  if (type === 'null') return 'null'
  return type === 'object' || isSchema(whole.properties) ? 'object' : 'anything'
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'time',
  date: 'day',
  uri: 'address',
  email: 'e-mail address',
}

function textInWords({ format, minLength, maxLength, pattern }: JsonSchema): string {
  const kind = pattern === localTime.pattern ? 'time' : (formats[String(format)] ?? 'text')
  const isShown = typeof pattern === 'string' && pattern.length <= PATTERN_LENGTH_MAX && kind === 'text'
  return `${kind}${between(minLength, maxLength, 'characters')}${isShown ? `, by the pattern ${pattern}` : ''}`
}

function numberInWords({ type, minimum, maximum }: JsonSchema): string {
  const isBound = (bound: unknown) => typeof bound === 'number' && bound !== INT32_MIN && bound !== INT32_MAX
  const [low, high] = [minimum, maximum].map((bound) => (isBound(bound) ? shown(bound) : null))
  const bounds = low && high ? `, ${low} to ${high}` : low ? `, at least ${low}` : high ? `, at most ${high}` : ''
  return `${type === 'integer' ? 'whole number' : 'number'}${bounds}`
}

/** Bounds of all decimals and of the machine, which the conventions name, are left out. */
const BOUND_SHOWN_MAX = 99_999_999_999

function shown(bound: unknown): string | null {
  const value = Number(bound)
  return Math.abs(value) > BOUND_SHOWN_MAX ? null : value.toLocaleString('en-US', { maximumFractionDigits: 4 })
}

function between(min: unknown, max: unknown, of: string): string {
  const [low, high] = [min, max].map((bound) => (typeof bound === 'number' && bound > 0 ? shown(bound) : null))
  if (low && low === high) return `, ${low} ${of}`
  if (low && high) return `, ${low} to ${high} ${of}`
  return high ? `, at most ${high} ${of}` : low ? `, at least ${low} ${of}` : ''
}

function variantsOf({ oneOf, anyOf }: JsonSchema): JsonSchema[] {
  return ((oneOf ?? anyOf ?? []) as JsonSchema[]).filter(({ type }) => type !== 'null')
}

function isRecord({ $ref }: JsonSchema): boolean {
  return typeof $ref === 'string'
}

/** `#/components/schemas/ProductUpdate` is of the record `Product`. Empty: it names none. */
export function recordName(schema: JsonSchema): string {
  return nameIn(schema).replace(/^ArrayOf|(?:Create|Update|Input)$/g, '')
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
