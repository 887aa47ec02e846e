import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../../../engine/caller.ts'
import type { Scalar } from '../../../engine/definition/fields.ts'
import { type Patch, readPatch } from '../../../engine/definition/input.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { findJson, getRecord } from '../../../engine/reading/read.ts'
import { type HistoryEntry, listHistory } from '../../../engine/recording/history.ts'
import { queryRows } from '../../../foundation/database/client.ts'
import { orRefusal, StoreFailure } from '../../../foundation/values/failure.ts'
import { setIn, valueIn } from '../../../foundation/values/json.ts'
import { shownDate } from '../../../foundation/values/shown-date.ts'
import { resourceNamed } from '../../registry.ts'
import { type Column, columnsOf, type ListColumn } from '../lines/columns.ts'
import { givenIn, STOCK, STOCK_ADJUST, storedOf, withoutAdjust } from '../lines/former.ts'
import { addLines, type Import } from '../lines/imports.ts'
import { BATCH_LINES_MAX } from '../lines/limits.ts'
import { listNames, withIds } from '../lines/new-names.ts'
import { type Difference, idsText, isSame, type Problem, saidBy, short } from '../lines/records.ts'
import type { Line } from '../take-in/compare.ts'
import { adding, goneLine, type Intended, type Json, lineFor } from './chosen.ts'

// What a change replaced is put back, by a change of its own: shown first, made in the background, refused for each record that somebody
// has changed since. Stocks are put back as a difference. What is put back can be put back itself.

/** What is put back, as its import keeps it. */
export type Back = { readonly kind: 'back' } & ({ readonly of: number } | { readonly entry: number })

/**
 * Whether changes of these records may be put back: not those that are followed by what nobody can take back, such as mails, payments
 * and stocks of orders and returns.
 */
export function canBePutBack({ isOneByOne, methods }: Resource): boolean {
  return isOneByOne !== true && methods.includes('PUT')
}

/** Whether what an import has replaced is known, and can be put back. */
export async function isPutBackable({ db, store }: Caller, found: Import): Promise<boolean> {
  const { id, service, state, changed } = found
  if ((state !== 'done' && state !== 'cancelled') || changed === 0 || !canBePutBack(resourceNamed(service)))
    return false
  const [row] = await queryRows<{ found: boolean }>(db)`
    SELECT EXISTS (
      SELECT 1 FROM "CsvImportLine" WHERE "storeId" = ${store.id}::int AND "importId" = ${id}::int AND "outcome" = 'changed'
        AND "before" IS NOT NULL) AS "found"`
  return row?.found === true
}

/** Works out what puts back what an import replaced, which changes nothing yet, and returns the id of that change. */
export async function putBack(caller: Caller, found: Import): Promise<number> {
  if (!(await isPutBackable(caller, found))) throw new StoreFailure('invalid-state', 'This change cannot be put back')
  const resource = resourceNamed(found.service)
  const names = await listNames(caller, found.id)
  const ids = new Map(names.flatMap(({ number, recordId }) => (recordId === null ? [] : [[number, recordId] as const])))
  const change: Back = { kind: 'back', of: found.id }
  return adding(caller, resource, { source: 'back', state: 'ready', change }, async (reading) => {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const made: MadeLine[] = await madeLines(caller, found.id, after)
      const recordIds = made.map(({ recordId }) => recordId)
      const texts = await findJson(caller, resource, recordIds)
      const lines = made.map(({ line, recordId, name, body, before }): BackLine => {
        const text = texts.get(recordId)
        if (text === undefined) return { line: goneLine(line, recordId, name), others: [] }
        const undo = undoOf(caller, resource, { body: withIds(body, ids) as object, before })
        return backLine(caller, resource, { line, recordId, name, text: String(text) }, undo)
      })
      await addLines(caller, reading, await tellingWho(caller, resource, lines, found))
      after = made.length < BATCH_LINES_MAX ? undefined : made.at(-1)?.line
    }
  })
}

