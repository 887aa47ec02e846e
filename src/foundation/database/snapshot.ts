import type { Readable } from 'node:stream'
import { to as copyTo } from 'pg-copy-streams'
import { CONNECT_TIMEOUT_MS, Connection } from './connection.ts'
import { asStartupError, refuseOtherSchema } from './migrations.ts'
import { type Query, queryOf } from './query.ts'

/** The database at one moment. */
export interface Snapshot extends Query {
  /** Runs `COPY … TO STDOUT` and gives what it writes. */
  readonly copy: (sql: string) => Readable
  readonly close: () => Promise<void>
}

/**
 * Opens a read-only transaction in which all statements see the same state. Throws `StartupError` when the database cannot be
 * reached or has another version of the schema.
 */
export async function openSnapshot(url: string): Promise<Snapshot> {
  const client = new Connection({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true })
  try {
    await client.connect()
    // A check may take an hour; only waiting for a table, or being stopped, must not hold up PostgreSQL's own work.
    await client.query(`BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
      SET LOCAL DateStyle = 'ISO'; SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '10min'`)
    await refuseOtherSchema(client)
  } catch (error) {
    await client.end().catch(() => {})
    throw asStartupError(error, url)
  }
  return {
    query: queryOf(client),
    // A stream that its reader has given up still hears of the end of the connection.
    copy: (sql) => client.query(copyTo(sql)).on('error', () => {}),
    close: () => client.end(),
  }
}
