import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { INT32_MAX, INT32_MIN } from '../values/int32.ts'

/**
 * Who may give and see a field:
 * `rw` both; `key` assigned by the server, finds the record in updates; `ro` stored by the platform, ignored when sent;
 * `new` given with a new record, and ignored when sent later; `derived` computed when read, stored nowhere; `wo` taken, never
 * given back.
 */
export type FieldAccess = 'rw' | 'key' | 'ro' | 'new' | 'derived' | 'wo'

export type Scalar = string | number | boolean

export interface ValueField {
  readonly kind: 'text' | 'integer' | 'decimal' | 'boolean' | 'date'
  readonly access: FieldAccess
  /** Reads a caller's value with its tolerated spellings; null means "not given" (`''` for a number). */
  readonly schema: z.ZodType<Scalar | null>
  /** The column that holds it; absent: the row's `details` document. */
  readonly column: string | undefined
  /**
   * What is shown instead of the column, or, of a field that is neither derived nor has a column, where `details` lacks a
   * value: SQL over `t` (the record), `r` (the list's row) and `s` (its store).
   */
  readonly sql: Sql | undefined
  /** Shown for NULL and for what `details` lacks. */
  readonly default: Scalar
  /** The column is NULL where the wire has the default (references, dates not set). */
  readonly nullable: boolean
  /** A date column that is set to the present when it is not given on create. */
  readonly defaultNow: boolean
  /** Must be given, and not empty, on create; cannot be emptied later. */
  readonly required: boolean
  /** What the schema allows, for whoever describes the field. */
  readonly bounds: Bounds
  /** Sentences for the reference that follow from neither type nor access. */
  readonly note: string
}

/** Characters of a text, and the texts that it may be; the least and the greatest number. */
export interface Bounds {
  readonly maxLength?: number
  readonly values?: readonly string[]
  /** What a new value is checked for by the resource's `settle`; a stored value may differ. */
  readonly format?: 'email'
  readonly min?: number
  readonly max?: number
}

/** A nested object whose members are stored with the record itself. */
export interface ObjectField extends ObjectType {
  readonly kind: 'object'
  /** It holds a record of one of these types, and `fields` has none. */
  readonly variants?: Variants
}

export interface ObjectType {
  /** Its name in XML. */
  readonly typeName: string
  readonly fields: FieldSet
}

export interface Variants {
  readonly types: readonly ObjectType[]
  /** The type of such a record. */
  readonly of: (record: object) => ObjectType
}

export interface ListField {
  readonly kind: 'list'
  readonly access: 'rw' | 'ro' | 'derived'
  /** The XML name of an item. */
  readonly typeName: string
  readonly fields: FieldSet
  /** The wire name of the member that identifies an item inside its record. */
  readonly key: string | undefined
  /** Who chooses keys: the store's counter, the next number inside the record, or the caller. A list without key has none. */
  readonly keyFrom: 'counter' | 'record' | 'caller' | 'none'
  /** Key 0 names the list's only item (the shipment of an order with one: rest-resources §3.8). */
  readonly zeroKeyIsOnly: boolean
  /** The table that holds the items; absent: the record's `details` document. */
  readonly rows: ListRows | undefined
  /** For derived lists: SQL over `t` that gives a json array of wire objects, or NULL. */
  readonly sql: Sql | undefined
}

export interface ListRows {
  readonly table: string
  /** The column that holds the record's id. */
  readonly parent: string
  /** The column that keeps the order, counted from 0; absent: ordered by key. It identifies the items of a list without key. */
  readonly position?: string
  /** Columns that the wire does not show, with their value in a new row. */
  readonly hidden?: Readonly<Record<string, Scalar | null>>
}

export type Field = ValueField | ObjectField | ListField

/** Fields in wire order, with a look-up that does not regard case (rest-resources §0.2, §6). */
export interface FieldSet {
  readonly entries: ReadonlyArray<readonly [name: string, field: Field]>
  readonly byLowerName: ReadonlyMap<string, string>
  /** The values and lists among them and in objects among them: what the one row of a record or an item holds. */
  readonly leaves: readonly Leaf[]
  get(name: string): Field | undefined
}

export interface Leaf {
  /** Wire names, from the record or item inwards. */
  readonly path: readonly string[]
  readonly field: ValueField | ListField
}

export type Fields = Readonly<Record<string, Field>>

/** What to make of a field of each kind; `members` are what was made of the fields inside, by name in wire order. */
export interface FieldFold<T> {
  readonly value: (field: ValueField, name: string) => T
  readonly object: (field: ObjectField, members: Folded<T>, name: string) => T
  readonly list: (field: ListField, members: Folded<T>, name: string) => T
}

export type Folded<T> = ReadonlyArray<readonly [name: string, made: T]>

