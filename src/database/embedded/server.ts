import { execFileSync } from 'node:child_process'
import { existsSync, readlinkSync, realpathSync } from 'node:fs'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { findPort } from '../../process/port.ts'
import { StartupError } from '../../process/startup-error.ts'
import type { Login, PostgresFolder } from './folder.ts'
import type { Runner } from './runner.ts'

/** How long PostgreSQL may take to start (it may have to recover first) and to stop. */
const PATIENCE_S = 120
const START_FAILURES_MAX = 3
/** A server that starts writes its note at once. */
const EMPTY_NOTE_AGE_MAX_MS = 2_000

/** Above every process id that Linux or macOS gives; longer than any. */
const NOBODYS_PID = 4_194_304

/** Part of the socket's name, and of nothing else while the server listens on no TCP port. */
const SOCKET_PORT = 5432
const SOCKET_NAME = `.s.PGSQL.${SOCKET_PORT}`
/** Of macOS; Linux allows 107. */
const SOCKET_PATH_BYTES_MAX = 103
const LOOPBACK = '127.0.0.1'

export interface Server {
  readonly runner: Runner
  readonly folder: PostgresFolder
  readonly durable: boolean
}

/** Where a server listens: a folder that holds its socket, or an address of this machine. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/**
 * Returns where the server that runs on the folder listens, and starts it where none does: at `endpoint`, or on a socket
 * in its own folder, which nobody else may enter; on a free port of 127.0.0.1 where the folder's path is too long for a
 * socket or its file system has none. A killed process leaves its server behind, and a killed server its process id.
 * Throws `StartupError`.
 */
export async function ensureRunning(server: Server, endpoint?: Endpoint): Promise<Endpoint> {
  const { folder } = server
  const deadlineMs = performance.now() + PATIENCE_S * 1_000
  let isSocketPossible = Buffer.byteLength(join(folder.path, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX
  for (let failures = 0; performance.now() < deadlineMs; await sleep(100)) {
    const running = await findPostmaster(folder)
    if (running?.endpoint && (await answers(folder, running.endpoint))) return running.endpoint
    if (running) continue
    // PostgreSQL removes a lock file of its socket only when nobody has the process id in it.
    await readLockFile(join(folder.path, `${SOCKET_NAME}.lock`), folder)
    const socket = { host: folder.path, port: SOCKET_PORT }
    const wanted = endpoint ?? (isSocketPossible ? socket : { host: LOOPBACK, port: await findPort(LOOPBACK, 0) })
    const failure = await start(server, wanted)
    if (failure && noSocket.test(failure.message)) isSocketPossible = false
    // Where several processes start and stop it, each can fail by another's doing.
    if (failure && ++failures >= START_FAILURES_MAX) throw failure
  }
  throw new StartupError(
    `A PostgreSQL server runs on ${folder.data} but does not answer; its log is ${folder.log}. End it, or name another folder with DATA_DIR`,
  )
}

/** Returns where the server that runs on the folder listens; null: none runs, or it does not answer. Starts nothing. */
export async function findRunning(folder: PostgresFolder): Promise<Endpoint | null> {
  const running = await findPostmaster(folder)
  return running?.endpoint && (await answers(folder, running.endpoint)) ? running.endpoint : null
}

/** Stops the server cleanly, where it runs: the next start then has nothing to recover. */
export async function stopServer({ runner, folder }: Server): Promise<void> {
  if ((await findPostmaster(folder)) === null) return
  await runner.run('pg_ctl', ['stop', '-D', folder.data, '-m', 'fast', '-w', '-t', String(PATIENCE_S)])
}

export function addressOf({ host, port }: Endpoint, { user, password }: Login, database: string): string {
  // A path would be no valid host of an address; every PostgreSQL client prefers the parameter to the host.
  const [name, socket] = host.startsWith('/') ? ['localhost', `&host=${encodeURIComponent(host)}`] : [host, '']
  // Said here, so that a PGSSLMODE in the environment does not count.
  return `postgresql://${user}:${password}@${name}:${port}/${database}?sslmode=disable${socket}`
}

/** What the server's own note says of it, if it is true; the endpoint is null until it listens. */
async function findPostmaster(folder: PostgresFolder): Promise<{ endpoint: Endpoint | null } | null> {
  const note = await readLockFile(join(folder.data, 'postmaster.pid'), folder)
  if (note === null) return null
  const [, , , port, socketFolder, address] = note.split('\n')
  const host = socketFolder ? folder.path : address
  return { endpoint: host ? { host, port: Number(port) } : null }
}

/** Returns the text of a lock file of the server that runs on the folder. Null: none runs, and the file is no obstacle to a start. */
async function readLockFile(file: string, { data }: PostgresFolder): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return null
  const pid = Number.parseInt(text, 10)
  if (pid && !isAlive(pid)) return null
  if (pid && runsOn(pid, data)) return text
  if (pid) await disown(file, text)
  // Never written: the machine lost power while a server started, or one starts at this moment.
  else if ((await ageMs(file)) > EMPTY_NOTE_AGE_MAX_MS) await rm(file, { force: true })
  return null
}

/**
 * Another program has the process id by now, and PostgreSQL would refuse to start. The note is not removed: by its other
 * lines PostgreSQL sees whether children of the killed server still work on the folder, and must not start before they end.
 */
async function disown(path: string, note: string): Promise<void> {
  // By this handle no note that a new server makes in place of the old one can be hit.
  const file = await open(path, 'r+')
  try {
    if ((await file.readFile('utf8')) === note) await file.write(note.replace(/^\d+/, String(NOBODYS_PID)), 0)
  } finally {
    await file.close()
  }
}

async function ageMs(path: string): Promise<number> {
  return Date.now() - (await stat(path).then(({ mtimeMs }) => mtimeMs, Date.now))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** A server stands in its data folder, wherever that was moved; where this cannot be seen, its command line names it. */
function runsOn(pid: number, data: string): boolean {
  try {
    if (existsSync('/proc/self/cwd')) return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data)
    return execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).includes(`-D ${data}`)
  } catch {
    return false
  }
}

