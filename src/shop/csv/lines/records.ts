import type { Caller } from '../../../engine/caller.ts'
import { emptyPatch } from '../../../engine/changing/plan-change.ts'
import { isShown } from '../../../engine/changing/sent-back.ts'
import { type FieldSet, fieldsAmong, type Scalar } from '../../../engine/definition/fields.ts'
import { type Patch, patchSteps, readPatch } from '../../../engine/definition/input.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { readDate } from '../../../foundation/values/dates.ts'
import { orRefusal, StoreFailure } from '../../../foundation/values/failure.ts'
import { setIn, valueIn } from '../../../foundation/values/json.ts'
import { remembered } from '../../../foundation/values/remembered.ts'
import { runInSlices } from '../../../foundation/values/slices.ts'
import { type Cell, commaProblem, doubtOf, rearm, spelt } from './cells.ts'
import { type Column, type Headings, isListColumn, type ListColumn, namingOf } from './columns.ts'
import type { References } from './references.ts'
import type { Row } from './rows.ts'
import { type Written, writingOf } from './writing.ts'

// A row of a file as the definition reads it.

/** What is wrong with a cell, in short: the column (empty: the row), what it has, and a sentence without its subject. */
export type Problem = readonly [column: string, value: string, problem: string]
/** A column whose value differs, in short. Marks say why a person should look at the value: sentences, perhaps without their subject. */
export type Difference = readonly [column: string, before: string, after: string, ...marks: string[]]
type Json = { [name: string]: unknown }

/** A row with its cells; those that say nothing are left out. */
export interface FileRecord {
  readonly line: number
  readonly cells: readonly Cell[]
  /** The identifier; 0: none is given. */
  readonly id: number
  /** The unique text; empty: none is given. */
  readonly name: string
  readonly patch: Patch
  /** Of a file that is no export. */
  readonly named: readonly NamedCell[]
  readonly problems: readonly Problem[]
}

/** A cell that gives a list, or names a record which is to be made. */
interface NamedCell {
  readonly column: Column | ListColumn
  readonly typed: string
  /** What the body of the line has. */
  readonly value: unknown
  /** The records that it names; null: some of them are new. */
  readonly ids: readonly number[] | null
}

/** Characters of a value that are shown. */
const SHOWN_LENGTH_MAX = 200
/** Stands for a value that nobody is shown. */
const HIDDEN = '••••••'

/** What rows are read by. */
export interface Reading {
  readonly resource: Resource
  readonly headings: Headings
  readonly references: References
  readonly written: Written
}

/** Reads a row as an update, which may have any of the columns. */
export async function readRow({ store }: Caller, reading: Reading, row: Row): Promise<FileRecord> {
  const { resource, headings, references } = reading
  const { columns } = headings
  const { cells, named, problems } = cellsOf(reading, row, store.currency)
  const { text } = namingOf(resource)
  const typedName = cells.find(({ column }) => column === text)?.text ?? ''
  const given = { line: row.line, cells, id: 0, name: printable(typedName.trim()), patch: emptyPatch, named }
  if (row.cells.slice(columns.length).some((cell) => cell.trim() !== '')) {
    const problem = `has ${row.cells.length} cells, and the first line has ${columns.length}`
    return { ...given, problems: [['', '', problem]] }
  }
  const door = { shownAs: withLineFeeds, refusals: [] }
  const rules = { mode: 'update', timeZone: store.timeZone, door } as const
  try {
    const patch = await runInSlices(patchSteps(resource.fields, bodyOf(cells), rules))
    if (problems.length === 0 && cells.every((cell) => ownProblemOf(cell, references) === null)) {
      return { ...given, patch, id: Number(patch.key ?? 0), problems: [] }
    }
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
  }
  // The definition names the first of its problems; people want to see all.
  return { ...given, problems: [...problems, ...cells.flatMap((cell) => problemsOf(reading, cell, rules.timeZone))] }
}

/** A row's cells, and those that name other records. */
interface Read {
  readonly cells: Cell[]
  readonly named: NamedCell[]
  readonly problems: Problem[]
}

/** Cells that a row leaves out at its end say nothing, and in a file that is no export empty ones neither. */
function cellsOf({ headings: { columns, other }, references, written }: Reading, row: Row, currency: string): Read {
  const { cells } = row
  const writing = writingOf(written, row)
  const read: Read = { cells: [], named: [], problems: [] }
  for (const [at, typed] of cells.slice(0, columns.length).entries()) {
    const column = columns[at] ?? null
    const isEmpty = typed.trim() === ''
    const list = other?.lists.get(at)
    if (list !== undefined && !isEmpty) readList(list, typed, references, read)
    if (column === null || (isEmpty && other !== undefined)) continue
    if (column.field.kind === 'text' && column.field.bounds.values === undefined) {
      // Only exports put an apostrophe before a formula.
      read.cells.push({ column, text: other === undefined ? rearm(typed) : typed, typed, writing, currency })
    } else if (!isEmpty && !isNew(column, typed, references, read)) {
      const text = column.target === null ? spelt(column, typed, writing) : references.numberOf(column, typed)
      read.cells.push({ column, text, typed, writing, currency })
    }
  }
  return read
}