/** The one walk over a tree of fields, from the innermost outwards. */
export function foldFields<T>({ entries }: Pick<FieldSet, 'entries'>, fold: FieldFold<T>): Folded<T> {
  return entries.map(([name, field]) => {
    if (field.kind === 'object') return [name, fold.object(field, foldFields(field.fields, fold), name)]
    if (field.kind === 'list') return [name, fold.list(field, foldFields(field.fields, fold), name)]
    return [name, fold.value(field, name)]
  })
}

/** The same walk, taken once for each set of fields: for what is asked of them with every request. */
export function foldOnce<T>(fold: FieldFold<T>): (fields: FieldSet) => Folded<T> {
  const known = new WeakMap<FieldSet, Folded<T>>()
  return (fields) => {
    const folded = known.get(fields)
    if (folded !== undefined) return folded
    const made = foldFields(fields, fold)
    known.set(fields, made)
    return made
  }
}

const leavesOf: FieldFold<readonly Leaf[]> = {
  value: (field, name) => [{ path: [name], field }],
  object: (_field, members, name) =>
    members.flatMap(([, leaves]) => leaves.map(({ path, field }) => ({ path: [name, ...path], field }))),
  list: (field, _members, name) => [{ path: [name], field }],
}

/** Some of the fields, in the same order: those that whoever reads a record in part needs. */
export function fieldsAmong({ entries }: FieldSet, isWanted: (name: string) => boolean): FieldSet {
  return fieldSet(Object.fromEntries(entries.filter(([name]) => isWanted(name))))
}

export function fieldSet(fields: Fields): FieldSet {
  const entries = Object.entries(fields)
  return {
    entries,
    byLowerName: new Map(entries.map(([name]) => [name.toLowerCase(), name])),
    leaves: foldFields({ entries }, leavesOf).flatMap(([, leaves]) => leaves),
    get: (name) => (Object.hasOwn(fields, name) ? fields[name] : undefined),
  }
}

interface ValueOptions {
  column?: string
  access?: FieldAccess
  /** Makes the field derived, unless it has a column or `access` says another. */
  sql?: Sql
  required?: boolean
  nullable?: boolean
  note?: string
}

/** The note of a field that the platform itself never fills in. */
export const importOnly = 'The platform has no source of its own for it: it shows what an import brought.'

/** Longest text of a field without a documented bound, and of the documented long text columns. */
export const LONG_TEXT = 65_535

interface TextOptions extends ValueOptions {
  default?: string
  format?: 'email'
  /** Where white space, as String.prototype.trim() counts it, is taken off what is given; absent: nowhere. */
  trim?: 'both' | 'end'
}

export function text(max = LONG_TEXT, options: TextOptions = {}): ValueField {
  const { format, trim } = options
  const bounds = { maxLength: max, ...(format !== undefined && { format }) }
  return value('text', textSchema(max, trim), options.default ?? '', bounds, options)
}

/** One of a few texts, the first being the default; case and blanks around it are not regarded. */
export function choice(values: readonly [string, ...string[]], options: ValueOptions = {}): ValueField {
  const maxLength = Math.max(...values.map(({ length }) => length))
  return value('text', choiceSchema(values), values[0], { maxLength, values }, options)
}

/** A whole number of 32 bits. */
export function integer(options: ValueOptions & { min?: number; max?: number; default?: number } = {}): ValueField {
  const { min = INT32_MIN, max = INT32_MAX } = options
  return value('integer', integerSchema(min, max), options.default ?? 0, { min, max }, options)
}

/** A whole number, not negative, as large as every program keeps it: up to 2⁵³ − 1. */
export function long(options: ValueOptions = {}): ValueField {
  const [min, max] = [0, Number.MAX_SAFE_INTEGER]
  return value('integer', integerSchema(min, max), 0, { min, max }, options)
}

/** Another record's id; 0 on the wire and NULL in the column mean none. */
export function reference(column: string): ValueField {
  return integer({ column, min: 0, nullable: true })
}

/** Money, weights, quantities: kept to four decimals, at most eleven digits before the point. */
export function decimal(options: ValueOptions & { min?: number } = {}): ValueField {
  const { min = -DECIMAL_MAX } = options
  return value('decimal', decimalSchema(min), 0, { min, max: DECIMAL_MAX }, options)
}

export function boolean(options: ValueOptions & { default?: boolean } = {}): ValueField {
  return value('boolean', booleanSchema, options.default ?? false, {}, options)
}

/** Characters of a date as clients write it. */
export const DATE_LENGTH_MAX = 40

/** An instant, shown in the store's zone as `2012-07-11T10:44:08`; `''` where it is not set. */
export function date(options: ValueOptions & { defaultNow?: boolean } = {}): ValueField {
  return value('date', textSchema(DATE_LENGTH_MAX), '', { maxLength: DATE_LENGTH_MAX }, options)
}

export function object(typeName: string, fields: Fields): ObjectField {
  return { kind: 'object', typeName, fields: fieldSet(fields) }
}

