import { connect, createServer, type Server, type Socket } from 'node:net'
import pg from 'pg'

/** A way to the database that can be shut: connections through it break, and new ones are refused. */
export async function openGate(databaseUrl: string) {
  const { host, port: targetPort } = new pg.Client({ connectionString: databaseUrl })
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${targetPort}` } : { host, port: targetPort }
  const sockets = new Set<Socket>()
  const port = { number: 0 }
  let gate: Server
  const open = () => {
    gate = createServer((near) => {
      const far = connect(target)
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(one)
        one.on('error', () => {}).on('close', () => other.destroy())
        one.pipe(other)
      }
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
  await open()
  const url = Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(port.number) })
  url.searchParams.delete('host')
  return { url: url.href, open, close }
}
