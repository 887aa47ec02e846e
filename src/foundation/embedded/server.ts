import { execFileSync } from 'node:child_process'
import { existsSync, readlinkSync, realpathSync } from 'node:fs'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withConnection } from '../database/connection.ts'
import { findPort } from '../process/port.ts'
import { StartupError } from '../process/startup-error.ts'
import type { Login, PostgresFolder } from './folder.ts'
import type { Runner } from './runner.ts'

/** Time limit for starting PostgreSQL, which may have to recover first, and for stopping it. */
const TIMEOUT_S = 120
const START_FAILURES_MAX = 3
/** A starting server writes its lock file at once. */
const EMPTY_NOTE_AGE_MAX_MS = 2_000

/** Above every process id of Linux and macOS, and not shorter than any. */
const NOBODYS_PID = 4_194_304

/** Part of the socket's name. No TCP port is open then. */
const SOCKET_PORT = 5432
const SOCKET_NAME = `.s.PGSQL.${SOCKET_PORT}`
/** The limit of macOS; Linux allows 107. */
const SOCKET_PATH_BYTES_MAX = 103
const LOOPBACK = '127.0.0.1'

export interface Server {
  readonly runner: Runner
  readonly folder: PostgresFolder
  readonly durable: boolean
}

/** `host`: the folder that holds the server's socket, or an address of this machine. */
export type Endpoint = { readonly host: string; readonly port: number }

/**
 * Returns where the server of the folder listens, starting it if necessary: at `endpoint`, else on a socket in its own folder,
 * else on a free port of 127.0.0.1 where the folder's path is too long for a socket or its file system has no sockets.
 * Handles a server left behind by a killed process, and a lock file left behind by a killed server. Throws `StartupError`.
 */
export async function ensureRunning(server: Server, endpoint?: Endpoint): Promise<Endpoint> {
  const { folder } = server
  const deadlineMs = performance.now() + TIMEOUT_S * 1_000
  let isSocketPossible = Buffer.byteLength(join(folder.path, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX
  for (let failures = 0; performance.now() < deadlineMs; await sleep(100)) {
    const running = await findPostmaster(folder)
    if (running?.endpoint && (await answers(folder, running.endpoint))) return running.endpoint
    if (running) continue
    // PostgreSQL removes a stale lock file of its socket only when no process has the id in it.
    await readLockFile(join(folder.path, `${SOCKET_NAME}.lock`), folder)
    const socket = { host: folder.path, port: SOCKET_PORT }
    const wanted = endpoint ?? (isSocketPossible ? socket : { host: LOOPBACK, port: await findPort(LOOPBACK, 0) })
    const failure = await start(server, wanted)
    if (failure && noSocket.test(failure.message)) isSocketPossible = false
    // Several processes that start and stop it can make one another fail.
    if (failure && ++failures >= START_FAILURES_MAX) throw failure
  }
  throw new StartupError(
    `A PostgreSQL server runs on ${folder.data} but does not answer; its log is ${folder.log}. End it, or name another folder with DATA_DIR`,
  )
}

/** Returns where the server of the folder listens; null when none runs or it does not answer. Starts nothing. */
export async function findRunning(folder: PostgresFolder): Promise<Endpoint | null> {
  const running = await findPostmaster(folder)
  return running?.endpoint && (await answers(folder, running.endpoint)) ? running.endpoint : null
}

/** Stops the server cleanly if it runs, so that the next start has nothing to recover. */
export async function stopServer({ runner, folder }: Server): Promise<void> {
  if ((await findPostmaster(folder)) === null) return
  await runner.run('pg_ctl', ['stop', '-D', folder.data, '-m', 'fast', '-w', '-t', String(TIMEOUT_S)])
}

export function addressOf({ host, port }: Endpoint, { user, password }: Login, database: string): string {
  // A path is not a valid host of an address. PostgreSQL clients prefer the parameter to the host.
  const [name, socket] = host.startsWith('/') ? ['localhost', `&host=${encodeURIComponent(host)}`] : [host, '']
  // Overrides a PGSSLMODE of the environment.
  return `postgresql://${user}:${password}@${name}:${port}/${database}?sslmode=disable${socket}`
}

/** Reads the server's lock file, if it is not stale. The endpoint is null until the server listens. */
async function findPostmaster(folder: PostgresFolder): Promise<{ endpoint: Endpoint | null } | null> {
  const note = await readLockFile(join(folder.data, 'postmaster.pid'), folder)
  if (note === null) return null
  const [, , , port, socketFolder, address] = note.split('\n')
  const host = socketFolder ? folder.path : address
  return { endpoint: host ? { host, port: Number(port) } : null }
}

/** Returns the text of a lock file of the running server. Null when none runs; the file does not prevent a start then. */
async function readLockFile(file: string, { data }: PostgresFolder): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return null
  const pid = Number.parseInt(text, 10)
  if (pid && !isAlive(pid)) return null
  if (pid && runsOn(pid, data)) return text
  if (pid) {
    await disown(file, text)
  } else {
    // Empty: the machine lost power while a server started, or one is starting now.
    const writtenAtMs = await stat(file).then(({ mtimeMs }) => mtimeMs, Date.now)
    if (Date.now() - writtenAtMs > EMPTY_NOTE_AGE_MAX_MS) await rm(file, { force: true })
  }
  return null
}

/**
 * Replaces the process id in a stale lock file when another program has got that id, because PostgreSQL would refuse to start.
 * The file is kept, because its other lines tell PostgreSQL whether children of the killed server still use the folder.
 */
async function disown(path: string, note: string): Promise<void> {
  // This handle cannot reach the lock file of a new server.
  const file = await open(path, 'r+')
  try {
    if ((await file.readFile('utf8')) === note) await file.write(note.replace(/^\d+/, String(NOBODYS_PID)), 0)
  } finally {
    await file.close()
  }
}

/** Whether a process has this id. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** A server's working directory is its data folder, even after a move. Without /proc, its command line names the folder. */
function runsOn(pid: number, data: string): boolean {
  try {
    if (existsSync('/proc/self/cwd')) return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data)
    return execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).includes(`-D ${data}`)
  } catch {
    return false
  }
}

