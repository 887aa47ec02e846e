import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'
import { productBody } from '../../http/rest/fixture.ts'

// Over a socket, as a client gets it: an injected request knows nothing of chunks.

const server = await sharedServer()
const shop = await server.openStore()
await shop.call('POST', '/Products', {
  body: Array.from({ length: 100 }, (_, index) =>
    productBody(`SKU-${index}`, { Description: `Text ${index} `.repeat(250) }),
  ),
})
await server.app.listen({ host: '127.0.0.1', port: 0 })
const port = Number(new URL(server.app.listeningOrigin).port)

interface Sent {
  method?: string
  headers?: Record<string, string>
  body?: string
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}

async function ask(path: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Answer> {
  const request = httpRequest({ port, host: '127.0.0.1', path, method, headers }).end(body)
  const [answer] = await once(request, 'response')
  return { status: answer.statusCode, headers: answer.headers, bytes: await buffer(answer) }
}

const rest = (path: string, encoding?: string, sent: Sent = {}) =>
  ask(`/StoreWebAPI/v1${path}`, {
    ...sent,
    headers: { ...shop.credentials, ...(encoding !== undefined && { 'accept-encoding': encoding }), ...sent.headers },
  })

const plainOf = ({ headers, bytes }: Answer): Buffer => {
  const decoders: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync }
  return decoders[headers['content-encoding'] ?? '']?.(bytes) ?? bytes
}

const call = (operation: string, parameters: string) =>
  `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><${operation} xmlns="urn:store-platform:cartAPI"><storeUrl>${shop.store.secureUrl}</storeUrl><userKey>${shop.store.userKey}</userKey>${parameters}</${operation}></Body></Envelope>`
const soap = (operation: string, parameters: string, encoding?: string) =>
  ask('/cart.asmx', {
    method: 'POST',
    headers: { 'content-type': 'text/xml', ...(encoding !== undefined && { 'accept-encoding': encoding }) },
    body: call(operation, parameters),
  })

const compressible: [what: string, get: (encoding?: string) => Promise<Answer>][] = [
  ['a page of REST', (encoding) => rest('/Products?limit=100', encoding)],
  ['a page in XML', (encoding) => rest('/Products?limit=100', encoding, { headers: { accept: 'text/xml' } })],
  ['a record', (encoding) => rest('/Products/1', encoding)],
  [
    'the items of a change',
    (encoding) =>
      rest('/Products', encoding, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(
          Array.from({ length: 50 }, (_, index) => ({ SKUInfo: { CatalogID: index + 1, Stock: 5 } })),
        ),
      }),
  ],
  [
    'a result of cartAPI',
    (encoding) => soap('getProduct', '<batchSize>50</batchSize><startNum>1</startNum>', encoding),
  ],
  ['the WSDL', (encoding) => ask('/cart.asmx?WSDL', accepting(encoding))],
  ['the reference', (encoding) => ask('/openapi.json', accepting(encoding))],
  ['the schema of the XML', (encoding) => ask('/records.xsd', accepting(encoding))],
  ['a page of the documentation', (encoding) => ask('/docs/reference/Products/getProduct', accepting(encoding))],
  ['a style sheet', (encoding) => ask('/assets/pico.css', accepting(encoding))],
]

function accepting(encoding: string | undefined): Sent {
  return encoding === undefined ? {} : { headers: { 'accept-encoding': encoding } }
}

