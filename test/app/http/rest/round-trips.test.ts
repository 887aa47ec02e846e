import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthenticator } from '../../../../src/access/applications/authenticate.ts'
import { buildApp } from '../../../../src/app.ts'
import { connect, type Db } from '../../../../src/foundation/database/client.ts'
import { closeTogether, connectToDatabase, throughPort } from '../../../support/gate.ts'
import { type Method, sharedServer } from '../../../support/store.ts'
import { productBody } from './fixture.ts'

// How often a request goes to the database and waits for the answer.

let line: Awaited<ReturnType<typeof openCountingLine>>
let db: Db
let app: ReturnType<typeof buildApp>
let ids: number[]
const server = await sharedServer()
const shop = await server.openStore()

beforeAll(async () => {
  const body = Array.from({ length: 100 }, (_, number) => productBody(`P-${number}`))
  ids = (await shop.call('POST', '/Products', { body })).json().map(({ Value }: { Value: string }) => Number(Value))
  line = await openCountingLine(server.database.url)
  // Unprepared, each statement goes with its text.
  db = connect(line.url, { poolMax: 1, isPreparing: false })
  const authenticator = createAuthenticator({ db, secrets: server.services.secrets, now: server.services.now })
  app = buildApp({ ...server.services, db, authenticator })
  await roundTrips('GET', '/Products/1')
})
afterAll(async () => {
  await app.close()
  await db.$disconnect()
  line.close()
})

/** A way to the database that counts how often something is sent after an answer. */
async function openCountingLine(databaseUrl: string) {
  const sockets = new Set<Socket>()
  let count = 0
  const gate = createServer((near) => {
    let isAnswered = true
    const far = connectToDatabase(databaseUrl)
    closeTogether(near, far, sockets)
    near.on('data', (sent: Buffer) => {
      // Workers are woken behind a change, and nobody waits for it.
      if (isAnswered && !sent.includes('pg_notify')) count++
      isAnswered = false
      far.write(sent)
    })
    far.on('data', (answered: Buffer) => {
      isAnswered = true
      near.write(answered)
    })
  })
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  const { port } = gate.address() as { port: number }
  return {
    url: throughPort(databaseUrl, port),
    count: () => count,
    close: () => {
      gate.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

async function roundTrips(
  method: Method,
  path: string,
  body?: object,
  status = method === 'POST' ? 201 : 200,
): Promise<number> {
  const before = line.count()
  const url = `/StoreWebAPI/v1${path}`
  const answer = await app.inject({ method, url, headers: shop.credentials, ...(body && { payload: body }) })
  expect(answer.statusCode).toBe(status)
  return line.count() - before
}

const stockOf = (CatalogID: number, Stock: number) => ({ SKUInfo: { CatalogID, Stock } })
let stock = 0

test.each([
  ['a stock', () => ({ SKUInfo: { Stock: ++stock } })],
  ['a text', () => ({ Description: `Text ${++stock}` })],
])('PUT of %s takes at most four', async (_what, body) => {
  for (const _ of [1, 2]) expect(await roundTrips('PUT', `/Products/${ids[0]}`, body())).toBeLessThanOrEqual(4)
})

test('PUT of a hundred stocks takes at most eight', async () => {
  for (const _ of [1, 2]) {
    const body = ids.map((id) => stockOf(id, ++stock))
    expect(await roundTrips('PUT', '/Products', body)).toBeLessThanOrEqual(8)
  }
})

test('PUT of a hundred that stay as they are, but for one that the rules refuse, takes at most eight', async () => {
  const [refusedId, ...unchanged] = ids
  const body = unchanged.map((id) => stockOf(id, stock))
  await roundTrips('PUT', '/Products', body)
  const RelatedProductList = [{ RelatedProductID: 4_711_000 }]
  const refused = { SKUInfo: { CatalogID: refusedId }, RelatedProductList }
  expect(await roundTrips('PUT', '/Products', [...body, refused], 206)).toBeLessThanOrEqual(8)
})

test('POST of a hundred takes at most eight, and the reservation of their ids', async () => {
  const body = Array.from({ length: 100 }, (_, number) => ({ ManufacturerName: `M ${number}` }))
  expect(await roundTrips('POST', '/Manufacturers', body)).toBeLessThanOrEqual(9)
})
