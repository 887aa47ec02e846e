import { parseArgs } from 'node:util'
import { startEmbedded, visitEmbedded } from '../embedded/embedded.ts'
import { cancelMove, type MoveReport, move, type Place } from '../installation/move/move.ts'
import { embeddedPlace, placeOf } from '../installation/move/state.ts'
import {
  findSecretKeys,
  installationKeys,
  movedSettingsPath,
  storeKeys,
  writeSettings,
} from '../process/data-folder.ts'
import { type Config, DATABASE_ADDRESS, isDatabaseAddress, readConfig } from '../process/settings.ts'
import { StartupError } from '../process/startup-error.ts'
import { createSecrets } from '../values/secrets.ts'
import { openPrompt } from './new-store/prompt.ts'
import { printChecks, SHOWN_DEFAULT } from './print-checks.ts'
import { createProgress } from './progress.ts'
import { runProgram } from './run-program.ts'

const usage = `Usage: npm run move                        moves the store of the settings into the database of TARGET_DATABASE_URL
       npm run move -- --to -              into the one whose address is asked for, or is the next line of standard input
       npm run move -- --to postgresql://… into that one; an address with a password goes the other ways
       npm run move -- --to embedded       from DATABASE_URL into DATA_DIR
       npm run move -- --cancel [--to …]   gives up a move that is not finished`

const report: MoveReport = {
  say: (line) => void process.stderr.write(`${line}\n`),
  rows: (label, total) => createProgress({ label, total }),
}

/** Exit codes: 0, moved, or given up; 1, moved, and the check found something; 2, not moved: the same command goes on. */
await runProgram(main, 2)

/** Moves the store of the settings to another database, whether a server runs or not. */
async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const options = { to: { type: 'string' }, cancel: { type: 'boolean', default: false } } as const
  const { to: given, cancel } = parseArgs({ args, options }).values
  const config = readConfig(environment)
  const to = given === '-' ? await askAddress() : (given ?? config.targetDatabaseUrl ?? undefined)
  if (to === undefined && !cancel) throw new StartupError(usage)
  if (to !== undefined) refuseAddress(to, config)
  if (given !== undefined && hasPassword(given)) {
    throw new StartupError(
      '--to has a password, which others can read in the list of processes. Give the address as TARGET_DATABASE_URL, or as a line of standard input with --to -',
    )
  }
  const source = await openSource(config)
  try {
    if (to === undefined) await cancelMove({ source, target: null, report })
    else return await withTarget(to, config, (target) => run({ source, target, config, isCancel: cancel }))
    return true
  } finally {
    await source.stop()
  }
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

interface OpenPlace extends Place {
  readonly isEmbedded: boolean
  readonly stop: () => Promise<void>
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

async function openSource({ databaseDirectUrl, dataDir }: Config): Promise<OpenPlace> {
  if (databaseDirectUrl !== null) return external(databaseDirectUrl)
  return { ...(await visitEmbedded(dataDir, { asServer: true })), name: embeddedPlace(dataDir), isEmbedded: true }
}

async function withTarget<T>(to: string, { dataDir }: Config, work: (target: OpenPlace) => Promise<T>): Promise<T> {
  const target =
    to === 'embedded'
      ? { ...(await startEmbedded({ dataDir })), name: embeddedPlace(dataDir), isEmbedded: true }
      : external(to)
  return work(target).finally(target.stop)
}

function external(url: string): OpenPlace {
  return { url, name: placeOf(url), isEmbedded: false, stop: async () => {} }
}

interface Ends {
  readonly source: OpenPlace
  readonly target: OpenPlace
  readonly config: Config
}

async function run({ isCancel, ...ends }: Ends & { isCancel: boolean }): Promise<boolean> {
  const { source, target, config } = ends
  if (isCancel) {
    await cancelMove({ source, target, report })
    return true
  }
  const { secretKey, otherSecretKeys } = await findSecretKeys(config)
  let whatNext = ''
  let isWell = true
  await move({
    source,
    target,
    secrets: createSecrets(secretKey, otherSecretKeys),
    report,
    onSame: async ({ rows, tables }) => {
      process.stdout.write(`${rows} rows of ${tables} tables are the same in both databases\n`)
      isWell = await printChecks(target.url, SHOWN_DEFAULT)
      whatNext = await handOverKeys(ends)
    },
  })
  // A move that only had to be finished has no more to compare.
  whatNext ||= await handOverKeys(ends)
  process.stdout.write(`The store is in ${target.name}. ${whatNext}\n`)
  return isWell
}

/** Puts the keys where a server on the target has them, and returns what the operator has to do. */
async function handOverKeys({ source, target, config }: Ends): Promise<string> {
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
