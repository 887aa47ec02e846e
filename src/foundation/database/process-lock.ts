import { randomInt } from 'node:crypto'
import { INT32_MAX } from '../values/int32.ts'
import { locks } from './advisory-locks.ts'
import type { Connection } from './connection.ts'
import type { Query } from './query.ts'

let held: number | null = null

/**
 * The number under which this process holds an advisory lock, as long as it lives and its listening connection is open.
 * Another process that can take the lock knows that this one has lost both. Null: no lock at the moment.
 */
export function processNumber(): number | null {
  return held
}

/**
 * Takes the lock on a connection that the process keeps, under a new number each time. Takes none through a pooler such
 * as PgBouncer, because the session that would hold it is not the process's own and outlives it.
 */
export async function lockProcess(client: Connection): Promise<void> {
  const number = randomInt(1, INT32_MAX)
  // A pooler makes up the process id of its connections.
  const { rows } = await client.query(
    'SELECT CASE WHEN pg_backend_pid() = $3 THEN pg_try_advisory_lock($1, $2) ELSE false END AS "locked"',
    [locks.process, number, client.processId],
  )
  held = rows[0].locked ? number : null
}

/** Notes that PostgreSQL has released the lock, because the connection was lost. */
export function noteLostLock(): void {
  held = null
}

/** Of servers from before their connections had names. */
const UNNAMED = '0.2.0'

/** The versions of the servers that run on the database: each that is not behind a pooler alone holds such a lock. */
export async function runningVersions({ query }: Query): Promise<readonly string[]> {
  const servers = await query<{ version: string | null }>(
    `SELECT substring("application_name" FROM '^store-platform (.+)$') AS "version"
     FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND objsubid = 2 AND classid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [locks.process],
  )
  return servers.map(({ version }) => version ?? UNNAMED)
}
