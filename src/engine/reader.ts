import type { Field, FieldSet, ListField, ListRows, ValueField } from './fields.ts'

/**
 * How a record is read: PostgreSQL gives one json array per record (columns, `details`, lists as arrays of arrays),
 * and `compose` writes the wire record's JSON text from it in field order. The text is the record's one representation:
 * lists, single records, export and XML all come from it. (Measured: docs/performance.md.)
 */
export interface Reader {
  /** SQL over `t` (the record) and `s` (its store): the json array. */
  readonly select: string
  /** The wire record's JSON text out of the parsed array. */
  readonly compose: (row: Row) => string
}

export type Row = readonly unknown[]

export function compileReader(fields: FieldSet): Reader {
  const shape = compileShape(fields, 't')
  return { select: arrayOf(shape.columns), compose: shape.compose }
}

type Details = Readonly<Record<string, unknown>>
const noDetails: Details = {}

interface Shape {
  readonly columns: readonly string[]
  readonly compose: (row: Row) => string
}

function compileShape(fields: FieldSet, alias: string): Shape {
  const columns: string[] = []
  const slotOf = (sql: string): number => columns.push(sql) - 1
  const detailsSlot = hasDocumentMember(fields) ? slotOf(`${alias}."details"`) : -1
  const composeMembers = compileMembers(fields, alias, slotOf)
  return { columns, compose: (row) => composeMembers(row, (row[detailsSlot] as Details | undefined) ?? noDetails) }
}

/** The text of a value that differs from the default, or undefined where the default stands. */
type ValueText = (row: Row, details: Details) => string | undefined

/**
 * Most members of a wide record hold their default, and `details` holds only those that do not. So the record of defaults
 * is kept as one text, and a record is that text with the pieces between its own values cut out of it: a few dozen
 * pieces instead of a hundred and more members (a third of the time for a page of products).
 */
function compileMembers(
  fields: FieldSet,
  alias: string,
  slotOf: (sql: string) => number,
): (row: Row, details: Details) => string {
  let defaults = '{'
  const stored: Member[] = []
  const documented = new Map<string, Member>()
  fields.entries.forEach(([name, field], index) => {
    defaults += `${index === 0 ? '' : ','}${JSON.stringify(name)}:`
    const { valueText, isDocumentValue } = compileMember(name, field, alias, slotOf)
    const start = defaults.length
    defaults += defaultText(field)
    const member = { start, end: defaults.length, valueText }
    if (isDocumentValue) documented.set(name, member)
    else stored.push(member)
  })
  defaults += '}'
  return (row, details) => composePieces(defaults, membersOf(stored, documented, details), row, details)
}

interface Member {
  /** Where its default stands in the text of defaults. */
  readonly start: number
  readonly end: number
  readonly valueText: ValueText
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
  return compileMembers(field.fields, '', () => 0)([], noDetails)
}

function compileMember(
  name: string,
  field: Field,
  alias: string,
  slotOf: (sql: string) => number,
): { valueText: ValueText; isDocumentValue: boolean } {
  if (field.kind === 'object') {
    const compose = compileMembers(field.fields, alias, slotOf)
    const valueText: ValueText = (row, details) => compose(row, (details[name] as Details | undefined) ?? noDetails)
    return { valueText, isDocumentValue: false }
  }
  if (field.kind === 'list') return compileList(name, field, slotOf)
  if (field.access === 'wo') return { valueText: () => undefined, isDocumentValue: false }
  const encode = field.kind === 'text' || field.kind === 'date' ? JSON.stringify : String
  const sql = valueSql(field, alias)
  if (sql === undefined) return { valueText: (_row, details) => encode(details[name]), isDocumentValue: true }
  const slot = slotOf(sql)
  const encodeStored = field.kind === 'date' ? dateText : encode
  const valueText: ValueText = (row) => (row[slot] == null ? undefined : encodeStored(row[slot]))
  return { valueText, isDocumentValue: false }
}

/** PostgreSQL's own form of a time costs a fraction of to_char; the milliseconds that it may have are not of the wire's. */
function dateText(time: unknown): string {
  const text = time as string
  return `"${text.length > DATE_LENGTH ? text.split('.', 1)[0] : text}"`
}

/** `2012-07-11T10:44:08` */
const DATE_LENGTH = 19

function valueSql(field: ValueField, alias: string): string | undefined {
  if (field.sql !== undefined) return field.sql
  if (field.column === undefined) return undefined
  const column = `${alias}."${field.column}"`
  return field.kind === 'date' ? `${column} AT TIME ZONE s."timeZone"` : column
}

function compileList(
  name: string,
  field: ListField,
  slotOf: (sql: string) => number,
): { valueText: ValueText; isDocumentValue: boolean } {
  if (field.sql !== undefined) {
    const slot = slotOf(field.sql)
    return { valueText: (row) => (row[slot] ? JSON.stringify(row[slot]) : undefined), isDocumentValue: false }
  }
  const item = compileShape(field.fields, 'r')
  if (field.rows === undefined) {
    // An item of a document list has no columns: its one slot is the item itself.
    const valueText: ValueText = (_row, details) =>
      composeList(details[name] as unknown[], (value) => item.compose([value]))
    return { valueText, isDocumentValue: true }
  }
  const slot = slotOf(rowsSql(field, field.rows, item))
  const valueText: ValueText = (row) =>
    row[slot] ? composeList(row[slot] as unknown[], (value) => item.compose(value as Row)) : undefined
  return { valueText, isDocumentValue: false }
}

function composeList(items: readonly unknown[], compose: (item: unknown) => string): string {
  return `[${items.map(compose).join(',')}]`
}

function rowsSql(field: ListField, rows: ListRows, item: Shape): string {
  return `(SELECT json_agg(${arrayOf(item.columns)} ORDER BY ${rowOrder(field, rows)}) FROM "${rows.table}" r
    WHERE r."storeId" = t."storeId" AND r."${rows.parent}" = t."id")`
}

/** The columns that items of a list are ordered by. */
export function rowOrder(field: ListField, rows: ListRows): string {
  return rows.position === undefined ? `r."${keyColumn(field)}"` : `r."${rows.position}"`
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
function arrayOf(columns: readonly string[]): string {
  return `json_build_array(${columns.join(', ')})`
}

/** Whether anything of these fields lies in the `details` document. */
export function hasDocumentMember(fields: FieldSet): boolean {
  return fields.entries.some(([, field]) => {
    if (field.kind === 'object') return hasDocumentMember(field.fields)
    if (field.kind === 'list') return field.rows === undefined && field.sql === undefined
    return field.column === undefined && field.sql === undefined && field.access !== 'wo'
  })
}
