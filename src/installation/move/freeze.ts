import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { READ_ONLY } from '../../database/outage.ts'
import { type Query, qualified } from '../../database/query.ts'
import { StartupError } from '../../process/startup-error.ts'
import { findTables } from '../backup/tables.ts'

// A database whose tables refuse changes, to whichever process and part of it.

const NAME = '_refuse_changes'
const trigger = pg.escapeIdentifier(NAME)
const routine = `"public".${trigger}`

const LOCK_NOT_AVAILABLE = '55P03'
/**
 * Whoever changes a table waits behind the one that waits for it, for no longer than `lockMs`. Transactions end after a minute, statements
 * of the background after ten.
 */
const changesEnd = { lockMs: 3_000, retryMs: 200, waitMsMax: 600_000 }

/**
 * Makes every table refuse changes with `message`, and returns when no transaction is left that could commit one. Reads go on. A
 * table after the other, so that it never holds one while it waits for the next: a transaction that has changed one table and
 * comes to another one that refuses ends as a whole. Repeatable, and safe to interrupt. `onWait` gets the name of a table
 * that another session holds. Throws `StartupError` when one is held for ten minutes.
 */
export async function freeze(database: Query, message: string, onWait: (table: string) => void): Promise<void> {
  await refuseWith(database, message)
  for (const { name } of await findTables(database)) {
    const sql = `CREATE OR REPLACE TRIGGER ${trigger} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${qualified(name)}
      FOR EACH STATEMENT EXECUTE FUNCTION ${routine}()`
    const isDone = await withLock(database, sql, { patience: changesEnd, onWait: () => onWait(name) })
    if (isDone) continue
    throw new StartupError(
      `Another session has held the table ${name} for ten minutes. End that session and run the command again`,
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

/**
 * Removes what `freeze` has made, behind `thaw`. Who reads a table meanwhile is held up for a moment alone; where somebody reads it for
 * longer than a minute, the trigger stays, which does no harm.
 */
export async function removeTriggers(database: Query): Promise<void> {
  const frozen = await database.query<{ name: string }>(
    'SELECT tgrelid::regclass::text AS "name" FROM pg_trigger WHERE tgname = $1',
    [NAME],
  )
  const patience = { lockMs: 100, retryMs: 1_000, waitMsMax: 60_000 }
  let isClear = true
  for (const { name } of frozen) {
    const sql = `DROP TRIGGER IF EXISTS ${trigger} ON ${name}`
    isClear = (await withLock(database, sql, { patience })) && isClear
  }
  if (isClear) await database.query(`DROP FUNCTION IF EXISTS ${routine}()`)
}

interface Waiting {
  readonly patience: typeof changesEnd
  readonly onWait?: () => void
}

/** Runs a statement that needs a lock on a table, in a transaction of its own, until it gets it. Returns false when it does not. */
async function withLock({ query }: Query, sql: string, { patience, onWait }: Waiting): Promise<boolean> {
  const { lockMs, retryMs, waitMsMax } = patience
  const deadlineMs = performance.now() + waitMsMax
  for (let attempt = 1; ; attempt++) {
    try {
      // One text is one transaction.
      await query(`SET LOCAL lock_timeout = ${lockMs}; ${sql}`)
      return true
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error
      if (performance.now() > deadlineMs) return false
      if (attempt === 1) onWait?.()
      await delay(retryMs)
    }
  }
}
