import { identifier, join, type Sql, sql } from '../database/sql.ts'
import type { ListField, ListRows, Scalar, ValueField } from './fields.ts'
import { type FieldFold, type FieldSet, type Folded, foldFields, isDocumentMember, isFilledIn } from './fields.ts'

/**
 * How a record is read: PostgreSQL returns one json array per record (columns, `details`, lists as arrays of arrays),
 * and `compose` writes the wire record's JSON text from it in field order. The text is the record's only
 * representation: lists, single records, export and XML all use it. (Measured: docs/performance.md.)
 */
export interface Reader {
  /** The json array, over `t` (the record) and `s` (its store). */
  readonly select: Sql
  /** Writes the wire record's JSON text from the parsed array. */
  readonly compose: (row: Selected) => string
  /** The wire record as a value, for other formats, without the cost of parsing its text. */
  readonly record: (row: Selected) => WireRecord
}

/** Members equal to their default are inherited, so `Object.keys` and spread omit them. */
export type WireRecord = { readonly [name: string]: WireValue }
export type WireValue = string | number | boolean | WireRecord | readonly WireRecord[]

/** The parsed array of `select` for one record. */
export type Selected = readonly unknown[]

export function compileReader(fields: FieldSet): Reader {
  return compileRow(fields, foldFields(fields, compilers), sql`t`)
}

type Details = Readonly<Record<string, unknown>>
const noDetails: Details = {}

/** Adds a column to the array and returns its index. */
type SlotOf = (column: Sql) => number

/** Compiles the reader of a record's row, or of the row or document of a list item. */
function compileRow(fields: FieldSet, compiled: Folded<CompileMember>, alias: Sql): Reader {
  const columns: Sql[] = []
  const slotOf: SlotOf = (column) => columns.push(column) - 1
  const detailsSlot = hasDocumentMember(fields) ? slotOf(sql`${alias}."details"`) : -1
  const { compose, record } = compileMembers(compiled, slotOf, alias)
  const detailsOf = (row: Selected) => (detailsSlot === -1 ? noDetails : ((row[detailsSlot] ?? noDetails) as Details))
  return {
    select: arrayOf(columns),
    compose: (row) => compose(row, detailsOf(row)),
    record: (row) => record(row, detailsOf(row)),
  }
}

/** Compiles the reader of one member of a row. */
type CompileMember = (slotOf: SlotOf, alias: Sql) => CompiledMember

/** `write` and `show` get what `read` returned, unless that was undefined: the value is the default. */
interface CompiledMember {
  readonly defaultText: string
  readonly read: (row: Selected, details: Details) => unknown
  readonly write: (stored: never) => string
  readonly show: (stored: never) => WireValue
  /** Whether the value is a member of `details` and has the default if `details` lacks it. */
  readonly isDocumentValue: boolean
}

const compilers: FieldFold<CompileMember> = {
  value: (field, name) => (slotOf, alias) => {
    const isTime = field.kind === 'date' && (field.column !== undefined || field.sql !== undefined)
    return {
      defaultText: JSON.stringify(field.default),
      read: compileValue(field, name, slotOf, alias),
      write: isTime ? (time: string) => `"${dateText(time)}"` : writers[field.kind],
      show: isTime ? dateText : (value: Scalar) => value,
      isDocumentValue: isDocumentMember(field) && field.sql === undefined,
    }
  },
  object: (_field, members, name) => (slotOf, alias) => {
    const { defaults, compose, record } = compileMembers(members, slotOf, alias)
    return {
      defaultText: defaults,
      read: (row, details) => ({ row, details: (details[name] as Details | undefined) ?? noDetails }),
      write: ({ row, details }: Part) => compose(row, details),
      show: ({ row, details }: Part) => record(row, details),
      isDocumentValue: false,
    }
  },
  list: (field, members, name) => (slotOf) => {
    const { compose, record, select } = compileItems(field, members)
    const isDocumentValue = isDocumentMember(field)
    const slot = isDocumentValue ? -1 : slotOf(select)
    return {
      defaultText: '[]',
      read: (row, details) => (isDocumentValue ? details[name] : row[slot]) ?? undefined,
      write: (items: readonly Selected[]) => `[${items.map((item) => compose(item)).join(',')}]`,
      show: (items: readonly Selected[]) => items.map((item) => record(item)),
      isDocumentValue,
    }
  },
}

/** The stored content of an object inside a row. */
interface Part {
  readonly row: Selected
  readonly details: Details
}

interface Members {
  /** The JSON text of a record in which every member has its default. */
  readonly defaults: string
  readonly compose: (row: Selected, details: Details) => string
  readonly record: (row: Selected, details: Details) => WireRecord
}

/**
 * Most members of a wide record have their default, and `details` holds only those that do not. So the defaults are one
 * text, and a record consists of its own values and the slices of that text between them: a few dozen pieces instead of
 * more than a hundred members (a third of the time for a page of products).
 */
