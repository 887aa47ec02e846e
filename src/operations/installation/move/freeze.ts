import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { isLockTimeout, READ_ONLY } from '../../../foundation/database/outage.ts'
import { type Query, qualified } from '../../../foundation/database/query.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import { findTables } from '../backup/tables.ts'

// A trigger of every table calls one function, which refuses changes, whichever process makes them.

const trigger = '"_refuse_changes"'
const routine = `"public".${trigger}`

/** Those who use a table wait behind a statement that waits for it, for no longer than this. */
const LOCK_MS = 3_000
const THAW_LOCK_MS = 300
const RETRY_MS = 200
/** Ten minutes: transactions end after one, statements of the background after ten. */
const ATTEMPTS_MAX = 190

/** Makes the function, with the message of a refusal. Null: it refuses nothing, also where tables have the trigger. */
export async function setRefusal({ query }: Query, message: string | null): Promise<void> {
  const raise = `RAISE EXCEPTION USING ERRCODE = '${READ_ONLY}', MESSAGE = ${pg.escapeLiteral(message ?? '')}`
  const body = pg.escapeLiteral(`BEGIN ${message === null ? 'RETURN NULL' : raise}; END`)
  await query(`CREATE OR REPLACE FUNCTION ${routine}() RETURNS trigger LANGUAGE plpgsql AS ${body}`)
}

/** Removes function and triggers. Waits for everybody who uses a table. */
export const dropTriggers = `DROP FUNCTION IF EXISTS ${routine}() CASCADE`

/**
 * Gives every table the trigger, behind `setRefusal`, and returns when no transaction is left that could commit a change. Reads go
 * on. Takes one table after the other and holds none while it waits for the next: a transaction that has changed one table and meets
 * a frozen one ends as a whole. Repeatable, and safe to interrupt. `onWait` gets the name of a table that another session holds.
 * Throws `StartupError` when that takes ten minutes.
 */
export async function freeze({ query }: Query, onWait: (table: string) => void): Promise<void> {
  for (const { name } of await findTables({ query })) {
    // One text is one transaction.
    const sql = `SET LOCAL lock_timeout = ${LOCK_MS};
      CREATE OR REPLACE TRIGGER ${trigger} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${qualified(name)}
      FOR EACH STATEMENT EXECUTE FUNCTION ${routine}()`
    for (let attempt = 1; !(await isDone(query(sql))); attempt++) {
      if (attempt === 1) onWait(name)
      if (attempt === ATTEMPTS_MAX) {
        throw new StartupError(
          `Another session has held the table ${name} for ten minutes. End that session and run the command again`,
        )
      }
      await delay(RETRY_MS)
    }
  }
}

/**
 * Lets all tables take changes again when the transaction ends. Where readers hold a table, the triggers stay and do nothing, so that
 * others need not wait behind this.
 */
export async function thaw({ query }: Query): Promise<void> {
  await setRefusal({ query }, null)
  await query(`SAVEPOINT "triggers"; SET LOCAL lock_timeout = ${THAW_LOCK_MS}`)
  if (!(await isDone(query(dropTriggers)))) await query('ROLLBACK TO "triggers"')
}

/** Whether a statement got its lock in time. */
function isDone(statement: Promise<unknown>): Promise<boolean> {
  return statement.then(
    () => true,
    (error) => {
      if (isLockTimeout(error)) return false
      throw error
    },
  )
}