/** Whether the history has stored whole what a change replaced: the values of fields, of which no text was cut, and no items of lists. */
export function isEntryWhole(resource: Resource, { kind, changed, more }: HistoryEntry): boolean {
  if (kind !== 'update' || more > 0 || changed.length === 0 || !canBePutBack(resource)) return false
  const isWhole = (value: Scalar | null) => typeof value !== 'string' || value.length <= TEXT_WHOLE_MAX
  return changed.every(([path, before, after]) => {
    const access = columnsOf(resource).find(({ name }) => name === path)?.field.access
    return access === 'rw' && (before !== null || after !== null) && isWhole(before) && isWhole(after)
  })
}

/** A text with more characters was cut by the history (differences.ts). */
const TEXT_WHOLE_MAX = 200

/** The same of a change in the history, of one record. */
export async function putEntryBack(caller: Caller, resource: Resource, entry: HistoryEntry): Promise<number> {
  if (!isEntryWhole(resource, entry)) {
    throw new StoreFailure('invalid-state', 'The history has not kept everything that this change replaced')
  }
  const { id, recordId, at, importId, changed } = entry
  const text = await getRecord(caller, resource, recordId)
  const values = changed.map(([path, before, after]): Step => {
    const column = columnsOf(resource).find(({ name }) => name === path) as Column
    const { field } = column
    const left = after ?? field.default
    return { column, former: before ?? field.default, isLeft: (now) => isSameValue(caller, column, now, left) }
  })
  const change: Back = { kind: 'back', entry: id }
  return adding(caller, resource, { source: 'back', state: 'ready', change }, async (reading) => {
    const place = { line: 1, recordId, name: nameOf(resource, text), text }
    const line = backLine(caller, resource, place, { values, added: 0 })
    const lines = await tellingWho(caller, resource, [line], { id: importId ?? 0, startedAt: at })
    await addLines(caller, reading, lines)
  })
}

function nameOf({ fields, namedBy }: Resource, text: string): string {
  const texts = fields.leaves.flatMap(({ path, field }) =>
    field.kind === 'text' && (field.required || field.column === namedBy)
      ? [String(valueIn(JSON.parse(text), path) ?? '')]
      : [],
  )
  return texts.filter((each) => each !== '').join(' · ')
}

type MadeLine = Pick<Line, 'line' | 'name' | 'body'> & { readonly recordId: number; readonly before: object }

function madeLines({ db, store }: Caller, importId: number, after: number): Promise<MadeLine[]> {
  return queryRows<MadeLine>(db)`
    SELECT "line", "recordId", "name", "body", "before" FROM "CsvImportLine"
    WHERE "storeId" = ${store.id}::int AND "importId" = ${importId}::int AND "outcome" = 'changed' AND "line" > ${after}::int
      AND "before" IS NOT NULL
    ORDER BY "line" LIMIT ${BATCH_LINES_MAX}::int`
}

/** A value to be put back. */
interface Step {
  readonly column: Column | ListColumn
  readonly former: unknown
  /** Whether the record still has what the change left. */
  readonly isLeft: (now: unknown) => boolean
}

/** What puts a change of one record back. */
interface Undo {
  readonly values: readonly Step[]
  /** What the change added to the stock. */
  readonly added: number
}

/** What puts a change back, by its body and what it replaced. */
function undoOf(caller: Caller, resource: Resource, { body, before }: Pick<MadeLine, 'body' | 'before'>): Undo {
  const { body: plain, adjust } = withoutAdjust(body)
  const patch = patchIn(caller, resource, plain)
  let added = adjust
  const values: Step[] = []
  for (const column of givenIn(resource, before)) {
    if ('key' in column) {
      const left = valueIn(plain, [column.name])
      values.push({ column, former: valueIn(before, [column.name]), isLeft: (now) => haveSameKeys(column, now, left) })
      continue
    }
    const said = patch === null ? undefined : saidBy(column, patch)
    const former = valueIn(before, column.path)
    if (column.path.join() === STOCK.join()) {
      added += said === undefined ? 0 : Number(said ?? 0) - Number(former)
    } else {
      const left = said ?? column.field.default
      values.push({ column, former, isLeft: (now) => said !== undefined && isSameValue(caller, column, now, left) })
    }
  }
  return { values, added: Number(added.toFixed(4)) }
}

