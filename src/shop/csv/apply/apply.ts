import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../../../engine/caller.ts'
import type { Outcome } from '../../../engine/changing/change.ts'
import type { RequestedChange } from '../../../engine/changing/plan-change.ts'
import { makeChanges, type Note } from '../../../engine/changing/requests.ts'
import type { Log } from '../../../engine/definition/endpoints.ts'
import { isRecord, readPatch } from '../../../engine/definition/input.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { execute, queryRows } from '../../../foundation/database/client.ts'
import type { CsvImportLine } from '../../../foundation/database/generated/client.ts'
import { leaseEnd, leases } from '../../../foundation/database/leases.ts'
import { orRefusal, StoreFailure } from '../../../foundation/values/failure.ts'
import { valueIn } from '../../../foundation/values/json.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { namingOf } from '../lines/columns.ts'
import { formerOf, patchOf, tagOf } from '../lines/former.ts'
import { isOfRecords, type Source } from '../lines/imports.ts'
import { BATCH_LINES_MAX, SECRET_LINES_MAX } from '../lines/limits.ts'
import { madeIn, withIds } from '../lines/new-names.ts'
import { type Problem, shownFieldsOf, withoutSubject } from '../lines/records.ts'
import type { Line } from '../take-in/compare.ts'
import { makeNames } from './make-names.ts'

/** An import that this process works on. */
export interface Run {
  /** The merchant who has it applied; `db` is no transaction. */
  readonly caller: Caller
  readonly resource: Resource
  readonly id: number
  readonly claim: number
  readonly source: Source
  readonly secrets: Secrets
  readonly log: Log
}

type OpenLine = Pick<Line, 'line' | 'recordId' | 'body'> &
  Pick<CsvImportLine, 'sealed' | 'etag'> & { readonly before: object | null }

/** `before`: what the change has replaced; null: nothing, or it was known before. */
type Result = Pick<Line, 'line' | 'recordId' | 'problems'> &
  Pick<OpenLine, 'before'> & { readonly outcome: 'changed' | 'added' | 'failed' }

/**
 * Makes the changes of the next lines after line `after`. Stores each line's outcome in the transaction of its change, so a process
 * that is killed at any moment leaves a line either made and noted, or neither. Returns the line to pass as `after` next time; null:
 * no lines are left. Throws `in-progress` when the import was cancelled or another process took over, and any error that stops the
 * import; the remaining lines stay open.
 */
export async function applyBatch(run: Run, after: number): Promise<number | null> {
  const open = await openLines(run, after)
  const last = open.at(-1)
  if (last === undefined) return null
  const { caller, resource, log } = run
  const { lines, ids } = await withNames(run, open)
  if (lines.length === 0) return last.line
  const { requested, refused } = requestsOf(run, lines, ids)
  if (refused.length > 0) await noteResults(run, caller, refused)
  const { precondition, formerly } = lookingBack(run, lines)
  const note: Note = async (db, outcomes) => {
    const ended = lines.flatMap((line) => {
      const outcome = outcomes.get(line.line)
      if (outcome === undefined || isToBeTriedAgain(outcome)) return []
      return [{ ...resultOf(line, outcome), before: formerly(line) }]
    })
    if (ended.length > 0) await noteResults(run, db, ended)
  }
  const outcomes = await makeChanges({ caller, resource, log, note, precondition, bytes: 0 }, requested)
  for (const outcome of outcomes.values())
    if (isToBeTriedAgain(outcome)) throw outcome.failure.origin ?? outcome.failure
  return last.line
}

/** Makes the records that lines name and the store does not have. Lines of which one cannot be made have failed, and are left out. */
async function withNames(run: Run, lines: readonly OpenLine[]) {
  const named = lines.map((line) => ({ line, numbers: madeIn(line.body) }))
  const wanted = named.flatMap(({ numbers }) => numbers)
  const { ids, failures } = await makeNames(run, wanted)
  const failed = named.flatMap(({ line, numbers }) => {
    const failure = numbers.map((number) => failures.get(number)).find((one) => one !== undefined)
    return failure === undefined ? [] : [resultOf(line, { failure })]
  })
  if (failed.length > 0) await noteResults(run, run.caller, failed)
  const without = new Set(failed.map(({ line }) => line))
  return { lines: lines.filter(({ line }) => !without.has(line)), ids }
}

/** Whether it keeps the import from going on. */
function isToBeTriedAgain(outcome: Outcome): outcome is Extract<Outcome, { failure: unknown }> {
  return 'failure' in outcome && outcome.failure.status >= 500 && outcome.failure.code !== 'internal-error'
}

/** What is asked for by each line, and the results of those that cannot be read: a field may be bounded otherwise by now. */
function requestsOf(run: Run, lines: readonly OpenLine[], ids: ReadonlyMap<number, number>) {
  const requested = new Map<number, RequestedChange>()
  const refused: Result[] = []
  for (const line of lines) {
    const request = orRefusal(() => requestOf(run, line, ids))
    if (request instanceof StoreFailure) refused.push(resultOf(line, { failure: request }))
    else requested.set(line.line, request)
  }
  return { requested, refused }
}

