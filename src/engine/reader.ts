import { empty, identifier, join, type Sql, sql } from '../database/sql.ts'
import type { Field, FieldSet, ListField, ListRows, Scalar, ValueField } from './fields.ts'

/**
 * How a record is read: PostgreSQL gives one json array per record (columns, `details`, lists as arrays of arrays),
 * and `compose` writes the wire record's JSON text from it in field order. The text is the record's one representation:
 * lists, single records, export and XML all come from it. (Measured: docs/performance.md.)
 */
export interface Reader {
  /** Over `t` (the record) and `s` (its store): the json array. */
  readonly select: Sql
  /** The wire record's JSON text out of the parsed array. */
  readonly compose: (row: Row) => string
  /** The same as a value, for who writes it in another form: as `JSON.parse` would give it, without the detour. */
  readonly record: (row: Row) => WireRecord
}

/** Members that hold their default are inherited: read them by name, do not list them. */
export type WireRecord = { readonly [name: string]: WireValue }
export type WireValue = string | number | boolean | WireRecord | readonly WireRecord[]

export type Row = readonly unknown[]

export function compileReader(fields: FieldSet): Reader {
  const shape = compileShape(fields, sql`t`)
  return { select: arrayOf(shape.columns), compose: shape.compose, record: shape.record }
}

type Details = Readonly<Record<string, unknown>>
const noDetails: Details = {}

interface Shape {
  readonly columns: readonly Sql[]
  readonly compose: (row: Row) => string
  readonly record: (row: Row) => WireRecord
}

function compileShape(fields: FieldSet, alias: Sql): Shape {
  const columns: Sql[] = []
  const slotOf = (column: Sql): number => columns.push(column) - 1
  const detailsSlot = hasDocumentMember(fields) ? slotOf(sql`${alias}."details"`) : -1
  const members = compileMembers(fields, alias, slotOf)
  const detailsOf = (row: Row) => (row[detailsSlot] as Details | undefined) ?? noDetails
  return {
    columns,
    compose: (row) => members.compose(row, detailsOf(row)),
    record: (row) => members.record(row, detailsOf(row)),
  }
}

/** The text of a value that differs from the default, or undefined where the default stands. */
type ValueText = (row: Row, details: Details) => string | undefined
/** The value itself, or undefined where the default stands. */
type Value = (row: Row, details: Details) => WireValue | undefined

interface Members {
  readonly compose: (row: Row, details: Details) => string
  readonly record: (row: Row, details: Details) => WireRecord
}

/**
 * Most members of a wide record hold their default, and `details` holds only those that do not. So the record of defaults
 * is kept as one text, and a record is that text with the pieces between its own values cut out of it: a few dozen
 * pieces instead of a hundred and more members (a third of the time for a page of products).
 */
function compileMembers(fields: FieldSet, alias: Sql, slotOf: (column: Sql) => number): Members {
  let defaults = '{'
  const stored: Member[] = []
  const documented = new Map<string, Member>()
  fields.entries.forEach(([name, field], index) => {
    defaults += `${index === 0 ? '' : ','}${JSON.stringify(name)}:`
    const { valueText, value, isDocumentValue } = compileMember(name, field, alias, slotOf)
    const start = defaults.length
    defaults += defaultText(field)
    const member = { name, start, end: defaults.length, valueText, value }
    if (isDocumentValue) documented.set(name, member)
    else stored.push(member)
  })
  defaults += '}'
  const defaultRecord = JSON.parse(defaults) as WireRecord
  return {
    compose: (row, details) => composePieces(defaults, membersOf(stored, documented, details), row, details),
    record: (row, details) => {
      const record: Record<string, WireValue> = Object.create(defaultRecord)
      for (const { name, value } of stored) {
        const given = value(row, details)
        if (given !== undefined) record[name] = given
      }
      for (const name in details) {
        const given = documented.get(name)?.value(row, details)
        if (given !== undefined) record[name] = given
      }
      return record
    },
  }
}

interface Member {
  readonly name: string
  /** Where its default stands in the text of defaults. */
  readonly start: number
  readonly end: number
  readonly valueText: ValueText
  readonly value: Value
}

/** The members that may differ from the default in this record, in wire order. */
function membersOf(
  stored: readonly Member[],
  documented: ReadonlyMap<string, Member>,
  details: Details,
): readonly Member[] {
  const names = Object.keys(details)
  if (names.length === 0) return stored
  const members = stored.slice()
  for (const name of names) {
    const member = documented.get(name)
    if (member !== undefined) members.push(member)
  }
  return members.sort((a, b) => a.start - b.start)
}

function composePieces(defaults: string, members: readonly Member[], row: Row, details: Details): string {
  let text = ''
  let copied = 0
  for (const { start, end, valueText } of members) {
    const value = valueText(row, details)
    if (value === undefined) continue
    text += defaults.slice(copied, start) + value
    copied = end
  }
  return text + defaults.slice(copied)
}

function defaultText(field: Field): string {
  if (field.kind === 'list') return '[]'
  if (field.kind !== 'object') return JSON.stringify(field.default)
  return compileMembers(field.fields, sql`t`, () => 0).compose([], noDetails)
}

interface CompiledMember {
  readonly valueText: ValueText
  readonly value: Value
  readonly isDocumentValue: boolean
}

