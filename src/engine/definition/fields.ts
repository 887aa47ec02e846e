import { z } from 'zod'
import type { Sql } from '../../foundation/database/sql.ts'
import { urlFault } from '../../foundation/outbound/addresses.ts'
import { INT32_MAX, INT32_MIN } from '../../foundation/values/int32.ts'
import { LongNumber, roundNumbers } from '../../foundation/values/long-number.ts'
import { remembered } from '../../foundation/values/remembered.ts'
import { type NumberKind, STORED_DECIMALS, strayIn } from '../../foundation/values/typed-number.ts'
import type { RecordKind } from '../caller.ts'

/**
 * Who may write and read a field:
 * `rw` both; `key` assigned by the server, identifies the record in updates; `ro` stored by the platform, ignored in
 * requests; `new` writable on create, ignored in updates; `derived` computed when read, not stored; `wo` accepted,
 * returned as its default. Those that no answer to the record has, not even as an empty member: `sent` accepted for `check` to act
 * on and not stored; `kept` stored, and carried by exports.
 */
export type FieldAccess = 'rw' | 'key' | 'ro' | 'new' | 'derived' | 'wo' | 'sent' | 'kept'

/** Whether no answer to the record has its value. */
export function isHidden({ access }: Pick<ValueField, 'access'>): boolean {
  return access === 'wo' || isLeftOut(access)
}

function isLeftOut(access: FieldAccess): boolean {
  return access === 'sent' || access === 'kept'
}

export type Scalar = string | number | boolean

export interface ValueField {
  readonly kind: 'text' | 'integer' | 'decimal' | 'boolean' | 'date'
  readonly access: FieldAccess
  /** Parses a caller's value, including tolerated spellings; null means "not given" (`''` for a number). */
  readonly schema: z.ZodType<Scalar | null>
  /** The column that stores it. Omitted: the row's `details` document. */
  readonly column?: string | undefined
  /**
   * Replaces the column in reads. For a field that is neither derived nor has a column: the value where `details` has
   * none. SQL over `t` (the record), `r` (the list's row) and `s` (its store).
   */
  readonly sql?: Sql | undefined
  /** Shown for NULL and for members missing in `details`. */
  readonly default: Scalar
  /** The column is NULL if the wire has the default (references, unset dates). */
  readonly nullable?: boolean
  /** Answers have the member only where it is set. */
  readonly isOptional?: boolean
  /** A date column set to the current time if not given on create. */
  readonly defaultNow?: boolean
  /** Required and not empty on create; cannot be emptied later. */
  readonly required?: boolean
  /** The limits that the schema enforces, for descriptions of the field. */
  readonly bounds: ValueBounds
  /** What it is and what to send, in plain sentences, for the reference. Bounds and access stand beside it. Pages have `explains`. */
  readonly description: string
  /** What each of its numbers means, where there are few. */
  readonly meanings?: Meanings | undefined
  /** Its name on pages. Empty: its wire name in words. */
  readonly label: string
  /** What forms say beside it, in a few words, where its name does not suffice. Empty: what is allowed. */
  readonly hint: string
  /** An amount in the store's currency. */
  readonly isMoney?: boolean
  /** What a number is, of which people may write less than programs: no price below 0, no sum finer than the currency. */
  readonly numberKind: NumberKind
  /** Whether it is the address of an image, which pages show. */
  readonly isImage?: boolean
  /** Of a text that is `sent`: the member behind which it stands, and which takes it. */
  readonly fills?: string | undefined
  /** Whether it holds HTML for the storefront, which pages show as it looks. */
  readonly isHtml?: boolean
  /** Whether it is a country by its ISO 3166 code of two letters, which forms offer by name. Other texts are taken too. */
  readonly isCountry?: boolean
  /** Whether it is a day as people type it, which pages show as they do dates. Other texts are taken too. */
  readonly isDay?: boolean
  /** Texts that mean something, each with what it means, for forms to offer. Others are taken too. */
  readonly offered?: Readonly<Record<string, string>> | undefined
  /** The service of whose records it has to name one, where that service's `referrers` do not say so. */
  readonly names?: RecordKind | undefined
  /** The service to whose record pages lead from its numbers, although it may name none. */
  readonly leadsTo?: string | undefined
  /** The privilege, beside that of the service, without which people of a store are not shown it. Programs are. */
  readonly needs?: string | undefined
}