function readList(column: ListColumn, typed: string, references: References, { named, problems }: Read): void {
  const found = references.itemsOf(column, typed)
  if ('problem' in found) return void problems.push([column.name, short(typed), found.problem])
  const value = found.items.map((item) => ({ [column.key]: 'id' in item ? item.id : item }))
  const ids = found.items.flatMap((item) => ('id' in item ? item.id : []))
  named.push({ column, typed, value, ids: ids.length === found.items.length ? ids : null })
}

/** Whether the cell names a record that the store does not have, which it notes. */
function isNew(column: Column, typed: string, references: References, { named, problems }: Read): boolean {
  const found = column.target === null ? null : references.newFor(column, typed)
  if (found === null) return false
  if ('problem' in found) problems.push([column.name, short(typed), found.problem])
  else named.push({ column, typed, value: found, ids: null })
  return true
}

/** What is wrong with a cell by other rules than the definition's, or is said of it in other words; null: nothing. */
function ownProblemOf(cell: Cell, references: References): string | null {
  const { access, bounds, schema } = cell.column.field
  if (access !== 'key') return references.problemOf(cell)
  return Number(schema.safeParse(cell.text).data) >= 1 ? null : `must be a whole number from 1 to ${bounds.max}`
}

function problemsOf({ resource: { fields }, references }: Reading, cell: Cell, timeZone: string): Problem[] {
  const own = doubtOf(cell) ?? ownProblemOf(cell, references)
  if (own !== null) return [problemIn(cell, own)]
  const read = orRefusal(() => readPatch(fields, bodyOf([cell]), { mode: 'update', timeZone }))
  return read instanceof StoreFailure ? [refusedIn(cell, read)] : []
}

function refusedIn(cell: Cell, refusal: StoreFailure): Problem {
  return problemIn(cell, commaProblem(cell) ?? withoutSubject(refusal, cell.column.name))
}

function problemIn({ column: { name, field }, typed }: Cell, problem: string): Problem {
  return [name, field.access === 'wo' ? HIDDEN : short(typed), problem]
}

/**
 * What is wrong with the cells of a row that was read: refused values, and numbers with two readings. A cell that says what the
 * stored record shows is right: an import may have brought such a value, and exports write it.
 */
export function refusedCells({ cells, patch: { sentBack = [] } }: FileRecord, stored: object | undefined): Problem[] {
  const refusals = new Map<string, StoreFailure>()
  for (const one of sentBack) {
    if (one.refusal === null || (stored !== undefined && isShown(one, storedIn(stored, one)))) continue
    refusals.set(one.path.join('.'), one.refusal)
  }
  return cells.flatMap((cell): Problem[] => {
    const { column, typed } = cell
    const doubt = doubtOf(cell)
    const isStored = () => stored !== undefined && typed.trim() === String(storedIn(stored, column))
    if (doubt !== null && !isStored()) return [problemIn(cell, doubt)]
    const refusal = refusals.get(column.name)
    return refusal === undefined ? [] : [refusedIn(cell, refusal)]
  })
}

function storedIn(stored: object, { path, field }: Pick<Column, 'path' | 'field'>): Scalar {
  return (valueIn(stored, path) ?? field.default) as Scalar
}

/**
 * Reads a record that is to be added, which must have what a new one needs. Values that nobody is shown (passwords) a file that is no
 * export does not bring; such records are added without.
 */
export function readNew(
  { store }: Caller,
  { resource, headings }: Omit<Reading, 'references'>,
  record: FileRecord,
): FileRecord {
  const fields = headings.other === undefined ? resource.fields : shownFieldsOf(resource)
  const patch = orRefusal(() => readPatch(fields, bodyOf(record.cells), { mode: 'create', timeZone: store.timeZone }))
  if (!(patch instanceof StoreFailure)) return { ...record, patch }
  return { ...record, problems: [[patch.field, '', withoutSubject(patch, patch.field)]] }
}

/** The fields of a service without those that nobody is shown. */
export const shownFieldsOf = remembered(
  ({ fields }: Resource): FieldSet =>
    fieldsAmong(fields, (name) => {
      const field = fields.get(name)
      return field !== undefined && (field.kind === 'object' || field.kind === 'list' || field.access !== 'wo')
    }),
)

export function withoutSubject({ message }: StoreFailure, subject: string): string {
  return subject !== '' && message.startsWith(`${subject} `) ? message.slice(subject.length + 1) : message
}

/** The cells as the body of a request. */
export function bodyOf(cells: FileRecord['cells']): Json {
  const body: Json = {}
  for (const { column, text } of cells) setIn(body, column.path, text)
  return body
}