describe.each(compressible)('%s', (_what, get) => {
  test.each(['gzip', 'br'])('comes in %s, and is the same', async (encoding) => {
    const [plain, answer] = [await get(), await get(encoding)]
    expect(plain.status).toBe(200)
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(plain.headers['content-length']).toBe(String(plain.bytes.length))
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, encoding])
    expect(answer.headers['content-type']).toBe(plain.headers['content-type'])
    expect(answer.bytes.length).toBeLessThan(plain.bytes.length / 2)
    expect(plainOf(answer).equals(plain.bytes)).toBe(true)
    expect([undefined, String(answer.bytes.length)]).toContain(answer.headers['content-length'])
    for (const { headers } of [plain, answer]) {
      expect(headers.vary?.match(/accept-encoding/gi)).toHaveLength(1)
    }
    expect(answer.headers.vary).toBe(plain.headers.vary)
    if (plain.headers.etag) expect(answer.headers.etag).toBe(plain.headers.etag.replace(/"$/, `.${encoding}"`))
  })
})

describe('Accept-Encoding', () => {
  test.each([
    ['', undefined],
    ['identity', undefined],
    ['deflate', undefined],
    ['gzip;q=0', undefined],
    ['br;q=0, gzip;q=0.0', undefined],
    ['*;q=0', undefined],
    ['identity;q=0', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip, *;q=0', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0, *', 'br'],
    ['gzip;q=1.0, *;q=0.5', 'gzip'],
    ['br;q=0, *, gzip;q=0', undefined],
    [';;;q=,,*;', undefined],
  ])('%j gives %j, of what is made and of what is kept', async (accepted, encoding) => {
    for (const answer of [
      await rest('/Products?limit=100', accepted),
      await ask('/assets/pico.css', accepting(accepted)),
    ]) {
      expect([answer.status, answer.headers['content-encoding']]).toEqual([200, encoding])
      expect(plainOf(answer).length).toBeGreaterThan(10_000)
    }
  })

  test('leaves alone what is short', async () => {
    for (const answer of [
      await rest('/Products?countonly=1', 'gzip'),
      await ask('/assets/icon.svg', accepting('gzip')),
    ]) {
      expect(answer.status).toBe(200)
      expect(answer.headers).not.toHaveProperty('content-encoding')
      expect(answer.headers.vary).toMatch(/accept-encoding/)
    }
  })
})

describe('HEAD has the headers of GET', () => {
  test.each([
    ['/StoreWebAPI/v1/Products?limit=100', 'gzip'],
    ['/StoreWebAPI/v1/Products/1', 'br'],
    ['/StoreWebAPI/v1/Products/1', 'identity'],
    ['/openapi.json', 'gzip'],
    ['/records.xsd', 'br'],
    ['/assets/pico.css', 'identity'],
  ])('%s in %s', async (path, encoding) => {
    const headers = { ...shop.credentials, 'accept-encoding': encoding }
    const [get, head] = [await ask(path, { headers }), await ask(path, { method: 'HEAD', headers })]
    expect(head.bytes).toHaveLength(0)
    const of = ({ headers }: Answer) =>
      ['content-type', 'content-encoding', 'content-length', 'etag', 'vary'].map((name) => [name, headers[name]])
    expect(of(head)).toEqual(of(get))
  })
})

describe('an ETag of a compressed answer', () => {
  const tagIn = async (path: string, encoding: string) => String((await rest(path, encoding)).headers.etag)

  test.each(['gzip', 'br'])('in %s ends reading again, however that is asked for', async (encoding) => {
    for (const path of ['/Products/1', '/Products/1?$select=Description']) {
      const tag = await tagIn(path, encoding)
      expect(tag).toMatch(new RegExp(`\\.${encoding}"$`))
      for (const accepted of [encoding, undefined, 'gzip, br']) {
        for (const named of [tag, `W/${tag}`, `"other", ${tag}`]) {
          const answer = await rest(path, accepted, { headers: { 'if-none-match': named } })
          expect([answer.status, answer.headers.etag, answer.bytes.length]).toEqual([304, tag, 0])
          expect(answer.headers).not.toHaveProperty('content-encoding')
        }
      }
    }
  })

  test('guards a change, once', async () => {
    for (const encoding of ['gzip', 'br']) {
      const tag = await tagIn('/Products/2', encoding)
      const put = () =>
        rest('/Products/2', encoding, {
          method: 'PUT',
          headers: { 'if-match': tag, 'content-type': 'application/json' },
          body: JSON.stringify({ MFGID: encoding }),
        })
      expect([(await put()).status, (await put()).status]).toEqual([200, 412])
      const answer = await rest('/Products/2', encoding, { headers: { 'if-none-match': tag } })
      expect(answer.status).toBe(200)
    }
  })

  test('of a file is that of one encoding', async () => {
    const tagOf = async (encoding: string) => String((await ask('/assets/pico.css', accepting(encoding))).headers.etag)
    const tags = [await tagOf('identity'), await tagOf('gzip'), await tagOf('br')]
    expect(new Set(tags).size).toBe(3)
    const status = async (encoding: string, tag: string) =>
      (await ask('/assets/pico.css', { headers: { 'accept-encoding': encoding, 'if-none-match': tag } })).status
    expect(await status('gzip', String(tags[1]))).toBe(304)
    expect(await status('gzip', `"x", W/${tags[1]}`)).toBe(304)
    expect(await status('gzip', String(tags[2]))).toBe(200)
    expect(await status('identity', String(tags[1]))).toBe(200)
  })
})

describe('what is never compressed', () => {
  test('answers that carry a secret, however long', async () => {
    const created = await rest('/Webhooks', 'gzip', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ Name: 'W', Url: 'https://receiver.example/', EventType: 1, Enabled: true }),
    })
    const id = JSON.parse(String(plainOf(created)))[0].Value
    const secret = await rest(`/Webhooks/${id}/Secret`, 'gzip, br')
    expect([secret.status, secret.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(secret.headers).not.toHaveProperty('content-encoding')

    const token = await soap(
      'getCustomerLoginToken',
      '<customerEmail>a@shop.example</customerEmail><timeToLive>60</timeToLive>',
      'gzip',
    )
    expect(token.headers['cache-control']).toBe('no-store')
    expect(token.headers).not.toHaveProperty('content-encoding')
  })

  test('pages, which hold form tokens, and an export of the operator’s', async () => {
    const authorization = `Bearer ${server.services.operatorKey}`
    for (const [path, headers] of [
      ['/admin/sign-in', { accept: 'text/html' }],
      ['/cart.asmx', { accept: 'text/html' }],
      ['/nowhere', { accept: 'text/html' }],
      [`/admin/stores/${shop.store.id}/export`, { authorization }],
    ] as const) {
      const answer = await ask(path, { headers: { ...headers, 'accept-encoding': 'gzip, br' } })
      expect(answer.bytes.length).toBeGreaterThan(500)
      expect(answer.headers).not.toHaveProperty('content-encoding')
    }
  })
})

test('clients that leave in the middle leave nothing in hand', async () => {
  for (let count = 0; count < 20; count++) {
    const path = '/StoreWebAPI/v1/Products?limit=100'
    const headers = { ...shop.credentials, 'accept-encoding': count % 2 ? 'gzip' : 'br' }
    const request = httpRequest({ port, host: '127.0.0.1', path, headers }).end()
    const [answer] = await once(request, 'response')
    answer.on('error', () => {})
    request.destroy()
  }
  await server.app.drained()
  expect(server.log.join('')).not.toMatch(/"level":(50|60)/)
})
