import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { openSnapshot } from '../foundation/database/snapshot.ts'
import { openFiles } from '../foundation/files/files.ts'
import { findSecretKeys } from '../foundation/process/data-folder.ts'
import { readConfig } from '../foundation/process/settings.ts'
import { StartupError } from '../foundation/process/startup-error.ts'
import { writeWholeFile } from '../foundation/process/whole-file.ts'
import { createSecrets } from '../foundation/values/secrets.ts'
import { writeErased } from '../operations/installation/backup/erased.ts'
import { noteBackup } from '../operations/installation/backup/made.ts'
import { writeBackup } from '../operations/installation/backup/write.ts'
import { openDatabase } from './database.ts'
import { createProgress } from './progress.ts'
import { runProgram } from './run-program.ts'

const usage = 'Usage: npm run backup -- FILE'

await runProgram(usage, main)

/** Backs up the database of the settings, whether the server runs or not. A file is there whole or not at all. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { positionals } = parseArgs({ args, allowPositionals: true })
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new StartupError(usage)
  const config = readConfig(environment)
  const { secretKey, otherSecretKeys } = await findSecretKeys(config)
  const secrets = createSecrets(secretKey, otherSecretKeys)
  await using database = await openDatabase(config)
  const createdAt = new Date()
  const startedMs = performance.now()
  const snapshot = await openSnapshot(database.url)
  const progress = createProgress({ label: 'Rows' })
  try {
    const { rows, tables } = await writeWholeFile(file, (target) =>
      writeBackup(snapshot, target, { secrets, createdAt, files: openFiles(config), onRows: progress.advanceTo }),
    )
    progress.done()
    const { size } = await stat(file)
    await writeErased(dirname(file), secrets, database.url)
    process.stdout.write(`${file}: ${rows} rows of ${tables} tables, ${size} bytes\n`)
    const seconds = (performance.now() - startedMs) / 1_000
    await noteBackup(database.url, { by: 'command', createdAt, bytes: size, seconds }).catch(sayUnnoted)
    return true
  } finally {
    await snapshot.close()
  }
}

/** The backup is whole all the same, for example of a standby, which takes no changes. */
function sayUnnoted({ message }: Error): void {
  process.stderr.write(`The backup could not be noted in the database, so that /metrics does not show it: ${message}\n`)
}