async function answers({ data, administrator }: PostgresFolder, endpoint: Endpoint): Promise<boolean> {
  const client = new pg.Client({
    connectionString: addressOf(endpoint, administrator, 'postgres'),
    connectionTimeoutMillis: 2_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== '28P01') return false
    throw new StartupError(`The server on ${data} does not accept the password beside it. Give the former file back`)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Gives the reason when it fails; null too when that is sure to pass. */
async function start({ runner, folder, durable }: Server, endpoint: Endpoint): Promise<StartupError | null> {
  // A folder has a log of this run and of the one before, whatever it goes through.
  await rename(folder.log, `${folder.log}.1`).catch(() => {})
  const options = ['-p', endpoint.port, ...optionsOf(endpoint, durable)].join(' ')
  try {
    await runner.run('pg_ctl', [
      ...['start', '-D', folder.data, '-w', '-t', String(PATIENCE_S), '-l', folder.log, '-o', options],
    ])
    return null
  } catch (error) {
    const log = await readFile(folder.log, 'utf8').catch(() => '')
    const { stderr = '', message } = error as { stderr?: string; message: string }
    if (!noSocket.test(log) && passing.test(`${log}${stderr}`)) return null
    const reason =
      log.match(/(FATAL|PANIC|DETAIL|HINT): .*/g)?.join(' ') ?? (stderr.trim() || message).split('\n').at(-1)
    return new StartupError(
      `PostgreSQL does not start on ${folder.data}: ${reason?.replace(/\.$/, '')}. Mend that (its log is ${folder.log}), or set DATABASE_URL to a server of your own`,
    )
  }
}

/** Somebody took the port; another process starts the server at this moment; a killed server's children still end. */
const passing =
  /Address already in use|lock file "postmaster\.pid" already exists|postmaster\.pid" is empty|pre-existing shared memory block/

const noSocket = /could not create any Unix-domain sockets/

function optionsOf({ host }: Endpoint, durable: boolean): string[] {
  const isSocket = host.startsWith('/')
  const settings = {
    listen_addresses: isSocket ? "''" : host,
    // Seen from the data folder: no character of the whole path has to be quoted.
    unix_socket_directories: isSocket ? '..' : "''",
    unix_socket_permissions: '0700',
    max_connections: '50',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Nobody rotates this log, and a refused statement's values do not belong into it.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  return Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
}
