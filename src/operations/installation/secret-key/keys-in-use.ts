import { setTimeout as delay } from 'node:timers/promises'
import { locks } from '../../../foundation/database/advisory-locks.ts'
import type { Connection } from '../../../foundation/database/connection.ts'
import { type Query, queryOf } from '../../../foundation/database/query.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'

// Which secret keys the processes on this database have, told by advisory locks of their listening connections, so that
// PostgreSQL forgets a process when it ends.

/** A process that was killed may take a moment to disappear. */
const WAIT_MS = 10_000
const LOOK_EVERY_MS = 250

type Keys = Pick<Secrets, 'keyId' | 'keyIds'>

/** What runs on the database: numbers of keys (`numberOf`). */
interface RunningProcess {
  readonly writes: number
  readonly reads: readonly number[]
}

/** 31 bits of the name. */
export function numberOf(keyId: string): number {
  return Number.parseInt(keyId, 16) & 0x7fff_ffff
}

/** Tells the others, as long as the connection lives. Not through a pooler, whose sessions outlive the process. */
export async function announceKeys(client: Connection, { keyId, keyIds }: Keys): Promise<void> {
  const own = [[locks.writtenKey, keyId] as const, ...keyIds.map((id) => [locks.readableKey, id] as const)]
  for (const [kind, id] of own) {
    await client.query(
      'SELECT CASE WHEN pg_backend_pid() = $3 THEN pg_try_advisory_lock_shared($1::int, $2::int) END',
      [kind, numberOf(id), client.processId],
    )
  }
}

/** Returns the processes that have announced their keys, without the one of this connection. */
export function otherProcesses({ query }: Query): Promise<RunningProcess[]> {
  return query<RunningProcess>(
    `SELECT max("objid"::bigint) FILTER (WHERE "classid" = $1::oid)::int AS "writes",
       array_agg("objid"::bigint::int) FILTER (WHERE "classid" = $2::oid) AS "reads"
     FROM pg_locks
     WHERE "locktype" = 'advisory' AND "granted" AND "objsubid" = 2 AND "classid" IN ($1::oid, $2::oid) AND "pid" <> pg_backend_pid()
       AND "database" = (SELECT "oid" FROM pg_database WHERE "datname" = current_database())
     GROUP BY "pid" HAVING count(*) FILTER (WHERE "classid" = $1::oid) > 0 AND count(*) FILTER (WHERE "classid" = $2::oid) > 0`,
    [locks.writtenKey, locks.readableKey],
  )
}

/**
 * Announces the keys of a process that starts. Throws `StartupError` while another process could not read what this one
 * writes, or the other way round: callers of either would be refused. Of two that start at once, at least one notices.
 */
export async function joinProcesses(client: Connection, keys: Keys, waitMs = WAIT_MS): Promise<void> {
  await announceKeys(client, keys)
  const own = { writes: numberOf(keys.keyId), reads: keys.keyIds.map(numberOf) }
  const database = { query: queryOf(client) }
  const isReadable = (others: RunningProcess[]) =>
    others.every(({ writes, reads }) => own.reads.includes(writes) && reads.includes(own.writes))
  for (let waitedMs = 0; !isReadable(await otherProcesses(database)); waitedMs += LOOK_EVERY_MS) {
    if (waitedMs >= waitMs) throw new StartupError(unreadable)
    await delay(LOOK_EVERY_MS)
  }
}

const unreadable =
  'Another process runs on this database that does not know this SECRET_KEY, or stores under one that this process does not know. Give every process the new key as SECRET_KEY_NEXT first, beside the SECRET_KEY that they have (docs/operations.md, Another SECRET_KEY)'
