import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runProgram } from '../../src/cli/run-program.ts'
import { StartupError } from '../../src/foundation/process/startup-error.ts'
import { restoreVersion, sectionOf, setVersion } from './version.ts'

const usage = `Usage: npm run release -- VERSION

Sets the version everywhere, runs every test, writes the notes into test-output/, and says which commands are left to do. Commits and
publishes nothing. Where a test fails, the version is taken back. Exit codes: 0, ready; 1, not.`

const root = join(import.meta.dirname, '../..')

/** From a clean installation: what every change has to pass, what only releases are asked, and an upgrade of a cluster under load. */
const demands = ['.ci/run', 'npm run test:release', 'npm run test:cluster']

await runProgram(usage, main)

async function main(args: string[]): Promise<boolean> {
  const { positionals } = parseArgs({ args, allowPositionals: true })
  const [version = ''] = positionals
  setVersion(root, version, new Date().toISOString().slice(0, 'YYYY-MM-DD'.length))
  // The command that runs gets the signal too, and fails.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  for (const demand of demands) {
    say(`\n${demand}\n`)
    if (await succeeds(demand)) continue
    restoreVersion(root)
    throw new StartupError(`${demand} failed. The version and the changelog are as before.`)
  }
  const notes = join('test-output', `notes-${version}.md`)
  mkdirSync(join(root, 'test-output'), { recursive: true })
  writeFileSync(join(root, notes), `${sectionOf(root, `${version} `)}\n`)
  say(`\nVersion ${version} is ready, and its notes are in ${notes}. Left to do:\n`)
  for (const command of left(version, notes)) say(`  ${command}`)
  return true
}

/** The image has the commit in a label, so that it comes after it. */
function left(version: string, notes: string): readonly string[] {
  return [
    `git commit --all --message 'Version ${version}'`,
    `git tag --annotate v${version} --file ${notes} --cleanup verbatim`,
    'git push --follow-tags',
    `docker build --build-arg REVISION=$(git rev-parse HEAD) --tag localhost/store-platform:${version} .`,
    'docker push, under the name of a registry, where there is one',
  ]
}

async function succeeds(demand: string): Promise<boolean> {
  const [program = '', ...args] = demand.split(' ')
  const [code] = await once(spawn(program, args, { cwd: root, stdio: 'inherit' }), 'exit')
  return code === 0
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