/**
 * Looks at the records under their locks, before they are changed. What a file replaces is noted, to be put back. A change of chosen
 * records is refused where the record is no longer what was shown.
 */
function lookingBack({ resource, source }: Run, lines: readonly OpenLine[]) {
  const { key } = namingOf(resource)
  const byId = new Map(lines.map((line) => [line.recordId, line]))
  const found = new Map<number, object>()
  const precondition = (text: string): void => {
    const record = JSON.parse(text)
    const line = byId.get(Number(valueIn(record, key.path)))
    if (line === undefined) return
    const former = formerOf(resource, line.body, record)
    if (!isOfRecords({ source })) return void found.set(line.line, former)
    const isOther = Object.keys(former).length > 0 && !isDeepStrictEqual(former, line.before)
    if (isOther || (line.etag !== null && line.etag !== tagOf(text)))
      throw new StoreFailure('precondition-failed', 'has been changed since it was shown')
  }
  return { precondition, formerly: ({ line }: OpenLine) => found.get(line) ?? null }
}

function requestOf(
  run: Run,
  { recordId, body: stored, sealed }: OpenLine,
  ids: ReadonlyMap<number, number>,
): RequestedChange {
  if (isOfRecords(run)) {
    const { resource, caller } = run
    return { kind: 'patch', id: recordId, patch: patchOf(resource, stored, caller.store.timeZone) }
  }
  const body = ids.size === 0 ? stored : withIds(stored, ids)
  const whole = sealed === null ? body : merged(body, JSON.parse(run.secrets.open(sealed)))
  if (recordId !== null) return { kind: 'update', id: recordId, body: whole }
  return run.source === 'own' ? { kind: 'create', body: whole } : createShown(run, whole)
}

/** A new record without the values that nobody is shown, which files that are no exports do not bring. */
function createShown({ resource, caller: { store } }: Run, body: unknown): RequestedChange {
  const rules = { mode: 'create', timeZone: store.timeZone } as const
  const patch = orRefusal(() => readPatch(shownFieldsOf(resource), body, rules))
  // It is refused for the same in its turn.
  return patch instanceof StoreFailure ? { kind: 'create', body } : { kind: 'patch', id: null, patch }
}

function merged(one: unknown, other: unknown): unknown {
  if (!isRecord(one) || !isRecord(other)) return other
  const all = { ...one }
  for (const [name, value] of Object.entries(other)) all[name] = merged(all[name], value)
  return all
}

function resultOf({ line, recordId }: OpenLine, outcome: Outcome): Result {
  if ('key' in outcome) {
    const id = Number(outcome.key)
    return { line, outcome: recordId === null ? 'added' : 'changed', recordId: id, before: null, problems: [] }
  }
  return { line, outcome: 'failed', recordId, before: null, problems: [problemOf(outcome.failure)] }
}

function problemOf(failure: StoreFailure): Problem {
  if (failure.code === 'internal-error') return ['', '', 'could not be changed because of an internal error']
  return [failure.code === 'not-found' ? '' : failure.field, '', withoutSubject(failure, failure.field)]
}

async function openLines({ caller: { db, store }, id }: Run, after: number): Promise<OpenLine[]> {
  // By the primary key: behind what this process has done, all lines are open.
  const lines = await queryRows<OpenLine>(db)`
    SELECT "line", "recordId", "body", "sealed", "before", "etag" FROM "CsvImportLine"
    WHERE "storeId" = ${store.id}::int AND "importId" = ${id}::int AND "outcome" IN ('change', 'new') AND "line" > ${after}::int
    ORDER BY "line" LIMIT ${BATCH_LINES_MAX}::int`
  return lines.some(({ sealed }) => sealed !== null) ? lines.slice(0, SECRET_LINES_MAX) : lines
}

/** Writes what became of lines. Throws `in-progress` unless the import is still this process's: what `db` has changed goes back. */
async function noteResults(
  { id, claim }: Run,
  { db, store, now }: Pick<Caller, 'db' | 'store' | 'now'>,
  results: readonly Result[],
): Promise<void> {
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length
  const noted = await execute(db)`
    WITH held AS (
      UPDATE "CsvImport" SET "changed" = "changed" + ${count('changed')}::int, "added" = "added" + ${count('added')}::int,
        "failed" = "failed" + ${count('failed')}::int, "leasedUntil" = ${leaseEnd(leases.csvApplying, now)}
      WHERE "storeId" = ${store.id}::int AND "id" = ${id}::int AND "state" = 'applying' AND "claim" = ${claim}::int
      RETURNING "storeId", "id")
    UPDATE "CsvImportLine" l SET "outcome" = n."outcome", "recordId" = n."recordId", "problems" = n."problems", "sealed" = NULL,
      "before" = coalesce(n."before", l."before")
    FROM held, json_to_recordset(${JSON.stringify(results)}::text::json)
      AS n ("line" int, "outcome" text, "recordId" int, "before" json, "problems" json)
    WHERE l."storeId" = held."storeId" AND l."importId" = held."id" AND l."line" = n."line"
      AND l."outcome" IN ('change', 'new')`
  if (noted < results.length)
    throw new StoreFailure('in-progress', 'The import was cancelled, or another process continues it')
}
