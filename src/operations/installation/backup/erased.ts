import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { locks } from '../../../foundation/database/advisory-locks.ts'
import { withConnection } from '../../../foundation/database/connection.ts'
import { createLoop, type LoopOptions } from '../../../foundation/process/loop.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import { writeWholeFile } from '../../../foundation/process/whole-file.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { keyNames } from './files.ts'

// The file of those who were erased, beside the backups: a line of JSON for each erasure, with the numbers of the records, by service.

const isErasure = (line: string) => /^\{"at": "[^"]+"[^{}]*\}$/.test(line)

/** Where the file of an installation is in a folder; under the key that is current, and under former ones that are still read. */
export function erasedFiles(folder: string, secrets: Secrets): [string, ...string[]] {
  return keyNames(secrets).map((name) => join(folder, `store-platform-${name}.erased`)) as [string, ...string[]]
}

/** The lines of those of the files that exist; null: none does. Throws `StartupError` for what is no such file. */
export async function readErased(paths: readonly string[]): Promise<ReadonlySet<string> | null> {
  const read = (path: string) =>
    readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw new StartupError(`${path} cannot be read (${error.code ?? error.message})`)
    })
  const lines = new Set<string>()
  let isThere = false
  for (const path of paths) {
    const text = await read(path)
    isThere ||= text !== null
    for (const line of text?.split('\n').filter((each) => each !== '') ?? []) {
      if (!isErasure(line))
        throw new StartupError(`${path} is no file of erasures, or damaged: take another copy of it`)
      lines.add(line)
    }
  }
  return isThere ? lines : null
}

const erasedLines = `
  SELECT (jsonb_build_object('store', e."storeId", 'at', e."createdAt", 'customer', e."customerId")
    || jsonb_object_agg(r."service", r."ids"))::text AS "line"
  FROM "Erasure" e JOIN (
    SELECT "storeId", "erasureId", "service", jsonb_agg("recordId" ORDER BY "recordId") AS "ids"
    FROM "ErasedRecord" GROUP BY "storeId", "erasureId", "service") r ON r."storeId" = e."storeId" AND r."erasureId" = e."id"
  GROUP BY e."storeId", e."id" ORDER BY e."createdAt", e."storeId", e."id"`

/**
 * Writes the file into a folder: what stands in it already, because a restored database may not know of it, and the erasures of the
 * database. One process at a time. Throws what keeps it from being written; it is as it was then.
 */
export async function writeErased(folder: string, secrets: Secrets, url: string): Promise<void> {
  await withConnection(url, async (client) => {
    await client.query(`BEGIN; SET LOCAL TimeZone = 'UTC'; SELECT pg_advisory_xact_lock(${locks.erasedIds}, 0)`)
    const { rows } = await client.query<{ line: string }>(erasedLines)
    const [path, ...former] = erasedFiles(folder, secrets)
    const written = await readErased([path])
    const lines = new Set([...((await readErased([path, ...former])) ?? []), ...rows.map((row) => row.line)])
    if (written?.size === lines.size) return
    await writeWholeFile(path, async (target) => target.end([...lines].map((each) => `${each}\n`).join('')))
  })
}

/** After a failure, and for what another process could not tell of. */
const EVERY_MS = 600_000

/** Keeps the file in BACKUP_DIR up to date; `wake` says that somebody was erased. Without that folder it does nothing. */
export function createErasedIds(
  { url, secrets, log }: { readonly url: string; readonly secrets: Secrets; readonly log: LoopOptions['log'] },
  { backupDir }: { readonly backupDir: string | null },
) {
  const write = async () => {
    if (backupDir !== null) await writeErased(backupDir, secrets, url)
  }
  const complaint = 'the file of erasures could not be written to BACKUP_DIR'
  return createLoop(write, { log, complaint, everyMs: EVERY_MS })
}
