import { z } from 'zod'
import type { JsonSchema } from '../../../engine/definition/json-schema.ts'
import { nameIn } from './openapi.ts'

/** What examples are made of. */
export interface ExampleSources {
  /** The schemas that references name. */
  readonly schemas: ReadonlyMap<string, JsonSchema>
  /** Values of these schemas, or of properties and parameters of these names. They may lack members. */
  readonly samples: Readonly<Record<string, unknown>>
}

type Members = Readonly<Record<string, unknown>>

/**
 * Returns a value that the schema allows: of the sample what fits, else what the schema says itself, else something of
 * its type. A member that the sample of its object lacks is empty, as a record has it to which nothing else was given.
 */
export function exampleOf(schema: JsonSchema, sources: ExampleSources, name = '', sample?: unknown): unknown {
  const { schemas, samples } = sources
  const { $ref, oneOf, anyOf, properties, items, minItems = 0, type } = schema as SchemaParts
  if ($ref !== undefined) {
    const target = nameIn({ $ref })
    return exampleOf(schemas.get(target) ?? {}, sources, name, sample ?? samples[target])
  }
  const allowsNull = [type].flat().includes('null') || anyOf?.some((one) => one.type === 'null')
  if (sample === null && allowsNull) return null
  const choice = (oneOf ?? anyOf)?.find((one) => one.type !== 'null')
  if (choice !== undefined) return exampleOf(choice, sources, name, sample)
  const wanted = sample ?? samples[name]
  if (properties !== undefined || type === 'object') return exampleObject(properties ?? {}, sources, wanted)
  if (items !== undefined) {
    const list = [wanted].flat()
    return list.length === 0 && minItems === 0 ? [] : [exampleOf(items, sources, name, list[0])]
  }
  return exampleValue(schema as SchemaParts, wanted)
}

/** Of what a program sends of a record, the schemas are named like that of the record. */
const suffixes = ['', 'Create', 'Update', 'Input']

/**
 * Returns the schemas with an example of each member that is no record itself: of `values`, which has records by their names, of a member
 * of the same name, there or in `sent`, or what its schema says.
 */
export function withMemberExamples(schemas: ExampleSources['schemas'], values: Members, sent: Members) {
  const found = new Map<string, Members>()
  const within = ({ items, oneOf, ...schema }: SchemaParts) => nameIn((items ?? oneOf?.[0] ?? schema) as JsonSchema)
  const visit = (name: string, [value]: readonly unknown[]) => {
    const schema = schemas.get(name) as SchemaParts | undefined
    if (schema === undefined || found.has(name) || typeof value !== 'object' || value === null) return
    found.set(name, value as Members)
    for (const [member, inner] of Object.entries(schema.properties ?? {})) {
      visit(within(inner as SchemaParts), [(value as Members)[member]].flat())
    }
  }
  for (const [name, value] of Object.entries(values)) for (const suffix of suffixes) visit(name + suffix, [value])
  const sources = { schemas, samples: { ...values, ...sent, ...Object.assign({}, ...found.values()) } }
  const exemplified = (name: string, schema: JsonSchema): JsonSchema => {
    const { properties } = schema as SchemaParts
    if (properties === undefined) return schema
    const members = Object.entries(properties).map(([member, inner]) => {
      const whole = { ...schemas.get(within(inner as SchemaParts)), ...inner } as SchemaParts
      const holdsRecord = whole.properties ?? whole.items ?? whole.oneOf
      if (holdsRecord) return [member, inner]
      const example = exampleOf(inner, sources, member, found.get(name)?.[member])
      return [member, fits(whole, example) ? { ...inner, examples: [example] } : inner]
    })
    return { ...schema, properties: Object.fromEntries(members) }
  }
  return Object.fromEntries(Array.from(schemas, ([name, schema]) => [name, exemplified(name, schema)]))
}

interface SchemaParts {
  readonly $ref?: string
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly exclusiveMinimum?: number
}

function exampleObject(properties: Readonly<Record<string, JsonSchema>>, sources: ExampleSources, sample: unknown) {
  const isSampled = typeof sample === 'object' && sample !== null
  // A map, whose names no schema has.
  if (isSampled && Object.keys(properties).length === 0) return sample
  const members = isSampled ? (sample as Members) : {}
  const made = Object.entries(properties).map(([name, schema]) => {
    const given = Object.hasOwn(members, name) ? members[name] : undefined
    const value = given === undefined && isSampled ? emptyOf(schema, sources) : undefined
    return [name, value ?? exampleOf(schema, sources, name, given)]
  })
  return Object.fromEntries(made)
}

/** Undefined where it cannot be empty. */
function emptyOf(schema: JsonSchema, { schemas }: ExampleSources): unknown {
  const { $ref = '', items, properties, minItems = 0, ...described } = schema as SchemaParts
  const parts = ($ref === '' ? described : (schemas.get(nameIn({ $ref })) ?? {})) as SchemaParts
  if (items !== undefined) return minItems === 0 ? [] : undefined
  if (properties !== undefined || parts.const !== undefined || parts.enum !== undefined) return undefined
  const empty = { string: '', integer: 0, number: 0, boolean: false }[String(parts.type)]
  return empty !== undefined && fits(parts, empty) ? empty : undefined
}

/** Texts of the forms that schemas ask for; the first that fits is shown. */
const texts = [
  'text',
  '1',
  '2026-03-10T12:00:00',
  '2026-03-10T12:00:00.000Z',
  '2026-03-10T12:00:00Z',
  '2026-03-10',
  'a@shop.example',
  'https://shop.example',
  '0123456789abcdef0123456789abcdef',
  'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
  '0123456789abcdefghijklmnopqrstuvwxyz0123456',
  '"text"',
  'urn:store-platform:problem:404',
  '07-11-2026 10:44:08',
]

function exampleValue(schema: SchemaParts, sample: unknown): unknown {
  const { const: only, enum: values = [], examples = [], default: usual, minimum = 1, exclusiveMinimum } = schema
  if (only !== undefined) return only
  const type = [schema.type ?? 'string'].flat().find((one) => one !== 'null')
  const own = [sample, ...examples, usual, ...values].find((value) => value !== undefined && fits(schema, value))
  if (own !== undefined) return own
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number')
    return Math.max(exclusiveMinimum === undefined ? minimum : exclusiveMinimum + 1, minimum)
  return texts.find((text) => fits(schema, text)) ?? ''
}

/** By what schemas ask for, which many share: making one takes zod a while. */
const checks = new Map<string, z.ZodType>()

function fits({ $ref: _, examples: __, ...schema }: SchemaParts, value: unknown): boolean {
  const asked = JSON.stringify({ ...schema, description: undefined })
  const check = checks.get(asked) ?? z.fromJSONSchema(JSON.parse(asked))
  checks.set(asked, check)
  return check.safeParse(value).success
}
