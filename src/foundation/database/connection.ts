import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { programVersion } from '../process/version.ts'
import { Outage } from './outage.ts'

// Connections, and those outside the pools.

export const CONNECT_TIMEOUT_MS = 10_000

/** The host and port of a database's address, without credentials. */
export function hostOf(url: string): string {
  const { hostname, port, searchParams } = new URL(url)
  return `${searchParams.get('host') ?? decodeURIComponent(hostname)}:${port || 5432}`
}

/** The first line of the message. A refused connection to several addresses has an empty message of its own. */
export function reasonOf(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error
  const message = first instanceof Error ? first.message : String(first)
  return message.split('\n', 1)[0]?.trim().replace(/\.$/, '') || 'no reason was given'
}

/** Runs `work` on a connection of its own, which is closed behind it. */
export async function withConnection<T>(
  url: string,
  work: (client: Connection) => Promise<T>,
  connectionTimeoutMillis = CONNECT_TIMEOUT_MS,
): Promise<T> {
  const client = new Connection({ connectionString: url, connectionTimeoutMillis })
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** What PostgreSQL calls BackendKeyData: by it, a connection can be named to another one. */
interface BackendKey {
  readonly processID: number
  readonly secretKey: number
}

/** PostgreSQL's code of a request to cancel. */
const CANCEL = 80_877_102
const CANCEL_MS_MAX = 1_000

/** A connection whose statements can be cancelled, and whose loss ends no process: its user hears of it by its statements. */
export class Connection extends pg.Client {
  #key: BackendKey = { processID: 0, secretKey: 0 }

  constructor(config?: pg.ClientConfig) {
    super(config)
    // Between two statements, or two users of a pool, nobody else listens.
    this.on('error', () => {})
    this.connection.once('backendKeyData', (key: BackendKey) => {
      this.#key = key
    })
  }

  /** The number of PostgreSQL's process. A pooler makes one up. */
  get processId(): number {
    return this.#key.processID
  }

  /** Asks the server to cancel the statement. Resolves when it has been told, or after a second; never rejects. */
  async cancelStatement(): Promise<void> {
    const { host, port } = this
    const { processID, secretKey } = this.#key
    const message = Buffer.alloc(16)
    for (const [index, part] of [message.length, CANCEL, processID, secretKey].entries())
      message.writeInt32BE(part, index * 4)
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    socket.setTimeout(CANCEL_MS_MAX, () => socket.destroy())
    socket.on('error', () => {}).write(message)
    // PostgreSQL closes the connection when it has passed the request on. PgBouncer 1.18 can crash when this side does so first.
    await new Promise((resolve) => socket.resume().once('close', resolve))
  }
}

/**
 * Runs a statement on a `Connection`. Throws an `Outage` after so many milliseconds, when PostgreSQL has been asked to cancel it:
 * otherwise it would go on, and the next request would begin another.
 */
export async function queryWithin(
  client: pg.Client,
  query: pg.QueryConfig & { readonly rowMode?: 'array' | undefined },
  ms: number,
): Promise<pg.QueryResult> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  let tooLate: Outage | undefined
  const timer = setTimeout(async () => {
    tooLate = new Outage('It took longer than the time limit of the database')
    if (client instanceof Connection) await client.cancelStatement()
    reject(tooLate)
  }, ms)
  try {
    return await Promise.race([client.query(query), late])
  } catch (error) {
    throw tooLate ?? error
  } finally {
    clearTimeout(timer)
  }
}

interface KeepOptions {
  /** Runs on every new connection before it is used. An error it throws counts as a failure to connect. */
  setUp: (client: Connection) => Promise<void>
  /** Gets the reason whenever the connection is lost or an attempt to reconnect fails. */
  onLost: (error: Error) => void
  beforeRetry?: () => Promise<void>
}

export type KeptConnection = Awaited<ReturnType<typeof keepConnected>>

const RETRY_MIN_MS = 100
const RETRY_MAX_MS = 5_000

/**
 * Opens a connection and reopens it whenever it is lost: after 100 ms at first, then with growing delays up
 * to 5 s. Does not keep the process alive. Resolves once connected; rejects when the first attempt fails.
 */
export async function keepConnected(url: string, { setUp, onLost, beforeRetry }: KeepOptions) {
  const stopping = new AbortController()
  let client = await openConnection(url, setUp, lost)
  let isOpen = true
  let retrying = Promise.resolve()

  function lost(reason: Error): void {
    isOpen = false
    if (stopping.signal.aborted) return
    onLost(reason)
    retrying = retry()
  }

  async function retry(): Promise<void> {
    for (let delay = RETRY_MIN_MS; ; delay = Math.min(delay * 2, RETRY_MAX_MS)) {
      await sleep(delay, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (stopping.signal.aborted) return
      try {
        await beforeRetry?.()
        client = await openConnection(url, setUp, lost)
        isOpen = true
        return
      } catch (error) {
        onLost(error as Error)
      }
    }
  }

  /** Stops reconnecting. Resolves when an attempt in progress has ended. */
  async function letGo(): Promise<void> {
    stopping.abort()
    await retrying
  }

  return {
    isOpen: () => isOpen,
    letGo,
    /** Stops reconnecting and closes the connection. */
    stop: async () => {
      await letGo()
      await client.end().catch(() => {})
    },
  }
}

/** Whether what a connection holds is its own: a pooler makes up the process id of its connections. */
export async function hasOwnSession(client: Connection): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_backend_pid() = $1 AS "isOwn"', [client.processId])
  return rows[0].isOwn
}

/** `onEnd` gets the reason when the connection ends. */
async function openConnection(url: string, setUp: KeepOptions['setUp'], onEnd: (reason: Error) => void) {
  const client = new Connection({
    connectionString: url,
    // Of the connection that holds the lock of the process, the version is asked (process-lock.ts).
    application_name: `store-platform ${programVersion}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    // The system default is two hours, which is too long to notice a dead connection.
    keepAliveInitialDelayMillis: 30_000,
  })
  let reason = new Error('The server closed the connection')
  client.on('error', (error) => {
    reason = error
  })
  try {
    await client.connect()
    await setUp(client)
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
  client.once('end', () => onEnd(reason))
  return client
}

/**
 * Listens to PostgreSQL's notifications on a kept connection. Resolves once it listens; rejects when the first attempt
 * fails. `onConnect` runs after every connect: notifications sent before it were missed.
 */
export async function listen(
  url: string,
  channels: Readonly<Record<string, (payload: string) => void>>,
  { onConnect, onLost }: { onConnect: (client: Connection) => void | Promise<void>; onLost: KeepOptions['onLost'] },
): Promise<KeptConnection> {
  return keepConnected(url, {
    setUp: async (client) => {
      client.on('notification', ({ channel, payload = '' }) => channels[channel]?.(payload))
      for (const channel of Object.keys(channels)) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
      await onConnect(client)
    },
    onLost,
  })
}
