import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { createAuthenticator } from '../../../../src/access/applications/authenticate.ts'
import { updateStore } from '../../../../src/access/stores/stores.ts'
import { buildApp } from '../../../../src/app.ts'
import { connect as connectDatabase } from '../../../../src/foundation/database/client.ts'
import { operator } from '../../../support/actors.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { openGate } from '../../../support/gate.ts'
import { ofTest } from '../../../support/shared.ts'
import { openServer, sharedServer } from '../../../support/store.ts'
import { defaultNamespace, envelope, faultOf, post, request } from './support.ts'

// The bytes of a request, and what goes wrong before or beside an operation.

const server = await sharedServer()
const shop = await server.openStore()
const other = await server.openStore()
beforeEach(() => {
  // Long enough for every bucket to be empty.
  server.clock.ms += 60_000
})

const call = () => envelope(request(shop, 'getProductCount'))
const result = '<ProductQuantity>0</ProductQuantity>'

async function isAnswered(payload: string | Buffer, headers: Record<string, string>): Promise<void> {
  const { statusCode, body } = await post(server, payload, { headers })
  expect([statusCode, body.includes(result)], body).toEqual([200, true])
}

/** A Client fault of SOAP 1.1 with this status and reason. */
const refused = (status: number, reason: string) => ({ status, version: '1.1', code: 'Client', reason, header: '' })

