import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { locks } from '../../foundation/database/advisory-locks.ts'
import type { Db } from '../../foundation/database/client.ts'
import { withConnection } from '../../foundation/database/connection.ts'
import { identifier, sql } from '../../foundation/database/sql.ts'
import { type ArchivedTable, rested, type Sweep } from '../../foundation/database/sweeper.ts'
import { writeWholeFile } from '../../foundation/process/whole-file.ts'

// Rows that go into files before they are deleted (docs/decisions/retention.md).

/** Rows that one statement reads or deletes. */
const BATCH_MAX = 1_000
/** Rows of a file. */
const FILE_ROWS_MAX = 100_000
/** Files of a table that one run writes, so that other sweeps have their turn. */
const FILES_MAX = 20
const DAY_MS = 86_400_000

export interface ArchiveServices {
  readonly url: string
  readonly db: Db
  readonly now: () => Date
  readonly log: { info(details: object, message: string): void }
  /** The folder of the files. */
  readonly dir: string
}

/**
 * Archives rows that are older than so many days, and deletes those that are in a whole file on the disk; null: none. One process at
 * a time does so. A row is in two files, equal in both, where a process ended between the file and the deletion.
 */
export function archivedSweep(services: ArchiveServices, days: number | null, table: ArchivedTable): Sweep {
  return async (isStopping) => {
    if (days === null) return
    const before = new Date(services.now().getTime() - days * DAY_MS)
    await ifAlone(services.url, async () => {
      await removeParts(services.dir, table)
      for (let files = 0; files < FILES_MAX && !isStopping(); files++) {
        const batches = await archiveFile(services, table, before, isStopping)
        for (const ids of batches) if (!isStopping()) await rested(() => table.remove(services.db, ids))
        if (batches.length === 0) return
      }
    })
  }
}

/**
 * Runs `work` on the files unless another process does, and returns whether it ran. The lock ends with the connection. Where that is lost
 * during the work, two processes may archive the same rows; each deletes only what is in its own files.
 */
export function ifAlone(url: string, work: () => Promise<void>): Promise<boolean> {
  return withConnection(url, async (client) => {
    await client.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0')
    const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1, 0) AS "isOurs"', [locks.archive])
    if (rows[0].isOurs) await work()
    return rows[0].isOurs
  })
}

/** Deletes what a killed process left. */
async function removeParts(dir: string, { table }: ArchivedTable): Promise<void> {
  const isPart = new RegExp(`^${table}-\\d{8}T\\d{6}Z-\\d+\\.ndjson\\.gz\\.part$`)
  for (const name of await readdir(dir)) if (isPart.test(name)) await rm(join(dir, name), { force: true })
}

/** Returns the ids of the rows that are in the file, in batches; none: no row is old, or the process stops. */
async function archiveFile(
  { db, now, log, dir }: ArchiveServices,
  table: ArchivedTable,
  before: Date,
  isStopping: () => boolean,
): Promise<number[][]> {
  const first = await readBatch(db, table, before, 0)
  const [oldest] = first
  if (oldest === undefined) return []
  const batches: number[][] = []
  async function* lines() {
    for (let rows = first; rows.length > 0; ) {
      const ids = rows.map(({ id }) => id)
      batches.push(ids)
      yield rows.map(({ line }) => `${line}\n`).join('')
      if (batches.length * BATCH_MAX >= FILE_ROWS_MAX) return
      if (isStopping()) throw new Error('The server is stopping')
      rows = await rested(() => readBatch(db, table, before, ids.at(-1) ?? 0))
    }
  }
  const time = now()
    .toISOString()
    .replace(/[-:]|\.\d+/g, '')
  const path = join(dir, `${table.table}-${time}-${oldest.id}.ndjson.gz`)
  try {
    await writeWholeFile(path, (target) => pipeline(Readable.from(lines()), createGzip(), target))
  } catch (error) {
    if (isStopping()) return []
    throw error
  }
  log.info({ file: path, rows: batches.reduce((sum, ids) => sum + ids.length, 0) }, 'old rows were archived')
  return batches
}

/** The old ones of the next rows by id; none of them is old: the end. */
function readBatch(db: Db, { table, time, archived }: ArchivedTable, before: Date, after: number) {
  return db.$queryRaw<{ id: number; line: string }[]>(sql`
    SELECT t."id"::float8 AS "id", row_to_json(t)::text AS "line" FROM (
      SELECT * FROM ${identifier(table)} WHERE "id" > ${after}::bigint AND ${archived} ORDER BY "id" LIMIT ${BATCH_MAX}::int) t
    WHERE t.${identifier(time)} < ${before} ORDER BY t."id"`)
}
