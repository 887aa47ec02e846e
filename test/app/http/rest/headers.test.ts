import { connect as connectSocket } from 'node:net'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, test } from 'vitest'
import { type CallOptions, type Method, sharedServer } from '../../../support/store.ts'
import { productBody } from './fixture.ts'

// Every answer carries a request id, and the log has it.

const server = await sharedServer()
const shop = await server.openStore()
await shop.call('POST', '/Products', { body: productBody('A-1') })

/** What the log says of a request: its lines with the status of the answer. */
const loggedStatuses = (id: unknown) =>
  server.log
    .map((line) => JSON.parse(line))
    .filter(({ requestId, msg }) => requestId === id && msg === 'request')
    .map(({ status }) => status)

const answers: [status: number, what: string, method: Method, path: string, options?: CallOptions][] = [
  [200, 'a list', 'GET', '/Products'],
  [201, 'a new record', 'POST', '/Manufacturers', { body: { ManufacturerName: 'M' } }],
  [
    206,
    'a change of some',
    'PUT',
    '/Products',
    { body: [{ SKUInfo: { CatalogID: 1 } }, { SKUInfo: { CatalogID: 9 } }] },
  ],
  [304, 'what is known', 'GET', '/Products/1', { headers: { 'if-none-match': '*' } }],
  [401, 'a wrong token', 'GET', '/Products', { headers: { token: 'x' } }],
  [413, 'a large body', 'POST', '/Products', { body: Buffer.alloc(11 * 1024 * 1024, 0x20) }],
]

describe('X-Request-Id', () => {
  test.each(answers)(
    'of a %i for %s is new each time, and in the log',
    async (status, _what, method, path, options) => {
      const [one, other] = [
        await shop.call(method, path, { ...options, tolerated: true }),
        await shop.call(method, path, { ...options, tolerated: true }),
      ]
      expect([one.statusCode, other.statusCode]).toEqual([status, status])
      const ids = [one, other].map(({ headers }) => String(headers['x-request-id']))
      for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
      expect(ids[0]).not.toBe(ids[1])
      expect(ids.map(loggedStatuses)).toEqual([[status], [status]])
    },
  )

  test('leads to the line of the log that names store and application', async () => {
    const { headers } = await shop.call('GET', '/Products')
    const lines = server.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    const line = lines.find(({ requestId }) => requestId === headers['x-request-id'])
    expect(line).toMatchObject({ storeId: shop.store.id, applicationId: shop.application.id })
  })

  describe('of what never becomes a request', () => {
    let port: number
    beforeAll(async () => {
      await server.app.listen({ host: '127.0.0.1', port: 0 })
      port = Number(new URL(server.app.listeningOrigin).port)
    })

    test.each([
      [400, 'what is not HTTP', 'GET / HTTP/9\r\n\r\n'],
      [400, 'a method that is none', 'FETCH /StoreWebAPI/v1/Products HTTP/1.1\r\nHost: x\r\n\r\n'],
      [400, 'bytes that no address has', 'GET /StoreWebAPI/v1/Products?a=\u00e4 HTTP/1.1\r\nHost: x\r\n\r\n'],
      [400, 'broken percent-encoding', 'GET /StoreWebAPI/v1/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
      [400, 'two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
      [431, 'large headers', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`],
    ])('%i for %s', async (status, _what, head) => {
      const socket = connectSocket(port, '127.0.0.1')
      socket.write(Buffer.from(head, 'latin1'))
      const answer = await text(socket)
      const [, id] = /^x-request-id: (\S+)\r$/im.exec(answer) ?? []
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      expect(id).toMatch(/^[0-9a-f-]{36}$/)
      expect(loggedStatuses(id)).toEqual([status])
    })
  })
})
