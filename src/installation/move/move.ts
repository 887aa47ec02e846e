import { randomInt, randomUUID } from 'node:crypto'
import { connect } from '../../database/client.ts'
import { reasonOf } from '../../database/connection.ts'
import { asStartupError, migrate, refuseOtherSchema } from '../../database/migrations.ts'
import { type MoveState, readMove } from '../../database/moved.ts'
import { LEAVING, LEFT } from '../../database/outage.ts'
import { qualified } from '../../database/query.ts'
import { StartupError } from '../../process/startup-error.ts'
import type { Secrets } from '../../values/secrets.ts'
import { RowCounter } from '../backup/rows.ts'
import { findTables, type Table } from '../backup/tables.ts'
import { checkSecretKey } from '../secret-key/check.ts'
import { compareSequences, compareTable } from './compare.ts'
import { freeze, refuseWith, removeTriggers, thaw } from './freeze.ts'
import { inOne, type Side, withSide } from './session.ts'
import { forgetMove, lockMove, stepOn, writeMove } from './state.ts'
import {
  completeTarget,
  copyTable,
  emptyTarget,
  prepareTarget,
  refuseFilled,
  releaseTarget,
  settleTarget,
} from './target.ts'

/** One of the two databases. */
export interface Place {
  readonly url: string
  /** What it is called, without its password. */
  readonly name: string
}

export interface MoveOptions {
  readonly source: Place
  readonly target: Place
  readonly secrets: Secrets
  readonly report: MoveReport
  /** Runs when both databases are the same, and before the target may take changes; an error leaves the move unfinished. */
  readonly onSame: (moved: { readonly tables: number; readonly rows: number }) => Promise<void>
}

/** Hears how a move goes on. */
export interface MoveReport {
  say(line: string): void
  /** Begins the copying, or the comparison, of so many rows, and gets how many are done. */
  rows(what: 'Copied' | 'Compared', total: number): { advanceTo(rows: number): void; done(): void }
}

/**
 * Moves all rows of one database to another, which has none, and leaves the source refusing changes for good. A server may run on the
 * source, any number of processes of it: reads go on, and changes are refused from the beginning of the copying on. May be
 * interrupted anywhere; the same call goes on, with the tables that are not yet there. At no moment do both databases take
 * changes. Throws `StartupError`.
 */
export async function move(options: MoveOptions): Promise<void> {
  await onBoth(options, async (from, to) => {
    await refuseSame(from, to)
    await refuseOtherSchema(from.client)
    // One that knows of a move had its tables then. One that is not empty stays as it is, whoever's it is.
    if ((await readMove(to)) === null) {
      await refuseFilled(to, await findTables(to))
      await migrate(options.target.url)
    }
    await refuseUnfit(from, to, options)
    const id = await begin(from, to, options)
    if ((await readMove(from))?.step === 'leaving') {
      await closeSource(from, options)
      await carry(from, to, id, options)
    }
    await release(from, to, id, options)
  })
}

/** Throws `StartupError` where another move, or none, is to be finished. */
async function refuseUnfit(from: Side, to: Side, { target }: MoveOptions): Promise<void> {
  await refuseOtherSchema(to.client)
  const [state, there] = [await readMove(from), await readMove(to)]
  if (state?.step === 'left') throw new StartupError(`The store has been moved already, to ${state.other}`)
  if (state?.step === 'arriving' || state?.step === 'emptied') {
    throw new StartupError(`The source is itself the target of a move from ${state.other} that was not finished`)
  }
  if (!isUnfinished(state)) return
  if (state.other !== target.name) {
    throw new StartupError(
      `The store is being moved to ${state.other} already. Finish that move, or give it up: npm run move -- --cancel --to …`,
    )
  }
  if (state.step === 'releasing' && there?.id !== state.id) {
    throw new StartupError(
      `All rows have been moved to ${state.other}, which is not the database that --to leads to now. Give the address that it had`,
    )
  }
}

function isUnfinished(state: MoveState | null): state is MoveState {
  return state?.step === 'leaving' || state?.step === 'releasing'
}

