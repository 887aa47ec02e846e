import { parseArgs } from 'node:util'
import { readConfig } from '../foundation/process/settings.ts'
import { programVersion } from '../foundation/process/version.ts'
import { planUpgrade } from '../operations/installation/upgrade-plan.ts'
import { openDatabase } from './database.ts'
import { runProgram } from './run-program.ts'

const usage = `Usage: npm run upgrade-check

Says what the next start of this version would do to the database of the settings, and whether the servers that run there may go on. Changes
nothing. Exit codes: 0, they may; 1, they must be stopped before; 2, it cannot be found out, or the start would be refused.`

await runProgram(usage, main, 2)

async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  parseArgs({ args, options: {} })
  await using database = await openDatabase(readConfig(environment))
  const { steps, running, toStop } = await planUpgrade(database.url)
  const mayGoOn = toStop.length === 0 ? 'they may go on' : `stop those of ${toStop.join(', ')} before the start`
  const lines = [
    steps.length === 0
      ? `Version ${programVersion} has nothing to do to this database.`
      : `The next start of version ${programVersion}:`,
    ...steps.map((step) => `- ${step}`),
    running.length === 0 ? 'No server runs.' : `Servers of version ${running.join(', ')} run: ${mayGoOn}.`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  return toStop.length === 0
}
