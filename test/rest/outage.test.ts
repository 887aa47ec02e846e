import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthenticator } from '../../src/access/authenticate.ts'
import { buildApp } from '../../src/app.ts'
import { connect } from '../../src/database/client.ts'
import { openServer, type TestServer, type TestStore } from '../support/store.ts'
import { productBody, type Result } from './fixture.ts'

let server: TestServer
let store: TestStore

beforeAll(async () => {
  server = await openServer()
  store = await server.openStore()
})
afterAll(() => server.close())

test('503 with Retry-After while the database cannot be reached, for reads, writes and each record of a list; then all goes on', async () => {
  const gate = await openGate(server.database.url)
  const db = connect(gate.url)
  const authenticator = createAuthenticator({ db, secrets: server.services.secrets, now: server.services.now })
  const app = buildApp({ ...server.services, db, authenticator })
  const call = (method: 'GET' | 'POST', body?: object) =>
    app.inject({ method, url: '/StoreWebAPI/v1/Products', headers: store.credentials, ...(body && { payload: body }) })
  try {
    expect((await call('POST', productBody('BEFORE'))).statusCode).toBe(201)

    await gate.close()
    const read = await call('GET')
    expect(read.statusCode).toBe(503)
    expect(read.headers['retry-after']).toBe('1')
    expect(read.json<Result[]>()).toEqual([
      { Key: 'Error', Value: '', Status: '503', Message: 'The database does not answer; try again in a moment' },
    ])
    const write = await call('POST', [productBody('MEANWHILE'), productBody('MEANWHILE TOO')])
    expect(write.json<Result[]>().map(({ Status }) => Status)).toEqual(['503', '503'])
    expect(write.statusCode).toBe(503)

    await gate.open()
    expect((await call('POST', productBody('AFTER'))).statusCode).toBe(201)
    expect((await call('GET')).json()).toHaveLength(2)
  } finally {
    await app.close()
    await db.$disconnect()
    await gate.close()
  }
})

/** A way to the database that can be shut: connections through it break, and new ones are refused. */
async function openGate(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const port = { number: 0 }
  let gate: Server
  const open = () => {
    gate = createServer((near) => {
      const far = connectSocket(Number(target.port), target.hostname)
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
  const url = Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(port.number) }).href
  return { url, open, close }
}
