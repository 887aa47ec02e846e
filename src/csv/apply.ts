import { execute, queryRows } from '../database/client.ts'
import { outageOf } from '../database/outage.ts'
import { sql } from '../database/sql.ts'
import type { Caller } from '../engine/caller.ts'
import { changeRecord } from '../engine/changing/change.ts'
import { changeAsOne, changeTogether, type Ended, type Member } from '../engine/changing/change-sets.ts'
import { type PlannedChange, planChanges, type RequestedChange } from '../engine/changing/plan-change.ts'
import type { Resource } from '../engine/definition/define.ts'
import { isRecord } from '../engine/definition/input.ts'
import type { Log } from '../engine/reading/endpoints.ts'
import { StoreFailure } from '../values/failure.ts'
import type { Secrets } from '../values/secrets.ts'
import { BATCH_LINES_MAX, SECRET_LINES_MAX } from './limits.ts'
import { type Problem, withoutSubject } from './records.ts'

/** An import that this process works on. */
export interface Run {
  /** The merchant who has it applied; `db` is no transaction. */
  readonly caller: Caller
  readonly resource: Resource
  readonly id: number
  readonly claim: number
  readonly secrets: Secrets
  readonly log: Log
}

/** How long a process may store nothing before another one takes over. */
export const LEASE_MS = 60_000

interface OpenLine {
  readonly line: number
  readonly outcome: 'change' | 'new'
  readonly recordId: number | null
  readonly body: object
  readonly sealed: string | null
  /** The number that it has in common with the lines of its transaction; null: those of its batch. */
  readonly together: number | null
}

interface Result {
  readonly line: number
  readonly outcome: 'changed' | 'added' | 'failed'
  readonly recordId: number | null
  readonly problems: readonly Problem[]
}

/**
 * Makes the changes of the next lines after line `after`, or, when none are left, of the next lines that take unique texts from
 * one another. Stores each line's outcome in the transaction of its change, so a process that is killed at any moment leaves a
 * line either made and noted, or neither. Returns the line to pass as `after` next time; null: no lines are left. Throws
 * `in-progress` when the import was cancelled or another process took over, and any error that stops the import; the remaining
 * lines stay open.
 */
export async function applyBatch(run: Run, after: number): Promise<number | null> {
  const lines = await openLines(run, after)
  const last = lines.at(-1)
  if (last === undefined) return null
  const { caller, resource } = run
  const plans = await planChanges(
    caller,
    resource,
    lines.map((line) => requestOf(run, line)),
  )
  if (last.together !== null) {
    await exchange(run, lines, plans)
    return after
  }
  const refused: Result[] = []
  const set = new Map<number, Member & { line: OpenLine }>()
  for (const [place, line] of lines.entries()) {
    const plan = plans[place]
    if (plan instanceof StoreFailure) refused.push(failed(line, plan))
    else if (plan !== undefined) set.set(place, { caller, planned: plan, line })
  }
  if (refused.length > 0) await note(run, caller, refused)
  const made = resource.isOneByOne ? new Map<number, Ended>() : await makeTogether(run, set)
  for (const [place, { planned, line }] of set) {
    if (!made.has(place)) await makeOne(run, line, planned)
  }
  return last.line
}

/** Makes lines that take unique texts from one another, or none of them. */
async function exchange(run: Run, lines: readonly OpenLine[], plans: Awaited<ReturnType<typeof planChanges>>) {
  const { caller, resource } = run
  try {
    const set = new Map<number, Member>()
    for (const [place, planned] of plans.entries()) {
      if (planned instanceof StoreFailure) throw planned
      set.set(place, { caller, planned })
    }
    await changeAsOne(resource, set, (tx, ended) => {
      const keys = [...ended].map(([place, key]) => [lines[place] as OpenLine, Number(key)] as const)
      return note(
        run,
        tx,
        keys.map(([line, key]) => succeeded(line, key)),
      )
    })
  } catch (error) {
    const failure = failureOf(run, error, lines[0])
    const others = lines.map(({ line }) => line).join(', ')
    const problem = `was left out with lines ${others}, which are changed together`
    const all = lines.map((line): Result => {
      const own = failed(line, failure)
      return lines.length === 1 ? own : { ...own, problems: [...own.problems, ['', '', problem]] }
    })
    await note(run, caller, all)
  }
}

/** What a line is refused for; null: a defect, which is logged. Throws what keeps the import from going on. */
function failureOf({ log }: Run, error: unknown, line: OpenLine | undefined): StoreFailure | null {
  const failure = error instanceof StoreFailure ? error : outageOf(error)
  if (failure !== null && (failure.kind === 'in-progress' || failure.status >= 500)) throw error
  if (failure === null) log.error({ err: error, line: line?.line }, 'a line of a CSV file failed')
  return failure
}

