import { randomUUID } from 'node:crypto'
import { migrate, refuseOtherSchema } from '../../../foundation/database/migrations.ts'
import { MOVING, type Move, readMove } from '../../../foundation/database/moved.ts'
import type { Query } from '../../../foundation/database/query.ts'
import { openSnapshot } from '../../../foundation/database/snapshot.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { emptyTables, type FillOptions, fillDatabase, refuseFilled, refuseOtherTables } from '../backup/fill.ts'
import { refuseOtherKey } from '../backup/key.ts'
import { findSequences, findTables } from '../backup/tables.ts'
import { rowsOf } from '../backup/write.ts'
import { compareTables } from './compare.ts'
import { dropTriggers, freeze, setRefusal, thaw } from './freeze.ts'
import { type Connection, connected, inDatabase, lockMove, type Place, undoMove, writeMove } from './place.ts'

export interface MoveOptions {
  readonly source: Place
  readonly target: Place
  readonly secrets: Secrets
  /** Tells how it goes on. */
  readonly say: (line: string) => void
  /** Gets the number of rows stored so far. */
  readonly onRows?: (rows: number) => void
}

/**
 * Moves all rows of one database to an empty one, and leaves the source refusing changes for good. Servers may run on the source:
 * reads go on, and changes are refused from the freezing on. May be interrupted anywhere: the same call begins anew, with an empty
 * target. At no moment do both databases take changes (docs/decisions/move.md). Returns null where a former call has finished the
 * move. Throws `StartupError`.
 */
export async function move(options: MoveOptions): Promise<{ tables: number; rows: number } | null> {
  const { source, target, say } = options
  say('Preparing the target …')
  const known = await connected(target, async (to) => {
    const there = await readMove(to)
    // One that is not empty stays as it is, whoever's it is.
    if (there === null) await refuseFilled(to, await findTables(to))
    return there
  })
  if (known === null) await migrate(target.url)
  const { id, step } = await inBoth(source, target, (from, to) => begin(from, to, options))
  if (step === 'arrived') return null
  await connected(source, (from) =>
    freeze(from, (table) => say(`Waiting for a change of ${table} that is under way …`)),
  )
  say('The source refuses changes now, until the move is finished or given up.')
  return carry(id, options)
}

/**
 * Runs `work` in a transaction of each. That of the target begins first and ends last. Where both are the same database, the second
 * `lockMove` fails.
 */
function inBoth<T>(source: Place, target: Place, work: (from: Connection, to: Connection) => Promise<T>): Promise<T> {
  return inDatabase(target, (to) => inDatabase(source, (from) => work(from, to)))
}

/** Notes the move in both databases, and returns the target's note: `arrived` where the move has been finished. */
async function begin(from: Connection, to: Connection, { source, target, secrets }: MoveOptions): Promise<Move> {
  const there = await lockMove(to)
  const here = await lockMove(from)
  refuseFormer(here)
  refuseFormer(there)
  if (here?.step === 'reserved') {
    throw new StartupError(`The source is itself the target of a move from ${here.other} that is not finished`)
  }
  // The target has not taken any change as long as it is reserved by the very move.
  if (here?.step === 'left') {
    if (there?.id !== here.id) throw new StartupError(`The store has been moved already, to ${here.other}`)
    return there
  }
  await refuseOtherSchema(from.client)
  await refuseOtherSchema(to.client)
  await refuseOtherKey(from, secrets)
  const before = here?.step === 'arrived' ? { id: here.id, other: here.other } : (here?.before ?? null)
  // What the target was. If the source got its rows from there, it has only rows that the source has too, and is emptied.
  const reservedFor = there?.step === 'reserved' ? there.before : null
  const former = there?.step === 'left' ? { id: there.id, other: there.other } : reservedFor
  const isOthers = there?.step === 'frozen' || (there?.step === 'reserved' && there.other !== source.name)
  if (there !== null && (isOthers || (former !== null && former.id !== before?.id))) {
    throw new StartupError(
      `The target takes part in another move, with ${there.other}. Name an empty database, or, if that move is not finished, finish it or give it up: npm run move -- --cancel --to …`,
    )
  }
  const tables = await findTables(to)
  refuseOtherTables(tables, await findTables(from), source.name)
  if (former === null) await refuseFilled(to, tables)
  const id = randomUUID()
  await writeMove(from, { id, step: 'frozen', other: target.name, before })
  await setRefusal(from, MOVING + target.name)
  const reserved = { id, step: 'reserved', other: source.name, before: former } as const
  await writeMove(to, reserved)
  return reserved
}

