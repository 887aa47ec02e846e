import { type Connection, withConnection } from '../../foundation/database/connection.ts'
import { isAtMost, type Migration, oldestIn, slicedMigrations } from '../../foundation/database/migration.ts'
import { asStartupError, findMissing, hasOwnSession } from '../../foundation/database/migrations.ts'
import { runningVersions } from '../../foundation/database/process-lock.ts'
import { queryOf } from '../../foundation/database/query.ts'
import { progressOf } from '../../foundation/database/slices.ts'

/** Rows of a second, by a processor of a small machine: an index that is built, and slices that rest between. */
const INDEXED_A_SECOND = 300_000
const REWRITTEN_A_SECOND = 5_000

/** What the next start does, or a server after it. */
export interface UpgradeStep {
  readonly migration: string
  /** `alone`: servers of the version before must be stopped. `rows`: servers do it after the start. */
  readonly kind: 'statements' | 'alone' | 'index' | 'plain index' | 'rows'
  /** Whose rows are read or rewritten, and about how many; null: of no filled table, or nobody knows. */
  readonly table: { readonly name: string; readonly rows: number } | null
  readonly seconds: number | null
  /** Room that it takes on the disk, about. */
  readonly bytes: number
}

export interface UpgradePlan {
  readonly steps: readonly UpgradeStep[]
  /** The versions of the servers that run on the database, and have to be stopped before the start. */
  readonly running: readonly string[]
  readonly toStop: readonly string[]
}

/** Finds what the next start of this version would do to the database. Changes nothing. Throws `StartupError` where it would refuse to start. */
export function planUpgrade(url: string): Promise<UpgradePlan> {
  return withConnection(url, async (client) => {
    const database = { query: queryOf(client) }
    const running = await runningVersions(database)
    const missing = await findMissing(client)
    const isDirect = await hasOwnSession(client)
    const steps: UpgradeStep[] = []
    for (const migration of missing) steps.push(await stepOf(client, migration, isDirect))
    for (const migration of slicedMigrations()) steps.push(...(await slicesOf(client, migration, missing)))
    const toStop = running.filter((version) => missing.some(({ oldest }) => !isAtMost(oldest, version)))
    return { steps, running, toStop: [...new Set(toStop)] }
  }).catch((error) => {
    throw asStartupError(error, url)
  })
}

async function stepOf(client: Connection, migration: Migration, isDirect: boolean): Promise<UpgradeStep> {
  const { name, index, sql } = migration
  if (index !== null) {
    const { rows, indexBytes } = await sizeOf(client, index.table)
    const kind = isDirect ? 'index' : 'plain index'
    const table = { name: index.table, rows }
    return { migration: name, kind, table, seconds: rows / INDEXED_A_SECOND, bytes: indexBytes }
  }
  const kind = oldestIn(sql) === null ? 'alone' : 'statements'
  return { migration: name, kind, table: null, seconds: kind === 'statements' ? 0 : null, bytes: 0 }
}

/** The rows of a migration that are still to be rewritten; each leaves its former version on the disk until that is vacuumed. */
async function slicesOf(
  client: Connection,
  migration: Migration,
  missing: readonly Migration[],
): Promise<UpgradeStep[]> {
  const isNew = missing.some(({ name }) => name === migration.name)
  const { rows, bytes } = await sizeOf(client, migration.slices?.table ?? '')
  const done = isNew ? { rows: 0, isDone: false } : await progressOf({ query: queryOf(client) }, migration)
  if (done.isDone) return []
  const table = { name: migration.slices?.table ?? '', rows: Math.max(0, rows - done.rows) }
  return [{ migration: migration.name, kind: 'rows', table, seconds: table.rows / REWRITTEN_A_SECOND, bytes }]
}

interface Size {
  readonly rows: number
  readonly bytes: number
  /** Of one of its indexes, on the average. */
  readonly indexBytes: number
}

async function sizeOf(client: Connection, table: string): Promise<Size> {
  const { rows } = await client.query<Size>(
    `SELECT greatest("reltuples", 0)::float8 AS "rows", pg_table_size(c.oid)::float8 AS "bytes",
       (pg_indexes_size(c.oid) / greatest((SELECT count(*) FROM pg_index WHERE "indrelid" = c.oid), 1))::float8 AS "indexBytes"
     FROM pg_class c WHERE c.oid = to_regclass($1)`,
    [`"public"."${table}"`],
  )
  return rows[0] ?? { rows: 0, bytes: 0, indexBytes: 0 }
}