/** Notes the move in both databases, unless that was done before, and returns its id. */
async function begin(from: Side, to: Side, { source, target, report }: MoveOptions): Promise<string> {
  const state = await readMove(from)
  const id = isUnfinished(state) ? state.id : randomUUID()
  report.say(isUnfinished(state) ? 'Going on with the move that was begun …' : 'Preparing the target …')
  // From here on it can only be finished, and the target may be released already.
  if (state?.step === 'releasing') return id
  const arrivedBy = state?.step === 'arrived' ? state.id : (state?.before?.id ?? null)
  await prepareTarget(to, from, { id, from: source.name, arrivedBy })
  if (state?.step === 'leaving') return id
  await inOne(from, async () => {
    const now = await lockMove(from)
    if (now?.id !== state?.id || now?.step !== state?.step) {
      throw new StartupError('Another command has begun a move just now')
    }
    const before = state === null ? null : { id: state.id, other: state.other }
    await writeMove(from, { id, step: 'leaving', other: target.name, before })
  })
  return id
}

async function closeSource(from: Side, { target, report }: MoveOptions): Promise<void> {
  const onWait = (table: string) => report.say(`Waiting for a change of ${table} that is under way …`)
  await freeze(from, LEAVING + target.name, onWait)
  report.say('The source refuses changes now.')
}

/** An advisory lock is one of its database, however that is reached. */
async function refuseSame(from: Side, to: Side): Promise<void> {
  const keys = [randomInt(2 ** 31), randomInt(2 ** 31)]
  await inOne(from, async () => {
    await from.query('SELECT pg_advisory_xact_lock($1, $2)', keys)
    const [lock] = await to.query<{ isFree: boolean }>('SELECT pg_try_advisory_xact_lock($1, $2) AS "isFree"', keys)
    if (!lock?.isFree) throw new StartupError('Source and target are the same database. Name another one with --to')
  })
}

/** Copies and compares. */
async function carry(from: Side, to: Side, id: string, options: MoveOptions): Promise<void> {
  const tables = await findTables(from)
  const contents = { tables, counts: await countRows(from, tables) }
  await copyAll(from, to, id, contents, options)
  options.report.say('Checking the references …')
  const sequences = await completeTarget(to, from, id)
  await compareAll(from, to, contents, options)
  await compareSequences(to, sequences)
  await tryKey(options)
  await options.onSame({ tables: tables.length, rows: sumOf(contents.counts) })
}

