import { identifier, join, type Sql, sql } from '../../foundation/database/sql.ts'
import {
  type FieldFold,
  type FieldSet,
  type Folded,
  foldFields,
  isDocumentMember,
  isFilledIn,
  type ListField,
  type ListRows,
  type Scalar,
  type ValueField,
} from './fields.ts'

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
  const { select, write, record } = compileRow(fields, foldFields(fields, compilers), sql`t`)
  const compose = (row: Selected) => {
    const out = new Composed()
    write(out, row)
    return out.text
  }
  return { select, compose, record }
}

type Details = Readonly<Record<string, unknown>>
const noDetails: Details = {}

/** Adds a column to the array and returns its index. */
type SlotOf = (column: Sql) => number

/** How a row is read, or the row or document of a list item. */
interface RowReader extends Pick<Reader, 'select' | 'record'> {
  readonly write: (out: Composed, row: Selected) => void
}

function compileRow(fields: FieldSet, compiled: Folded<CompileMember>, alias: Sql): RowReader {
  const columns: Sql[] = []
  const slotOf: SlotOf = (column) => columns.push(column) - 1
  const detailsSlot = hasDocumentMember(fields) ? slotOf(sql`${alias}."details"`) : -1
  const region: Region = { text: '' }
  const { write, record } = compileMembers(compiled, { slotOf, alias }, region)
  const detailsOf = (row: Selected) => (detailsSlot === -1 ? noDetails : ((row[detailsSlot] ?? noDetails) as Details))
  return {
    select: arrayOf(columns),
    write: (out, row) => out.writeOver(region, write, row, detailsOf(row)),
    record: (row) => record(row, detailsOf(row)),
  }
}

/** Where the members of a row are compiled. */
interface Place {
  readonly slotOf: SlotOf
  readonly alias: Sql
}

/** Compiles the reader of one member of a row, and adds it to the region's text: its name (`head`) and its default. */
type CompileMember = (place: Place, region: Region, head: string) => CompiledMember

/** `write` and `show` get what `read` returned, unless that was undefined: the value is the default. */
interface CompiledMember {
  readonly read: (row: Selected, details: Details) => unknown
  /** Writes in place of the default. */
  readonly write: (out: Composed, stored: never) => void
  readonly show: (stored: never) => WireValue
  /** Whether the value is a member of `details` and has the default if `details` lacks it. */
  readonly isDocumentValue: boolean
}

const compilers: FieldFold<CompileMember> = {
  value: (field, name) => (place, region, head) => {
    const isTime = field.kind === 'date' && (field.column !== undefined || field.sql !== undefined)
    const textOf = isTime ? (time: string) => `"${dateText(time)}"` : writers[field.kind]
    const unset = field.isOptional ? null : JSON.stringify(field.default)
    return {
      read: compileValue(field, name, place),
      write: replacing(region, head, unset, (out, value) => out.write(textOf(value))),
      show: isTime ? dateText : (value: Scalar) => value,
      isDocumentValue: isDocumentMember(field) && field.sql === undefined,
    }
  },
  object: (_field, members, name) => (place, region, head) => {
    region.text += head
    const { write, record } = compileMembers(members, place, region)
    return {
      read: (row, details) => ({ row, details: (details[name] as Details | undefined) ?? noDetails }),
      write: (out, { row, details }: Part) => write(out, row, details),
      show: ({ row, details }: Part) => record(row, details),
      isDocumentValue: false,
    }
  },
  list: (field, members, name) => (place, region, head) => {
    const item = compileItems(field, members)
    const isDocumentValue = isDocumentMember(field)
    const slot = isDocumentValue ? -1 : place.slotOf(item.select)
    return {
      read: (row, details) => (isDocumentValue ? details[name] : row[slot]) ?? undefined,
      write: replacing(region, head, '[]', (out, items: readonly Selected[]) => {
        out.write('[')
        items.forEach((one, index) => {
          if (index > 0) out.write(',')
          item.write(out, one)
        })
        out.write(']')
      }),
      show: (items: readonly Selected[]) => items.map((one) => item.record(one)),
      isDocumentValue,
    }
  },
}

