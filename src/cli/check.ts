import { parseArgs } from 'node:util'
import { readConfig } from '../foundation/process/settings.ts'
import { StartupError } from '../foundation/process/startup-error.ts'
import { openDatabase } from './database.ts'
import { printChecks, SHOWN_DEFAULT } from './print-checks.ts'
import { runProgram } from './run-program.ts'

const SHOWN_MAX = 10_000

const usage = `Usage: npm run check -- [--show N]   (N: findings of each check that are listed, 0 to ${SHOWN_MAX}, default ${SHOWN_DEFAULT})`

/** Exit codes: 0, all is well; 1, something was found; 2, the check could not be made. */
await runProgram(usage, main, 2)

/** Checks the database of the settings, whether the server runs or not. Changes nothing. */
async function main(given: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { values } = parseArgs({ args: given, options: { show: { type: 'string', default: String(SHOWN_DEFAULT) } } })
  const shown = /^\d{1,5}$/.test(values.show) ? Number(values.show) : Number.NaN
  if (!(shown <= SHOWN_MAX)) throw new StartupError(usage)
  await using database = await openDatabase(readConfig(environment))
  return await printChecks(database.url, shown)
}
