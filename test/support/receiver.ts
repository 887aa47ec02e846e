import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'

/** What came to a receiver. */
export class Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  /** As it was sent. */
  readonly text: string

  constructor({ method, url, headers }: IncomingMessage, text: string) {
    this.method = method
    this.url = url
    this.headers = headers
    this.text = text
  }

  get callback(): { PublicKey: string; TimeStamp: string; TokenKey: string; Action: string; SecureURL: string } {
    return JSON.parse(this.text)
  }
}

export type Answer = (response: ServerResponse, received: Received) => unknown

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** What it answers from now on. */
  answer: Answer
  readonly close: () => Promise<void>
}

/** An application's CallBackURL, or another address on this machine. Without `answer` it says 200 and nothing more. */
export async function openReceiver(answer: Answer = status(200), path = '/callback?app=7'): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const one = new Received(request, text)
    received.push(one)
    await receiver.answer(response, one)
  })
  const receiver: Receiver = {
    url: `http://127.0.0.1:${await listen(server)}${path}`,
    received,
    answer,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

/** A receiver that speaks no proper HTTP: `handle` has each connection. */
export async function openSocketReceiver(handle: (socket: Socket) => unknown) {
  const sockets = new Set<Socket>()
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    handle(socket)
  })
  return {
    url: `http://127.0.0.1:${await listen(server)}/`,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function listen(server: ReturnType<typeof createSocketServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

export function status(code: number, headers: Record<string, string> = {}, body: string | Buffer = ''): Answer {
  return (response) => response.writeHead(code, headers).end(body)
}

export function json(body: unknown): Answer {
  return (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Has a receiver keep each answer until `release`, so that a test decides what happens meanwhile. */
export function holdAnswers(receiver: Pick<Receiver, 'answer'>, answer = status(200)) {
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  receiver.answer = async (response, came) => {
    arrived.resolve()
    await released.promise
    await answer(response, came)
  }
  /** `arrived` resolves when the first request is there. */
  return { arrived: arrived.promise, release: () => released.resolve() }
}