export interface ValueBounds {
  readonly maxLength?: number
  readonly values?: readonly string[]
  /** Checked for new values by the resource’s `check`; a stored value may differ. */
  readonly format?: 'email'
  readonly min?: number
  readonly max?: number
  /** All numbers that it may have, by name, and the name of their type. */
  readonly constants?: { readonly typeName: string; readonly names: Meanings }
}

export type Meanings = Readonly<Record<number, string>>

export interface ObjectType {
  /** Its element name in XML. */
  readonly typeName: string
  /** Its name among JSON schemas, where it is only a part of the record that has the element name. */
  readonly partName?: string
  /** What people call one and several, where the element name says it badly. */
  readonly nouns?: readonly [one: string, many: string] | undefined
  /** What a record of it is; of an object or a list, what the member is. */
  readonly description?: string
  readonly fields: FieldSet
}

/** A nested object whose members are stored with the record itself. */
export interface ObjectField extends ObjectType {
  readonly kind: 'object'
  readonly description: string
  /** Whether it may be left out although it has members that it needs. */
  readonly isOptional?: boolean
  /** The object is a record of one of these types, and `fields` is empty. */
  readonly variants?: { readonly types: readonly ObjectType[]; readonly of: (record: object) => ObjectType }
}

/** `typeName` and `fields` are those of an item. */
export interface ListField extends ObjectType {
  readonly kind: 'list'
  readonly description: string
  readonly access: 'rw' | 'ro' | 'derived' | 'kept'
  /** Whether a new record needs items, and of how many at most it is made. */
  readonly required?: boolean
  readonly itemsMax?: number
  /** The wire name of the member with access `key`, which identifies an item inside its record. */
  readonly key: string | undefined
  /** The source of keys: the store's counter, the next number in the record, or the caller. `none`: no keys. */
  readonly keyFrom: 'counter' | 'record' | 'caller' | 'none'
  /** Key 0 names the list's only item (the shipment of an order with one: rest-resources §3.8). */
  readonly zeroKeyIsOnly: boolean
  /** The table that holds the items. Omitted: the record's `details` document. */
  readonly rows?: ListRows | undefined
  /** For derived lists: SQL over `t` that returns a json array of wire objects, or NULL. */
  readonly sql?: Sql | undefined
  /** What pages call an item and all of them. Omitted: its wire name in words. */
  readonly labels?: readonly [one: string, all: string] | undefined
  /** Wire names of the members that a form shows of each item, in one line, with the others folded. Omitted: all. */
  readonly mainly?: readonly string[] | undefined
}

/** A list whose items are stored in a table. */
export type TableList = ListField & { readonly rows: ListRows }

export interface ListRows {
  readonly table: string
  /** The column that holds the record's id. */
  readonly parent: string
  /** The column that stores the order, from 0. Omitted: ordered by key. Identifies the items of a list without keys. */
  readonly position?: string
  /** Columns not shown on the wire, with their value in a new row. */
  readonly hidden?: Readonly<Record<string, Scalar | null>>
}

export type Field = ValueField | ObjectField | ListField

declare const members: unique symbol

/** Names the fields inside for the type of a record (record-of.ts). No value has it. */
export interface Members<Inner extends Fields> {
  readonly [members]?: Inner
}

/** A value of a kind, with those of its options that decide whether a record has it. */
export type ValueOf<Kind extends ValueField['kind'], Options> = ValueField & { readonly kind: Kind } & Deciding<Options>

type Deciding<Options> = Pick<Options, keyof Options & ('access' | 'isOptional')>