async function makeTogether(run: Run, set: ReadonlyMap<number, Member & { line: OpenLine }>) {
  const { resource, log } = run
  const resultsOf = (ended: ReadonlyMap<number, Ended>) =>
    [...ended].flatMap(([place, one]) => {
      const { line } = set.get(place) as { line: OpenLine }
      return 'key' in one ? [succeeded(line, Number(one.key))] : [failed(line, one.error as StoreFailure)]
    })
  const ended = await changeTogether(resource, set, {
    log,
    remember: async (tx, ended) => {
      if (ended.size > 0) await note(run, tx, resultsOf(ended))
    },
  })
  for (const one of ended.values()) {
    // Nothing of the set is certain.
    if ('error' in one && !(one.error instanceof StoreFailure)) throw one.error
  }
  // A set of one that is refused has no transaction to be noted in.
  const [only] = ended.size === 1 && set.size === 1 ? ended.values() : []
  return only !== undefined && 'error' in only ? new Map<number, Ended>() : ended
}

async function makeOne(run: Run, line: OpenLine, planned: PlannedChange): Promise<void> {
  const { caller, resource } = run
  const requested = requestOf(run, line)
  try {
    await changeRecord(caller, resource, requested, {
      planned,
      remember: (tx, key) => note(run, tx, [succeeded(line, Number(key))]),
    })
  } catch (error) {
    await note(run, caller, [failed(line, failureOf(run, error, line))])
  }
}

function requestOf({ secrets }: Run, { recordId, body, sealed }: OpenLine): RequestedChange {
  const whole = sealed === null ? body : merged(body, JSON.parse(secrets.open(sealed)))
  return recordId === null ? { kind: 'create', body: whole } : { kind: 'update', id: recordId, body: whole }
}

function merged(one: unknown, other: unknown): unknown {
  if (!isRecord(one) || !isRecord(other)) return other
  const all = { ...one }
  for (const [name, value] of Object.entries(other)) all[name] = merged(all[name], value)
  return all
}

function succeeded({ line, recordId }: OpenLine, key: number): Result {
  return { line, outcome: recordId === null ? 'added' : 'changed', recordId: key, problems: [] }
}

/** Null: a defect, of which nobody is told more. */
function failed({ line, recordId }: OpenLine, failure: StoreFailure | null): Result {
  const problem: Problem =
    failure === null
      ? ['', '', 'could not be changed because of an internal error']
      : [failure.kind === 'not-found' ? '' : failure.field, '', withoutSubject(failure, failure.field)]
  return { line, outcome: 'failed', recordId, problems: [problem] }
}

async function openLines({ caller: { db, store }, id }: Run, after: number): Promise<OpenLine[]> {
  const open = sql`"storeId" = ${store.id}::int AND "importId" = ${id}::int AND "outcome" IN ('change', 'new')`
  const columns = sql`"line", "outcome", "recordId", "body", "sealed", "together"`
  // By the primary key: behind what this process has done, all lines are open.
  const lines = await queryRows<OpenLine>(
    db,
    sql`
    SELECT ${columns} FROM "CsvImportLine" WHERE ${open} AND "line" > ${after}::int AND "together" IS NULL
    ORDER BY "line" LIMIT ${BATCH_LINES_MAX}::int`,
  )
  if (lines.length > 0) return lines.some(({ sealed }) => sealed !== null) ? lines.slice(0, SECRET_LINES_MAX) : lines
  return queryRows<OpenLine>(
    db,
    sql`
    SELECT ${columns} FROM "CsvImportLine" WHERE ${open} AND "together" = (
      SELECT min("together") FROM "CsvImportLine" WHERE ${open} AND "together" IS NOT NULL)
    ORDER BY "line"`,
  )
}

/** Writes what became of lines. Throws `in-progress` unless the import is still this process's: what `db` has changed goes back. */
async function note(
  { id, claim }: Run,
  { db, store, now }: Pick<Caller, 'db' | 'store' | 'now'>,
  results: readonly Result[],
): Promise<void> {
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length
  const noted = await execute(
    db,
    sql`
    WITH held AS (
      UPDATE "CsvImport" SET "changed" = "changed" + ${count('changed')}::int, "added" = "added" + ${count('added')}::int,
        "failed" = "failed" + ${count('failed')}::int, "leasedUntil" = ${new Date(now().getTime() + LEASE_MS)}
      WHERE "storeId" = ${store.id}::int AND "id" = ${id}::int AND "state" = 'applying' AND "claim" = ${claim}::int
      RETURNING "storeId", "id")
    UPDATE "CsvImportLine" l SET "outcome" = n."outcome", "recordId" = n."recordId", "problems" = n."problems", "sealed" = NULL
    FROM held, json_to_recordset(${JSON.stringify(results)}::text::json)
      AS n ("line" int, "outcome" text, "recordId" int, "problems" json)
    WHERE l."storeId" = held."storeId" AND l."importId" = held."id" AND l."line" = n."line"
      AND l."outcome" IN ('change', 'new')`,
  )
  if (noted < results.length)
    throw new StoreFailure('in-progress', 'The import was cancelled, or another process goes on with it')
}