function compileMember(name: string, field: Field, alias: Sql, slotOf: (column: Sql) => number): CompiledMember {
  if (field.kind === 'object') {
    const { compose, record } = compileMembers(field.fields, alias, slotOf)
    const detailsOf = (details: Details) => (details[name] as Details | undefined) ?? noDetails
    return {
      valueText: (row, details) => compose(row, detailsOf(details)),
      value: (row, details) => record(row, detailsOf(details)),
      isDocumentValue: false,
    }
  }
  if (field.kind === 'list') return compileList(name, field, slotOf)
  if (field.access === 'wo') return { valueText: () => undefined, value: () => undefined, isDocumentValue: false }
  const encode = field.kind === 'text' || field.kind === 'date' ? JSON.stringify : String
  if (field.fallback !== undefined) {
    const slot = slotOf(field.fallback)
    const value: Value = (row, details) => (details[name] ?? row[slot] ?? undefined) as Scalar | undefined
    const valueText: ValueText = (row, details) => {
      const shown = value(row, details)
      return shown === undefined ? undefined : encode(shown)
    }
    return { valueText, value, isDocumentValue: false }
  }
  const stored = valueSql(field, alias)
  if (stored === undefined) {
    const value: Value = (_row, details) => details[name] as Scalar
    return { valueText: (_row, details) => encode(details[name]), value, isDocumentValue: true }
  }
  const slot = slotOf(stored)
  const isDate = field.kind === 'date'
  const encodeStored = isDate ? (time: unknown) => `"${dateText(time)}"` : encode
  const decodeStored = isDate ? dateText : (stored: unknown) => stored as Scalar
  return {
    valueText: (row) => (row[slot] == null ? undefined : encodeStored(row[slot])),
    value: (row) => (row[slot] == null ? undefined : decodeStored(row[slot])),
    isDocumentValue: false,
  }
}

/** PostgreSQL's own form of a time costs a fraction of to_char; the milliseconds that it may have are not of the wire's. */
function dateText(time: unknown): string {
  const text = time as string
  return text.length > DATE_LENGTH ? (text.split('.', 1)[0] as string) : text
}

/** `2012-07-11T10:44:08` */
const DATE_LENGTH = 19

function valueSql(field: ValueField, alias: Sql): Sql | undefined {
  if (field.sql !== undefined) return field.sql
  if (field.column === undefined) return undefined
  const column = sql`${alias}.${identifier(field.column)}`
  return field.kind === 'date' ? sql`${column} AT TIME ZONE s."timeZone"` : column
}

function compileList(name: string, field: ListField, slotOf: (column: Sql) => number): CompiledMember {
  if (field.sql !== undefined) {
    const slot = slotOf(field.sql)
    return {
      valueText: (row) => (row[slot] ? JSON.stringify(row[slot]) : undefined),
      value: (row) => (row[slot] as WireRecord[] | null) ?? undefined,
      isDocumentValue: false,
    }
  }
  const item = compileShape(field.fields, sql`r`)
  if (field.rows === undefined) {
    // An item of a document list has no columns: its one slot is the item itself.
    const itemsOf = (details: Details) => details[name] as unknown[]
    return {
      valueText: (_row, details) => composeList(itemsOf(details), (value) => item.compose([value])),
      value: (_row, details) => itemsOf(details).map((value) => item.record([value])),
      isDocumentValue: true,
    }
  }
  const slot = slotOf(rowsSql(field, field.rows, item))
  const itemsOf = (row: Row) => row[slot] as Row[] | null
  return {
    valueText: (row) => {
      const items = itemsOf(row)
      return items ? composeList(items, (value) => item.compose(value as Row)) : undefined
    },
    value: (row) => itemsOf(row)?.map(item.record),
    isDocumentValue: false,
  }
}

function composeList(items: readonly unknown[], compose: (item: unknown) => string): string {
  return `[${items.map(compose).join(',')}]`
}

function rowsSql(field: ListField, rows: ListRows, item: Shape): Sql {
  return sql`(SELECT json_agg(${arrayOf(item.columns)} ORDER BY ${rowOrder(field, rows)}) FROM ${identifier(rows.table)} r
    WHERE r."storeId" = t."storeId" AND r.${identifier(rows.parent)} = t."id")`
}

/** The columns that items of a list are ordered by. */
export function rowOrder(field: ListField, rows: ListRows): Sql {
  return sql`r.${identifier(rows.position ?? keyColumn(field))}`
}

/** The column that identifies an item inside its record. */
export function keyColumn(field: ListField): string {
  if (field.key === undefined && field.rows?.position !== undefined) return field.rows.position
  const key = field.key === undefined ? undefined : field.fields.get(field.key)
  if (key === undefined || key.kind === 'object' || key.kind === 'list') {
    throw new Error(`${field.typeName}: a list with rows needs a key or a position`)
  }
  if (key.column === undefined) throw new Error(`${field.typeName}: the key of a list with rows needs a column`)
  return key.column
}

/** PostgreSQL takes at most 100 arguments; a definition has fewer columns than that. */
function arrayOf(columns: readonly Sql[]): Sql {
  return sql`json_build_array(${columns.length === 0 ? empty : join([...columns])})`
}

/** Whether anything of these fields lies in the `details` document. */
export function hasDocumentMember(fields: FieldSet): boolean {
  return fields.entries.some(([, field]) => {
    if (field.kind === 'object') return hasDocumentMember(field.fields)
    if (field.kind === 'list') return field.rows === undefined && field.sql === undefined
    return field.column === undefined && field.sql === undefined && field.access !== 'wo'
  })
}
