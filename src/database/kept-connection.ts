import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export interface KeepOptions {
  /** Runs on every new connection before it counts as made; what it throws is a failure to connect. */
  setUp: (client: pg.Client) => Promise<void>
  /** Told why the connection was lost or could not be made again. */
  onLost: (error: Error) => void
  /** Runs before each attempt to make a lost connection again. */
  beforeRetry?: () => Promise<void>
}

export interface KeptConnection {
  readonly isOpen: () => boolean
  /** A connection that is lost from now on is not made again. Resolves when an attempt under way is over. */
  readonly letGo: () => Promise<void>
  /** Lets go, and closes the connection. */
  readonly end: () => Promise<void>
}

const RETRY_MIN_MS = 100
const RETRY_MAX_MS = 5_000
/** The system's own figure is two hours; a line that died in silence is to be noticed sooner. */
const KEEP_ALIVE_AFTER_MS = 30_000

/**
 * A connection of its own that is made anew whenever it is lost, after 100 ms first and every 5 s at last, without
 * keeping the process alive meanwhile. Resolves once it is there; rejects when the first attempt fails.
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
    // Without a listener an error in an idle moment would end the process.
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
