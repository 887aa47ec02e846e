import { shows } from '../applications/privileges.ts'
import type { Caller, Privileges } from '../engine/caller.ts'
import type { Resource } from '../engine/definition/define.ts'
import { columnPath, type ValueField } from '../engine/definition/fields.ts'
import { targetOf } from '../registry.ts'
import { type Fault, StoreFailure } from '../values/failure.ts'
import { nearest } from './nearest.ts'

/** A value of a record as a column of a file: its heading is the value's path on the wire, as exports write it. */
export interface Column {
  readonly name: string
  readonly path: readonly string[]
  readonly field: ValueField
  /** The service whose records it names; null: none. */
  readonly target: Resource | null
}

/** What names a record in a file. */
export interface Naming {
  readonly key: Column
  /** A text that no two records share; null: the service has none. */
  readonly text: Column | null
}

const columns = new WeakMap<Resource, readonly Column[]>()

/** All values of a service's records outside of lists, in wire order. */
export function columnsOf(resource: Resource): readonly Column[] {
  const known = columns.get(resource)
  if (known !== undefined) return known
  const all = resource.fields.leaves.flatMap(({ path, field }) => {
    const name = path.join('.')
    return field.kind === 'list' ? [] : [{ name, path, field, target: field.names ?? targetOf(resource, name) }]
  })
  columns.set(resource, all)
  return all
}

/** Whether a file may give the column. */
export function isTaken({ field: { access } }: Pick<Column, 'field'>): boolean {
  return access !== 'ro' && access !== 'derived'
}

export function namingOf(resource: Resource): Naming {
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
}

/** The columns of a service that somebody with these privileges is not shown. */
export function hiddenColumns(privileges: Privileges, resource: Resource): readonly Column[] {
  return columnsOf(resource).filter(({ field }) => !shows(privileges, field))
}

/** Reads the first line of a file. Throws `bad-request` with everything that is wrong with it, such as columns that the caller is not shown. */
export function readHeadings(
  { privileges }: Pick<Caller, 'privileges'>,
  resource: Resource,
  cells: readonly string[],
): Headings {
  const columns = columnsOf(resource)
  const byName = new Map(columns.map((column) => [column.name.toLowerCase(), column]))
  const names = cells.map((cell) => cell.trim())
  const found = names.map((name) => byName.get(name.toLowerCase()) ?? null)
  const taken = found.map((column) => (column !== null && isTaken(column) ? column : null))
  const hidden = hiddenColumns(privileges, resource).filter((column) => found.includes(column))
  const faults = [
    ...unknown(names, found, columns),
    ...hidden.map(({ name }) => `Your role in this store does not show the column ${name}. Take it out.`),
    ...repeated(names),
    ...missing(resource, taken),
  ]
  if (faults.length > 0) throw refusal(faults)
  const ignored = names.flatMap((name, at) =>
    taken[at] ? [] : [name === '' ? `column ${at + 1}, which has no heading` : name],
  )
  return { columns: taken, ignored }
}

/** How many of the names are headings. */
export function countHeadings(resource: Resource, names: readonly string[]): number {
  const known = new Set(columnsOf(resource).map(({ name }) => name.toLowerCase()))
  return names.filter((name) => known.has(name.trim().toLowerCase())).length
}

/** Headings that are named in a refusal. A file that is none has no end of them. */
const NAMED_MAX = 10
const HEADING_LENGTH_MAX = 60

function unknown(names: readonly string[], found: readonly (Column | null)[], columns: readonly Column[]): string[] {
  const wrong = names.filter((name, at) => name !== '' && found[at] === null)
  return wrong.slice(0, NAMED_MAX).map((name) => {
    const meant = nearest(name, columns)
    const shown = name.length > HEADING_LENGTH_MAX ? `${name.slice(0, HEADING_LENGTH_MAX)}…` : name
    return `The heading "${shown}" names no column.${meant === null ? '' : ` Did you mean ${meant}?`}`
  })
}

function repeated(names: readonly string[]): string[] {
  const folded = names.map((name) => name.toLowerCase())
  const twice = names.filter((name, at) => name !== '' && folded.indexOf(folded[at] ?? '') < at)
  return twice.slice(0, NAMED_MAX).map((name) => `The heading "${name.slice(0, HEADING_LENGTH_MAX)}" appears twice.`)
}

function missing(resource: Resource, taken: readonly (Column | null)[]): string[] {
  const { key, text } = namingOf(resource)
  const names = new Set(taken.flatMap((column) => column?.name ?? []))
  const canCreate = resource.methods.includes('POST')
  const isNamed = names.has(key.name) || (text !== null && names.has(text.name))
  // A record with a unique text needs it when it is new, too.
  if (!isNamed && (text !== null || !canCreate)) {
    return [`No heading names the records. Add ${text === null ? '' : `${text.name} or `}${key.name}.`]
  }
  const others = [...names].filter((name) => name !== key.name && (name !== text?.name || canCreate))
  return others.length > 0 ? [] : ['The file has no column that can be changed.']
}

function refusal(problems: readonly string[]): StoreFailure {
  const faults: Fault[] = problems.map((problem) => ({ field: '', problem }))
  return new StoreFailure('bad-request', problems.join(' '), { faults })
}
