import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

/** A notification whose signature was found to be right. */
export interface Arrival {
  /** Such as `/5`. */
  readonly path: string
  /** webhook-id */
  readonly id: string
  /** webhook-sequence */
  readonly sequence: number
  /** webhook-event */
  readonly event: string
  /** webhook-changed; null: it came without. */
  readonly changed: string | null
  /** Content-Type */
  readonly type: string
  /** Those that begin with `webhook-`, by their names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ServerReceiver {
  readonly url: string
  readonly arrivals: readonly Arrival[]
  /** What was wrong with what came: without a right signature, at an address that nobody was told. */
  readonly faults: readonly string[]
  /** Notifications that are not answered yet. */
  readonly waiting: () => number
  readonly trust: (path: string, secret: string) => void
  readonly close: () => Promise<void>
}

/** `answer` gives the status, as late as it likes. */
export async function openServerReceiver(
  answer: (arrival: Arrival) => number | Promise<number>,
): Promise<ServerReceiver> {
  const arrivals: Arrival[] = []
  const faults: string[] = []
  const secrets = new Map<string, string>()
  let waiting = 0
  const server = createServer(async (request, response) => {
    waiting += 1
    response.once('close', () => {
      waiting -= 1
    })
    try {
      const body = await text(request)
      const path = request.url ?? ''
      const header = (name: string) => String(request.headers[name])
      const arrival: Arrival = {
        path,
        id: header('webhook-id'),
        sequence: Number(header('webhook-sequence')),
        event: header('webhook-event'),
        changed: request.headers['webhook-changed'] === undefined ? null : header('webhook-changed'),
        type: header('content-type'),
        headers: Object.fromEntries(
          Object.entries(request.headers as Record<string, string>).filter(([name]) => name.startsWith('webhook-')),
        ),
        body,
      }
      new Webhook(secrets.get(path) ?? '').verify(body, request.headers as Record<string, string>, {
        jsonParse: false,
      })
      arrivals.push(arrival)
      response.writeHead(await answer(arrival)).end()
    } catch (error) {
      // A sender that was killed breaks off.
      if (!request.destroyed || request.complete) faults.push(`${request.url}: ${error}`)
      response.writeHead(400).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    faults,
    waiting: () => waiting,
    trust: (path, secret) => secrets.set(path, secret),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
