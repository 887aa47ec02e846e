import { parseArgs } from 'node:util'
import { connect, type Db } from '../foundation/database/client.ts'
import { backgroundLimits } from '../foundation/database/limits.ts'
import { openSnapshot } from '../foundation/database/snapshot.ts'
import { forgetFormerKey, installationKeys, keysPath, renewSecretKey } from '../foundation/process/data-folder.ts'
import { type Config, readConfig } from '../foundation/process/settings.ts'
import { StartupError } from '../foundation/process/startup-error.ts'
import { say } from '../foundation/process/welcome.ts'
import { createSecrets, type Secrets } from '../foundation/values/secrets.ts'
import { checkSecretKey } from '../operations/installation/secret-key/check.ts'
import { numberOf, otherProcesses } from '../operations/installation/secret-key/keys-in-use.ts'
import { type Remaining, remainingUnderFormerKey } from '../operations/installation/secret-key/remaining.ts'
import {
  countFormer,
  putInForce,
  ROTATION_CONNECTIONS,
  sealAnew,
} from '../operations/installation/secret-key/rotate.ts'
import { storeDerivedSecrets } from '../operations/installation/secret-key/store-derived.ts'
import { openDatabase } from './database.ts'
import { createProgress } from './progress.ts'
import { runProgram } from './run-program.ts'

const noFormerKey =
  'There is no key to replace. Give the new key as SECRET_KEY, and the one until now as SECRET_KEY_PREVIOUS, to every process and to this command (docs/operations.md, Another SECRET_KEY)'

const usage = 'Usage: npm run rotate-secret-key   (docs/operations.md, Another SECRET_KEY)'

await runProgram(usage, main)

/** Takes over everything in the database to the new secret key, whether servers run or not. A killed run is run again. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  parseArgs({ args, options: {} })
  const config = readConfig(environment)
  const { dataDir } = config
  if (config.secretKey !== null && config.secretKeyPrevious === null) throw new StartupError(noFormerKey)
  await using database = await openDatabase(config)
  // Refuses a database that cannot be reached, or is of another version.
  await (await openSnapshot(database.url)).close()
  const isNew = config.secretKey === null && (await renewSecretKey(dataDir)).isNew
  if (isNew) say(`${keysPath(dataDir)} has a new secret key, and the former one beside it.`)
  const { keys } = await installationKeys(config)
  const secrets = createSecrets(keys.secretKey, keys.otherSecretKeys)
  const { databasePreparedStatements: isPreparing } = config
  const db = connect(database.url, { poolMax: ROTATION_CONNECTIONS, limits: backgroundLimits, isPreparing })
  try {
    await rotate(db, secrets, config)
  } finally {
    await db.$disconnect()
  }
  return true
}

async function rotate(db: Db, secrets: Secrets, config: Config): Promise<void> {
  const rotating = { db, secrets }
  await checkSecretKey(db, secrets)
  await requireNewKeyEverywhere(rotating, config)
  const now = () => new Date()
  const since = await putInForce(rotating, now())
  await storeDerivedSecrets({ ...rotating, now })
  const total = await countFormer(rotating)
  const progress = createProgress({ label: 'Secrets', total })
  await sealAnew(rotating, () => progress.advance(1), now)
  progress.done()
  say('Everything that is sealed is under the new key.')
  await report(await remainingUnderFormerKey(db, since, now()), config)
}

/** Otherwise a process could not read what is moved, or would go on storing under the former key. */
async function requireNewKeyEverywhere({ db, secrets }: { db: Db; secrets: Secrets }, config: Config): Promise<void> {
  const others = await otherProcesses({ query: (text, values = []) => db.$queryRawUnsafe(text, ...values) })
  const count = others.filter(({ writes }) => writes !== numberOf(secrets.keyId)).length
  if (count === 0) return
  const advice =
    config.secretKey === null
      ? 'Restart the server, which then stores under the new key'
      : 'Restart every process with the new key as SECRET_KEY and the former one as SECRET_KEY_PREVIOUS'
  const processes = count === 1 ? 'A running process still stores' : `${count} running processes still store`
  throw new StartupError(`${processes} under the former key. ${advice}, and run this command again`)
}

async function report(remaining: readonly Remaining[], { secretKey, dataDir, orderPageDays }: Config): Promise<void> {
  const isInFile = secretKey === null
  if (remaining.length === 0) {
    if (isInFile) await forgetFormerKey(dataDir)
    const end = isInFile
      ? `It has been taken out of ${keysPath(dataDir)}.`
      : 'Remove SECRET_KEY_PREVIOUS, and restart the processes one after the other.'
    const pages = orderPageDays > 0 ? ' but addresses of orders’ pages, which end with it' : ''
    return say(`Nothing is left under the former key${pages}. ${end}`)
  }
  say('Under the former key there still are:')
  for (const { what, count, until } of remaining) {
    say(
      `  ${count === null ? '' : `${count} `}${what}, ${until === null ? 'without an end' : `until ${until.toISOString()}`}`,
    )
  }
  const where = isInFile ? `previousSecretKey in ${keysPath(dataDir)}` : 'SECRET_KEY_PREVIOUS'
  const ends = remaining.map(({ until }) => until?.getTime() ?? Number.POSITIVE_INFINITY)
  const last = Math.max(...ends)
  if (Number.isFinite(last)) {
    return say(`${where} has to stay until ${new Date(last).toISOString()}. Then run this command again.`)
  }
  say(`${where} has to stay as long as access tokens are left. Each moves with its next use; those that nobody uses`)
  say('end when you remove the former key. Run this command again to see how many there are.')
}
