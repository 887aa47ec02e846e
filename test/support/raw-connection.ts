import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection on which a test writes bytes itself, and reads them when it wants to. */
export interface RawConnection {
  readonly socket: Socket
  /** What was read so far. */
  readonly text: () => string
  /** Resolves with the status of the answer, or 'closed' when the connection ends without one. */
  readonly status: () => Promise<number | 'closed'>
}

/** Opens a connection to `port` of this machine and writes `head`. A `slow` one does not read before `socket.resume()`. */
export async function openRaw(port: number, head: string, { slow = false } = {}): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  await once(socket, 'connect')
  let text = ''
  const status = Promise.withResolvers<number | 'closed'>()
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    if (text.length < 10_000) text += chunk
    const [, code] = /^HTTP\/1\.1 ([2-5]\d\d)/m.exec(text) ?? []
    if (code !== undefined) status.resolve(Number(code))
  })
  socket.once('close', () => status.resolve('closed'))
  if (slow) socket.pause()
  socket.write(head)
  return { socket, text: () => text, status: () => status.promise }
}

/** The text of a request up to its body. */
export function requestHead(method: string, path: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`
}
