import { type Connection, hasOwnSession, withConnection } from '../../foundation/database/connection.ts'
import { isAtMost, type Migration, oldestIn, slicedMigrations } from '../../foundation/database/migration.ts'
import { asStartupError, findMissing } from '../../foundation/database/migrations.ts'
import { runningVersions } from '../../foundation/database/process-lock.ts'
import { queryOf } from '../../foundation/database/query.ts'
import { progressOf, REWRITTEN_A_SECOND } from '../../foundation/database/slices.ts'
import { REST } from './upgrades.ts'

/** Rows of a second, by a processor of a small machine. */
const INDEXED_A_SECOND = 300_000

/**
 * Finds what the next start of this version would do to the database, or a server after it, with the time and the room on the disk that each
 * step takes; and the versions of the servers that run there, and of those to be stopped before. Changes nothing. Throws `StartupError`
 * where it would refuse to start.
 */
export function planUpgrade(url: string) {
  return withConnection(url, async (client) => {
    const running = [...new Set(await runningVersions({ query: queryOf(client) }))]
    const missing = await findMissing(client)
    const steps: string[] = []
    for (const migration of missing) steps.push(`${migration.name}: ${await stepOf(client, migration)}`)
    for (const migration of slicedMigrations()) steps.push(...(await slicesOf(client, migration, missing)))
    const toStop = running.filter((version) => missing.some(({ oldest }) => !isAtMost(oldest, version)))
    return { steps, running, toStop }
  }).catch((error) => {
    throw asStartupError(error, url)
  })
}

async function stepOf(client: Connection, { index, sql }: Migration): Promise<string> {
  if (index !== null) {
    const { rows, indexBytes } = await sizeOf(client, index.table)
    const meanwhile = (await hasOwnSession(client))
      ? ' while the table is read and written'
      : '; without DATABASE_DIRECT_URL, writes to the table wait as long'
    return `builds an index of ${rowsOf(rows, index.table)}${meanwhile}: ${costOf(rows / INDEXED_A_SECOND, indexBytes)}`
  }
  if (oldestIn(sql) !== null) return 'at once; nobody waits longer than 0.4 s'
  return 'no server of the version before may run; it takes up to two minutes for a million orders'
}

/** The rows of a migration that are still to be rewritten; each leaves its former version on the disk until that is vacuumed. */
async function slicesOf(client: Connection, migration: Migration, missing: readonly Migration[]): Promise<string[]> {
  const { name, slices } = migration
  const table = slices?.table ?? ''
  const isNew = missing.some((each) => each.name === name)
  const { rows, bytes } = await sizeOf(client, table)
  const done = isNew ? { rows: 0, isDone: false } : await progressOf({ query: queryOf(client) }, migration)
  if (done.isDone) return []
  const left = Math.max(0, rows - done.rows)
  const cost = costOf(((1 + REST) * left) / REWRITTEN_A_SECOND, bytes)
  return [`${name}: rewrites ${rowsOf(left, table)} after the start, while the store is open: ${cost}`]
}

function rowsOf(rows: number, table: string): string {
  return `about ${Math.round(rows).toLocaleString('en')} rows of ${table}`
}

function costOf(seconds: number, bytes: number): string {
  const time = seconds < 60 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
  return `some ${time}, and ${Math.ceil(bytes / 1024 ** 2).toLocaleString('en')} MB on the disk`
}

/** `indexBytes`: of one of its indexes, on the average. */
async function sizeOf(client: Connection, table: string): Promise<{ rows: number; bytes: number; indexBytes: number }> {
  const { rows } = await client.query<{ rows: number; bytes: number; indexBytes: number }>(
    `SELECT greatest("reltuples", 0)::float8 AS "rows", pg_table_size(c.oid)::float8 AS "bytes",
       (pg_indexes_size(c.oid) / greatest((SELECT count(*) FROM pg_index WHERE "indrelid" = c.oid), 1))::float8 AS "indexBytes"
     FROM pg_class c WHERE c.oid = to_regclass($1)`,
    [`"public"."${table}"`],
  )
  return rows[0] ?? { rows: 0, bytes: 0, indexBytes: 0 }
}
