import type { Field, FieldSet, ListField, ValueField } from '../../../src/engine/definition/fields.ts'
import { isNew, isWritable } from './paths.ts'

/** A record, or an item of a list, as it stands on the wire. */
export type Wire = Record<string, unknown>

/**
 * What a sample cannot know (references, values of closed sets), by path without indices: `SKUInfo.SKU`,
 * `CategoryList.CategoryID`. Below a list an array holds one value for each item; undefined leaves the field out.
 */
export type Overrides = Readonly<Record<string, unknown>>

export interface SampleOptions {
  /** Samples of two seeds, one even and one odd, differ in every field. */
  readonly seed: number
  /** The fields' own bounds hold besides. */
  readonly textLengthMax?: number
  readonly overrides?: Overrides
}

/** Enough to be distinctive. */
const TEXT_LENGTH = 60

/** A body with every field that a new record may have, set to a valid value, different for each field: the same for the same arguments. */
export function sample(fields: FieldSet, options: SampleOptions): Wire {
  return sampleMembers(fields, options, '', '')
}

/** An item of a list of the record, such as a sub-resource takes. */
export function sampleItem(name: string, list: ListField, options: SampleOptions, index = 0): Wire {
  return sampleMembers(list.fields, options, `${name}[${index}]`, name, list.keyFrom === 'caller')
}

function sampleMembers(fields: FieldSet, options: SampleOptions, path: string, pattern: string, keys = false): Wire {
  const { overrides = {} } = options
  const body: Wire = {}
  for (const [name, field] of fields.entries) {
    if (!isWritable(field, keys) && !isNew(field)) continue
    const inner = pattern === '' ? name : `${pattern}.${name}`
    const at = path === '' ? name : `${path}.${name}`
    const value = Object.hasOwn(overrides, inner)
      ? ofItem(overrides[inner], at)
      : sampleMember(field, options, at, inner)
    if (value !== undefined) body[name] = value
  }
  return body
}

/** Of the values for the items of a list, that for the item at this path. */
function ofItem(value: unknown, path: string): unknown {
  const index = /\[(\d+)\][^[]*$/.exec(path)?.[1]
  return Array.isArray(value) && index !== undefined ? value[Number(index)] : value
}

function sampleMember(field: Field, options: SampleOptions, path: string, pattern: string): unknown {
  if (field.kind === 'object') return sampleMembers(field.fields, options, path, pattern)
  if (field.kind !== 'list') return sampleValue(field, options, path)
  return [0, 1].map((index) =>
    sampleMembers(field.fields, options, `${path}[${index}]`, pattern, field.keyFrom === 'caller'),
  )
}

/** A valid value of one field. Throws for a reference: what it may refer to is for the fixture to say. */
function sampleValue(field: ValueField, { seed, textLengthMax = TEXT_LENGTH }: SampleOptions, path: string) {
  if (isReference(field)) throw new Error(`${path} refers to another record: the fixture must say to which`)
  if (field.kind === 'text') return textOf(path, seed, Math.min(textLengthMax, longestText(field)))
  if (field.kind === 'boolean') return seed % 2 === 1 ? !field.default : field.default
  if (field.kind === 'date') return `2026-03-${10 + (hash(path) % 15)}T10:44:${10 + (seed % 50)}`
  return field.kind === 'integer' ? integerOf(field, seed, path) : decimalOf(field, seed, path)
}

/** Whether a field holds the id of another record, so that not every number will do. */
export function isReference(field: ValueField): boolean {
  return field.kind === 'integer' && field.column !== undefined && (field.nullable || field.access === 'key')
}

/** The longest text that a field takes. */
export function longestText(field: ValueField): number {
  return found(longestTexts, field, () => lastTaken(field, 0, 100_000, (length) => 'x'.repeat(length)))
}

/** The smallest and the largest whole number that a field takes. Its default lies between them, or 1 does. */
export function boundsOf(field: ValueField): { min: number; max: number } {
  const inside = field.schema.safeParse(field.default).success ? Number(field.default) : 1
  const min = found(smallestNumbers, field, () => lastTaken(field, inside, -BEYOND, Number))
  return { min, max: found(largestNumbers, field, () => lastTaken(field, inside, BEYOND, Number)) }
}

/** Taken by no field. */
const BEYOND = 2 ** 40

const longestTexts = new Map<ValueField, number>()
const smallestNumbers = new Map<ValueField, number>()
const largestNumbers = new Map<ValueField, number>()

function found(known: Map<ValueField, number>, field: ValueField, find: () => number): number {
  const bound = known.get(field) ?? find()
  known.set(field, bound)
  return bound
}

/** By halving: fields do not tell their bounds. */
function lastTaken({ schema }: ValueField, inside: number, beyond: number, value: (size: number) => unknown): number {
  let taken = inside
  let refused = beyond
  while (Math.abs(refused - taken) > 1) {
    const middle = Math.trunc((taken + refused) / 2)
    if (schema.safeParse(value(middle)).success) taken = middle
    else refused = middle
  }
  return taken
}

/** With what goes wrong on the way through JSON, XML and SQL: markup, quotes, backslashes, line ends, characters of two units. */
function textOf(path: string, seed: number, length: number): string {
  const name = `${seed}é${hash(path).toString(36)}`
  if (length < 20) return name.slice(0, length)
  const unit = `${name} 𝄞 <b a="1">&amp;</b> 'q' ${path} %_ \\n $1 ;\n\t`
  const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length - 1)
  return `${text.isWellFormed() ? text : `${text.slice(0, -1)}y`}z`
}

function integerOf(field: ValueField, seed: number, path: string): number {
  const { min, max } = boundsOf(field)
  const number = hash(path) % 100_000
  if (max - min < 1_000) return min + ((number + seed) % (max - min + 1))
  const candidates = [max - seed, 100_000 + number + seed, min + seed, -number - seed]
  return validOf(candidates, min, number)
}

/** Of four places, the last of them not 0. */
function decimalOf(field: ValueField, seed: number, path: string): number {
  const number = hash(path) % 100_000
  const whole = validOf([99_999_999_998 - seed, number, -number - 1], boundsOf(field).min, number)
  return Number((whole + ((number % 900) * 10 + seed * 10 + (seed % 9) + 1) / 10_000).toFixed(4))
}

function validOf(candidates: readonly number[], min: number, choice: number): number {
  const valid = candidates.filter((value) => value >= min)
  return valid[choice % valid.length] as number
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value >>> 0
}

/** What fields of one kind are sent, which one function reads: the first field all of it, every other a single one in turn. */
export function inTurn<T>(values: readonly T[], index: number): readonly T[] {
  const at = index % values.length
  return index === 0 ? values : values.slice(at, at + 1)
}