/** Fields in wire order, with case-insensitive look-up (rest-resources §0.2, §6). */
export interface FieldSet {
  readonly entries: ReadonlyArray<readonly [name: string, field: Field]>
  readonly byLowerName: ReadonlyMap<string, string>
  /** The values and lists in this set and its objects: the content of one row of a record or an item. */
  readonly leaves: readonly Leaf[]
  /** Those that answers have, at every depth. */
  readonly shown: FieldSet
  get(name: string): Field | undefined
}

export interface Leaf {
  /** Wire names, from the record or item inwards. */
  readonly path: readonly string[]
  readonly field: ValueField | ListField
}

export type Fields = Readonly<Record<string, Field>>

/** Functions for each kind of field; `members` are the results for the fields inside, by name in wire order. */
export interface FieldFold<T> {
  readonly value: (field: ValueField, name: string) => T
  readonly object: (field: ObjectField, members: Folded<T>, name: string) => T
  readonly list: (field: ListField, members: Folded<T>, name: string) => T
}

export type Folded<T> = ReadonlyArray<readonly [name: string, made: T]>

/** Walks a tree of fields, from the innermost outwards. */
export function foldFields<T>({ entries }: FieldSet, fold: FieldFold<T>): Folded<T> {
  return entries.map(([name, field]) => {
    if (field.kind === 'object') return [name, fold.object(field, foldFields(field.fields, fold), name)]
    if (field.kind === 'list') return [name, fold.list(field, foldFields(field.fields, fold), name)]
    return [name, fold.value(field, name)]
  })
}

/** Walks each set of fields once and caches the result, for use in every request. */
export function foldOnce<T>(fold: FieldFold<T>): (fields: FieldSet) => Folded<T> {
  return remembered((fields: FieldSet) => foldFields(fields, fold))
}

/** Without those of an access, at every depth: the same set where there are none. */
export function fieldsWithout(fields: FieldSet, isWithout: (access: FieldAccess) => boolean): FieldSet {
  const left = fields.entries.flatMap(([name, field]): [string, Field][] => {
    if ('access' in field && isWithout(field.access)) return []
    if (!('fields' in field)) return [[name, field]]
    const inner = fieldsWithout(field.fields, isWithout)
    return [[name, inner === field.fields ? field : { ...field, fields: inner }]]
  })
  const isSame = left.length === fields.entries.length && left.every(([name, field]) => field === fields.get(name))
  return isSame ? fields : fieldSet(Object.fromEntries(left))
}

/** Selects fields by name, in the same order. */
export function fieldsAmong({ entries }: FieldSet, isWanted: (name: string) => boolean): FieldSet {
  return fieldSet(Object.fromEntries(entries.filter(([name]) => isWanted(name))))
}

export function fieldSet(fields: Fields): FieldSet {
  const entries = Object.entries(fields)
  const leaves = entries.flatMap(([name, field]): Leaf[] =>
    field.kind === 'object'
      ? field.fields.leaves.map((leaf) => ({ ...leaf, path: [name, ...leaf.path] }))
      : [{ path: [name], field }],
  )
  let shown: FieldSet | undefined
  const set: FieldSet = {
    entries,
    byLowerName: new Map(entries.map(([name]) => [name.toLowerCase(), name])),
    leaves,
    get shown() {
      shown ??= fieldsWithout(set, isLeftOut)
      return shown
    },
    get: (name) => (Object.hasOwn(fields, name) ? fields[name] : undefined),
  }
  return set
}

/** `sql` makes the field derived, unless it has a column or `access`. */
type ValueOptions = Partial<Omit<ValueField, 'kind' | 'schema' | 'default' | 'defaultNow' | 'bounds' | 'isMoney'>>

/** Maximum length of a text field without a documented bound, and of the documented long text columns. */
export const LONG_TEXT = 65_535

interface TextOptions extends ValueOptions {
  default?: string
  format?: 'email'
  /** Brings input into the form in which it is stored, such as without white space around it. Its bounds apply to that. */
  normalise?: (given: string) => string
}

