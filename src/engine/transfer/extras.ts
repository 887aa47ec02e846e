import { identifier, join, type Sql, sql } from '../../foundation/database/sql.ts'
import { readDate } from '../../foundation/values/dates.ts'
import { remembered } from '../../foundation/values/remembered.ts'
import { type FieldSet, isFilledIn, LONG_TEXT, type Scalar, type TableList, tableLists } from '../definition/fields.ts'
import { isRecord, type Patch } from '../definition/input.ts'
import { arrayOf, keyColumn, rowsSql, type Selected } from '../definition/reader.ts'
import { refused } from '../definition/refused.ts'
import type { Resource } from '../definition/resource.ts'

/**
 * The data that an exact copy needs in addition to the wire record and the private fields:
 * `Rows`: for each list item, in order, the columns not shown on the wire, and the id that the wire shows as 0;
 * `Repeated`: the dates in the second of the two hours that autumn repeats;
 * `Derived`: the fields whose shown value is filled in and not stored.
 */
export type Extras = ReturnType<typeof compileExtras>
type Members = Readonly<Record<string, unknown>>

/** `select`: a json array, over `t` and `s`; `compose` writes members of the line's `private` from the parsed array. */
export function compileExtras(resource: Resource) {
  const lists = listsWithExtras(resource)
  const dates = columnDates(resource.storedFields)
  const filledIn = filledInNames(resource.storedFields)
  return {
    select: arrayOf([
      ...lists.map(hiddenSql),
      ...dates.map(([, column]) => isRepeated(sql`t.${identifier(column)}`)),
      ...filledIn.map((name) => sql`t."details" -> ${name}::text IS NULL`),
    ]),
    /** The members as JSON texts. */
    compose: (row: Selected): string[] => {
      const flags = row.slice(lists.length)
      const rows = lists.map(({ name }, index) => [name, (row[index] ?? []) as object[]] as const)
      const members = {
        Rows: Object.fromEntries(rows.filter(([, items]) => items.some((item) => Object.keys(item).length > 0))),
        Repeated: dates.filter((_date, index) => flags[index] === true).map(([name]) => name),
        Derived: filledIn.filter((_name, index) => flags[dates.length + index] === true),
      }
      const used = Object.entries(members).filter(([, member]) => Object.keys(member).length > 0)
      return used.map(([name, member]) => `"${name}":${JSON.stringify(member)}`)
    },
  }
}

/** Reads the members that `compileExtras` writes into the patch. Throws a 400. */
export function readExtras(resource: Resource, hidden: Members, record: Members, patch: Patch, timeZone: string): void {
  const { Rows: rows = {}, Repeated: repeated = [], Derived: derived = [] } = hidden
  if (!isRecord(rows)) throw refused('Rows', 'Rows must be an object of lists')
  if (!Array.isArray(repeated)) throw refused('Repeated', 'Repeated must be a list of names')
  if (!Array.isArray(derived)) throw refused('Derived', 'Derived must be a list of names')
  for (const list of listsWithExtras(resource)) {
    const items = rows[list.name]
    if (items !== undefined) readRows(list, items, patch.lists[list.name] ?? [])
  }
  for (const [name, column] of columnDates(resource.storedFields)) {
    if (!repeated.includes(name)) continue
    const read = readDate(String(hidden[name] ?? record[name] ?? ''), timeZone, 'end')
    if (!read) throw refused(name, `${name} is in Repeated, and is not a date`)
    patch.columns[column] = read.instant.toISOString()
  }
  for (const name of filledInNames(resource.storedFields)) {
    if (derived.includes(name)) delete patch.details[name]
  }
}

type ListExtras = ReturnType<typeof listsWithExtras>[number]

/** `key`: the key column, if the wire may show 0 for the key. */
const listsWithExtras = remembered(({ fields }: Resource) =>
  tableLists(fields).flatMap(({ name, field }) => {
    const key = field.zeroKeyIsOnly ? keyColumn(field) : null
    const columns = [...(key === null ? [] : [key]), ...Object.keys(field.rows.hidden ?? {})]
    return columns.length > 0 ? [{ name, field, key, columns }] : []
  }),
)

function hiddenSql({ field, columns }: ListExtras): Sql {
  const members = columns.map((column) => sql`${column}::text, r.${identifier(column)}`)
  return rowsSql(field, field.rows, sql`json_strip_nulls(json_build_object(${join(members)}))`)
}

/** True in the second of two equal hours: one hour earlier, the local time was the same. */
function isRepeated(column: Sql): Sql {
  return sql`${column} AT TIME ZONE s."timeZone" = (${column} - interval '1 hour') AT TIME ZONE s."timeZone"`
}

/** The record's own dates stored in columns. Lists filter by them, so the instant matters, not only its text. */
const columnDates = remembered(({ entries }: FieldSet) =>
  entries.flatMap(([name, field]): [name: string, column: string][] =>
    field.kind === 'date' && field.sql === undefined && field.column !== undefined ? [[name, field.column]] : [],
  ),
)

const filledInNames = remembered(({ entries }: FieldSet) =>
  entries.flatMap(([name, field]) => (field.kind !== 'object' && isFilledIn(field) ? [name] : [])),
)

function readRows({ name, field, key, columns }: ListExtras, given: unknown, items: Patch[]): void {
  const path = `Rows.${name}`
  if (!Array.isArray(given) || given.length !== items.length) {
    throw refused(path, `${path} must be a list of ${items.length}, as ${name} is`)
  }
  given.forEach((columnsGiven: unknown, index) => {
    const item = items[index] as Patch
    if (!isRecord(columnsGiven)) throw refused(path, `${path}[${index}] must be an object`)
    for (const column of columns) {
      const value = columnsGiven[column]
      if (value === undefined || value === null) continue
      if (column === key) item.key = keyOf(field, value, `${path}[${index}].${column}`)
      else item.columns[column] = scalarOf(value, `${path}[${index}].${column}`)
    }
  })
}

function keyOf({ fields, key }: TableList, value: unknown, path: string): number {
  const field = fields.get(key ?? '')
  const read = field && 'schema' in field ? field.schema.safeParse(value).data : undefined
  if (typeof read !== 'number') throw refused(path, `${path} must be a whole number`)
  return read
}

function scalarOf(value: unknown, path: string): Scalar {
  const isText = typeof value === 'string' && value.length <= LONG_TEXT && !value.includes('\0') && value.isWellFormed()
  if (isText || typeof value === 'number' || typeof value === 'boolean') return value as Scalar
  throw refused(path, `${path} must be text, a number, true or false`)
}
