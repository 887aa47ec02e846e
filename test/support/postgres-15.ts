import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './run-server.ts'

/** The oldest version that is supported; from Debian's package postgresql-15. */
export const programs15 = '/usr/lib/postgresql/15/bin'

const isRequired = process.env.REQUIRE_POSTGRES_15 === 'true'

/** Tests that need PostgreSQL 15 are left out where it is not installed, unless REQUIRE_POSTGRES_15 demands it. */
export const hasPostgres15 = existsSync(join(programs15, 'postgres')) || isRequired

/** The same for a server that speaks French: distributions can leave translations out. */
export const hasFrench15 =
  (hasPostgres15 && existsSync('/usr/share/locale/fr/LC_MESSAGES/postgres-15.mo')) || isRequired

const isRoot = process.getuid?.() === 0
/** PostgreSQL refuses root. */
export const ordinaryUser = isRoot ? { uid: 65_534, gid: 65_534 } : {}

export interface Postgres15 {
  readonly url: string
  /** Stops the server and removes its folder. */
  readonly stop: () => Promise<void>
}

/** Starts a server in a temporary folder, whose messages are in `language`. */
export async function startPostgres15(language: 'en' | 'fr' = 'en'): Promise<Postgres15> {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-15-'))
  await chmod(folder, 0o755)
  if (isRoot) await chown(folder, 65_534, 65_534)
  const port = await freePort()
  const data = join(folder, 'data')
  // In every locale but C, gettext takes the first language of LANGUAGE that has a catalogue. No French locale is needed.
  const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', LANGUAGE: language }
  const run = async (program: string, ...args: string[]) => {
    const child = spawn(join(programs15, program), args, { cwd: folder, stdio: 'ignore', env, ...ordinaryUser })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`${program} ended with ${code}`)
  }
  await run('initdb', '-D', data, '-U', 'store', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync')
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off`
  await run('pg_ctl', 'start', '-w', '-D', data, '-o', settings)
  return {
    url: `postgresql://store@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await run('pg_ctl', 'stop', '-w', '-m', 'fast', '-D', data)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