/** Null: the definition reads it otherwise by now, so that nobody knows what was left. */
function patchIn({ store }: Caller, { fields }: Resource, body: object): Patch | null {
  const patch = orRefusal(() => readPatch(fields, body, { mode: 'update', timeZone: store.timeZone }))
  return patch instanceof StoreFailure ? null : patch
}

function isSameValue({ store }: Caller, column: Column, now: unknown, other: unknown): boolean {
  return isSame(column, now as Scalar, other as Scalar, store.timeZone)
}

function haveSameKeys({ key }: ListColumn, one: unknown, other: unknown): boolean {
  const [keys, others] = [one, other].map((list) => ((list ?? []) as Json[]).map((item) => Number(item[key])).sort())
  return isDeepStrictEqual(keys, others)
}

interface BackLine {
  readonly line: Line
  /** The columns that somebody has changed since. */
  readonly others: readonly string[]
}

function backLine(
  caller: Caller,
  resource: Resource,
  { line, recordId, name, text }: { line: number; recordId: number; name: string; text: string },
  { values, added }: Undo,
): BackLine {
  const record = JSON.parse(text) as Json
  const body = {}
  const changes: Difference[] = []
  const problems: Problem[] = []
  for (const { column, former, isLeft } of values) {
    const now = storedOf(column, record)
    const isBack = 'key' in column ? haveSameKeys(column, now, former) : isSameValue(caller, column, now, former)
    if (isBack) continue
    if (isLeft(now)) {
      setIn(body, 'key' in column ? [column.name] : column.path, former)
      changes.push([column.name, textOf(column, now), textOf(column, former)])
    } else problems.push([column.name, textOf(column, now), 'has been changed since'])
  }
  if (added !== 0) {
    const stock = Number(valueIn(record, STOCK))
    setIn(body, STOCK_ADJUST, -added)
    changes.push([STOCK.join('.'), String(stock), String(Number((stock - added).toFixed(4)))])
  }
  const intended: Intended = { name, body, changes, problems }
  // A price that comes back is no slip.
  const looked = { ...resource, worthALook: { ...resource.worthALook, prices: [], costs: [] } }
  const made = lineFor(caller, looked, { line, recordId, record, text }, intended)
  return { line: made, others: problems.map(([column]) => column) }
}

/** Items of a list by their numbers. */
function textOf(column: Column | ListColumn, value: unknown): string {
  if (!('key' in column)) return short(String(value ?? ''))
  return idsText((value as Json[]).map((item) => item[column.key]))
}

/** Entries of the history that are looked through for who changed the records of a hundred lines. */
const ENTRIES_MAX = 1_000

/** The lines, of which those that are refused say who changed the record since, if the history tells. */
async function tellingWho(
  caller: Caller,
  resource: Resource,
  all: readonly BackLine[],
  { id, startedAt }: Pick<Import, 'id' | 'startedAt'>,
): Promise<Line[]> {
  const refused = all.filter(({ others }) => others.length > 0).flatMap(({ line: { recordId } }) => recordId ?? [])
  if (refused.length === 0) return all.map(({ line }) => line)
  const records = refused.map((recordId) => ({ recordType: resource.table, recordId }))
  const { entries } = await listHistory(caller, records, { before: null, limit: ENTRIES_MAX })
  const since = entries.filter(({ at, importId }) => importId !== id && (startedAt === null || at >= startedAt))
  return all.map(({ line, others }) => {
    if (others.length === 0) return line
    const problems = line.problems.map((problem): Problem => {
      const [column, value] = problem
      const by = since.find(
        ({ recordId, changed }) =>
          recordId === line.recordId && changed.some(([path]) => path === column || path.startsWith(`${column}[`)),
      )
      if (by === undefined) return problem
      return [column, value, `has been changed since, by ${by.actor} on ${shownDate(by.at, caller.store.timeZone)}`]
    })
    return { ...line, problems }
  })
}
