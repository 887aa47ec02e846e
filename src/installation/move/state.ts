import { hostOf } from '../../database/connection.ts'
import { EMBEDDED, MOVE_TABLE, type MoveState, type MoveStep, readMove } from '../../database/moved.ts'
import { type Query, qualified } from '../../database/query.ts'

const table = qualified(MOVE_TABLE)

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

/** The words for the embedded database of a folder. */
export function embeddedPlace(dataDir: string): string {
  return `${EMBEDDED}${dataDir}`
}

/** The words for a database of an address, without its password. */
export function placeOf(url: string): string {
  return `the database ${decodeURIComponent(new URL(url).pathname.slice(1))} at ${hostOf(url)}`
}
