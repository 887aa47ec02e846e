import { connect, createServer, type Server, type Socket } from 'node:net'
import pg from 'pg'

/** A way to the database that can be shut: connections through it break, and new ones are refused. Stalled, it lets nothing pass. */
export async function openGate(databaseUrl: string) {
  const sockets = new Set<Socket>()
  const port = { number: 0 }
  let isStalled = false
  let gate: Server
  const open = () => {
    gate = createServer((near) => {
      const far = connectToDatabase(databaseUrl)
      closeTogether(near, far, sockets)
      near.pipe(far).pipe(near)
      if (isStalled) for (const socket of [near, far]) socket.pause()
    })
    return new Promise<void>((resolve) => {
      gate.listen(port.number, '127.0.0.1', () => {
        port.number = (gate.address() as { port: number }).port
        resolve()
      })
    })
  }
  const close = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    return new Promise<void>((resolve) => gate.close(() => resolve()))
  }
  /** Nothing passes any more, and nobody is told. */
  const stall = () => {
    isStalled = true
    for (const socket of sockets) socket.pause()
  }
  const resume = () => {
    isStalled = false
    for (const socket of sockets) socket.resume()
  }
  /** Of the connections that there are, nothing passes any more, and nobody is told; new ones are as ever. */
  const lose = () => {
    stall()
    isStalled = false
  }
  await open()
  return { url: throughPort(databaseUrl, port.number), open, close, stall, resume, lose }
}

/** Adds both sockets to `sockets`, and ends each with the other. */
export function closeTogether(near: Socket, far: Socket, sockets: Set<Socket>): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(one)
    one.on('error', () => {}).on('close', () => other.destroy())
  }
}

export function connectToDatabase(databaseUrl: string): Socket {
  return connect(endpointOf(databaseUrl))
}

/** Where the server of a database listens: a port or a socket. */
export function endpointOf(databaseUrl: string): { host: string; port: number } | { path: string } {
  const { host, port } = new pg.Client({ connectionString: databaseUrl })
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
}

/** The database's address by way of a port of this machine. */
export function throughPort(databaseUrl: string, port: number): string {
  const url = Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(port) })
  url.searchParams.delete('host')
  return url.href
}
