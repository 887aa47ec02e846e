import { parseArgs } from 'node:util'
import { readConfig } from '../foundation/process/settings.ts'
import { programVersion } from '../foundation/process/version.ts'
import { planUpgrade, type UpgradePlan, type UpgradeStep } from '../operations/installation/upgrade-plan.ts'
import { openDatabase } from './database.ts'
import { runProgram } from './run-program.ts'

const usage = `Usage: npm run upgrade-check

Says what the next start of this version would do to the database of the settings, and whether the servers that run there may go on. Changes
nothing. Exit codes: 0, they may; 1, they must be stopped before; 2, it cannot be found out, or the start would be refused.`

const words: Readonly<Record<UpgradeStep['kind'], (step: UpgradeStep) => string>> = {
  statements: () => 'at once; nobody waits longer than 0.4 s',
  alone: () => 'no server of the version before may run; it takes up to two minutes for a million orders',
  index: (step) => `builds an index of ${rowsOf(step)} while the table is read and written`,
  'plain index': (step) =>
    `builds an index of ${rowsOf(step)}; without DATABASE_DIRECT_URL, writes to the table wait as long`,
  rows: (step) => `rewrites ${rowsOf(step)} after the start, while the store is open`,
}

await runProgram(usage, main, 2)

async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  parseArgs({ args, options: {} })
  await using database = await openDatabase(readConfig(environment))
  const plan = await planUpgrade(database.url)
  process.stdout.write(`${linesOf(plan).join('\n')}\n`)
  return plan.toStop.length === 0
}

function linesOf({ steps, running, toStop }: UpgradePlan): string[] {
  const servers = running.length === 0 ? 'No server runs' : `Servers of version ${[...new Set(running)].join(', ')} run`
  const mayGoOn = toStop.length === 0 ? 'they may go on' : `stop those of ${toStop.join(', ')} before the start`
  return [
    steps.length === 0
      ? `Version ${programVersion} has nothing to do to this database.`
      : `The next start of version ${programVersion}:`,
    ...steps.map((step) => `- ${step.migration}: ${words[step.kind](step)}${costOf(step)}`),
    running.length === 0 ? `${servers}.` : `${servers}: ${mayGoOn}.`,
  ]
}

function rowsOf({ table }: UpgradeStep): string {
  return `about ${Math.round(table?.rows ?? 0).toLocaleString('en')} rows of ${table?.name}`
}

function costOf({ seconds, bytes }: UpgradeStep): string {
  if (seconds === null || seconds === 0) return ''
  const time = seconds < 60 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
  return `: some ${time}, and ${Math.ceil(bytes / 1024 ** 2).toLocaleString('en')} MB on the disk`
}
