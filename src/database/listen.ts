import { keepConnected } from './kept-connection.ts'

export interface ListenOptions {
  /** Called after every connection that was made: what was notified in between was not heard. */
  onConnect: () => void
  /** Told why a connection was lost or could not be made again. */
  onLost: (error: Error) => void
}

export interface Listening {
  readonly stop: () => Promise<void>
}

/**
 * Hears PostgreSQL's notifications on a connection of its own, for as long as the process runs: a lost connection is made
 * anew, at most every 5 seconds. Resolves once the first one listens; rejects when that fails.
 */
export async function listen(
  url: string,
  channels: Readonly<Record<string, (payload: string) => void>>,
  { onConnect, onLost }: ListenOptions,
): Promise<Listening> {
  const connection = await keepConnected(url, {
    setUp: async (client) => {
      client.on('notification', ({ channel, payload = '' }) => channels[channel]?.(payload))
      for (const channel of Object.keys(channels)) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
      onConnect()
    },
    onLost,
  })
  return { stop: connection.end }
}
