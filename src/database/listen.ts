import { keepConnected } from './kept-connection.ts'

export interface ListenOptions {
  /** Runs after every connect: notifications sent before it were missed. */
  onConnect: () => void
  /** Gets the reason whenever the connection is lost or an attempt to reconnect fails. */
  onLost: (error: Error) => void
}

export interface Listening {
  readonly stop: () => Promise<void>
}

/**
 * Listens to PostgreSQL's notifications on a connection outside the pool, reconnecting when it is lost. Resolves once it
 * listens; rejects when the first attempt fails.
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
