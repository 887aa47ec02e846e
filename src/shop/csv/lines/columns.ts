import { shows } from '../../../access/applications/privileges.ts'
import type { Caller, Privileges } from '../../../engine/caller.ts'
import { definedFor } from '../../../engine/definition/define.ts'
import { columnPath, hasRows, type TableList, type ValueField } from '../../../engine/definition/fields.ts'
import type { NamedList } from '../../../engine/definition/former-file.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { type Fault, StoreFailure } from '../../../foundation/values/failure.ts'
import { remembered } from '../../../foundation/values/remembered.ts'
import { targetOf } from '../../registry.ts'

/** A value of a record as a column of a file: its heading is the value's path on the wire, as exports write it. */
export interface Column {
  readonly name: string
  readonly path: readonly string[]
  readonly field: ValueField
  /** The service whose records it names; null: none. */
  readonly target: Resource | null
}

/** A list of a record as a column of a file: a cell gives the names of the records that the list's items name by their keys. */
export interface ListColumn extends NamedList {
  readonly name: string
  readonly field: TableList
  /** The member of an item that names the record. */
  readonly key: string
  readonly target: Resource
}

/** All values of a service's records outside of lists, in wire order. */
export const columnsOf = remembered((resource: Resource): readonly Column[] =>
  resource.fields.shown.leaves.flatMap(({ path, field }) => {
    const name = path.join('.')
    if (field.kind === 'list') return []
    const target = field.names ? definedFor(field.names.table) : targetOf(resource, name)
    return [{ name, path, field, target }]
  }),
)

/** The lists that a file which is no export may give. */
export const listColumnsOf = remembered((resource: Resource): readonly ListColumn[] =>
  Object.entries(resource.namedLists ?? {}).map(([name, form]) => {
    const field = resource.fields.get(name)
    const key = hasRows(field) ? field.key : undefined
    const target = targetOf(resource, `${name}.${key}`)
    if (!hasRows(field) || key === undefined || target === null) throw new Error(`${name} names no records`)
    return { ...form, name, field, key, target }
  }),
)

export function isListColumn(column: Column | ListColumn): column is ListColumn {
  return column.field.kind === 'list'
}

/** Whether a file may give the column. */
export function isTaken({ field: { access } }: Pick<Column, 'field'>): boolean {
  return access !== 'ro' && access !== 'derived'
}

/** What names a record in a file: the key, and a text that no two records share (null: the service has none). */
export function namingOf(resource: Resource): { readonly key: Column; readonly text: Column | null } {
  const columns = columnsOf(resource)
  const of = (column: string) =>
    columns.find(({ path }) => path.join('.') === columnPath(resource.fields, column)?.join('.'))
  const key = of('id')
  if (key === undefined) throw new Error(`${resource.service} has no identifier`)
  const { namedBy: text } = resource
  return { key, text: text === undefined ? null : (of(text) ?? null) }
}

export interface Headings {
  /** For each cell; null: it is ignored. */
  readonly columns: readonly (Column | null)[]
  /** The headings of ignored cells. */
  readonly ignored: readonly string[]
  /** Of a file that is no export; absent: it is one. */
  readonly other?: OtherFile
}

/** How the cells of a file are read that is no export. An empty one says nothing. */
export interface OtherFile {
  /** By the place of their cells. */
  readonly lists: ReadonlyMap<number, ListColumn>
  /** Columns whose cells are names of records, also those of digits. */
  readonly byName: ReadonlySet<Column>
}

/** The columns of a service that somebody with these privileges is not shown. */
export function hiddenColumns(privileges: Privileges, resource: Resource): readonly Column[] {
  return columnsOf(resource).filter(({ field }) => !shows(privileges, field))
}

/** Reads the first line of an export. Throws a 400 with everything that is wrong with it, such as columns that the caller is not shown. */
export function readHeadings(
  { privileges }: Pick<Caller, 'privileges'>,
  resource: Resource,
  cells: readonly string[],
): Headings {
  const byName = columnsByName(resource)
  const names = cells.map((cell) => cell.trim())
  const found = names.map((name) => byName.get(name.toLowerCase()) ?? null)
  const taken = found.map((column) => (column !== null && isTaken(column) ? column : null))
  const hidden = hiddenColumns(privileges, resource).filter((column) => found.includes(column))
  const faults = [
    ...hidden.map(({ name }) => `Your role in this store does not show the column ${name}. Take it out.`),
    ...repeated(names),
    ...missing(resource, new Set(taken.flatMap((column) => column?.name ?? []))),
  ]
  if (faults.length > 0) throw refusal(faults)
  const ignored = names.flatMap((name, at) =>
    taken[at] ? [] : [name === '' ? `column ${at + 1}, which has no heading` : name],
  )
  return { columns: taken, ignored }
}

function columnsByName(resource: Resource): ReadonlyMap<string, Column> {
  return new Map(columnsOf(resource).map((column) => [column.name.toLowerCase(), column]))
}

/** Whether all headings are those of an export. */
export function isExport(resource: Resource, names: readonly string[]): boolean {
  const known = columnsByName(resource)
  return names.every((name) => name === '' || known.has(name.toLowerCase()))
}

/** How many of the names are headings. */
export function countHeadings(resource: Resource, names: readonly string[]): number {
  const known = columnsByName(resource)
  return names.filter((name) => known.has(name.trim().toLowerCase())).length
}

/** Headings that are named in a refusal. A file that is none has no end of them. */
const NAMED_MAX = 10
const HEADING_LENGTH_MAX = 60

/** What is wrong with headings that appear twice. */
export function repeated(names: readonly string[]): string[] {
  const folded = names.map((name) => name.toLowerCase())
  const twice = names.filter((name, at) => name !== '' && folded.indexOf(folded[at] ?? '') < at)
  return twice.slice(0, NAMED_MAX).map((name) => `The heading "${name.slice(0, HEADING_LENGTH_MAX)}" appears twice.`)
}

/** What the columns of a file lack: those that name records, and something to change. */
export function missing(resource: Resource, names: ReadonlySet<string>, advice = 'Add'): string[] {
  const { key, text } = namingOf(resource)
  const canCreate = resource.methods.includes('POST')
  const isNamed = names.has(key.name) || (text !== null && names.has(text.name))
  // A record with a unique text needs it when it is new, too.
  if (!isNamed && (text !== null || !canCreate)) {
    return [`No heading names the records. ${advice} ${text === null ? '' : `${text.name} or `}${key.name}.`]
  }
  const others = [...names].filter((name) => name !== key.name && (name !== text?.name || canCreate))
  return others.length > 0 ? [] : ['The file has no column that can be changed.']
}

export function refusal(problems: readonly string[]): StoreFailure {
  const faults: Fault[] = problems.map((problem) => ({ field: '', problem }))
  return new StoreFailure('invalid-value', problems.join(' '), { faults })
}