function refuseFormer(move: Move | null): void {
  if (move === null || ['frozen', 'left', 'reserved', 'arrived'].includes(move.step)) return
  throw new StartupError(
    `A former version of the server has begun a move with ${move.other}. Finish it with that version, or give it up with it: npm run move -- --cancel --to …`,
  )
}

/** Copies, compares and switches, in one transaction of the target. */
async function carry(id: string, { source, target, say, onRows }: MoveOptions) {
  const snapshot = await openSnapshot(source.url)
  try {
    await snapshot.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    const tables = await findTables(snapshot)
    const sequences = await findSequences(snapshot)
    const contents = { name: source.name, tables, sequences, rows: () => rowsOf(snapshot, tables) }
    let rows = 0
    const options: FillOptions = {
      onRows,
      onStored: () => say('Checking the references …'),
      prepare: async (to) => {
        const there = await lockMove(to)
        if (there?.id !== id || there.step !== 'reserved') throw new StartupError(OTHER_COMMAND)
        if (there.before === null) return
        await to.query(dropTriggers)
        await emptyTables(to, tables)
      },
      finish: async (to, counts) => {
        say('Comparing …')
        await compareTables(snapshot, to, tables)
        // From here on the source never takes a change unless the target is known to be reserved still.
        await inDatabase(source, (from) => leave(from, id))
        await writeMove(to, { id, step: 'arrived', other: source.name, before: null })
        rows = counts.reduce((sum, count) => sum + count, 0)
      },
    }
    await connected(target, ({ client }) => fillDatabase(client, contents, options))
    return { tables: tables.length, rows }
  } finally {
    await snapshot.close()
  }
}

const OTHER_COMMAND = 'Another command has finished the move, given it up, or begun it anew'

async function leave(from: Query, id: string): Promise<void> {
  const here = await lockMove(from)
  if (here?.id !== id) throw new StartupError(OTHER_COMMAND)
  await writeMove(from, { ...here, step: 'left' })
}

/**
 * Gives a move up that is not finished: the source takes changes again, and the target is what it was before. `target: null` leaves the
 * target alone. Throws `StartupError` when there is nothing to give up, or the target may have taken changes.
 */
export async function cancelMove(options: { source: Place; target: Place | null }): Promise<void> {
  const { source, target } = options
  const isDone =
    target === null
      ? await inDatabase(source, (from) => takeBack(from, null))
      : await inBoth(source, target, async (from, to) => {
          // As long as this is locked, no command can finish the move.
          const there = await lockMove(to)
          const isReserved = there?.step === 'reserved'
          const isOurs = isReserved && (there.other === source.name || there.id === (await readMove(from))?.id)
          const isTakenBack = await takeBack(from, isReserved ? there.id : null)
          if (isOurs) await undoMove(to, there, 'left')
          return isTakenBack || isOurs
        })
  if (!isDone) throw new StartupError('There is no unfinished move here')
}

/** Returns false where the source is part of no unfinished move. `reserved`: the move whose target is known to have no rows. */
async function takeBack(from: Query, reserved: string | null): Promise<boolean> {
  const here = await lockMove(from)
  if (here?.step === 'left' && here.id !== reserved) {
    throw new StartupError(
      `All rows have been moved to ${here.other}, which may have taken changes already. Run the move again, which finishes it. To go back, move the store from there`,
    )
  }
  if (here === null || !['frozen', 'left', 'leaving'].includes(here.step)) return false
  await thaw(from)
  await undoMove(from, here, 'arrived')
  return true
}
