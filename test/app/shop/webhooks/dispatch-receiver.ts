import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished, vi } from 'vitest'

/** A notification as it came. */
export interface Arrival {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export type Answer = (response: ServerResponse, arrival: Arrival) => unknown

export interface Receiver {
  readonly url: string
  readonly arrivals: Arrival[]
  /** What it answers from now on. */
  answer: Answer
  /** Resolves when so many have come since it was opened. */
  readonly came: (count: number) => Promise<void>
}

/** A webhook's address on this machine; closed when the test ends. Without `answer` it says 200. */
export async function openReceiver(answer: Answer = status(200)): Promise<Receiver> {
  const arrivals: Arrival[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const { method, url, headers } = request
    const arrival = { method, url, headers, text }
    arrivals.push(arrival)
    await receiver.answer(response, arrival)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=a%20b&x=1`,
    arrivals,
    answer,
    came: (count) =>
      vi.waitUntil(() => arrivals.length >= count, { timeout: 20_000, interval: 5 }).then(() => undefined),
  }
  return receiver
}

export function status(code: number, headers: Record<string, string> = {}, body: string | Buffer = ''): Answer {
  return (response) => response.writeHead(code, headers).end(body)
}