/** Asks for an operation that is not there, by a name that comes back in the fault: what the server read. */
const asking = (name: string) =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${name} xmlns="${defaultNamespace}"/></s:Body></s:Envelope>`

async function nameRead(payload: Buffer, contentType: string): Promise<string | undefined> {
  const { reason } = faultOf(await post(server, payload, { headers: { 'content-type': contentType } }))
  return /^There is no operation (.*);/.exec(reason)?.[1] ?? reason
}

const utf16be = (given: string) => Buffer.from(given, 'utf16le').swap16()

describe('the characters of a body are read', () => {
  const declared = (encoding: string, name: string) => `<?xml version="1.0" encoding="${encoding}"?>${asking(name)}`
  test.each([
    ['as UTF-8 where nothing says otherwise', 'text/xml', Buffer.from(asking('Größe價格'))],
    ['as UTF-8 by its other name, quoted', 'text/xml;charset="UTF8"', Buffer.from(asking('Größe價格'))],
    [
      'as UTF-8 by its mark, against the content type',
      'text/xml; charset=iso-8859-1',
      Buffer.from(`\ufeff${asking('Größe價格')}`),
    ],
    [
      'as UTF-8 by the content type, against the declaration',
      'text/xml; charset=utf-8',
      Buffer.from(declared('iso-8859-1', 'Größe價格')),
    ],
    // What .NET's StringWriter declares, whatever it is written as.
    [
      'as UTF-8 where the declaration says utf-16, which the bytes are not',
      'text/xml',
      Buffer.from(declared('utf-16', 'Größe價格')),
    ],
    ['as UTF-16 by its mark', 'text/xml', Buffer.from(`\ufeff${declared('utf-16', 'Größe價格')}`, 'utf16le')],
    [
      'as UTF-16 by its mark, against the content type',
      'text/xml; charset=utf-8',
      Buffer.from(`\ufeff${asking('Größe價格')}`, 'utf16le'),
    ],
    ['as UTF-16 in the other order by its mark', 'application/soap+xml', utf16be(`\ufeff${asking('Größe價格')}`)],
    [
      'as UTF-16 without a mark by the content type',
      'text/xml; charset=utf-16',
      Buffer.from(asking('Größe價格'), 'utf16le'),
    ],
  ])('%s', async (_name, contentType, payload) => {
    expect(await nameRead(payload, contentType)).toBe('Größe價格')
  })

  test.each([
    [
      'iso-8859-1 in quotes of the other kind',
      "text/xml; charset = 'iso-8859-1' ; x=y",
      Buffer.from(asking('Größe'), 'latin1'),
    ],
    [
      'iso-8859-1 behind another parameter',
      'text/xml; x="charset"; charset=iso-8859-1',
      Buffer.from(asking('Größe'), 'latin1'),
    ],
    ['windows-1252 by the content type', 'text/xml; charset=windows-1252', Buffer.from(asking('Größe'), 'latin1')],
    ['us-ascii by the content type', 'text/xml; charset=us-ascii', Buffer.from(asking('Größe'), 'latin1')],
    ['iso-8859-1 by the declaration', 'text/xml', Buffer.from(declared('ISO-8859-1', 'Größe'), 'latin1')],
    [
      'by a declaration in single quotes',
      'text/xml',
      Buffer.from(declared('x', 'Größe').replace('"x"', "'iso-8859-1' standalone='yes'"), 'latin1'),
    ],
  ])('as %s', async (_name, contentType, payload) => {
    expect(await nameRead(payload, contentType)).toBe('Größe')
  })

  test.each([
    ['bytes that are not UTF-8', 'text/xml', Buffer.from(asking('Größe'), 'latin1'), 'The body is not valid utf-8'],
    [
      'half a character at the end',
      'text/xml',
      Buffer.from(`${asking('a')}ä`).subarray(0, -1),
      'The body is not valid utf-8',
    ],
    [
      'half of a UTF-16 character',
      'text/xml',
      Buffer.concat([Buffer.from('\ufeff<', 'utf16le'), Buffer.from('a')]),
      'The body is not valid utf-16le',
    ],
    [
      'half of a surrogate pair',
      'text/xml',
      Buffer.from('\ufeff<a>\ud83d</a>', 'utf16le'),
      'The body is not valid utf-16le',
    ],
  ])('and refused where they are none: %s', async (_name, contentType, payload, reason) => {
    const answer = await post(server, payload, { headers: { 'content-type': contentType } })
    expect(faultOf(answer)).toEqual(refused(500, reason))
  })

  test('and refused where they are in UTF-32, or UTF-16 without anything that says so', async () => {
    const utf32 = Buffer.from([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0])
    const control = 'Invalid XML: it holds a control character that XML does not allow'
    for (const payload of [utf32, Buffer.from(asking('a'), 'utf16le')]) {
      expect(faultOf(await post(server, payload, { headers: { 'content-type': 'text/xml' } }))).toEqual(
        refused(500, control),
      )
    }
  })

  test('anew in each body: what a broken one left does not reach the next', async () => {
    const half = Buffer.from([0xe2, 0x82])
    const pairs: [string, Buffer, Buffer][] = [
      ['utf-8', Buffer.concat([Buffer.from('<a>'), half]), Buffer.from(asking('Größe'))],
      ['utf-16', Buffer.from([0x3c]), Buffer.from(asking('Größe'), 'utf16le')],
      ['utf-16', Buffer.from('<a>\ud83d', 'utf16le'), Buffer.from(`\ufeff${asking('Größe')}`, 'utf16le')],
      ['utf-16be', utf16be('\ufeff\ud83d'), utf16be(asking('Größe'))],
    ]
    for (const [charset, broken, good] of pairs) {
      const contentType = `text/xml; charset=${charset}`
      const answer = await post(server, broken, { headers: { 'content-type': contentType } })
      expect(faultOf(answer).reason).toMatch(/^The body is not valid utf-/)
      expect(await nameRead(good, contentType)).toBe('Größe')
    }
  })

  test.each(['shift_jis', 'iso-8859-2', 'utf-7', 'nonsense', 'x-user-defined'])(
    'and refused as %s, with what is taken',
    async (charset) => {
      const reason = 'The charset must be utf-8, utf-16, iso-8859-1, windows-1252 or us-ascii'
      const headers = { 'content-type': `text/xml; charset=${charset}` }
      expect(faultOf(await post(server, call(), { headers }))).toEqual(refused(415, reason))
      const payload = call().replace('encoding="utf-8"', `encoding="${charset}"`)
      expect(faultOf(await post(server, payload, { headers: { 'content-type': 'text/xml' } }))).toEqual(
        refused(415, reason),
      )
    },
  )
})

describe('a packed body', () => {
  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZip', gzipSync],
    ['deflate', deflateSync],
    ['identity', Buffer.from],
  ])('of Content-Encoding %s is unpacked', async (encoding, pack: (bytes: Buffer) => Buffer) => {
    await isAnswered(pack(Buffer.from(call())), { 'content-encoding': encoding })
  })

  test('is unpacked before its characters are read', async () => {
    const payload = gzipSync(Buffer.from(`\ufeff${call()}`, 'utf16le'))
    await isAnswered(payload, { 'content-encoding': 'gzip', 'content-type': 'text/xml' })
  })

  test.each([
    ['gzip', Buffer.from('<a/>')],
    ['gzip', Buffer.alloc(1)],
    ['gzip', gzipSync('<a/>').subarray(0, -5)],
    ['gzip', deflateSync('<a/>')],
    ['deflate', gzipSync('<a/>')],
    ['deflate', deflateRawSync('<a/>')],
  ])('that is not %s is refused', async (encoding, payload) => {
    const answer = await post(server, payload, { headers: { 'content-encoding': encoding } })
    expect(faultOf(answer)).toEqual(refused(500, `The body is not ${encoding}`))
  })

  test.each(['br', 'zstd', 'compress', 'gzip, gzip', 'gzip, identity', ''])(
    'of Content-Encoding %j is refused',
    async (encoding) => {
      const answer = await post(server, gzipSync(call()), { headers: { 'content-encoding': encoding } })
      expect(faultOf(answer)).toEqual(refused(415, 'Content-Encoding must be gzip, deflate or identity'))
    },
  )

  const tooLarge = refused(413, 'The body is larger than 256 kB')
  test('may be 256 kB when it is unpacked, and not a byte more', async () => {
    const padded = (length: number) => Buffer.from(call().padEnd(length, ' '))
    await isAnswered(gzipSync(padded(256 * 1024)), { 'content-encoding': 'gzip' })
    await isAnswered(padded(256 * 1024), {})
    const packed = await post(server, gzipSync(padded(256 * 1024 + 1)), { headers: { 'content-encoding': 'gzip' } })
    expect(faultOf(packed)).toEqual(tooLarge)
    expect(faultOf(await post(server, padded(256 * 1024 + 1)))).toEqual(tooLarge)
  })

  test('is given up as soon as it is too large: a bomb costs next to no memory', async () => {
    const small = await bomb(240)
    expect(small.length).toBeLessThan(256 * 1024)
    const before = process.resourceUsage().maxRSS
    for (const encoding of ['gzip', 'x-gzip']) {
      const answer = await post(server, small, { headers: { 'content-encoding': encoding } })
      expect(faultOf(answer)).toEqual(tooLarge)
    }
    // 1 MB that would become 1 GB is not even unpacked.
    const large = await bomb(1_024)
    expect(large.length).toBeGreaterThan(1_000_000)
    expect(faultOf(await post(server, large, { headers: { 'content-encoding': 'gzip' } }))).toEqual(tooLarge)
    expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(100)
  })

  /** So many megabytes of blanks, packed without ever being in memory. */
  function bomb(megabytes: number): Promise<Buffer> {
    const blanks = Buffer.alloc(1024 * 1024, ' ')
    return buffer(Readable.from(Array.from({ length: megabytes }, () => blanks)).pipe(createGzip()))
  }
})

describe('the content type', () => {
  test.each([
    'text/xml',
    'TEXT/XML',
    'text/xml ; charset=utf-8',
    'application/xml; charset=UTF-8',
    'text/xml; charset=',
    'text/xml;',
  ])('%s is taken', (contentType) => isAnswered(call(), { 'content-type': contentType }))

  test('may be absent', async () => {
    const answer = await server.app.inject({ method: 'POST', url: '/cart.asmx', payload: Buffer.from(call()) })
    expect(answer.body).toContain(result)
  })

  test.each([
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'text/xml+soap',
    'multipart/related; type="text/xml"',
  ])('%s is refused, with what is taken', async (contentType) => {
    const answer = await post(server, call(), { headers: { 'content-type': contentType } })
    const reason = 'Content-Type must be text/xml, application/soap+xml, application/xml'
    expect(faultOf(answer)).toEqual(refused(415, reason))
  })

  test.each(['nonsense', 'text/', ';charset=utf-8'])('%j is refused as none', async (contentType) => {
    const answer = await post(server, call(), { headers: { 'content-type': contentType } })
    expect(faultOf(answer)).toEqual(refused(415, 'Content-Type is not a media type'))
  })
})

test('an empty body is refused, packed or not', async () => {
  const reason = 'The body is empty; an Envelope is expected'
  expect(faultOf(await post(server, ''))).toEqual(refused(500, reason))
  expect(faultOf(await post(server, '', { version: '1.2' }))).toMatchObject({ version: '1.2', code: 'Sender', reason })
  expect(faultOf(await post(server, gzipSync(''), { headers: { 'content-encoding': 'gzip' } }))).toEqual(
    refused(500, reason),
  )
  expect(faultOf(await server.app.inject({ method: 'POST', url: '/cart.asmx' }))).toEqual(refused(500, reason))
})

describe('over a socket', () => {
  let port: number
  beforeAll(async () => {
    await server.app.listen({ host: '127.0.0.1', port: 0 })
    port = (server.app.server.address() as AddressInfo).port
  })

  async function open(...headers: string[]): Promise<Socket> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    const head = ['POST /cart.asmx HTTP/1.1', 'Host: localhost', 'Content-Type: text/xml; charset=utf-8', ...headers]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    return socket
  }

  /** Resolves when the server has the head of the next request. */
  const seen = () => once(server.app.server, 'request')

  test('a character may be split over two packets', async () => {
    const payload = Buffer.from(asking('Größe價格'))
    const start = payload.indexOf('Größe價格')
    for (let at = start + 2; at < start + Buffer.byteLength('Größe價格'); at++) {
      const request = seen()
      const socket = await open(`Content-Length: ${payload.length}`, 'Connection: close')
      socket.write(payload.subarray(0, at))
      await request
      socket.write(payload.subarray(at))
      expect(await text(socket)).toContain('There is no operation Größe價格;')
    }
  })

  test('a body that is cut off is no defect, and holds nothing up', async () => {
    const request = seen()
    const socket = await open('Content-Length: 1000', 'X-Request-Id: cut-off')
    socket.write('<soap:Envelope')
    const [, response] = await request
    socket.destroy()
    await once(response, 'close')
    await isAnswered(call(), {})
    const lines = server.log.filter((line) => line.includes('cut-off')).map((line) => JSON.parse(line))
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([['info', 'request aborted by the client']])
    expect(lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('20 MB reach their fault, and leave memory as it was', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    /** What is held, in bytes; buffers are given back a turn after the collection. */
    const memory = async () => {
      for (let round = 0; round < 3; round++) {
        collect()
        await setImmediate()
      }
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const megabytes = 20
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    const before = await memory()
    const socket = await open(`Content-Length: ${megabytes * chunk.length}`)
    for (let sent = 1; sent < megabytes; sent++) {
      if (!socket.write(chunk)) await once(socket, 'drain')
    }
    const during = await memory()
    socket.write(chunk)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toContain('<faultcode>soap:Client</faultcode>')
    expect(answer).toContain('The body is larger than 256 kB')
    expect((during - before) / 1024 / 1024).toBeLessThan(8)
  })

  test('a body without end is cut off after 50 MB: who stops then has the fault, who goes on has a closed connection', async () => {
    const socket = await open(`Content-Length: ${1024 ** 3}`, 'X-Request-Id: endless')
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    for (let sent = 0; sent < 50; sent++) {
      if (!socket.write(chunk)) await once(socket, 'drain')
    }
    socket.write(Buffer.alloc(256 * 1024 + 1, 'x'))
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 /)
    const lines = server.log.filter((line) => line.includes('"endless"')).map((line) => JSON.parse(line))
    expect(lines.at(-1)).toMatchObject({ msg: 'request', status: 413, ip: '127.0.0.1' })

    const endless = await open('Transfer-Encoding: chunked')
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    endless.on('error', () => undefined).on('close', () => resolve())
    endless.resume()
    const piece = Buffer.concat([Buffer.from('100000\r\n'), chunk, Buffer.from('\r\n')])
    let sent = 0
    while (!endless.destroyed && sent < 200) {
      sent += 1
      if (!endless.write(piece)) await Promise.race([once(endless, 'drain').catch(() => undefined), closed])
    }
    await closed
    expect(sent).toBeGreaterThan(50)
    expect(sent).toBeLessThan(200)
    await isAnswered(call(), {})
  })
})

describe('error documents', () => {
  const login = (id: number) =>
    `<Error xmlns=""><Id>${id}</Id><Description>${id < 16 ? 'XML file error' : 'Login Error'}</Description></Error>`
  const keyRefused = 'userKey is not the key of the store that storeUrl names'
  const refusals: [string, () => Record<string, string>, number, string][] = [
    ['no userKey', () => ({ userKey: '' }), 1, 'userKey is missing'],
    ['neither', () => ({ userKey: ' ', storeUrl: '' }), 1, 'userKey is missing'],
    ['no storeUrl', () => ({ storeUrl: '' }), 2, 'storeUrl is missing'],
    ['an unknown store', () => ({ storeUrl: 'https://nowhere.example' }), 17, keyRefused],
    ['a wrong key', () => ({ userKey: '0'.repeat(32) }), 17, keyRefused],
    ['a key in other capitals', () => ({ userKey: shop.store.userKey.toUpperCase() }), 17, keyRefused],
    ['the key of another store', () => ({ userKey: other.store.userKey }), 17, keyRefused],
    ['the address of another store', () => ({ storeUrl: other.store.secureUrl }), 17, keyRefused],
    ['a key of a megabyte less', () => ({ userKey: 'x'.repeat(100_000) }), 17, keyRefused],
  ]
  test.each(refusals)(
    '%s is one in an ordinary answer, with its reason in a header',
    async (_name, parameters, id, reason) => {
      for (const version of ['1.1', '1.2'] as const) {
        const answer = await post(server, envelope(request(shop, 'getProductCount', parameters()), version), {
          version,
        })
        expect(answer.statusCode).toBe(200)
        expect(answer.body).toContain(`<getProductCountResult>${login(id)}</getProductCountResult>`)
        expect(answer.headers['x-error-reason']).toBe(reason)
      }
    },
  )

  test('have their reason in a header that any program can read, whatever characters it has', async () => {
    const parameters = { productId: 'Größe\n価格 😀', quantity: 1, replaceStock: true }
    const { headers, body } = await post(server, envelope(request(shop, 'updateProductInventory', parameters)))
    expect(body).toContain('<Id>46</Id>')
    expect(headers['x-error-reason']).toBe('There is no Product Gr??e??? ??')
  })

  test('of a wrong key, a wrong store and the wrong pair are the same in every byte and header', async () => {
    const seen = []
    for (const [, parameters, id] of refusals.filter(([, , id]) => id === 17)) {
      const answer = await post(server, envelope(request(shop, 'getProductCount', parameters())))
      const { date: _date, 'x-request-id': _id, ...headers } = answer.headers
      // Each refusal counts, so the bucket's figures differ.
      seen.push(JSON.stringify([id, answer.body, Object.keys(headers), headers['x-error-reason']]))
    }
    expect(new Set(seen).size).toBe(1)
  })

  test('of a store that is switched off, or called from elsewhere, reach who has the key', async () => {
    const store = await server.openStore()
    const set = (CartAPI: object) => updateStore(server.services, store.store.id, { CartAPI }, operator)
    const from = async (remoteAddress: string, parameters: Record<string, string> = {}) => {
      const payload = envelope(request(store, 'getProductCount', parameters))
      const headers = { 'content-type': 'text/xml' }
      const answer = await server.app.inject({ method: 'POST', url: '/cart.asmx', remoteAddress, headers, payload })
      return [
        answer.headers['x-error-reason'],
        /<getProductCountResult>(.*)<\/getProductCountResult>/.exec(answer.body)?.[1],
      ]
    }
    await set({ Addresses: ['10.0.0.0/8'] })
    const elsewhere = ['The store does not allow calls of cartAPI from this address', login(16)]
    expect(await from('203.0.113.7')).toEqual(elsewhere)
    expect(await from('::ffff:203.0.113.7')).toEqual(elsewhere)
    expect((await from('10.1.2.3'))[1]).toContain(result)
    expect((await from('::ffff:10.1.2.3'))[1]).toContain(result)
    expect(await from('203.0.113.7', { userKey: 'wrong' })).toEqual([keyRefused, login(17)])
    await set({ Enabled: false })
    expect(await from('203.0.113.7')).toEqual(['The store has switched cartAPI off', login(18)])
    expect(await from('10.1.2.3', { userKey: 'wrong' })).toEqual([keyRefused, login(17)])
    await set({ Enabled: true, Addresses: [] })
    expect((await from('203.0.113.7'))[1]).toContain(result)
  })

  test('of addresses mean the client’s: behind a proxy that is trusted, the one that it names', async () => {
    const proxied = await ofTest(openServer({ TRUST_PROXY: '127.0.0.1' }))
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    for (const [behind, document] of [
      [proxied, result],
      [server, login(16)],
    ] as const) {
      const store = await behind.openStore()
      const CartAPI = { Addresses: ['203.0.113.7'] }
      await updateStore(behind.services, store.store.id, { CartAPI }, operator)
      const { body } = await post(behind, envelope(request(store, 'getProductCount')), { headers })
      expect(body).toContain(document)
    }
  })

  test('are found by the id of the request in the log, and counted', async () => {
    const headers = { 'x-request-id': 'refused-call' }
    await post(server, envelope(request(shop, 'getCustomerCount', { userKey: 'wrong-key-of-the-tests' })), { headers })
    const lines = server.log.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === 'refused-call')
    expect(lines).toEqual([
      expect.objectContaining({
        ...{ level: 'info', msg: 'request', status: 200, route: '/cart.asmx', operation: 'getCustomerCount' },
        ...{ error: 17, reason: keyRefused },
      }),
    ])
    expect(await counted('getCustomerCount', 'error', '17')).toBe(1)
  })
})

test('store and operation of a call stand in the log', async () => {
  await post(server, call(), { headers: { 'x-request-id': 'good-call' } })
  const lines = server.log.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === 'good-call')
  const operation = 'getProductCount'
  expect(lines).toEqual([expect.objectContaining({ msg: 'request', status: 200, operation, storeId: shop.store.id })])
})

describe('faults', () => {
  test('are found by the id of the request in the log, and counted', async () => {
    const before = await counted('', 'fault', 'Client')
    const answer = await post(server, asking('nothing'), { headers: { 'x-request-id': 'faulty-call' } })
    expect(answer.headers['x-request-id']).toBe('faulty-call')
    const lines = server.log.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === 'faulty-call')
    expect(lines).toEqual([
      expect.objectContaining({
        ...{ level: 'info', msg: 'request', status: 500, route: '/cart.asmx' },
        ...{ error: 'Client', reason: 'There is no such operation' },
      }),
    ])
    expect(await counted('', 'fault', 'Client')).toBe(before + 1)
  })

  test('of every kind, and results, are valid by the schemas of their envelopes', async () => {
    const mandatory = (attributes: string) => `<${attributes} soap:mustUnderstand="1"/>`
    const sent = (version: '1.1' | '1.2') => [
      envelope(request(shop, 'getProductCount'), version),
      envelope('<nothing/>', version),
      envelope(request(shop, 'getProductCount'), version, mandatory('a') + mandatory('w:b xmlns:w="urn:w"')),
      '<Envelope xmlns="urn:other"/>',
      '<',
    ]
    const answers = async (version: '1.1' | '1.2') => {
      const bodies: string[] = []
      for (const payload of sent(version)) bodies.push((await post(server, payload, { version })).body)
      bodies.push((await post(server, '', { version, headers: { 'content-encoding': 'br' } })).body)
      const store = await server.openStore({ throttle: { capacity: 1, leakPerSecond: 0.01 } })
      const payload = envelope(request(store, 'getProductCount'), version)
      await post(server, payload, { version })
      bodies.push((await post(server, payload, { version })).body)
      return bodies
    }
    const of12 = await answers('1.2')
    const codes = of12.map((body) => /<soap:Value>soap:(\w+)</.exec(body)?.[1])
    expect(codes).toEqual([undefined, 'Sender', 'MustUnderstand', 'VersionMismatch', 'Sender', 'Sender', 'Receiver'])
    expect(await envelopeFaults('soap12-envelope.xsd', of12)).toEqual([])
    // SOAP 1.1's own schema knows no language; WS-I Basic Profile 1.1 (R1016) does.
    const of11 = (await answers('1.1')).map((body) => body.replace('<faultstring xml:lang="en">', '<faultstring>'))
    expect(await envelopeFaults('soap-envelope.xsd', of11)).toEqual([])
    expect(await envelopeFaults('soap-envelope.xsd', of12.slice(0, 1))).not.toEqual([])
  })

  test('name the operation where it is known', async () => {
    const before = await counted('getProductCount', 'fault', 'Client')
    await post(server, call(), { headers: { soapaction: 'getOrder' } })
    expect(await counted('getProductCount', 'fault', 'Client')).toBe(before + 1)
  })

  test('and results have a counter each in the figures, by names of the WSDL alone', async () => {
    const before = await counted('getProductCount', 'result', '')
    await post(server, call())
    expect(await counted('getProductCount', 'result', '')).toBe(before + 1)
    for (const name of ['__proto__', 'constructor', 'x'.repeat(50)]) await post(server, asking(name))
    const { body } = await server.app.inject('/metrics')
    const names = new Set([...body.matchAll(/_cartapi_calls_total\{operation="([^"]*)"/g)].map(([, name]) => name))
    expect(
      [...names].filter(
        (name) => !['', 'getProductCount', 'getCustomerCount', 'updateProductInventory'].includes(name ?? ''),
      ),
    ).toEqual([])
  })
})

test('an outage of the database is a Server fault, to come back in a moment; then all goes on', async () => {
  const gate = await ofTest(openGate(server.database.url))
  const db = await ofTest(connectDatabase(gate.url))
  const authenticator = createAuthenticator({ db, secrets: server.services.secrets, now: server.services.now })
  const app = await ofTest(buildApp({ ...server.services, db, authenticator }))
  expect((await post({ app }, call())).body).toContain(result)
  await gate.close()
  // The store is known still; then, that it is looked for fails.
  for (const version of ['1.1', '1.2'] as const) {
    const payload = envelope(request(shop, 'getProductCount'), version)
    const answer = await post({ app }, payload, { version, headers: { 'x-request-id': `outage-${version}` } })
    expect(faultOf(answer)).toEqual({
      status: 500,
      version,
      code: version === '1.1' ? 'Server' : 'Receiver',
      reason: 'The database does not answer; try again in a moment',
      header: '',
    })
    expect(answer.headers['retry-after']).toBe('1')
    const [why] = server.log.filter((line) => line.includes(`outage-${version}`)).map((line) => JSON.parse(line))
    expect(why).toMatchObject({
      msg: 'request',
      reason: 'The database does not answer; try again in a moment',
    })
    server.clock.ms += 60_000
  }
  await gate.open()
  expect((await post({ app }, call())).body).toContain(result)
})

test('a defect is a Server fault that says nothing from inside; the log has it', async () => {
  const broken = await ofTest(openServer({}, cloneDatabase))
  const store = await broken.openStore()
  await broken.database.db.$executeRawUnsafe('ALTER TABLE "RecordCount" RENAME TO "Gone"')
  for (const version of ['1.1', '1.2'] as const) {
    const payload = envelope(request(store, 'getProductCount'), version)
    const answer = await post(broken, payload, { version, headers: { 'x-request-id': 'broken-call' } })
    expect(faultOf(answer)).toEqual({
      status: 500,
      version,
      code: version === '1.1' ? 'Server' : 'Receiver',
      reason: 'Internal error',
      header: '',
    })
    expect(answer.headers['retry-after']).toBeUndefined()
  }
  const errors = broken.log.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
  expect(errors).toHaveLength(2)
  expect(errors[0]).toMatchObject({ msg: 'request failed', requestId: 'broken-call' })
  expect(errors[0].err.message).toContain('RecordCount')
  const { body } = await broken.app.inject('/metrics')
  expect(body).toContain('cartapi_calls_total{operation="getProductCount",outcome="fault",error="Server"} 2')
})

test('no key is ever in the log, whatever is wrong with the call', async () => {
  const { secureUrl, userKey } = shop.store
  const payloads = [
    call(),
    call().replace('</userKey>', ''),
    call().replace('</userKey>', '</userkey>'),
    call().replace('<userKey>', '<userKey><userKey>'),
    call().replace('</getProductCount>', `<userKey>${userKey}</userKey></getProductCount>`),
    call().replace('</userKey>', '&nbsp;</userKey>'),
    call().replace('<userKey>', '<userKey>&').replace('</userKey>', ';</userKey>'),
    call().replace('</userKey>', '\u0001</userKey>'),
    call().replaceAll('getProductCount', 'getNothing'),
    call().replace(defaultNamespace, 'urn:other'),
    call().slice(0, -30),
    `${call()}x`,
    call().replace('</userKey>', '<b/></userKey>'),
    envelope(request(shop, 'getProductCount', { storeUrl: `${secureUrl}.example` })),
    envelope(request(shop, 'getProductCount', { storeUrl: userKey })),
    envelope(request(shop, 'getProductCount', { callBackURL: `http://10.0.0.5/?key=${userKey}` })),
    envelope(request(shop, 'getProductCount', { callBackURL: userKey })),
    envelope(request(shop, 'getProductCount', { callBackURL: `http://${userKey}:${userKey}@shop.example/` })),
  ]
  for (const payload of payloads) await post(server, payload)
  await server.app.inject({ method: 'POST', url: `/cart.asmx?userKey=${userKey}`, payload: call() })
  expect(server.log.filter((line) => line.includes(userKey))).toEqual([])
})

/** What the schema of an envelope, as strong-soap brings it, says against these. */
async function envelopeFaults(file: string, documents: readonly string[]): Promise<string[]> {
  const folder = new URL('../../../../node_modules/strong-soap/xsds/', import.meta.url)
  const schema = readFileSync(new URL(file, folder), 'utf8').replace(
    /schemaLocation="[^"]*"/,
    'schemaLocation="xml.xsd"',
  )
  const { errors } = await validateXML({
    xml: documents.map((contents, index) => ({ fileName: `${index}.xml`, contents })),
    schema: [{ fileName: file, contents: schema }],
    preload: [{ fileName: 'xml.xsd', contents: readFileSync(new URL('xml.xsd', folder), 'utf8') }],
  })
  return errors.map(({ rawMessage }) => rawMessage)
}

/** What the figures say of these calls. */
async function counted(operation: string, outcome: string, error: string): Promise<number> {
  const { body } = await server.app.inject('/metrics')
  const labels = `operation="${operation}",outcome="${outcome}",error="${error}"`
  const line = body.split('\n').find((each) => each.startsWith(`store_platform_cartapi_calls_total{${labels}}`))
  return Number(line?.split(' ').at(-1) ?? 0)
}
