import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { holdMigrations } from '../../database/migrations.ts'
import { type MoveState, readMove } from '../../database/moved.ts'
import { LEFT } from '../../database/outage.ts'
import { qualified } from '../../database/query.ts'
import { StartupError } from '../../process/startup-error.ts'
import {
  addForeignKey,
  dropForeignKey,
  findFilled,
  findForeignKeys,
  otherTable,
  refuseServers,
  restartSequence,
} from '../backup/fill.ts'
import type { RowCounter } from '../backup/rows.ts'
import { findSequences, findTables, target as named, type Sequence, type Table } from '../backup/tables.ts'
import { freeze, removeTriggers, thaw } from './freeze.ts'
import { inOne, type Side } from './session.ts'
import { forgetMove, lockMove, noteCopied, stepOn, writeMove } from './state.ts'

// The database that a store is moved into. Each step is one transaction that holds the row of its state, so that of two commands
// that work on it one waits for the other.

const STOP_SERVERS = 'Stop it, and run the command again'

/**
 * Prepares a migrated database for the rows of the move `id`, unless that was done before. `arrivedBy` is the move by which the source got its rows: a database that has left by it has only
 * what the source has too, and is emptied. Throws `StartupError` for any other one that has rows.
 */
export function prepareTarget(
  target: Side,
  source: Side,
  { id, from, arrivedBy }: { id: string; from: string; arrivedBy: string | null },
): Promise<void> {
  return inOne(target, async () => {
    await holdMigrations(target.client)
    await refuseServers(target, STOP_SERVERS)
    const tables = await tablesOfBoth(target, source)
    const state = await lockMove(target)
    if (state?.step === 'arriving') {
      if (state.id === id) return
      if (state.copied.length > 0) throw new StartupError(otherMove(state))
    }
    const isFormerSource = state?.step === 'left' && state.id === arrivedBy
    if (isFormerSource) await empty(target, tables)
    else await refuseFilled(target, tables)
    for (const key of await findForeignKeys(target)) await target.query(dropForeignKey(key))
    const before = isFormerSource ? { id: state.id, other: state.other } : null
    await writeMove(target, { id, step: 'arriving', other: from, before: before ?? state?.before ?? null })
  })
}

function otherMove({ other }: MoveState): string {
  return `The target holds another move, from ${other}, that was not finished. Finish that one, or give it up with its own settings: npm run move -- --cancel --to …`
}

/** Throws `StartupError` where the two differ. */
async function tablesOfBoth(target: Side, source: Side): Promise<Table[]> {
  const [tables, given] = [await findTables(target), await findTables(source)]
  const other = otherTable(tables, given)
  if (other === null) return tables
  throw new StartupError(
    `The table ${other} is not the same in both databases. Somebody has added or changed it by hand`,
  )
}

/** Throws `StartupError` when a table has rows. */
export async function refuseFilled(target: Side, tables: readonly Table[]): Promise<void> {
  const filled = await findFilled(target, tables)
  if (filled.length === 0) return
  throw new StartupError(
    `The target is not empty (it has rows of ${filled.join(', ')}). Name an empty database with --to, or, for --to embedded, a DATA_DIR without a database`,
  )
}

async function empty(target: Side, tables: readonly Table[]): Promise<void> {
  await thaw(target)
  await target.query(`TRUNCATE ${tables.map(({ name }) => qualified(name)).join(', ')} RESTART IDENTITY`)
  // Nobody else has the tables now.
  await removeTriggers(target)
}

/** Throws `StartupError` unless the target is being filled by this move. */
async function lockArriving(target: Side, id: string): Promise<MoveState> {
  const state = await lockMove(target)
  if (state?.step === 'arriving' && state.id === id) return state
  throw new StartupError('The move has been given up, or finished, by another command')
}

/** Copies the rows of a table, unless that was done before. A kill leaves the table empty. */
export function copyTable(
  target: Side,
  source: Side,
  table: Table,
  { id, counter }: { id: string; counter: RowCounter },
) {
  return inOne(target, async () => {
    const { copied } = await lockArriving(target, id)
    if (copied.includes(table.name)) return
    const name = qualified(table.name)
    // What triggers keep is among the rows.
    await target.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`)
    await inOne(source, () =>
      pipeline(
        source.client.query(copyTo(`COPY ${named(table)} TO STDOUT`)),
        counted(counter),
        target.client.query(copyFrom(`COPY ${named(table)} FROM STDIN`)),
      ),
    )
    await target.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`)
    await noteCopied(target, table.name)
  })
}

function counted(counter: RowCounter) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      counter.add(chunk)
      yield chunk
    }
  }
}

/** Makes the foreign keys and sets the sequences as the source has them, and returns these. Repeatable. */
export async function completeTarget(target: Side, source: Side, id: string): Promise<readonly Sequence[]> {
  const sequences = await findSequences(source)
  await inOne(target, async () => {
    await lockArriving(target, id)
    await addMissingKeys(target, source)
    for (const sequence of sequences) await target.query(restartSequence(sequence))
  })
  // Without figures and visibility maps, the first statements would read whole tables.
  const tables = await findTables(target)
  await target.query(`VACUUM (ANALYZE) ${tables.map(({ name }) => qualified(name)).join(', ')}`)
  return sequences
}

async function addMissingKeys(target: Side, source: Side): Promise<void> {
  const there = (await findForeignKeys(target)).map(({ table, name }) => `${table} ${name}`)
  for (const key of await findForeignKeys(source)) {
    if (!there.includes(`${key.table} ${key.name}`)) await target.query(addForeignKey(key))
  }
}

/** Lets servers start on the target. */
export async function releaseTarget(target: Side, id: string): Promise<void> {
  if (await stepOn(target, id, 'arriving', 'arrived')) return
  const state = await readMove(target)
  if (state?.step !== 'arrived' || state.id !== id)
    throw new StartupError('The move has been given up by another command')
}

/**
 * Takes the rows of a move that is not finished out of the target, which then can be released no more. Does nothing where that was
 * done before.
 */
export function emptyTarget(target: Side, source: Side): Promise<void> {
  return inOne(target, async () => {
    const state = await lockMove(target)
    if (state?.step === 'emptied') return
    if (state?.step !== 'arriving') throw new StartupError('The move has been finished by another command')
    await empty(target, await tablesOfBoth(target, source))
    await addMissingKeys(target, source)
    await stepOn(target, state.id, 'arriving', 'emptied')
  })
}

/** The end of a move that was given up. A former source refuses changes again, and says as before where its rows went. */
export function settleTarget(target: Side): Promise<void> {
  return inOne(target, async () => {
    const state = await lockMove(target)
    if (state?.step !== 'emptied') return
    if (state.before === null) return forgetMove(target)
    await writeMove(target, { ...state.before, step: 'left', before: null })
    await freeze(target, LEFT + state.before.other, () => {})
  })
}
