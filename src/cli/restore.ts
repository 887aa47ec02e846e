import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { connect } from '../foundation/database/client.ts'
import { backgroundLimits } from '../foundation/database/limits.ts'
import { openFiles } from '../foundation/files/files.ts'
import { findSecretKeys } from '../foundation/process/data-folder.ts'
import { type Config, readConfig } from '../foundation/process/settings.ts'
import { StartupError } from '../foundation/process/startup-error.ts'
import { createSecrets, type Secrets } from '../foundation/values/secrets.ts'
import { erasedFiles, readErased } from '../operations/installation/backup/erased.ts'
import { refuseOther } from '../operations/installation/backup/header.ts'
import { openBackup } from '../operations/installation/backup/read.ts'
import { restoreBackup } from '../operations/installation/backup/restore.ts'
import { eraseWaiting } from '../shop/erasure/waiting.ts'
import { openDatabase } from './database.ts'
import { printChecks, SHOWN_DEFAULT } from './print-checks.ts'
import { createProgress } from './progress.ts'
import { runProgram } from './run-program.ts'

const usage = `Usage: npm run restore -- FILE [--erased FILE | --erased none]
The persons that were erased since are erased again: by the files of erasures beside FILE and in BACKUP_DIR, and the one that is
named. none: where neither folder has one, because nobody was ever erased.
`

/** Exit codes: 0, all is restored and well; 1, all is restored, and the check found something; 2, nothing was restored. */
await runProgram(usage, main, 2)

/** Restores a backup into the empty database of the settings, which is made where the settings name none, and checks it. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { erased: { type: 'string' } } })
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new StartupError(usage)
  const config = readConfig(environment)
  const backup = await openBackup(file)
  const { secretKey, otherSecretKeys } = await findSecretKeys(config)
  const secrets = createSecrets(secretKey, otherSecretKeys)
  // Before a database is made for nothing.
  refuseOther(backup.header, secrets, file)
  const erased = await findErased(file, values.erased, config, secrets)
  await using database = await openDatabase(config, { isMade: true })
  const total = backup.rows.reduce((sum, rows) => sum + rows, 0)
  const progress = createProgress({ label: 'Rows', total })
  await restoreBackup(database.url, backup, {
    secrets,
    files: openFiles(config),
    erased,
    onRows: progress.advanceTo,
    onStored: () => {
      progress.done()
      process.stderr.write('Checking the references …\n')
    },
  })
  process.stdout.write(
    `${file}: ${total} rows of ${backup.header.tables.length} tables, as of ${backup.header.createdAt}\n`,
  )
  const again = await eraseAgain(database.url, config, secrets)
  process.stdout.write(`${again} ${again === 1 ? 'person' : 'persons'} erased again\n`)
  return await printChecks(database.url, SHOWN_DEFAULT)
}

/** What the files of erasures have, beside the backup, in BACKUP_DIR and where the operator says. Throws `StartupError` where there is none. */
async function findErased(file: string, given: string | undefined, { backupDir }: Config, secrets: Secrets) {
  const paths = [dirname(file), ...(backupDir === null ? [] : [backupDir])].flatMap((folder) =>
    erasedFiles(folder, secrets),
  )
  const found = await readErased(paths)
  const named = given === undefined || given === 'none' ? null : await readErased([given])
  if (named === null && given !== undefined && given !== 'none') throw new StartupError(`${given} does not exist`)
  if (found !== null || given !== undefined) return (found ?? new Set<string>()).union(named ?? new Set<string>())
  throw new StartupError(
    `Nothing says who was erased since ${file} was made: there is no ${paths.join(' and no ')}. Put the newest one there, or name it: --erased FILE. Where nobody was ever erased: --erased none`,
  )
}

/** Makes the erasures that wait for their turn. Returns how many. What a kill leaves, the server makes. */
async function eraseAgain(url: string, config: Config, secrets: Secrets): Promise<number> {
  const db = connect(url, { limits: backgroundLimits, isPreparing: config.databasePreparedStatements })
  const services = { db, secrets, config, files: openFiles(config), now: () => new Date() }
  try {
    const where = { erasedAt: null, records: { some: {} } }
    const waiting = await db.erasure.findMany({ where, select: { storeId: true, id: true }, orderBy: { id: 'asc' } })
    for (const erasure of waiting) await eraseWaiting(services, erasure)
    return waiting.length
  } finally {
    await db.$disconnect()
  }
}
