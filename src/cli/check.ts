import { parseArgs } from 'node:util'
import { visitEmbedded } from '../database/embedded/embedded.ts'
import { readConfig } from '../process/settings.ts'
import { StartupError } from '../process/startup-error.ts'
import { checkDatabase, type Outcome } from './checks.ts'
import { runProgram } from './run-program.ts'

const SHOWN_DEFAULT = 10
const SHOWN_MAX = 10_000

const usage = `Usage: npm run check -- [--show N]   (N: findings of each check that are listed, 0 to ${SHOWN_MAX}, default ${SHOWN_DEFAULT})`

/** Exit codes: 0, all is well; 1, something was found; 2, the check could not be made. */
await runProgram(main, 2)

/** Checks the database of the settings, whether the server runs or not. Changes nothing. */
async function main(given: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { values } = parseArgs({ args: given, options: { show: { type: 'string', default: String(SHOWN_DEFAULT) } } })
  const shown = /^\d{1,5}$/.test(values.show) ? Number(values.show) : Number.NaN
  if (!(shown <= SHOWN_MAX)) throw new StartupError(usage)
  const { databaseUrl, dataDir } = readConfig(environment)
  const { url, stop } = databaseUrl === null ? await visitEmbedded(dataDir) : { url: databaseUrl, stop: async () => {} }
  try {
    let findings = 0
    for await (const outcome of checkDatabase(url, shown)) {
      findings += outcome.count
      process.stdout.write(describe(outcome))
    }
    process.stdout.write(findings === 0 ? 'All is well\n' : `${findings} ${findings === 1 ? 'finding' : 'findings'}\n`)
    return findings === 0
  } finally {
    await stop()
  }
}

function describe({ check, count, findings }: Outcome): string {
  if (count === 0) return `ok     ${check.name}\n`
  const lines = findings.map(
    ({ storeId, record, found }) => `         ${storeId === null ? '' : `store ${storeId}, `}${record}: ${found}\n`,
  )
  const others = count - findings.length
  const more = others > 0 ? `         and ${others} more\n` : ''
  return `FOUND  ${check.name}: ${count}. This rule is broken: ${check.rule}\n${lines.join('')}${more}`
}