async function answers({ data, administrator }: PostgresFolder, endpoint: Endpoint): Promise<boolean> {
  try {
    return await withConnection(addressOf(endpoint, administrator, 'postgres'), async () => true, 2_000)
  } catch (error) {
    if ((error as { code?: string }).code !== '28P01') return false
    throw new StartupError(`The server on ${data} does not accept the password beside it. Restore the former file`)
  }
}

/** Returns the reason of a failure; null on success, and for a failure that passes by itself. */
async function start({ runner, folder, durable }: Server, endpoint: Endpoint): Promise<StartupError | null> {
  // The folder keeps the log of this run and of the previous one.
  await rename(folder.log, `${folder.log}.1`).catch(() => {})
  const options = ['-p', endpoint.port, ...optionsOf(endpoint, durable)].join(' ')
  try {
    const args = ['start', '-D', folder.data, '-w', '-t', String(TIMEOUT_S), '-l', folder.log, '-o', options]
    await runner.run('pg_ctl', args)
    return null
  } catch (error) {
    const log = await readFile(folder.log, 'utf8').catch(() => '')
    const { stderr = '', message } = error as { stderr?: string; message: string }
    if (!noSocket.test(log) && passing.test(`${log}${stderr}`)) return null
    const reason =
      log.match(/(FATAL|PANIC|DETAIL|HINT): .*/g)?.join(' ') ?? (stderr.trim() || message).split('\n').at(-1)
    return new StartupError(
      `PostgreSQL does not start on ${folder.data}: ${reason?.replace(/\.$/, '')}. Fix that (its log is ${folder.log}), or set DATABASE_URL to a server of your own`,
    )
  }
}

/** The port was taken, another process is starting the server, or children of a killed server are still ending. */
const passing =
  /Address already in use|lock file "postmaster\.pid" already exists|postmaster\.pid" is empty|pre-existing shared memory block/

const noSocket = /could not create any Unix-domain sockets/

function optionsOf({ host }: Endpoint, durable: boolean): string[] {
  const isSocket = host.startsWith('/')
  const settings = {
    listen_addresses: isSocket ? "''" : host,
    // Relative to the data folder, so that no character of the path needs quoting.
    unix_socket_directories: isSocket ? '..' : "''",
    unix_socket_permissions: '0700',
    max_connections: '50',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // This log is not rotated, and must not contain the values of refused statements.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    // A test run has several workers, each with pools of its own.
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '150' }),
  }
  return Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
}
