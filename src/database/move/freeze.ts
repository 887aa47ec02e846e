import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { StartupError } from '../../process/startup-error.ts'
import { findTables, type Query, qualified } from '../backup/tables.ts'

// A database whose tables refuse changes, to whichever process and part of it.

/** SQLSTATE of read_only_sql_transaction, which the server answers with 503. */
export const READ_ONLY = '25006'
/** Begin the message of a refused change; where the store goes, or has gone, follows. */
export const LEAVING = 'The store is being moved to '
export const LEFT = 'The store has been moved to '

const NAME = '_refuse_changes'
const trigger = pg.escapeIdentifier(NAME)
const routine = `"public".${trigger}`

/** Whoever changes the same table waits behind the one that waits for it, for no longer than this. */
const LOCK_MS_MAX = 3_000
const LOCK_NOT_AVAILABLE = '55P03'
const RETRY_MS = 200
/** Transactions end after a minute, statements of the background after ten. */
const WAIT_MS_MAX = 600_000

/**
 * Makes every table refuse changes with `message`, and returns when no transaction is left that could commit one. Reads go on. A
 * table after the other, so that it never holds one while it waits for the next: a transaction that has changed one table and
 * comes to another one that refuses ends as a whole. Repeatable, and safe to interrupt. `onWait` gets the name of a table
 * that another session holds. Throws `StartupError` when one is held for ten minutes.
 */
export async function freeze(database: Query, message: string, onWait: (table: string) => void): Promise<void> {
  await refuseWith(database, message)
  for (const { name } of await findTables(database)) {
    await withLock(
      database,
      `CREATE OR REPLACE TRIGGER ${trigger} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${qualified(name)}
       FOR EACH STATEMENT EXECUTE FUNCTION ${routine}()`,
      { name, onWait },
    )
  }
}

/** Replaces the message, in all tables at once. */
export async function refuseWith({ query }: Query, message: string): Promise<void> {
  await query(
    `CREATE OR REPLACE FUNCTION ${routine}() RETURNS trigger LANGUAGE plpgsql AS ${pg.escapeLiteral(
      `BEGIN RAISE EXCEPTION USING ERRCODE = '${READ_ONLY}', MESSAGE = ${pg.escapeLiteral(message)}; END`,
    )}`,
  )
}

/**
 * Lets all tables take changes again, at the same moment. A trigger that does nothing stays until `removeTriggers`, because to
 * remove it waits for readers.
 */
export async function thaw({ query }: Query): Promise<void> {
  const [there] = await query<{ is: boolean }>('SELECT to_regproc($1) IS NOT NULL AS "is"', [routine])
  if (!there?.is) return
  await query(`CREATE OR REPLACE FUNCTION ${routine}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
}

/** Removes what `freeze` has made, behind `thaw`. */
export async function removeTriggers(database: Query, onWait: (table: string) => void): Promise<void> {
  const frozen = await database.query<{ name: string }>(
    'SELECT tgrelid::regclass::text AS "name" FROM pg_trigger WHERE tgname = $1',
    [NAME],
  )
  for (const { name } of frozen)
    await withLock(database, `DROP TRIGGER IF EXISTS ${trigger} ON ${name}`, { name, onWait })
  await database.query(`DROP FUNCTION IF EXISTS ${routine}()`)
}

/** Runs a statement that needs a lock on a table, in a transaction of its own, until it gets it. */
async function withLock(
  { query }: Query,
  sql: string,
  { name, onWait }: { name: string; onWait: (table: string) => void },
): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MS_MAX
  for (let attempt = 1; ; attempt++) {
    try {
      // One text is one transaction.
      await query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}; ${sql}`)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error
      if (performance.now() > deadlineMs) {
        throw new StartupError(
          `Another session has held the table ${name} for ten minutes. End that session and run the command again`,
        )
      }
      if (attempt === 1) onWait(name)
      await delay(RETRY_MS)
    }
  }
}
