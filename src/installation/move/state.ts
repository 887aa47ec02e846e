import { StartupError } from '../../process/startup-error.ts'
import { MOVE_TABLE, type Query, qualified } from '../backup/tables.ts'
import { hostOf } from '../../database/connection.ts'

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

const table = qualified(MOVE_TABLE)

/** The state of a database; null: it knows of no move. */
export async function readMove({ query }: Query): Promise<MoveState | null> {
  const [there] = await query<{ is: boolean }>('SELECT to_regclass($1) IS NOT NULL AS "is"', [table])
  if (!there?.is) return null
  const [state] = await query<MoveState>(`SELECT "id", "step", "other", "copied", "before" FROM ${table}`)
  return state ?? null
}

/** The same for the transaction that changes it: others wait until that has ended. */
export async function lockMove({ query }: Query): Promise<MoveState | null> {
  const state = await readMove({ query })
  if (state === null) return null
  await query(`SELECT FROM ${table} FOR UPDATE`)
  return readMove({ query })
}

export async function writeMove(
  { query }: Query,
  { id, step, other, before }: Omit<MoveState, 'copied'>,
): Promise<void> {
  await query(`CREATE TABLE IF NOT EXISTS ${table} (
    "only" boolean PRIMARY KEY DEFAULT true CHECK ("only"),
    "id" text NOT NULL, "step" text NOT NULL, "other" text NOT NULL, "copied" text[] NOT NULL DEFAULT '{}', "before" json,
    "since" timestamptz NOT NULL DEFAULT now())`)
  await query(
    `INSERT INTO ${table} ("id", "step", "other", "before") VALUES ($1, $2, $3, $4::json)
     ON CONFLICT ("only") DO UPDATE SET "id" = excluded."id", "step" = excluded."step", "other" = excluded."other",
       "before" = excluded."before", "copied" = '{}', "since" = now()`,
    [id, step, other, JSON.stringify(before)],
  )
}

/** Goes on from one step to the next. Returns false when the database is not at that step of that move. */
export async function stepOn({ query }: Query, id: string, from: MoveStep, to: MoveStep): Promise<boolean> {
  const moved = await query(
    `UPDATE ${table} SET "step" = $3, "since" = now() WHERE "id" = $1 AND "step" = $2 RETURNING "id"`,
    [id, from, to],
  )
  return moved.length > 0
}

export async function noteCopied({ query }: Query, name: string): Promise<void> {
  await query(`UPDATE ${table} SET "copied" = array_append("copied", $1)`, [name])
}

export async function forgetMove({ query }: Query): Promise<void> {
  await query(`DROP TABLE IF EXISTS ${table}`)
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

const EMBEDDED = 'the embedded database in '

/** The words for the embedded database of a folder. */
export function embeddedPlace(dataDir: string): string {
  return `${EMBEDDED}${dataDir}`
}

/** The words for a database of an address, without its password. */
export function placeOf(url: string): string {
  return `the database ${decodeURIComponent(new URL(url).pathname.slice(1))} at ${hostOf(url)}`
}

function whatToSet({ other }: MoveState): string {
  return other.startsWith(EMBEDDED)
    ? `Start the server there: without DATABASE_URL, and with that DATA_DIR`
    : 'Set DATABASE_URL to that database, and SECRET_KEY and OPERATOR_KEY to the keys of this installation (moved.env in DATA_DIR has the lines, where the keys are in keys.json)'
}