/** Adds a member with its default to the region, and returns what writes something else in its place. Null: the region lacks it. */
function replacing<Stored>(
  region: Region,
  head: string,
  defaultText: string | null,
  write: (out: Composed, stored: Stored) => void,
) {
  if (defaultText === null) {
    if (!head.startsWith(',')) throw new Error(`${head} An optional member is never the first`)
    const place = region.text.length
    return (out: Composed, stored: Stored) => {
      out.copyTo(place)
      out.write(head)
      write(out, stored)
    }
  }
  region.text += head
  const start = region.text.length
  region.text += defaultText
  const end = region.text.length
  return (out: Composed, stored: Stored) => {
    out.copyTo(start)
    write(out, stored)
    out.skipTo(end)
  }
}

/** The stored content of an object inside a row. */
interface Part {
  readonly row: Selected
  readonly details: Details
}

interface Members {
  readonly write: (out: Composed, row: Selected, details: Details) => void
  readonly record: (row: Selected, details: Details) => WireRecord
}

/**
 * Most members of a wide record have their default, and `details` holds only those that do not. So the defaults are one
 * text, and a record consists of its own values and the slices of that text between them: a few dozen pieces instead of
 * more than a hundred members (a third of the time for a page of products).
 */
function compileMembers(compiled: Folded<CompileMember>, place: Place, region: Region): Members {
  const start = region.text.length
  const stored: Member[] = []
  const documented = new Map<string, Member>()
  region.text += '{'
  for (const [name, compile] of compiled) {
    const head = `${region.text.length === start + 1 ? '' : ','}${JSON.stringify(name)}:`
    const position = region.text.length
    const { isDocumentValue, ...member } = compile(place, region, head)
    if (isDocumentValue) documented.set(name, { name, position, ...member })
    else stored.push({ name, position, ...member })
  }
  region.text += '}'
  const defaultRecord = JSON.parse(region.text.slice(start)) as WireRecord
  return {
    write: (out, row, details) => {
      for (const { read, write } of membersOf(stored, documented, details)) {
        const value = read(row, details)
        if (value !== undefined) write(out, value as never)
      }
    },
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
  /** In the region's text. */
  readonly position: number
}

/** The members that may differ from the default in this record, in wire order. */
function membersOf(stored: readonly Member[], documented: ReadonlyMap<string, Member>, details: Details) {
  const names = Object.keys(details)
  if (names.length === 0) return stored
  const members = stored.slice()
  for (const name of names) {
    const member = documented.get(name)
    if (member !== undefined) members.push(member)
  }
  return members.sort((a, b) => a.position - b.position)
}

const writers = { text: JSON.stringify, date: JSON.stringify, integer: String, decimal: String, boolean: String }

function compileValue(
  field: ValueField,
  name: string,
  { slotOf, alias }: Place,
): (row: Selected, details: Details) => Scalar | undefined {
  if (field.access === 'wo' || field.access === 'sent') return () => undefined
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
function compileItems(field: ListField, members: Folded<CompileMember>): RowReader {
  if (field.sql !== undefined) {
    // The items are wire objects already.
    const record = (item: unknown) => item as WireRecord
    return { select: field.sql, write: (out, item) => out.write(JSON.stringify(item)), record }
  }
  const item = compileRow(field.fields, members, sql`r`)
  if (field.rows !== undefined) return { ...item, select: rowsSql(field, field.rows, item.select) }
  // An item of a document list has no columns: its one slot is the item itself.
  return { ...item, write: (out, value) => item.write(out, [value]), record: (value) => item.record([value]) }
}

/** A json array of what `select` says of each item `r` of the list, in order; NULL if there are none. */
export function rowsSql(field: ListField, rows: ListRows, select: Sql): Sql {
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

// The text of a record consists of slices of a text in which every member has its default, and of its own values.

/** The text of a record, or of an item of its lists, in which every member has its default. */
interface Region {
  text: string
}

const nowhere: Region = { text: '' }

/** A text while it is being written. */
class Composed {
  text = ''
  #region = nowhere
  /** Up to here the region is written or skipped. */
  #done = 0

  write(text: string): void {
    this.text += text
  }

  /** Writes what stands before the position. */
  copyTo(position: number): void {
    this.text += this.#region.text.slice(this.#done, position)
    this.#done = position
  }

  skipTo(position: number): void {
    this.#done = position
  }

  /** Writes the region, with what `write` writes in its place. */
  writeOver(region: Region, write: Members['write'], row: Selected, details: Details): void {
    const outer = this.#region
    const outerDone = this.#done
    this.#region = region
    this.#done = 0
    write(this, row, details)
    this.copyTo(region.text.length)
    this.#region = outer
    this.#done = outerDone
  }
}