/** What a cell says, read by the definition; undefined: nothing. Null: the field's default. */
export function saidBy(
  { field, path }: Pick<Column, 'field' | 'path'>,
  { columns, details, writeOnly }: Patch,
): Scalar | null | undefined {
  if (field.access === 'wo') return writeOnly[path.at(-1) ?? '']
  if (field.column !== undefined) return columns[field.column]
  return valueIn(details, path) as Scalar | null | undefined
}

/** A cell that changes something. */
export interface ChangedCell {
  readonly cell: Cell
  readonly difference: Difference
}

/** The cells that differ from the stored record, or that say something about a new one (null). */
export function changedCells(
  { store: { timeZone } }: Caller,
  { cells, patch }: FileRecord,
  stored: object | null,
  isLeftOut: (column: Column) => boolean,
): ChangedCell[] {
  const sentBackBy = new Map(patch.sentBack?.map((one) => [one.path.join('.'), one]))
  return cells.flatMap((cell): ChangedCell[] => {
    const { column, text, typed } = cell
    const { field, name, target } = column
    const said = saidBy(column, patch)
    if (said === undefined || field.access === 'key' || isLeftOut(column)) return []
    const sentBack = sentBackBy.get(name)
    if (stored !== null && sentBack !== undefined && isShown(sentBack, storedIn(stored, sentBack))) return []
    if (field.access === 'wo') return [{ cell, difference: [name, '', HIDDEN] }]
    const before = stored === null ? field.default : storedIn(stored, column)
    const after = said ?? field.default
    if (isSame(column, before, after, timeZone)) return []
    // Of an export whose headings are words, which is read as a file of another program, the apostrophe is still there.
    if (stored !== null && text === typed && isSame(column, before, rearm(text), timeZone)) return []
    const named = target === null || text === typed ? String(after) : `${after} (${typed.trim()})`
    const shown = field.kind === 'date' ? text.trim() : named
    const shownBefore = stored === null ? '' : short(String(before))
    return [{ cell, difference: [name, shownBefore, short(shown), ...markOf(column, String(before), String(after))] }]
  })
}

/** What named cells change: in the body of the line, and for a person. `stored` has the lists of the record, null of a new one. */
export function changedNames(
  { named }: FileRecord,
  stored: { readonly record: object | null; readonly lists: StoredLists },
): { readonly cell: NamedCell; readonly difference: Difference }[] {
  return named.flatMap((cell) => {
    const { column, typed, ids } = cell
    if (isListColumn(column)) {
      const before = stored.lists.get(column.name) ?? { ids: [], names: '' }
      const isSame = ids !== null && ids.length === before.ids.length && ids.every((id) => before.ids.includes(id))
      return isSame ? [] : [{ cell, difference: [column.name, short(before.names), short(typed.trim())] as const }]
    }
    const before = stored.record === null ? '' : String(storedIn(stored.record, column))
    return [{ cell, difference: [column.name, before, `${short(typed.trim())} (new)`] as const }]
  })
}

/** The items of a record's lists: the records that they name. */
export type StoredLists = ReadonlyMap<string, { readonly ids: readonly number[]; readonly names: string }>

/** The mark of a text that is written as spreadsheets show a long number; null: it is not. */
export function exponentMark(text: string): string | null {
  const isExponent = /^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i.test(text.trim())
  return isExponent ? 'looks like a long number that a spreadsheet has shortened' : null
}

/** What a spreadsheet seems to have made of a text, for a person to look at. */
function markOf({ field }: Column, before: string, after: string): [] | [mark: string] {
  if (field.kind !== 'text' || field.bounds.values !== undefined) return []
  const shortened = exponentMark(after)
  if (shortened !== null) return [shortened]
  if (/^0\d+$/.test(before) && (before.replace(/^0+/, '') || '0') === after) {
    return ['is the stored value without its leading zeros, which spreadsheets remove']
  }
  return []
}

/** Whether a value that answers show (`before`) is what was read of an input. */
export function isSame({ field: { kind } }: Pick<Column, 'field'>, before: Scalar, after: Scalar, timeZone: string) {
  if (kind === 'text') return withLineFeeds(String(before)) === withLineFeeds(String(after))
  if (kind !== 'date') return Number(before) === Number(after)
  return readDate(String(before), timeZone)?.instant.getTime() === Date.parse(String(after))
}

function withLineFeeds(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n')
}

/** The numbers of a list's items, as many as are shown. */
export function idsText(ids: readonly unknown[]): string {
  const text = ids.join(', ')
  return text.length > SHOWN_LENGTH_MAX ? text.slice(0, text.lastIndexOf(', ', SHOWN_LENGTH_MAX)) : text
}

/** As much of a text as is shown. */
export function short(text: string): string {
  return printable(text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…`.toWellFormed() : text)
}

/** Without U+0000, which the database does not store. */
export function printable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}
