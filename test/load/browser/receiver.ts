import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** An application's own server: takes callbacks, and shows a page for whatever else is opened there. */
export async function openReceiver({ postBack = false } = {}) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      if (request.method === 'POST') {
        received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() })
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(postBack ? JSON.stringify({ PostBackURL: `${origin()}/welcome` }) : '')
      } else {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>The application</title>')
      }
    })
  })
  server.listen(0, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<void>()
  server.once('listening', resolve)
  await promise
  const origin = () => `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin: origin(),
    received,
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((done) => server.close(() => done()))
    },
  }
}
