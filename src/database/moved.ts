import { StartupError } from '../process/startup-error.ts'
import { type Query, qualified } from './query.ts'

// What a database knows of a move. Its one row exists from the first move on (docs/decisions/move.md):
//   the source:  (none) → leaving → releasing → left
//   the target:  (none) → arriving → arrived, or emptied → (none)

/**
 * `leaving`: refuses changes while its rows are copied. `releasing`: every row is in the other database, which may take changes
 * already. `left`: refuses changes for good. `arriving`: is being filled, and serves nothing. `arrived`: serves. `emptied`: the move
 * is given up, and the source may not know it yet.
 */
export type MoveStep = 'leaving' | 'releasing' | 'left' | 'arriving' | 'arrived' | 'emptied'

export interface MoveState {
  /** The same in both databases. */
  readonly id: string
  readonly step: MoveStep
  /** Where the other database is, in words and without a password. */
  readonly other: string
  /** Of `arriving`: the tables that are there whole. */
  readonly copied: readonly string[]
  /** What the database was before this move, if it was `left` (a target) or `arrived` (a source). */
  readonly before: { readonly id: string; readonly other: string } | null
}

export const MOVE_TABLE = '_move'

/** The state of a database; null: it knows of no move. */
export async function readMove({ query }: Query): Promise<MoveState | null> {
  const [there] = await query<{ is: boolean }>('SELECT to_regclass($1) IS NOT NULL AS "is"', [qualified(MOVE_TABLE)])
  if (!there?.is) return null
  const [state] = await query<MoveState>(
    `SELECT "id", "step", "other", "copied", "before" FROM ${qualified(MOVE_TABLE)}`,
  )
  return state ?? null
}

/**
 * Throws `StartupError` where a server must not start: the database has left or is being filled. One that is leaving may be read,
 * but not migrated, because both databases need the same tables.
 */
export async function refuseMoved(database: Query, isMigrating: boolean): Promise<void> {
  const move = await readMove(database)
  if (move?.step === 'left') throw new StartupError(`The store has been moved to ${move.other}. ${whatToSet(move)}`)
  if (move?.step === 'arriving' || move?.step === 'emptied') {
    throw new StartupError(
      `A store is being moved into this database from ${move.other}, and not all of it is here. Run npm run move again, which goes on with it, or give it up: npm run move -- --cancel --to … (docs/operations.md)`,
    )
  }
  if (isMigrating && (move?.step === 'leaving' || move?.step === 'releasing')) {
    throw new StartupError(
      `The store is being moved to ${move.other}. Finish that with the version of the server that began it, or give it up (npm run move -- --cancel), then start this version`,
    )
  }
}

/** Begins the words for the embedded database of a folder. */
export const EMBEDDED = 'the embedded database in '

function whatToSet({ other }: MoveState): string {
  return other.startsWith(EMBEDDED)
    ? `Start the server there: without DATABASE_URL, and with that DATA_DIR`
    : 'Set DATABASE_URL to that database, and SECRET_KEY and OPERATOR_KEY to the keys of this installation (moved.env in DATA_DIR has the lines, where the keys are in keys.json)'
}
