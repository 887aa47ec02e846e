import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export interface ListenOptions {
  /** Called after every connection that was made: what was notified in between was not heard. */
  onConnect: () => void
  /** Told why a connection was lost or could not be made. */
  onLost: (error: Error) => void
}

export interface Listening {
  readonly stop: () => Promise<void>
}

const RETRY_MIN_MS = 100
const RETRY_MAX_MS = 5_000

/**
 * Hears PostgreSQL's notifications on a connection of its own, for as long as the process runs: a lost connection is made
 * anew, at most every 5 seconds. Resolves once the first one listens; rejects when that fails.
 */
export async function listen(
  url: string,
  channels: Readonly<Record<string, (payload: string) => void>>,
  { onConnect, onLost }: ListenOptions,
): Promise<Listening> {
  const stopping = new AbortController()
  let client = await connectAndListen()

  async function connectAndListen(): Promise<pg.Client> {
    const next = new pg.Client({ connectionString: url, keepAlive: true, connectionTimeoutMillis: 10_000 })
    next.on('notification', ({ channel, payload = '' }) => channels[channel]?.(payload))
    try {
      await next.connect()
      for (const channel of Object.keys(channels)) await next.query(`LISTEN ${next.escapeIdentifier(channel)}`)
    } catch (error) {
      next.on('error', () => {})
      await next.end().catch(() => {})
      throw error
    }
    // A broken connection tells of itself by `error`, then `end`.
    next.on('error', onLost)
    next.once('end', () => void reconnect())
    onConnect()
    return next
  }

  async function reconnect(): Promise<void> {
    for (let delay = RETRY_MIN_MS; !stopping.signal.aborted; delay = Math.min(delay * 2, RETRY_MAX_MS)) {
      const waited = await sleep(delay, true, { signal: stopping.signal, ref: false }).catch(() => false)
      if (!waited) return
      try {
        client = await connectAndListen()
        if (stopping.signal.aborted) await client.end()
        return
      } catch (error) {
        onLost(error as Error)
      }
    }
  }

  return {
    stop: async () => {
      stopping.abort()
      await client.end().catch(() => {})
    },
  }
}
