import { withConnection } from '../../../foundation/database/connection.ts'
import { asStartupError, migrate } from '../../../foundation/database/migrations.ts'
import type { Query } from '../../../foundation/database/query.ts'
import type { Files } from '../../../foundation/files/files.ts'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { type FillOptions, fillDatabase } from './fill.ts'
import { refuseOther } from './header.ts'
import { refuseOtherKey } from './key.ts'
import { storeFiles } from './picture-files.ts'
import type { Backup } from './read.ts'
import { bringErasures, takeErasures } from './replay.ts'
import type { SectionReader } from './rows.ts'

interface RestoreOptions extends Pick<FillOptions, 'onRows' | 'onStored'> {
  readonly secrets: Secrets
  /** Where the pictures are to lie. */
  readonly files: Files
  /** Lines of the file of erasures. Those that the backup does not know wait to be made again. */
  readonly erased: ReadonlySet<string>
}

/**
 * Restores a backup of this version or an older one into a database without records, in one transaction: it succeeds whole, or leaves an
 * empty database that it can be repeated on. Then it applies the migrations that the backup lacks, as a start would. A server that
 * starts meanwhile waits for it. Throws `StartupError` when the database is not empty or newer than the backup, or a server runs on it.
 */
export async function restoreBackup(url: string, backup: Backup, options: RestoreOptions): Promise<void> {
  const { header, file, content } = backup
  const { secrets, files, erased, onRows, onStored } = options
  refuseOther(header, secrets, file)
  await migrate(url, undefined, header.migrations.at(-1))
  const readFurther = (reader: SectionReader) => storeFiles(reader, files)
  const contents = { ...header, name: file, rows: content, ...(header.formatVersion > 1 && { readFurther }) }
  const finish: FillOptions['finish'] = async (database, counts) => {
    refuseOtherCounts(backup, counts)
    await refuseOtherKey(database, secrets)
    await bringErasures(database, erased)
  }
  const prepare: FillOptions['prepare'] = (database) => refuseNewer(database, backup)
  const filling = { onRows, onStored, prepare, finish }
  await withConnection(url, (client) => fillDatabase(client, contents, filling)).catch((error) => {
    throw asStartupError(error, url)
  })
  await migrate(url)
  await takeErasures(url)
}

function refuseOtherCounts({ header, rows, file }: Backup, counts: readonly number[]): void {
  const wrong = header.tables.findIndex((_, index) => counts[index] !== rows[index])
  if (wrong < 0) return
  throw new StartupError(
    `${file} has ${counts[wrong]} rows of ${header.tables[wrong]?.name} and should have ${rows[wrong]}. Take another backup`,
  )
}

async function refuseNewer({ query }: Query, { header, file }: Backup): Promise<void> {
  const applied = await query<{ name: string }>('SELECT "migration_name" AS "name" FROM "_prisma_migrations"')
  const newer = applied.find(({ name }) => !header.migrations.includes(name))
  if (newer === undefined) return
  throw new StartupError(
    `The database has migration ${newer.name}, which ${file} lacks: a newer version has started on it. Name a database without tables, or another folder as DATA_DIR`,
  )
}