/** All tables, and the number of rows of each. */
interface AllTables {
  readonly tables: readonly Table[]
  readonly counts: readonly number[]
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

async function copyAll(
  from: Side,
  to: Side,
  id: string,
  { tables, counts }: AllTables,
  { report }: MoveOptions,
): Promise<void> {
  const copied = (await readMove(to))?.copied ?? []
  const before = sumOf(counts.filter((_, index) => copied.includes(tables[index]?.name ?? '')))
  const progress = report.rows('Copied', sumOf(counts))
  const counter = new RowCounter((rows) => progress.advanceTo(before + rows))
  counter.begin()
  for (const table of tables) {
    await refuseCancelled(from, id)
    await copyTable(to, from, table, { id, counter })
  }
  progress.advanceTo(sumOf(counts))
  progress.done()
}

/** Otherwise its rows may be changing already. */
async function refuseCancelled(from: Side, id: string): Promise<void> {
  const state = await readMove(from)
  if (state?.id !== id || state.step !== 'leaving')
    throw new StartupError('The move has been given up by another command')
}

async function compareAll(from: Side, to: Side, { tables, counts }: AllTables, { report }: MoveOptions): Promise<void> {
  const progress = report.rows('Compared', sumOf(counts))
  let compared = 0
  for (const table of tables) {
    compared += await compareTable(from, to, table)
    progress.advanceTo(compared)
  }
  progress.done()
}

/** Opens what is sealed in the target, as a start does. */
async function tryKey({ target, secrets }: MoveOptions): Promise<void> {
  const db = connect(target.url, { poolMax: 1, isPreparing: false })
  try {
    await checkSecretKey(db, secrets)
  } finally {
    await db.$disconnect()
  }
}

/**
 * Lets the target take changes. Before that, the source goes on to a step from which it never takes any again by itself, so that a kill
 * between the three leaves a move that can only be finished.
 */
async function release(from: Side, to: Side, id: string, { target }: MoveOptions): Promise<void> {
  await inOne(from, async () => {
    const state = await lockMove(from)
    if (state?.id !== id) throw new StartupError('The move has been given up by another command')
    await stepOn(from, id, 'leaving', 'releasing')
  })
  await releaseTarget(to, id)
  await inOne(from, async () => {
    await stepOn(from, id, 'releasing', 'left')
    await refuseWith(from, LEFT + target.name)
  })
}

async function countRows(side: Side, tables: readonly Table[]): Promise<number[]> {
  const counts = tables.map(
    ({ name }, index) => `SELECT ${index} AS "at", count(*)::float8 AS "rows" FROM ${qualified(name)}`,
  )
  const rows = await inOne(side, () => side.query<{ rows: number }>(`${counts.join(' UNION ALL ')} ORDER BY "at"`))
  return rows.map(({ rows }) => rows)
}

/**
 * Gives a move up that is not finished: the rows go out of the target, and the source takes changes again. `target: null` leaves the
 * target as it is. Throws `StartupError` when there is nothing to give up, or the target may have taken changes.
 */
export async function cancelMove(
  options: Pick<MoveOptions, 'source' | 'report'> & { target: Place | null },
): Promise<void> {
  const { source, target, report } = options
  if (target === null) {
    return withSide(source.url, (from) => takeBack(from, null, report)).catch(rethrow(source))
  }
  await onBoth({ source, target }, async (from, to) => {
    await refuseSame(from, to)
    const [state, there] = [await readMove(from), await readMove(to)]
    const isSame = there !== null && there.id === state?.id
    if (isSame && there.step === 'arrived') {
      throw new StartupError(
        `The move is finished: ${target.name} takes changes. To go back, move the store from there`,
      )
    }
    const isOfSource = isUnfinished(state) && (isSame || state.other === target.name)
    const isOfTarget =
      (there?.step === 'arriving' || there?.step === 'emptied') && (isSame || there.other === source.name)
    if (!isOfSource && !isOfTarget) throw new StartupError('There is no unfinished move between these databases')
    if (isOfTarget) {
      await emptyTarget(to, from)
      report.say(`The rows are gone from ${target.name}.`)
    }
    if (isOfSource) await takeBack(from, isSame && isOfTarget ? state.id : null, report)
    if (isOfTarget) await settleTarget(to)
  })
}

/** `emptied`: the id of the move whose target is known to take no changes. */
async function takeBack(from: Side, emptied: string | null, report: MoveReport): Promise<void> {
  await inOne(from, async () => {
    const state = await lockMove(from)
    if (state?.step === 'releasing' && state.id !== emptied) {
      throw new StartupError(
        `All rows are in ${state.other}, which may have taken changes already. Run the move again, which finishes it, or name that database with --to`,
      )
    }
    if (!isUnfinished(state)) throw new StartupError('There is no unfinished move from this database')
    await thaw(from)
    if (state.before) await writeMove(from, { ...state.before, step: 'arrived', before: null })
    else await forgetMove(from)
  })
  report.say('The source takes changes again.')
  await removeTriggers(from)
}

async function onBoth<T>(
  { source, target }: { source: Place; target: Place },
  work: (from: Side, to: Side) => Promise<T>,
): Promise<T> {
  return withSide(source.url, (from) =>
    withSide(target.url, (to) => work(from, to).catch(stopped)).catch(rethrow(target)),
  ).catch(rethrow(source))
}

/** Which of the two it was is not known here. */
function stopped(error: unknown): never {
  if (error instanceof StartupError) throw error
  throw new StartupError(`It stopped: ${reasonOf(error)}. Both databases must be reachable; the same command goes on`)
}

function rethrow({ url }: Place): (error: unknown) => never {
  return (error) => {
    throw asStartupError(error, url, 'DATABASE_URL, --to')
  }
}
