import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { readIfThere, syncFolder } from '../process/data-folder.ts'
import { StartupError } from '../process/startup-error.ts'
import type { Runner } from './runner.ts'

/** PostgreSQL's bootstrap role, which always is a superuser. */
const ADMINISTRATOR = 'store_platform'

export type Login = { readonly user: string; readonly password: string }

/** The folder of an embedded server, which only its owner may enter. */
export interface PostgresFolder {
  /** Absolute. */
  readonly path: string
  /** PostgreSQL's own data folder. */
  readonly data: string
  readonly log: string
  /** The superuser. The password is kept in the file `password`. */
  readonly administrator: Login
}

/** Opens the folder, creating it if it is missing. Throws `StartupError`. */
export async function openFolder(runner: Runner, folder: string, durable: boolean): Promise<PostgresFolder> {
  if (!existsSync(folder)) await makeFolder(runner, folder, durable)
  const data = join(folder, 'data')
  const password = (await readIfThere(join(folder, 'password')))?.trim()
  if (!password || !existsSync(join(data, 'PG_VERSION'))) {
    throw new StartupError(
      `${folder} is not a database folder that this server made. Move it away, or name another folder with DATA_DIR`,
    )
  }
  return { path: folder, data, log: join(folder, 'server.log'), administrator: { user: ADMINISTRATOR, password } }
}

/**
 * Removes what interrupted starts left beside the folder, as far as that is possible. Only the process that holds the folder may
 * call it.
 */
export async function removeLeftovers(folder: string): Promise<void> {
  const names = (await readdir(dirname(folder))).filter((name) => name.startsWith(`${basename(folder)}.new-`))
  await Promise.all(names.map((name) => removeHalfMade(join(dirname(folder), name))))
}

/** Another process may be writing into it or removing it, and one that stays is removed by the next start: no reason to end this one. */
async function removeHalfMade(temporary: string): Promise<void> {
  await rm(temporary, { recursive: true, force: true, maxRetries: 5 }).catch(() => {})
}

/**
 * Creates the folder under a temporary name and renames it when complete: a kill leaves nothing that looks like a database, and
 * of two processes the faster wins.
 */
async function makeFolder(runner: Runner, folder: string, durable: boolean): Promise<void> {
  let temporary: string | undefined
  try {
    temporary = await mkdtemp(`${folder}.new-`)
    const passwordFile = join(temporary, 'password')
    await writeFile(passwordFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600, flush: durable })
    await runner.own(temporary)
    await runner.own(passwordFile)
    await initialise(runner, join(temporary, 'data'), passwordFile, durable)
    if (durable) await syncFolder(temporary)
    await rename(temporary, folder)
    if (durable) await syncFolder(dirname(folder))
  } catch (error) {
    if (temporary) await removeHalfMade(temporary)
    // Another process was faster, and may have removed this one's temporary folder.
    if (existsSync(folder)) return
    throw new StartupError(
      `PostgreSQL cannot make its data folder ${folder}: ${outputOf(error)}. Fix that, or set DATABASE_URL to a server of your own`,
    )
  }
}

/** The first that the machine has tells trigram indexes which characters are letters. C knows only those of ASCII. */
const characterTypes = ['C.UTF-8', 'en_US.UTF-8', 'C']

async function initialise(runner: Runner, data: string, passwordFile: string, durable: boolean): Promise<void> {
  for (const characterType of characterTypes) {
    try {
      return await runner.run('initdb', [
        ...['-D', data, '-U', ADMINISTRATOR, '--pwfile', passwordFile, '-A', 'scram-sha-256', '-E', 'UTF8'],
        // Case folding follows Unicode, whatever locales the machine has.
        ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
        `--lc-ctype=${characterType}`,
        ...(durable ? [] : ['--no-sync']),
      ])
    } catch (error) {
      if (characterType === 'C' || !/invalid locale name/.test(outputOf(error))) throw error
    }
  }
}

/** The line of initdb's output that gives the reason. */
function outputOf(error: unknown): string {
  const { stderr = '', message } = error as { stderr?: string; message: string }
  const lines = (stderr.trim() || message).split('\n')
  return lines.find((line) => /\b(FATAL|error): /.test(line)) ?? lines.at(-1) ?? ''
}
