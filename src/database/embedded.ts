import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { makeDataFolder, readIfThere, writeSecretFile } from '../secret-file.ts'
import { StartupError } from '../startup-error.ts'
import { chooseRunner, type Runner } from './postgres-runner.ts'

const run = promisify(execFile)

const DATABASE = 'store_platform'
const USER = 'store_platform'
/** How long PostgreSQL may take to start (it may have to recover first) and to stop. */
const PATIENCE_S = 120
/** Any number: held while a process uses the folder, and gone with that process. */
const FOLDER_LOCK = 7_420_312

export interface Embedded {
  /** Where the database is reached, from this machine alone. */
  readonly url: string
  /** Stops it cleanly. */
  readonly stop: () => Promise<void>
}

export interface EmbeddedOptions {
  dataDir: string
  /** False for databases of one test run, which nobody will miss after a power failure. */
  durable?: boolean
}

/**
 * Starts PostgreSQL on `dataDir/postgres`, or takes over the server that a killed process left running there.
 * It listens on 127.0.0.1 only, with a generated password. Throws `StartupError` that says what to do.
 */
export async function startEmbedded({ dataDir, durable = true }: EmbeddedOptions): Promise<Embedded> {
  await makeDataFolder(dataDir)
  const runner = await chooseRunner(dataDir)
  const folder = join(dataDir, 'postgres')
  const password = await passwordOf(join(dataDir, 'postgres.json'))
  if (!existsSync(folder)) await initialise(runner, folder, password, durable)

  const url = (port: number, database: string) => `postgresql://${USER}:${password}@127.0.0.1:${port}/${database}`
  const port = (await survivorPort(folder, (at) => url(at, 'postgres'))) ?? (await start(runner, folder, durable))
  const lock = await lockFolder(url(port, 'postgres'), dataDir)
  await createDatabase(lock)
  return {
    url: url(port, DATABASE),
    stop: async () => {
      await lock.end().catch(() => {})
      await pgCtl(runner, ['stop', '-D', folder, '-m', 'fast', '-w', '-t', String(PATIENCE_S)])
    },
  }
}

async function passwordOf(path: string): Promise<string> {
  const kept = await readIfThere(path)
  if (kept !== null) return (JSON.parse(kept) as { password: string }).password
  const password = randomBytes(24).toString('hex')
  await writeSecretFile(path, { password })
  return password
}

/** Made under another name and moved when it is whole: a kill in between leaves nothing that looks like a database. */
async function initialise(runner: Runner, folder: string, password: string, durable: boolean): Promise<void> {
  const temporary = `${folder}.new`
  await rm(temporary, { recursive: true, force: true })
  const passwordFile = `${folder}.password`
  await writeFile(passwordFile, password, { mode: 0o600 })
  await runner.own(passwordFile)
  try {
    const [command, args] = runner.command('initdb', [
      ...['-D', temporary, '-U', USER, '--pwfile', passwordFile, '-A', 'scram-sha-256', '-E', 'UTF8'],
      // Letters fold as Unicode says, whatever locales the machine has.
      ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
      ...(durable ? [] : ['--no-sync']),
    ])
    await run(command, args, { env: runner.env })
  } catch (error) {
    throw new StartupError(
      `PostgreSQL cannot make its data folder ${folder}: ${outputOf(error)}. Mend that, or set DATABASE_URL to a server of your own`,
    )
  } finally {
    await rm(passwordFile, { force: true })
  }
  await rename(temporary, folder)
}

/**
 * The port of a server that already runs on the folder, or null when none does.
 * A killed process leaves its server behind; the file may also be a leftover whose process id another program has by now.
 */
async function survivorPort(folder: string, urlAt: (port: number) => string): Promise<number | null> {
  const pidFile = join(folder, 'postmaster.pid')
  for (let waited = 0; waited < PATIENCE_S * 10; waited++) {
    const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n')
    const [pid, port] = [Number(lines[0]), Number(lines[3])]
    if (!pid) return null
    if (!isPostgres(pid)) {
      await rm(pidFile, { force: true })
      return null
    }
    if (port && (await answers(urlAt(port)))) return port
    await sleep(100)
  }
  throw new StartupError(
    `A PostgreSQL server runs on ${folder} but does not answer: end it, or name another folder with DATA_DIR`,
  )
}

function isPostgres(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const name = `/proc/${pid}/comm`
  return !existsSync(name) || readFileSync(name, 'utf8').trim() === 'postgres'
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch (error) {
    // A server that is starting refuses for now (57P03); any other one of this folder knows the password.
    if ((error as { code?: string }).code === '28P01')
      throw new StartupError('Another PostgreSQL server answers on the port in postmaster.pid')
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

async function start(runner: Runner, folder: string, durable: boolean): Promise<number> {
  const logFile = join(folder, 'server.log')
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const options = [
      `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=50`,
      ...(durable ? [] : ['-c fsync=off -c synchronous_commit=off -c full_page_writes=off']),
    ].join(' ')
    try {
      await pgCtl(runner, ['start', '-D', folder, '-w', '-t', String(PATIENCE_S), '-l', logFile, '-o', options])
      return port
    } catch (error) {
      const log = (await readFile(logFile, 'utf8').catch(() => '')).trimEnd().split('\n').slice(-3).join(' | ')
      // Somebody took the port in between, or another process started the server first: that one holds the folder.
      if (/Address already in use/.test(log) && attempt < 5) continue
      throw new StartupError(
        `PostgreSQL does not start on ${folder}: ${log || outputOf(error)}. The whole log is in ${logFile}`,
      )
    }
  }
}

async function pgCtl(runner: Runner, args: string[]): Promise<void> {
  const [command, all] = runner.command('pg_ctl', args)
  // The server must not inherit pipes: whoever reads them would wait for as long as it runs.
  await new Promise<void>((resolve, reject) => {
    execFile(command, all, { env: runner.env }, (error, stdout, stderr) =>
      error ? reject(Object.assign(error, { stdout, stderr })) : resolve(),
    )
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

async function lockFolder(url: string, dataDir: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, keepAlive: true })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS "locked"', [FOLDER_LOCK])
  if (rows[0]?.locked) return client
  await client.end()
  throw new StartupError(
    `${dataDir} is in use by another process of this server: stop that one, or name another folder with DATA_DIR`,
  )
}

async function createDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
  if (rowCount === 0) await client.query(`CREATE DATABASE "${DATABASE}"`)
}

function outputOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string }
  return (stderr?.trim() || message || String(error)).split('\n').slice(-2).join(' | ')
}
