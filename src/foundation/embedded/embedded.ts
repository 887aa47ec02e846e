import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { locks } from '../database/advisory-locks.ts'
import { type KeptConnection, keepConnected } from '../database/connection.ts'
import { makeDataFolder } from '../process/data-folder.ts'
import { StartupError } from '../process/startup-error.ts'
import { type Login, openFolder, removeLeftovers } from './folder.ts'
import { chooseRunner } from './runner.ts'
import { addressOf, type Endpoint, ensureRunning, findRunning, type Server, stopServer } from './server.ts'
import { DATABASE, prepareDatabase, SERVER_ROLE } from './server-role.ts'

const OCCUPY_ATTEMPTS_MAX = 3
/** PostgreSQL takes a moment to notice that the previous process was killed. */
const LOCK_ATTEMPTS_MAX = 20
const LOCK_RETRY_MS = 50

export interface Embedded {
  /** The address for the owner of the database, an ordinary role. Valid until the next start on the folder. */
  readonly url: string
  /** Stops PostgreSQL cleanly, if this process started it. */
  readonly stop: () => Promise<void>
}

/**
 * Starts PostgreSQL on `dataDir/postgres`, or takes over the server that a killed process left running there. Restarts the
 * server at the same address when it is killed. It listens on a socket in that folder (on 127.0.0.1 where sockets do not
 * work) and uses generated passwords. One process at a time uses a folder. `durable: false` is for databases of a test run,
 * which need not survive a power failure. Throws a `StartupError` that says what to do.
 */
export async function startEmbedded(options: { dataDir: string; durable?: boolean }): Promise<Embedded> {
  const { dataDir, durable = true } = options
  await makeDataFolder(dataDir)
  const path = join(resolve(dataDir), 'postgres')
  const runner = await chooseRunner(path)
  const server = { runner, folder: await openFolder(runner, path, durable), durable }
  // For this run of the server. Stored nowhere: `prepareDatabase` sets the role's password.
  const login = { user: SERVER_ROLE, password: randomBytes(24).toString('hex') }
  const { endpoint, lock } = await occupy(server, login, dataDir)
  await removeLeftovers(path)

  let stopping: Promise<void> | undefined
  return {
    url: addressOf(endpoint, login, DATABASE),
    stop: () => {
      stopping ??= stop(server, lock)
      return stopping
    },
  }
}

/**
 * Opens the database of `dataDir` for a program beside the server. Connects as superuser to a running PostgreSQL, which `stop`
 * leaves running; otherwise starts it until `stop`. `asServer`: what the program makes belongs to the server's role. Throws
 * `StartupError` where no database exists.
 */
export async function visitEmbedded(dataDir: string, { asServer = false } = {}): Promise<Embedded> {
  const path = join(resolve(dataDir), 'postgres')
  if (!existsSync(path)) {
    throw new StartupError(`${dataDir} has no database. Name the server's DATA_DIR, or its DATABASE_URL`)
  }
  const folder = await openFolder(await chooseRunner(path), path, true)
  const endpoint = await findRunning(folder)
  if (endpoint === null) return startEmbedded({ dataDir })
  // Only the server knows the password of its own role.
  const url = new URL(addressOf(endpoint, folder.administrator, DATABASE))
  if (asServer) url.searchParams.set('options', `-c role=${SERVER_ROLE}`)
  return { url: url.href, stop: async () => {} }
}

/** Retries because a running server that was found may be stopping. */
async function occupy(server: Server, login: Login, dataDir: string) {
  for (let attempt = 1; ; attempt++) {
    const endpoint = await ensureRunning(server)
    try {
      return { endpoint, lock: await holdFolder(server, endpoint, login, dataDir) }
    } catch (error) {
      if (error instanceof StartupError) throw error
      if (attempt >= OCCUPY_ATTEMPTS_MAX) {
        throw new StartupError(`The PostgreSQL server on ${dataDir} cannot be used: ${(error as Error).message}`)
      }
    }
  }
}

/** The lock belongs to a connection, so PostgreSQL releases it however this process ends. */
function holdFolder(server: Server, endpoint: Endpoint, login: Login, dataDir: string): Promise<KeptConnection> {
  const { administrator } = server.folder
  return keepConnected(addressOf(endpoint, administrator, 'postgres'), {
    setUp: async (client) => {
      await takeLock(client, dataDir)
      await prepareDatabase(client, login, addressOf(endpoint, administrator, DATABASE))
    },
    beforeRetry: async () => {
      await ensureRunning(server, endpoint)
    },
    // Requests notice and report the outage themselves.
    onLost: () => {},
  })
}

async function takeLock(client: pg.Client, dataDir: string): Promise<void> {
  for (let attempt = 1; attempt <= LOCK_ATTEMPTS_MAX; attempt++) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS "locked"', [locks.folder])
    if (rows[0].locked) return
    await sleep(LOCK_RETRY_MS)
  }
  throw new StartupError(
    `${dataDir} is in use by another process of this server. Stop that one, or name another folder with DATA_DIR`,
  )
}

/** Releases the lock after the server stopped: earlier, another process could take it and find the server gone. */
async function stop(server: Server, lock: KeptConnection): Promise<void> {
  await lock.letGo()
  if (lock.isOpen()) await stopServer(server)
  await lock.stop()
}
