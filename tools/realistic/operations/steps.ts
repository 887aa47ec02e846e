import { existsSync, readFileSync, statSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startEmbedded, visitEmbedded } from '../../../src/foundation/embedded/embedded.ts'
import { keysPath } from '../../../src/foundation/process/data-folder.ts'
import { openClient } from '../../../test/support/client.ts'
import { programEnv, runProgram } from '../../../test/support/run-server.ts'
import type { Stops } from '../../bench/bench.ts'
import type { Installation } from './installation.ts'
import type { Traffic } from './traffic.ts'

export interface Context {
  readonly folder: string
  readonly installation: Installation
  readonly traffic: Traffic
  readonly stops: Stops
}

type Command = 'backup' | 'restore' | 'rotate-secret-key' | 'move' | 'check'

/** A backup, killed while it writes; nothing of it is left but a part. */
export async function backUp({ folder, installation: { settings } }: Context): Promise<string> {
  const file = backupOf(folder)
  const hasBegun = () => existsSync(`${file}.part`) && statSync(`${file}.part`).size > 0
  await killed('backup', [file], settings, hasBegun)
  if (existsSync(file)) throw new Error('A backup that was killed has left a file')
  return `backup, killed and run again: ${await completed('backup', [file], settings)}`
}

const storing = `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'COPY %' AND pid <> pg_backend_pid()`

/** A restore into a new folder, killed while it stores rows. */
export async function restore({ folder, installation: { settings } }: Context): Promise<string> {
  const dataDir = join(folder, 'restored')
  await mkdir(dataDir, { mode: 0o700 })
  await copyFile(keysPath(settings.DATA_DIR ?? ''), keysPath(dataDir))
  const hasBegun = async () => {
    if (!existsSync(join(dataDir, 'postgres/data/postmaster.pid'))) return false
    return (await rowsAt(() => visitEmbedded(dataDir), storing).catch(() => [])).length > 0
  }
  await killed('restore', [backupOf(folder)], { DATA_DIR: dataDir }, hasBegun)
  return `restore, killed and run again: ${await completed('restore', [backupOf(folder)], { DATA_DIR: dataDir })}`
}

/** A new secret key, by the steps of docs/operations.md, killed when some of the keys are sealed anew. */
export async function rotateKey({ installation }: Context): Promise<string> {
  const { settings, query } = installation
  await refused('rotate-secret-key', settings, 'Restart the server')
  await installation.restart()
  const hasBegun = async () => {
    const [row] = await query<{ keys: number }>(
      `SELECT count(DISTINCT left("privateKeySealed", 8))::int AS "keys" FROM "Application"`,
    )
    return row?.keys === 2
  }
  await killed('rotate-secret-key', [], settings, hasBegun)
  return `rotate-secret-key, killed and run again: ${await completed('rotate-secret-key', [], settings)}`
}

/** To another PostgreSQL, killed while it stores rows. Then the server is started on that. */
export async function move({ folder, installation, stops }: Context): Promise<string> {
  const dataDir = join(folder, 'to')
  await mkdir(dataDir)
  const target = await startEmbedded({ dataDir })
  await stops.add(() => target.stop())
  const settings = { ...installation.settings, TARGET_DATABASE_URL: target.url }
  const hasBegun = async () => (await rowsAt(async () => target, storing)).length > 0
  await killed('move', [], settings, hasBegun)
  const text = await completed('move', [], settings)
  const keys = JSON.parse(readFileSync(keysPath(installation.settings.DATA_DIR ?? ''), 'utf8'))
  await installation.restart({ DATABASE_URL: target.url, SECRET_KEY: keys.secretKey, OPERATOR_KEY: keys.operatorKey })
  return `move, killed and run again: ${text}`
}

/** Asks a database of this machine, however it is found. */
async function rowsAt(find: () => Promise<{ url: string }>, text: string): Promise<object[]> {
  const client = await openClient((await find()).url)
  return (await client.query(text).finally(() => client.end())).rows
}

function backupOf(folder: string): string {
  return join(folder, 'year.backup')
}

function run(command: Command, args: readonly string[], settings: Readonly<Record<string, string>>) {
  const program = fileURLToPath(new URL(`../../../src/cli/${command}.ts`, import.meta.url))
  return runProgram(process.execPath, [program, ...args], { env: { ...programEnv, ...settings } })
}

/** Runs it to its end, and returns its last line and the time that it took. */
export async function completed(command: Command, args: readonly string[], settings: Readonly<Record<string, string>>) {
  const startedAt = performance.now()
  const { exited, output } = run(command, args, settings)
  if ((await exited) !== 0) throw new Error(`${command} failed:\n${output()}`)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  return `well in ${seconds} s. ${output().trim().split('\n').at(-1)}`
}

async function refused(command: Command, settings: Readonly<Record<string, string>>, says: string): Promise<void> {
  const { exited, output } = run(command, [], settings)
  if ((await exited) === 0 || !output().includes(says))
    throw new Error(`${command} should ask for a restart:\n${output()}`)
}

/** Runs it until `hasBegun`, and kills it so that it can clean up nothing. */
async function killed(
  command: Command,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  hasBegun: () => boolean | Promise<boolean>,
): Promise<void> {
  const { process: child, exited, output } = run(command, args, settings)
  let isOver = false
  exited.then(() => {
    isOver = true
  })
  while (!isOver && !(await hasBegun())) await delay(5)
  if (isOver) throw new Error(`${command} ended before it could be killed:\n${output()}`)
  child.kill('SIGKILL')
  await exited
}