export function text<const Options extends TextOptions>(max = LONG_TEXT, options?: Options): ValueOf<'text', Options> {
  const { format, normalise, default: unset = '', ...others }: TextOptions = options ?? {}
  const bounds = { maxLength: max, ...(format !== undefined && { format }) }
  const schema = normalise ? textSchema(max, normalise) : plainTextSchema(max)
  return value<'text', Options>('text', schema, unset, bounds, others)
}

/** The text as an http or https address without white space around it. Its host is checked at every call, because its addresses may change. */
export function webAddress(address: ValueField): ValueField {
  const known = address.schema.refine((given) => given === '' || urlFault(String(given)) === null, {
    error: ({ input }) => urlFault(String(input)) ?? '',
  })
  return { ...address, schema: z.preprocess((given) => (typeof given === 'string' ? given.trim() : given), known) }
}

/** One of a few texts, the first being the default; ignores case and surrounding white space; `''` is "not given". */
export function choice<const Options extends ValueOptions>(
  values: readonly [string, ...string[]],
  options?: Options,
): ValueOf<'text', Options> {
  const maxLength = Math.max(...values.map(({ length }) => length))
  const schema = z.preprocess((given) => {
    if (typeof given !== 'string') return given
    const folded = given.trim().toLowerCase()
    return folded === '' ? null : (values.find((one) => one.toLowerCase() === folded) ?? given)
  }, z.enum(values, { error: `must be ${values.filter((one) => one !== '').join(' or ')}` }).nullable())
  return value('text', schema, values[0], { maxLength, values }, options)
}

type NumberOptions = ValueOptions & { min?: number; max?: number; default?: number }

/** A 32-bit integer, unless other bounds are given. */
export function integer<const Options extends NumberOptions>(options?: Options): ValueOf<'integer', Options> {
  const { min = INT32_MIN, max = INT32_MAX, default: unset = 0, ...others }: NumberOptions = options ?? {}
  return value<'integer', Options>('integer', integerSchema(min, max), unset, { min, max }, others)
}

