import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

// What answers look like, byte for byte (rest-protocol §3 to §5), and which bodies are taken.

const server = await sharedServer()
const shop = await server.openStore()

/** The port of the server, which listens from the first call on. */
async function listen(): Promise<number> {
  const { server: socket } = server.app
  if (!socket.listening) await server.app.listen({ host: '127.0.0.1', port: 0 })
  return (socket.address() as AddressInfo).port
}

const recordedHeaders = {
  'cache-control': 'no-cache, private',
  pragma: 'no-cache',
  expires: '-1',
  'access-control-allow-origin': '*',
  vary: 'accept, accept-encoding, authorization, privatekey, token, secureurl',
}

test('a list is compact, without line ends, and one record is a list of one', async () => {
  await shop.call('POST', '/CustomerGroups', { body: [{ Name: 'Ä "quoted"\n' }, { Name: 'B' }] })
  const one = await shop.call('GET', '/CustomerGroups/1')
  const list = await shop.call('GET', '/CustomerGroups')
  expect(one.body).toBe(JSON.stringify(one.json()))
  expect(one.json()).toHaveLength(1)
  expect(list.body).toBe(`[${one.body.slice(1, -1)},${JSON.stringify(list.json()[1])}]`)
  expect(list.headers).toMatchObject({ ...recordedHeaders, 'content-type': 'application/json; charset=utf-8' })
})

test('the recorded headers stand on refusals too', async () => {
  for (const path of ['/Products/99', '/Products/abc', '/Nothing']) {
    expect((await shop.call('GET', path)).headers).toMatchObject(recordedHeaders)
  }
})

describe('takes a body', () => {
  test.each([
    ['application/json'],
    ['application/json; charset=UTF-8'],
    ['Application/JSON;charset="utf-8"'],
    ['application/json; charset=us-ascii'],
    ['text/json'],
    ['application/vnd.shop+json'],
  ])('as %s', async (contentType) => {
    const tolerated = contentType.startsWith('application/vnd')
    const answer = await shop.call('POST', '/Distributors', { body: '{"CompanyName":"D"}', contentType, tolerated })
    expect(answer.statusCode).toBe(201)
  })

  test('without a Content-Type, as JSON', async () => {
    expect((await shop.call('POST', '/Distributors', { body: '{"CompanyName":"D"}' })).statusCode).toBe(201)
  })

  test('with a byte order mark', async () => {
    const body = '\ufeff{"CompanyName":"D"}'
    expect((await shop.call('POST', '/Distributors', { body, tolerated: true })).statusCode).toBe(201)
  })

  test('of which a member stands twice: the last counts', async () => {
    const body = '{"Name":"first","Name":"last"}'
    const { Value } = (await shop.call('POST', '/CustomerGroups', { body })).json()[0]
    expect((await shop.call('GET', `/CustomerGroups/${Value}`)).json()[0].Name).toBe('last')
  })

  test('a GET with a Content-Type and no body is answered', async () => {
    const answer = await shop.call('GET', '/CustomerGroups/1', { contentType: 'image/png', accept: 'application/json' })
    expect(answer.statusCode).toBe(200)
  })

  test('a DELETE with a Content-Type and no body is answered', async () => {
    await shop.call('POST', '/CustomerGroups', { body: { Name: 'short-lived' } })
    const answer = await shop.call('DELETE', '/CustomerGroups/2', { contentType: 'text/plain' })
    expect(answer.statusCode).toBe(200)
  })
})

describe('415', () => {
  test.each([
    [{ contentType: 'application/json; charset=iso-8859-1' }, 'Content-Type'],
    [{ contentType: 'application/xml; charset=utf-16' }, 'Content-Type'],
    [{ contentType: 'application/json', headers: { 'content-encoding': 'gzip' } }, 'Content-Encoding'],
  ])('for %o', async (options, field) => {
    const answer = await shop.call('POST', '/CustomerGroups', { body: '{"Name":"x"}', ...options })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 415, status: '415', field })
  })
})

describe('413', () => {
  test('reaches a client that sends all before it reads', async () => {
    const megabytes = 40
    const socket = connect(await listen(), '127.0.0.1')
    const { secureurl, privatekey, token } = shop.credentials
    const head = [
      'POST /StoreWebAPI/v1/Products HTTP/1.1',
      'Host: localhost',
      `SecureURL: ${secureurl}`,
      `PrivateKey: ${privatekey}`,
      `Token: ${token}`,
      `Content-Length: ${megabytes * 1024 * 1024}`,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    const chunk = Buffer.alloc(1024 * 1024, ' ')
    for (let sent = 0; sent < megabytes; sent++) {
      if (!socket.write(chunk)) await once(socket, 'drain')
    }
    expect(await text(socket)).toMatch(/^HTTP\/1.1 413 /)
  })
})

describe('a header of the credentials that is sent twice', () => {
  const statusOf = async (changes: Record<string, string[]>) => {
    const headers = { ...shop.credentials, ...changes }
    const lines = Object.entries(headers).flatMap(([name, values]) =>
      [values].flat().map((value) => `${name}: ${value}`),
    )
    const socket = connect(await listen(), '127.0.0.1')
    socket.write(
      ['GET /StoreWebAPI/v1/Products?countonly=1 HTTP/1.1', 'Host: x', 'Connection: close', ...lines, '', ''].join(
        '\r\n',
      ),
    )
    return Number((await text(socket)).slice(9, 12))
  }

  test.each(['secureurl', 'privatekey', 'token'] as const)('counts once with one value: %s', async (name) => {
    const value = shop.credentials[name]
    expect(await statusOf({ [name]: [value, value] })).toBe(200)
    expect(await statusOf({ [name]: [value, value, value] })).toBe(200)
    expect(await statusOf({ [name]: [value, `${value}x`] })).toBe(401)
    expect(await statusOf({ [name]: [`${value}x`, value] })).toBe(401)
  })
})

test.each([
  { framing: 'of a declared length', bodyOf: (text: string) => text },
  { framing: 'in chunks', bodyOf: (text: string) => new Blob([text]).stream() },
])('a body of 3 MB $framing arrives as it was sent', async ({ framing, bodyOf }) => {
  const texts = Array.from({ length: 50 }, (_, number) => `${number} ${'ä€'.repeat(20_000 + number)}`)
  const records = texts.map((ShortDescription, number) => ({
    ...productBody(`${framing}-${number}`),
    ShortDescription,
  }))

  const answer = await fetch(`http://127.0.0.1:${await listen()}/StoreWebAPI/v1/Products`, {
    method: 'POST',
    headers: { ...shop.credentials, 'content-type': 'application/json' },
    body: bodyOf(JSON.stringify(records)),
    duplex: 'half',
  } as RequestInit)

  expect(answer.status).toBe(201)
  const ids = ((await answer.json()) as { Value: string }[]).map(({ Value }) => Value)
  const stored = await Promise.all(ids.map(async (id) => (await shop.call('GET', `/Products/${id}`)).json()[0]))
  expect(stored.map(({ ShortDescription }) => ShortDescription)).toEqual(texts)
})
