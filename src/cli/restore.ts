import { parseArgs } from 'node:util'
import { openFiles } from '../foundation/files/files.ts'
import { findSecretKeys } from '../foundation/process/data-folder.ts'
import { readConfig } from '../foundation/process/settings.ts'
import { StartupError } from '../foundation/process/startup-error.ts'
import { createSecrets } from '../foundation/values/secrets.ts'
import { refuseOther } from '../operations/installation/backup/header.ts'
import { openBackup } from '../operations/installation/backup/read.ts'
import { restoreBackup } from '../operations/installation/backup/restore.ts'
import { openDatabase } from './database.ts'
import { printChecks, SHOWN_DEFAULT } from './print-checks.ts'
import { createProgress } from './progress.ts'
import { runProgram } from './run-program.ts'

const usage = 'Usage: npm run restore -- FILE'

/** Exit codes: 0, all is restored and well; 1, all is restored, and the check found something; 2, nothing was restored. */
await runProgram(usage, main, 2)

/** Restores a backup into the empty database of the settings, which is made where the settings name none, and checks it. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { positionals } = parseArgs({ args, allowPositionals: true })
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new StartupError(usage)
  const config = readConfig(environment)
  const backup = await openBackup(file)
  const { secretKey, otherSecretKeys } = await findSecretKeys(config)
  const secrets = createSecrets(secretKey, otherSecretKeys)
  // Before a database is made for nothing.
  refuseOther(backup.header, secrets, file)
  await using database = await openDatabase(config, { isMade: true })
  const total = backup.rows.reduce((sum, rows) => sum + rows, 0)
  const progress = createProgress({ label: 'Rows', total })
  await restoreBackup(database.url, backup, {
    secrets,
    files: openFiles(config),
    onRows: progress.advanceTo,
    onStored: () => {
      progress.done()
      process.stderr.write('Checking the references …\n')
    },
  })
  process.stdout.write(
    `${file}: ${total} rows of ${backup.header.tables.length} tables, as of ${backup.header.createdAt}\n`,
  )
  return await printChecks(database.url, SHOWN_DEFAULT)
}