const integerSchema = madeOnce((min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`
  const isAllowed = (given: number) => Number.isInteger(given) && given >= min && given <= max
  return z.preprocess(toNumber, z.number({ error }).refine(isAllowed, { error }).nullable())
})

/** One of the numbers that have a name. `typeName`: what generated programs call them. */
export function constant<const Options extends ValueOptions>(
  typeName: string,
  names: Meanings,
  options?: Options,
): ValueOf<'integer', Options> {
  const numbers = Object.keys(names).map(Number)
  const error = `must be one of ${numbers.map((number) => `${number} (${names[number]})`).join(', ')}`
  const known = z.number({ error }).refine((given) => given in names, { error })
  const bounds = { min: Math.min(...numbers), max: Math.max(...numbers), constants: { typeName, names } }
  return value('integer', z.preprocess(numberOr, known.nullable()), 0, bounds, options)
}

/** A non-negative integer up to 2⁵³ − 1, which every program represents exactly. */
export function long<const Options extends ValueOptions>(options?: Options): ValueOf<'integer', Options> {
  return integer<Options>({ ...(options as Options), min: 0, max: Number.MAX_SAFE_INTEGER })
}

/** Another record's id; none is 0 on the wire and NULL in the column. */
export function reference(column: string, description = '', label = '') {
  return integer({ column, min: 0, nullable: true, description, label })
}

/** The greatest amount, weight or quantity; the least has a minus. */
export const DECIMAL_MAX = 99_999_999_999.9999

/** Weights, quantities: rounded to four decimals, at most eleven digits before the point unless other bounds are given. */
export function decimal<const Options extends NumberOptions>(options?: Options): ValueOf<'decimal', Options> {
  const { min = -DECIMAL_MAX, max = DECIMAL_MAX, default: unset = 0, ...others }: NumberOptions = options ?? {}
  return value<'decimal', Options>('decimal', decimalSchema(min, max), unset, { min, max }, others)
}

const decimalSchema = madeOnce((min: number, max: number) => {
  const error = `must be a number from ${min} to ${max}`
  const rounded = z
    .number({ error })
    .min(min, { error })
    .max(max, { error })
    .transform((given) => Number(given.toFixed(STORED_DECIMALS)))
  return z.preprocess(toNumber, rounded.nullable())
})

/** A decimal that is an amount in the store's currency: a sum, unless it says otherwise. Pages show it so. */
export function money<const Options extends NumberOptions>(options?: Options): ValueOf<'decimal', Options> {
  return { ...decimal<Options>({ numberKind: 'sum', ...(options as Options) }), isMoney: true }
}

/** The same for one piece. */
export function price<const Options extends NumberOptions>(options?: Options): ValueOf<'decimal', Options> {
  return money<Options>({ numberKind: 'price', ...(options as Options) })
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
  const folded = typeof given === 'string' ? given.trim().toLowerCase() : roundNumbers(given)
  return booleanTexts.has(folded) ? booleanTexts.get(folded) : given
}, z.boolean({ error: 'must be true or false (or 1 or 0)' }).nullable())

export function boolean<const Options extends BooleanOptions>(options?: Options): ValueOf<'boolean', Options> {
  const { default: unset = false, ...others }: BooleanOptions = options ?? {}
  return value<'boolean', Options>('boolean', booleanSchema, unset, {}, others)
}

type BooleanOptions = ValueOptions & { default?: boolean }

/** Maximum length of a date in requests. */
export const DATE_LENGTH_MAX = 40

type DateOptions = ValueOptions & { defaultNow?: boolean }

/** An instant, shown in the store's zone as `2012-07-11T10:44:08`; `''` if not set. */
export function date<const Options extends DateOptions>(options?: Options): ValueOf<'date', Options> {
  return value('date', plainTextSchema(DATE_LENGTH_MAX), '', { maxLength: DATE_LENGTH_MAX }, options)
}

export function object<Inner extends Fields>(
  typeName: string,
  fields: Inner,
  description = '',
): ObjectField & Members<Inner> {
  return { kind: 'object', description, typeName, fields: fieldSet(fields) }
}

/** A whole record inside another one; in XML, an element with the record's name identifies its type. */
export function oneOf(typeName: string, variants: NonNullable<ObjectField['variants']>, description = ''): ObjectField {
  return { ...object(typeName, {}, description), variants }
}

type ListOptions = Partial<Omit<ListField, 'kind' | 'typeName' | 'fields' | 'key'>>

export function list<Inner extends Fields, const Options extends ListOptions>(
  typeName: string,
  fields: Inner,
  given?: Options,
): ListField & Members<Inner> & Deciding<Options> {
  const options: ListOptions = given ?? {}
  const [key] = Object.entries(fields).find(([, field]) => 'access' in field && field.access === 'key') ?? []
  return {
    description: '',
    keyFrom: key === undefined ? 'none' : 'counter',
    zeroKeyIsOnly: false,
    ...options,
    kind: 'list',
    access: options.sql ? 'derived' : (options.access ?? 'rw'),
    typeName,
    fields: fieldSet(fields),
    key,
  } as ListField & Members<Inner> & Deciding<Options>
}

/** What a field is that says nothing of it. */
const plain = { description: '', label: '', hint: '', numberKind: 'number' } as const

function value<Kind extends ValueField['kind'], Options extends DateOptions>(
  kind: Kind,
  schema: ValueField['schema'],
  unset: Scalar,
  bounds: ValueBounds,
  options: DateOptions = {},
): ValueOf<Kind, Options> {
  const access = options.sql !== undefined && options.column === undefined ? 'derived' : 'rw'
  return { ...plain, access, ...options, kind, schema, default: unset, bounds } as ValueOf<Kind, Options>
}

/** The description of a field, with what each of its numbers means. */
export function fieldText({ description, meanings = {} }: Pick<ValueField, 'description' | 'meanings'>): string {
  const byNumber = Object.entries(meanings).toSorted(([one], [other]) => Number(one) - Number(other))
  const listed = byNumber.map(([number, meaning]) => `${number} ${meaning}`)
  return listed.length === 0 ? description : `${description} ${listed.join(', ')}.`
}

/** Values that people of a store are shown only with this privilege too. */
export function needing<Values extends Readonly<Record<string, ValueField>>>(privilege: string, values: Values) {
  const needed = Object.entries(values).map(([name, field]) => [name, { ...field, needs: privilege }])
  return Object.fromEntries(needed) as Values
}

/** Fields of the same bounds share a schema, which takes 11 kB. */
function madeOnce<Bounds extends number[], Schema>(make: (...bounds: Bounds) => Schema): (...bounds: Bounds) => Schema {
  const made = new Map<string, Schema>()
  return (...bounds) => {
    const key = bounds.join()
    const schema = made.get(key) ?? make(...bounds)
    made.set(key, schema)
    return schema
  }
}

const plainTextSchema = madeOnce((max: number) => textSchema(max))

function textSchema(max: number, normalise = (given: string) => given) {
  return z.preprocess(
    toText,
    z
      .string({ error: 'must be text' })
      .overwrite(normalise)
      .max(max, { error: ({ input }) => `has ${(input as string).length} characters; at most ${max} are allowed` })
      .refine((given) => !given.includes('\0') && given.isWellFormed(), {
        error: 'holds a character that text cannot have (U+0000 or half of a surrogate pair)',
      }),
  )
}

/** Accepts JSON numbers, unless they have digits after the point that are not kept, and booleans. */
function toText(given: unknown, context: z.core.$RefinementCtx): unknown {
  if (given instanceof LongNumber && !given.isInteger) {
    context.addIssue('has more digits than a number keeps; send it as text')
    return z.NEVER
  }
  return given instanceof LongNumber || typeof given === 'number' || typeof given === 'boolean' ? String(given) : given
}

const numberPattern = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i

/** Accepts JSON numbers and text; an empty text is "not given". Other text is returned as it is. */
function numberOr(given: unknown): unknown {
  if (given instanceof LongNumber) return Number(given)
  if (typeof given !== 'string') return given
  const trimmed = given.trim()
  if (trimmed === '') return null
  return numberPattern.test(trimmed) ? Number(trimmed) : given
}

/** Likewise; refuses other text by what keeps it from being a number. */
function toNumber(given: unknown, context: z.core.$RefinementCtx): unknown {
  const read = numberOr(given)
  if (typeof read !== 'string') return read
  context.addIssue(`must be a number in digits: it has ${strayIn(read.trim())}`)
  return z.NEVER
}

export function hasRows(field: Field | undefined): field is TableList {
  return field?.kind === 'list' && field.rows !== undefined
}

/** The lists that are stored in tables, with their wire names. */
export function tableLists({ entries }: FieldSet): { readonly name: string; readonly field: TableList }[] {
  return entries.flatMap(([name, field]) => (hasRows(field) ? [{ name, field }] : []))
}

/** The wire path of the field of a column; undefined if no field has it. */
export function columnPath({ leaves }: FieldSet, column: string): readonly string[] | undefined {
  return leaves.find(({ field }) => field.kind !== 'list' && field.column === column)?.path
}

/** The columns of the time and editor of a change, which every change replaces. */
export const stamps: ReadonlySet<string> = new Set(['updatedAt', 'updatedBy'])

export function isStamp(field: ValueField | ListField): boolean {
  return field.kind !== 'list' && field.column !== undefined && stamps.has(field.column)
}

/** Whether the field (or the items of the list) is stored in the `details` document. */
export function isDocumentMember(field: ValueField | ListField): boolean {
  if (field.kind === 'list') return field.rows === undefined && field.sql === undefined
  return field.column === undefined && !['derived', 'wo', 'sent'].includes(field.access)
}

/** Whether SQL provides the value that `details` lacks. */
export function isFilledIn(field: ValueField | ListField): boolean {
  return field.sql !== undefined && isDocumentMember(field)
}