/** A whole record inside another one; in XML an element of the record's name tells which type it has. */
export function oneOf(typeName: string, variants: Variants): ObjectField {
  return { ...object(typeName, {}), variants }
}

interface ListOptions {
  key?: string
  keyFrom?: ListField['keyFrom']
  zeroKeyIsOnly?: boolean
  rows?: ListRows
  access?: 'rw' | 'ro'
  sql?: Sql
}

export function list(typeName: string, fields: Fields, options: ListOptions = {}): ListField {
  const { key, zeroKeyIsOnly = false, rows, access = 'rw', sql } = options
  const { keyFrom = key === undefined ? 'none' : 'counter' } = options
  return {
    kind: 'list',
    access: sql ? 'derived' : access,
    typeName,
    fields: fieldSet(fields),
    key,
    keyFrom,
    zeroKeyIsOnly,
    rows,
    sql,
  }
}

function value(
  kind: ValueField['kind'],
  schema: ValueField['schema'],
  defaultValue: Scalar,
  bounds: Bounds,
  options: ValueOptions & { defaultNow?: boolean },
): ValueField {
  const { column, sql, required = false, nullable = false, defaultNow = false, note = '' } = options
  const access = options.access ?? (sql !== undefined && column === undefined ? 'derived' : 'rw')
  return { kind, access, schema, column, sql, default: defaultValue, nullable, defaultNow, required, bounds, note }
}

function textSchema(max: number, trim?: TextOptions['trim']) {
  const trimmed = (given: string) => (trim === 'both' ? given.trim() : trim === 'end' ? given.trimEnd() : given)
  return z.preprocess(
    (given) => (typeof given === 'number' || typeof given === 'boolean' ? String(given) : given),
    z
      .string({ error: 'must be text' })
      .overwrite(trimmed)
      .max(max, {
        error: ({ input }) => `has ${(input as string).length} characters; at most ${max} are allowed`,
      })
      .refine((given) => !given.includes('\0') && given.isWellFormed(), {
        error: 'holds a character that text cannot have (U+0000 or half of a surrogate pair)',
      }),
  )
}

/** An empty text is "not given". */
function choiceSchema(values: readonly string[]) {
  const allowed = `must be ${values.join(' or ')}`
  return z.preprocess((given) => {
    if (typeof given !== 'string') return given
    const folded = given.trim().toLowerCase()
    return folded === '' ? null : (values.find((one) => one.toLowerCase() === folded) ?? given)
  }, z.enum(values, { error: allowed }).nullable())
}

const numberText = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i

/** Numbers come as JSON numbers or as text; an empty text is "not given". */
function toNumber(given: unknown): unknown {
  if (typeof given !== 'string') return given
  const trimmed = given.trim()
  if (trimmed === '') return null
  return numberText.test(trimmed) ? Number(trimmed) : given
}

function integerSchema(min: number, max: number) {
  const allowed = `must be a whole number from ${min} to ${max}`
  return z.preprocess(
    toNumber,
    z
      .number({ error: allowed })
      .refine((given) => Number.isInteger(given) && given >= min && given <= max, { error: allowed })
      .nullable(),
  )
}

const DECIMAL_MAX = 99_999_999_999.9999

function decimalSchema(min: number) {
  const allowed = `must be a number from ${min} to ${DECIMAL_MAX}`
  return z.preprocess(
    toNumber,
    z
      .number({ error: allowed })
      .min(min, { error: allowed })
      .max(DECIMAL_MAX, { error: allowed })
      .transform((given) => Number(given.toFixed(4)))
      .nullable(),
  )
}

const booleanTexts = new Map<unknown, boolean | null>([
  ['true', true],
  ['1', true],
  [1, true],
  ['false', false],
  ['0', false],
  [0, false],
  ['', null],
])

const booleanSchema = z.preprocess((given) => {
  const folded = typeof given === 'string' ? given.trim().toLowerCase() : given
  return booleanTexts.has(folded) ? booleanTexts.get(folded) : given
}, z.boolean({ error: 'must be true or false (or 1 or 0)' }).nullable())

/** Whether a field is a list whose items lie in a table. */
export function hasRows(field: Field | undefined): field is ListField & { readonly rows: ListRows } {
  return field?.kind === 'list' && field.rows !== undefined
}

/** The wire names that lead to the field of a column; undefined: none has it. */
export function columnPath({ leaves }: FieldSet, column: string): readonly string[] | undefined {
  return leaves.find(({ field }) => field.kind !== 'list' && field.column === column)?.path
}

/** Whether the field, or an item of the list, lies in the `details` document. */
export function isDocumentMember(field: ValueField | ListField): boolean {
  if (field.kind === 'list') return field.rows === undefined && field.sql === undefined
  return field.column === undefined && field.access !== 'derived' && field.access !== 'wo'
}

/** Whether SQL gives the value where `details` lacks one. */
export function isFilledIn(field: ValueField | ListField): boolean {
  return field.sql !== undefined && isDocumentMember(field)
}
