import type { Caller } from '../engine/caller.ts'
import type { Resource } from '../engine/define.ts'
import type { Scalar } from '../engine/fields.ts'
import { type Patch, patchSteps, readPatch } from '../engine/input.ts'
import { isShown, type SentBack } from '../engine/sent-back.ts'
import { readDate } from '../values/dates.ts'
import { StoreFailure } from '../values/failure.ts'
import { runInSlices } from '../values/slices.ts'
import { rearm } from './cells.ts'
import { type Column, type Headings, namingOf } from './columns.ts'
import type { Row } from './rows.ts'

// A row of a file as the definition reads it.

/** What is wrong with a cell, in short: the column (empty: the row), what it has, and a sentence without its subject. */
export type Problem = readonly [column: string, value: string, problem: string]
/** A column whose value differs, in short. */
export type Difference = readonly [column: string, before: string, after: string]
type Json = { [name: string]: unknown }

/** A row with the texts of its cells; cells that say nothing are left out. */
export interface FileRecord {
  readonly line: number
  readonly cells: readonly (readonly [column: Column, text: string])[]
  /** The identifier; 0: none is given. */
  readonly id: number
  /** The unique text; empty: none is given. */
  readonly name: string
  readonly patch: Patch
  readonly problems: readonly Problem[]
}

const none: Patch = { key: undefined, columns: {}, details: {}, lists: {}, writeOnly: {} }
/** Characters of a value that are shown. */
const SHOWN_LENGTH_MAX = 200
/** Stands for a value that nobody is shown. */
const HIDDEN = '••••••'

/** Reads a row as an update, which may have any of the columns. */
export async function readRow(
  { store }: Caller,
  resource: Resource,
  { columns }: Headings,
  row: Row,
): Promise<FileRecord> {
  const cells = cellsOf(columns, row)
  const { key, text } = namingOf(resource)
  const textIn = (column: Column | null) =>
    cells.find(([each]) => each === column || each.name === column?.name)?.[1] ?? ''
  const door = { shownAs: withLineFeeds, refusals: [] }
  const rules = { mode: 'update', timeZone: store.timeZone, door } as const
  const given = { line: row.line, cells, id: 0, name: textIn(text).trim(), patch: none }
  const beyond = row.cells.slice(columns.length).some((cell) => cell.trim() !== '')
  if (beyond || row.cells.length < columns.length) {
    const problem = `has ${row.cells.length} cells, and the first line has ${columns.length}`
    return { ...given, problems: [['', '', problem]] }
  }
  try {
    const patch = await runInSlices(patchSteps(resource.fields, bodyOf(cells), rules))
    const id = Number(patch.key ?? 0)
    if (id < 0) return { ...given, problems: [[key.name, String(id), 'must be a whole number from 1']] }
    const name = text?.field.column === undefined ? '' : String(patch.columns[text.field.column] ?? '').trim()
    return { ...given, patch, id, name, problems: [] }
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    // The first of its problems; people want to see all.
    return { ...given, problems: cells.flatMap((cell) => problemsOf(resource, cell, rules.timeZone)) }
  }
}

function cellsOf(columns: Headings['columns'], { cells }: Row): [Column, string][] {
  return columns.flatMap((column, at): [Column, string][] => {
    if (column === null) return []
    const cell = cells[at] ?? ''
    if (column.field.kind === 'text' && column.field.bounds.values === undefined) return [[column, rearm(cell)]]
    return cell.trim() === '' ? [] : [[column, cell]]
  })
}

function problemsOf({ fields }: Resource, cell: readonly [Column, string], timeZone: string): Problem[] {
  const [column, text] = cell
  try {
    readPatch(fields, bodyOf([cell]), { mode: 'update', timeZone })
    return []
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    return [[column.name, column.field.access === 'wo' ? HIDDEN : short(text), withoutSubject(error, column.name)]]
  }
}

/** What is refused of the cells, but for what says what the stored record shows: an import may have brought it. */
export function refusedCells({ patch: { sentBack = [] } }: FileRecord, stored: object | undefined): Problem[] {
  return sentBack.flatMap((one): Problem[] => {
    const { refusal, path, given } = one
    const name = path.join('.')
    if (refusal === null || (stored !== undefined && isShownIn(stored, one))) return []
    return [[name, short(String(given)), withoutSubject(refusal, name)]]
  })
}

function isShownIn(stored: object, one: SentBack): boolean {
  return isShown(one, (valueIn(stored, one.path) ?? one.field.default) as Scalar)
}

/** Reads a record that is to be added, which must have what a new one needs. */
export function readNew({ store }: Caller, { fields }: Resource, record: FileRecord): FileRecord {
  try {
    const patch = readPatch(fields, bodyOf(record.cells), { mode: 'create', timeZone: store.timeZone })
    return { ...record, patch }
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    return { ...record, problems: [[error.field, '', withoutSubject(error, error.field)]] }
  }
}

export function withoutSubject({ message }: StoreFailure, subject: string): string {
  return subject !== '' && message.startsWith(`${subject} `) ? message.slice(subject.length + 1) : message
}

/** The cells as the body of a request. */
export function bodyOf(cells: FileRecord['cells']): Json {
  const body: Json = {}
  for (const [{ path }, text] of cells) put(body, path, text)
  return body
}

export function put(object: Json, [name = '', ...inner]: readonly string[], value: unknown): void {
  if (inner.length === 0) object[name] = value
  else {
    const within = (object[name] ?? {}) as Json
    object[name] = within
    put(within, inner, value)
  }
}

/** What a cell says, read by the definition; undefined: nothing. Null: the field's default. */
function saidBy({ field, path }: Column, { columns, details, writeOnly }: Patch): Scalar | null | undefined {
  if (field.access === 'wo') return writeOnly[path.at(-1) ?? '']
  if (field.column !== undefined) return columns[field.column]
  return valueIn(details, path) as Scalar | null | undefined
}

function valueIn(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Json | null | undefined)?.[name], object)
}

/** A cell that changes something. */
export interface ChangedCell {
  readonly cell: readonly [Column, string]
  readonly difference: Difference
}

/** The cells that differ from the stored record, or that say something about a new one (null). */
export function changedCells(
  { store: { timeZone } }: Caller,
  { cells, patch }: FileRecord,
  stored: object | null,
  isLeftOut: (column: Column) => boolean,
): ChangedCell[] {
  return cells.flatMap((cell) => {
    const [column, text] = cell
    const { field, name, path } = column
    const said = saidBy(column, patch)
    if (said === undefined || field.access === 'key' || isLeftOut(column)) return []
    const sentBack = patch.sentBack?.find((one) => one.path.join('.') === name)
    if (stored !== null && sentBack !== undefined && isShownIn(stored, sentBack)) return []
    if (field.access === 'wo') return [{ cell, difference: [name, '', HIDDEN] as const }]
    const before = stored === null ? field.default : ((valueIn(stored, path) ?? field.default) as Scalar)
    const after = said ?? field.default
    if (isSame(column, before, after, timeZone)) return []
    const shown = field.kind === 'date' ? text.trim() : String(after)
    return [{ cell, difference: [name, stored === null ? '' : short(String(before)), short(shown)] as const }]
  })
}

function isSame({ field: { kind } }: Column, before: Scalar, after: Scalar, timeZone: string): boolean {
  if (kind === 'text') return withLineFeeds(String(before)) === withLineFeeds(String(after))
  if (kind !== 'date') return Number(before) === Number(after)
  return readDate(String(before), timeZone)?.instant.getTime() === Date.parse(String(after))
}

function withLineFeeds(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n')
}

function short(text: string): string {
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…`.toWellFormed() : text
}
