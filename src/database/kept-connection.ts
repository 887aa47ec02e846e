import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export interface KeepOptions {
  /** Runs on every new connection before it is used. An error it throws counts as a failure to connect. */
  setUp: (client: pg.Client) => Promise<void>
  /** Gets the reason whenever the connection is lost or an attempt to reconnect fails. */
  onLost: (error: Error) => void
  /** Runs before each attempt to reconnect. */
  beforeRetry?: () => Promise<void>
}

export interface KeptConnection {
  readonly isOpen: () => boolean
  /** Stops reconnecting. Resolves when an attempt in progress has ended. */
  readonly letGo: () => Promise<void>
  /** Stops reconnecting and closes the connection. */
  readonly end: () => Promise<void>
}

const RETRY_MIN_MS = 100
const RETRY_MAX_MS = 5_000
/** The system default is two hours, which is too long to notice a dead connection. */
const KEEP_ALIVE_AFTER_MS = 30_000

/**
 * Opens a connection outside the pool and reopens it whenever it is lost: after 100 ms at first, then with growing delays up
 * to 5 s. Does not keep the process alive. Resolves once connected; rejects when the first attempt fails.
 */
export async function keepConnected(url: string, { setUp, onLost, beforeRetry }: KeepOptions): Promise<KeptConnection> {
  const stopping = new AbortController()
  let client = await open()
  let isOpen = true
  let retrying = Promise.resolve()

  async function open(): Promise<pg.Client> {
    const next = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    })
    let reason = new Error('The server closed the connection')
    // Without a listener, an error on the idle connection would end the process.
    next.on('error', (error) => {
      reason = error
    })
    try {
      await next.connect()
      await setUp(next)
    } catch (error) {
      await next.end().catch(() => {})
      throw error
    }
    next.once('end', () => lost(reason))
    return next
  }

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
        client = await open()
        isOpen = true
        return
      } catch (error) {
        onLost(error as Error)
      }
    }
  }

  async function letGo(): Promise<void> {
    stopping.abort()
    await retrying
  }

  return {
    isOpen: () => isOpen,
    letGo,
    end: async () => {
      await letGo()
      await client.end().catch(() => {})
    },
  }
}
