import type pg from 'pg'
import { hostOf, withConnection } from '../../../foundation/database/connection.ts'
import { asStartupError } from '../../../foundation/database/migrations.ts'
import { MOVE_TABLE, type Move, type MoveStep, readMove } from '../../../foundation/database/moved.ts'
import { isLockTimeout } from '../../../foundation/database/outage.ts'
import { type Query, qualified, queryOf } from '../../../foundation/database/query.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'

/** One of the two databases. */
export interface Place {
  readonly url: string
  /** What it is called, without its password. */
  readonly name: string
}

/** The words for a database of an address, without its password. */
export function placeOf(url: string): string {
  return `the database ${decodeURIComponent(new URL(url).pathname.slice(1))} at ${hostOf(url)}`
}

export interface Connection extends Query {
  readonly client: pg.Client
}

/** Runs `work` on a connection of its own. Throws `StartupError` where the database is the reason of a failure. */
export function connected<T>({ url, name }: Place, work: (database: Connection) => Promise<T>): Promise<T> {
  return withConnection(url, (client) => work({ client, query: queryOf(client) })).catch((error) => {
    if (!isLockTimeout(error)) throw asStartupError(error, url, 'DATABASE_URL, --to')
    throw new StartupError(
      `Another session uses ${name}, perhaps another command that moves the store. Wait for its end, and run the command again`,
    )
  })
}

/** Runs `work` in a transaction of its own, which outlives a crash of PostgreSQL however the server is set. */
export function inDatabase<T>(place: Place, work: (database: Connection) => Promise<T>): Promise<T> {
  return connected(place, async (database) => {
    await database.query(`BEGIN; SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = 0;
      SET LOCAL synchronous_commit = on`)
    const result = await work(database)
    await database.query('COMMIT')
    return result
  })
}

const table = qualified(MOVE_TABLE)

/** The move, which nobody else changes until the transaction ends. Servers read it meanwhile. */
export async function lockMove({ query }: Query): Promise<Move | null> {
  await query(`CREATE TABLE IF NOT EXISTS ${table} ("only" boolean PRIMARY KEY DEFAULT true CHECK ("only"),
    "id" text NOT NULL, "step" text NOT NULL, "other" text NOT NULL, "before" json)`)
  await query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`)
  return readMove({ query })
}

/** Behind `lockMove`. */
export async function writeMove({ query }: Query, move: Move & { readonly step: MoveStep }): Promise<void> {
  await query(
    `INSERT INTO ${table} ("id", "step", "other", "before") VALUES ($1, $2, $3, $4::json)
     ON CONFLICT ("only") DO UPDATE
     SET ("id", "step", "other", "before") = (excluded."id", excluded."step", excluded."other", excluded."before")`,
    [move.id, move.step, move.other, JSON.stringify(move.before)],
  )
}

/** Makes the database what it was before the move: of `step`, or of none. Behind `lockMove`. */
export async function undoMove(database: Query, { before }: Move, step: 'arrived' | 'left'): Promise<void> {
  if (before === null) await database.query(`DELETE FROM ${table}`)
  else await writeMove(database, { ...before, step, before: null })
}