function compileMembers(compiled: Folded<CompileMember>, slotOf: SlotOf, alias: Sql): Members {
  let defaults = '{'
  const stored: Member[] = []
  const documented = new Map<string, Member>()
  for (const [name, compile] of compiled) {
    const { defaultText, isDocumentValue, read, write, show } = compile(slotOf, alias)
    const start = `${defaults}${defaults === '{' ? '' : ','}${JSON.stringify(name)}:`
    defaults = start + defaultText
    const member: Member = { name, start: start.length, end: defaults.length, read, write, show }
    if (isDocumentValue) documented.set(name, member)
    else stored.push(member)
  }
  defaults += '}'
  const defaultRecord = JSON.parse(defaults) as WireRecord
  return {
    defaults,
    compose: (row, details) => composePieces(defaults, membersOf(stored, documented, details), row, details),
    record: (row, details) => {
      const record: Record<string, WireValue> = Object.create(defaultRecord)
      const add = ({ name, read, show }: Member) => {
        const value = read(row, details)
        if (value !== undefined) record[name] = show(value as never)
      }
      stored.forEach(add)
      for (const name in details) {
        const member = documented.get(name)
        if (member !== undefined) add(member)
      }
      return record
    },
  }
}

interface Member extends Pick<CompiledMember, 'read' | 'write' | 'show'> {
  readonly name: string
  /** The position of its default in the text of defaults. */
  readonly start: number
  readonly end: number
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

function composePieces(defaults: string, members: readonly Member[], row: Selected, details: Details): string {
  let text = ''
  let copied = 0
  for (const { start, end, read, write } of members) {
    const value = read(row, details)
    if (value === undefined) continue
    text += defaults.slice(copied, start) + write(value as never)
    copied = end
  }
  return text + defaults.slice(copied)
}

const writers = { text: JSON.stringify, date: JSON.stringify, integer: String, decimal: String, boolean: String }

function compileValue(
  field: ValueField,
  name: string,
  slotOf: SlotOf,
  alias: Sql,
): (row: Selected, details: Details) => Scalar | undefined {
  if (field.access === 'wo') return () => undefined
  const column = columnOf(field, alias)
  if (column === undefined) return (_row, details) => details[name] as Scalar | undefined
  const slot = slotOf(column)
  if (isFilledIn(field)) return (row, details) => (details[name] ?? row[slot] ?? undefined) as Scalar | undefined
  return (row) => (row[slot] ?? undefined) as Scalar | undefined
}

/** Drops milliseconds, which the wire does not show. PostgreSQL's own time format costs a fraction of to_char. */
function dateText(text: string): string {
  return text.length > DATE_LENGTH ? (text.split('.', 1)[0] as string) : text
}

/** `2012-07-11T10:44:08` */
const DATE_LENGTH = 19

function columnOf(field: ValueField, alias: Sql): Sql | undefined {
  if (field.sql !== undefined || field.column === undefined) return field.sql
  const column = sql`${alias}.${identifier(field.column)}`
  return field.kind === 'date' ? sql`${column} AT TIME ZONE s."timeZone"` : column
}

/** Compiles the reader of a list's items; `select` is unused for items in `details`. */
function compileItems(field: ListField, members: Folded<CompileMember>): Reader {
  if (field.sql !== undefined) {
    // The items are wire objects already.
    return {
      select: field.sql,
      compose: (item) => JSON.stringify(item),
      record: (item) => item as unknown as WireRecord,
    }
  }
  const item = compileRow(field.fields, members, sql`r`)
  if (field.rows !== undefined) return { ...item, select: rowsSql(field, field.rows, item) }
  // An item of a document list has no columns: its one slot is the item itself.
  return { ...item, compose: (value) => item.compose([value]), record: (value) => item.record([value]) }
}

function rowsSql(field: ListField, rows: ListRows, { select }: Reader): Sql {
  return sql`(SELECT json_agg(${select} ORDER BY ${rowOrder(field, rows)}) FROM ${identifier(rows.table)} r
    WHERE r."storeId" = t."storeId" AND r.${identifier(rows.parent)} = t."id")`
}

/** The column that orders the items of a list. */
export function rowOrder(field: ListField, rows: ListRows): Sql {
  return sql`r.${identifier(rows.position ?? keyColumn(field))}`
}

export function keyColumn(field: ListField): string {
  if (field.key === undefined && field.rows?.position !== undefined) return field.rows.position
  const key = field.key === undefined ? undefined : field.fields.get(field.key)
  if (key === undefined || key.kind === 'object' || key.kind === 'list') {
    throw new Error(`${field.typeName}: a list with rows needs a key or a position`)
  }
  if (key.column === undefined) throw new Error(`${field.typeName}: the key of a list with rows needs a column`)
  return key.column
}

/** PostgreSQL allows at most 100 arguments; a definition has fewer columns than that. */
export function arrayOf(columns: readonly Sql[]): Sql {
  return sql`json_build_array(${join(columns)})`
}

/** Whether any of these fields is stored in the `details` document. */
export function hasDocumentMember({ leaves }: FieldSet): boolean {
  return leaves.some(({ field }) => isDocumentMember(field))
}
