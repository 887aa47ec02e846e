import { parseArgs } from 'node:util'
import { type Embedded, startEmbedded, visitEmbedded } from '../foundation/embedded/embedded.ts'
import {
  findSecretKeys,
  installationKeys,
  movedSettingsPath,
  storeKeys,
  writeSettings,
} from '../foundation/process/data-folder.ts'
import { DATABASE_ADDRESS, isDatabaseAddress } from '../foundation/process/setting-forms.ts'
import { type Config, readConfig } from '../foundation/process/settings.ts'
import { StartupError } from '../foundation/process/startup-error.ts'
import { createSecrets } from '../foundation/values/secrets.ts'
import { cancelMove, move } from '../operations/installation/move/move.ts'
import { type Place, placeOf } from '../operations/installation/move/place.ts'
import { openPrompt } from './new-store/prompt.ts'
import { printChecks, SHOWN_DEFAULT } from './print-checks.ts'
import { createProgress } from './progress.ts'
import { runProgram } from './run-program.ts'

const usage = `Usage: npm run move                        moves the store of the settings into the database of TARGET_DATABASE_URL
       npm run move -- --to -              into the one whose address is asked for, or is the next line of standard input
       npm run move -- --to postgresql://… into that one; an address with a password goes the other ways
       npm run move -- --to embedded       from DATABASE_URL into DATA_DIR
       npm run move -- --cancel [--to …]   gives up a move that is not finished`

/** Exit codes: 0, moved, or given up; 1, moved, and the check found something; 2, not moved: the same command begins anew. */
await runProgram(usage, main, 2)

/** Moves the store of the settings to another database, whether a server runs or not. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const options = { to: { type: 'string' }, cancel: { type: 'boolean', default: false } } as const
  const { to: given, cancel } = parseArgs({ args, options }).values
  const config = readConfig(environment)
  const to = given === '-' ? await askAddress() : (given ?? config.targetDatabaseUrl)
  if (to === null && !cancel) throw new StartupError(usage)
  if (to !== null) refuseAddress(to, config)
  if (given !== undefined && hasPassword(given)) {
    throw new StartupError(
      '--to has a password, which others can read in the list of processes. Give the address as TARGET_DATABASE_URL, or as a line of standard input with --to -',
    )
  }
  await using source = await openSource(config)
  await using target = to === null ? null : await openTarget(to, config)
  if (target === null || cancel) {
    await cancelMove({ source, target })
    process.stdout.write('The move is cancelled: the source accepts changes again.\n')
    return true
  }
  const { secretKey, otherSecretKeys } = await findSecretKeys(config)
  const secrets = createSecrets(secretKey, otherSecretKeys)
  const progress = createProgress({ label: 'Rows' })
  const moved = await move({ source, target, secrets, say: progress.say, onRows: progress.advanceTo })
  if (moved !== null) {
    progress.done()
    process.stdout.write(`${moved.rows} rows of ${moved.tables} tables are identical in both databases\n`)
  }
  process.stdout.write(`The store is in ${target.name}. ${await handOverKeys(config, source, target)}\n`)
  return await printChecks(target.url, SHOWN_DEFAULT)
}

async function askAddress(): Promise<string> {
  const prompt = openPrompt()
  const line = await prompt.ask('Address of the target: ', { hidden: true })
  prompt.close()
  return line?.trim() ?? ''
}

function hasPassword(to: string): boolean {
  const url = URL.parse(to)
  return url !== null && (url.password !== '' || url.searchParams.has('password'))
}

/** Repeats nothing of the address, which has a password. */
function refuseAddress(to: string, { databaseUrl }: Config): void {
  if (to !== 'embedded' && !isDatabaseAddress(to)) {
    throw new StartupError(
      `The target is not the address of a PostgreSQL database; allowed: ${DATABASE_ADDRESS}, or --to embedded`,
    )
  }
  if (to === 'embedded' && databaseUrl === null) {
    throw new StartupError(
      '--to embedded moves from DATABASE_URL into DATA_DIR, and DATABASE_URL is missing; allowed: the settings of the server, with DATABASE_URL',
    )
  }
}

interface OpenPlace extends Place, AsyncDisposable {
  readonly isEmbedded: boolean
}

async function openSource({ databaseDirectUrl, dataDir }: Config): Promise<OpenPlace> {
  if (databaseDirectUrl !== null) return external(databaseDirectUrl)
  return embedded(dataDir, await visitEmbedded(dataDir, { asServer: true }))
}

async function openTarget(to: string, { dataDir }: Config): Promise<OpenPlace> {
  return to === 'embedded' ? embedded(dataDir, await startEmbedded({ dataDir })) : external(to)
}

function embedded(dataDir: string, { url, stop }: Embedded): OpenPlace {
  return { url, name: `the embedded database in ${dataDir}`, isEmbedded: true, [Symbol.asyncDispose]: stop }
}

function external(url: string): OpenPlace {
  return { url, name: placeOf(url), isEmbedded: false, [Symbol.asyncDispose]: async () => {} }
}

/** Puts the keys where a server on the target has them, and returns what the operator has to do. */
async function handOverKeys(config: Config, source: OpenPlace, target: OpenPlace): Promise<string> {
  const { keys } = await installationKeys(config)
  if (target.isEmbedded) {
    return (await storeKeys(config.dataDir, keys))
      ? `Restart the server without DATABASE_URL; its keys are in ${config.dataDir}/keys.json`
      : `Restart the server without DATABASE_URL, and with SECRET_KEY and OPERATOR_KEY as they are: keys.json in ${config.dataDir} has others`
  }
  if (!source.isEmbedded || (config.secretKey !== null && config.operatorKey !== null)) {
    return 'Restart the server with its address as DATABASE_URL, and the same SECRET_KEY and OPERATOR_KEY'
  }
  const path = movedSettingsPath(config.dataDir)
  const [previous] = keys.otherSecretKeys
  await writeSettings(path, {
    DATABASE_URL: target.url,
    SECRET_KEY: keys.secretKey,
    ...(previous !== undefined && { SECRET_KEY_PREVIOUS: previous }),
    OPERATOR_KEY: keys.operatorKey,
    ...(config.sandbox && { SANDBOX: 'true' }),
  })
  return `Restart the server with the settings that ${path} has, which only you may read: DATABASE_URL and the keys of this installation`
}
