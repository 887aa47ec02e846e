import { withConnection } from '../../database/connection.ts'
import { asStartupError, migrate } from '../../database/migrations.ts'
import { StartupError } from '../../process/startup-error.ts'
import type { Secrets } from '../../values/secrets.ts'
import { type FillOptions, fillDatabase } from './fill.ts'
import { refuseOther } from './header.ts'
import { refuseOtherKey } from './key.ts'
import type { Backup } from './read.ts'

interface RestoreOptions extends Pick<FillOptions, 'onRows' | 'onStored'> {
  readonly secrets: Secrets
}

/**
 * Restores a backup into a database without records, in one transaction: it succeeds whole, or leaves an empty database that it can be
 * repeated on. A server that starts meanwhile waits for it. Throws `StartupError` when the database is not empty, or a server
 * runs on it.
 */
export async function restoreBackup(url: string, backup: Backup, options: RestoreOptions): Promise<void> {
  const { header, file, content } = backup
  const { secrets, onRows, onStored } = options
  refuseOther(header, secrets, file)
  await migrate(url)
  const contents = { ...header, name: file, rows: content }
  const finish: FillOptions['finish'] = async (database, counts) => {
    refuseOtherCounts(backup, counts)
    await refuseOtherKey(database, secrets)
  }
  await withConnection(url, (client) => fillDatabase(client, contents, { onRows, onStored, finish })).catch((error) => {
    throw asStartupError(error, url)
  })
}

function refuseOtherCounts({ header, rows, file }: Backup, counts: readonly number[]): void {
  const wrong = header.tables.findIndex((_, index) => counts[index] !== rows[index])
  if (wrong < 0) return
  throw new StartupError(
    `${file} has ${counts[wrong]} rows of ${header.tables[wrong]?.name} and should have ${rows[wrong]}. Take another backup`,
  )
}
