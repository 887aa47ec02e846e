import { StartupError } from '../process/startup-error.ts'
import { type Query, qualified } from './query.ts'

// What a server needs to know of a move to another database (docs/decisions/move.md).

/**
 * A source goes from `frozen` (refuses changes until the move is finished or given up) to `left` (refuses them for good), a target from
 * `reserved` (serves nothing yet) to `arrived`. A database that never took part in a move has no step.
 */
export type MoveStep = 'frozen' | 'left' | 'reserved' | 'arrived'

export interface Move {
  /** The same in both databases. */
  readonly id: string
  /** Moves of former versions that are not finished have `leaving`, `releasing`, `arriving` or `emptied`. */
  readonly step: string
  /** The other database, in words and without a password. */
  readonly other: string
  /** What the database was before this move, if it was `arrived` (a source) or `left` (a target). */
  readonly before: { readonly id: string; readonly other: string } | null
}

export const MOVE_TABLE = '_move'

/** Begins what a table of a source says when it refuses a change. The name of the other database follows. */
export const MOVING = 'The store is being moved to '

/** The last move that the database took part in. */
export async function readMove({ query }: Query): Promise<Move | null> {
  const [table] = await query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS "exists"', [
    qualified(MOVE_TABLE),
  ])
  if (!table?.exists) return null
  const [move] = await query<Move>(`SELECT "id", "step", "other", "before" FROM ${qualified(MOVE_TABLE)}`)
  return move ?? null
}

/** Why a source serves no reads, or takes no changes; null: the database does. */
export async function moveFault(database: Query, of: 'reads' | 'changes'): Promise<string | null> {
  const move = await readMove(database)
  if (move?.step === 'left') return 'the store has been moved to another database'
  return of === 'changes' && isLeaving(move?.step) ? 'the store is being moved to another database' : null
}

function isLeaving(step = ''): boolean {
  return ['frozen', 'leaving', 'releasing'].includes(step)
}

/**
 * Throws `StartupError` where no server may start: the database has left, or is a target that has not arrived. A frozen one may be read,
 * but not migrated, because both databases need the same tables.
 */
export async function refuseMoved(database: Query, isMigrating: boolean): Promise<void> {
  const move = await readMove(database)
  if (move === null || move.step === 'arrived') return
  if (move.step === 'left') {
    throw new StartupError(
      `The store has been moved to ${move.other}. Start the server there: with its address as DATABASE_URL, and SECRET_KEY and OPERATOR_KEY of this installation (moved.env in DATA_DIR has the lines), or, where it is an embedded database, with that DATA_DIR and without DATABASE_URL`,
    )
  }
  if (!isLeaving(move.step)) {
    throw new StartupError(
      `A store is being moved into this database from ${move.other}, and is not here yet. Run npm run move again, or give the move up: npm run move -- --cancel --to … (docs/operations.md)`,
    )
  }
  if (isMigrating) {
    throw new StartupError(
      `${MOVING}${move.other}. Finish that with the version of the server that began it, or give it up (npm run move -- --cancel), then start this version`,
    )
  }
}
