import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { sharedFolder } from '../../../support/folders.ts'
import {
  httpReceiver,
  openOutbound,
  post,
  rawReceiver,
  reasonOf,
  received,
  receiverOf,
  watchConnections,
} from './receivers.ts'
import { special4, special6 } from './special-addresses.ts'

function answering(status: number, headers: Record<string, string | string[]> = {}, body: string | Buffer = '') {
  return (request: IncomingMessage, response: ServerResponse) => {
    request.resume()
    response.writeHead(status, headers).end(body)
  }
}

/** Answers as these bytes say, and leaves the connection open. */
function saying(...bytes: string[]) {
  return rawReceiver((socket) => socket.once('data', () => socket.write(bytes.join(''))))
}

describe('an exchange', () => {
  test('sends what was asked for, and gives status, headers, body and duration', async () => {
    let seen: unknown
    const { url } = await httpReceiver(async (request, response) => {
      const { method, url, headers } = request
      seen = { method, url, headers, body: Buffer.concat(await request.toArray()).toString() }
      response.writeHead(202, { 'Retry-After': '7', 'X-Many': ['a', 'b'] }).end('größer')
    })

    const answer = received(await openOutbound().send(post(`${url}in?a=%20b#part`, { body: '{"ä":1}' })))

    expect(answer).toMatchObject({ ok: true, status: 202, body: 'größer', isCut: false })
    expect(Number.isInteger(answer.durationMs)).toBe(true)
    expect(answer.headers.get('retry-after')).toBe('7')
    expect(answer.headers.get('x-many')).toBe('a, b')
    expect(answer.headers.get('constructor')).toBeUndefined()
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/in?a=%20b',
      headers: { host: new URL(url).host, 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body: '{"ä":1}',
    })
  })

  test('a GET has no body', async () => {
    const { url } = await httpReceiver((request, response) => {
      response.end(`${request.method} ${request.headers['content-length']} ${request.headers['transfer-encoding']}`)
    })
    const { body: _, ...get } = post(url, { method: 'GET' })
    expect(received(await openOutbound().send(get)).body).toBe('GET undefined undefined')
  })

  test('follows no redirect', async () => {
    const inside = await httpReceiver(answering(200))
    const { url } = await httpReceiver(answering(307, { Location: inside.url }))

    const answer = received(await openOutbound().send(post(url)))

    expect(answer.status).toBe(307)
    expect(answer.headers.get('location')).toBe(inside.url)
    expect(inside.connections()).toBe(0)
  })

  test('decompresses nothing', async () => {
    const packed = gzipSync('a'.repeat(1_000_000))
    const { url } = await httpReceiver(answering(200, { 'Content-Encoding': 'gzip' }, packed))
    expect(received(await openOutbound().send(post(url))).body.length).toBeLessThanOrEqual(packed.length)
  })

  test('bytes that are no UTF-8 are replaced, and a mark before the text is dropped', async () => {
    const { url } = await httpReceiver(answering(200, {}, Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x62, 0xc3])))
    expect(received(await openOutbound().send(post(url))).body).toBe('a\ufffdb\ufffd')
  })

  test('no proxy of the environment is used', async () => {
    const proxy = await httpReceiver(answering(200, {}, 'from the proxy'))
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, proxy.url)
    vi.stubEnv('NODE_USE_ENV_PROXY', '1')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { url } = await httpReceiver(answering(200, {}, 'from the receiver'))

    expect(received(await openOutbound().send(post(url))).body).toBe('from the receiver')
    expect(proxy.connections()).toBe(0)
  })

  test('a header that cannot be sent is a defect, not an answer', async () => {
    const { url } = await httpReceiver(answering(200))
    const request = post(url, { headers: { 'x-a': 'b\r\nx-c: d' } })
    await expect(openOutbound().send(request)).rejects.toThrow('invalid x-a header')
  })
})

describe('what is not public is never connected to', () => {
  const nobody = { allow: [] }

  test.each([
    'http://127.0.0.1:8080/',
    'http://127.1:8080/',
    'http://0x7f000001:8080/',
    'http://2130706433:8080/',
    'http://0177.0.0.1:8080/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:10.0.0.1]:8080/',
    'https://[::1]:8080/',
    'http://[64:ff9b::a00:1]/',
    'http://[2002:0a00:0001::]/',
    'http://localhost:8080/',
    'http://0.0.0.0:8080/',
  ])('%s', async (url) => {
    const tried = watchConnections()
    expect(reasonOf(await openOutbound(nobody).send(post(url)))).toMatch(
      /^The address leads to .+, which is not a public address$/,
    )
    expect(await tried()).toEqual([])
  })

  test('a name that resolves to an inside address', async () => {
    const tried = watchConnections()
    const logged: object[] = []
    const log = { info: (details: object) => logged.push(details) }
    const outbound = openOutbound({ allow: [], lookup: async () => ['10.0.0.5'], log })
    const reason = 'shop.example does not lead to a public address'
    expect(reasonOf(await outbound.send(post('http://shop.example/')))).toBe(reason)
    expect(reasonOf(await outbound.send(post('https://shop.example/')))).toBe(reason)
    expect(outbound.addressFault('http://shop.example/')).toBeNull()
    expect(logged).toEqual(Array(2).fill({ hostname: 'shop.example', addresses: ['10.0.0.5'] }))
    expect(await tried()).toEqual([])
  })

  test('a name that changes its address after it was checked: it is looked up once, and that address is used', async () => {
    const tried = watchConnections()
    const { port } = await httpReceiver(answering(200))
    const answers = [['127.0.0.1'], ['10.0.0.5']]
    const lookup = vi.fn(async () => answers.shift() ?? ['10.0.0.5'])

    const outbound = openOutbound({ allow: ['127.0.0.1'], lookup })

    expect(received(await outbound.send(post(`http://shop.example:${port}/`))).status).toBe(200)
    expect(lookup).toHaveBeenCalledTimes(1)
    expect(await tried()).toEqual(['127.0.0.1'])
    expect(reasonOf(await outbound.send(post('http://shop.example:1234/')))).toBe(
      'shop.example does not lead to a public address',
    )
    expect(await tried()).toEqual(['127.0.0.1'])
  })

  test('of several addresses only the public and the allowed ones are tried', async () => {
    const tried = watchConnections()
    const { port } = await httpReceiver(answering(200))
    const lookup = async () => ['10.0.0.5', '127.0.0.2', '::1', '127.0.0.1', '192.168.1.1']
    const outbound = openOutbound({ allow: ['127.0.0.1'], lookup })

    expect(received(await outbound.send(post(`http://shop.example:${port}/`))).status).toBe(200)
    expect(await tried()).toEqual(['127.0.0.1'])
  })

  test('the next address is tried when one does not answer', async () => {
    const tried = watchConnections()
    const { port } = await httpReceiver(answering(200))
    const outbound = openOutbound({ lookup: async () => ['127.0.0.9', '127.0.0.1'] })

    expect(received(await outbound.send(post(`http://shop.example:${port}/`))).status).toBe(200)
    expect(await tried()).toEqual(['127.0.0.9', '127.0.0.1'])
  })

  test('whatever addresses a name has', async () => {
    const tried = watchConnections()
    const { port } = await httpReceiver(answering(200))
    const address4 = fc.constantFrom(...special4).chain(([first, bits]) => within4(first, bits))
    const mapped = address4.map((address) => `::ffff:${address}`)
    const address6 = fc.constantFrom(...special6, ['fc00::', 7], ['fe80::', 10], ['::1', 128]).map(([first]) => first)
    const forbidden = fc.oneof(address4, mapped, address6, fc.constantFrom('fe80::1%lo', 'localhost', '', '1'))
    const addresses = fc.array(forbidden, { minLength: 1, maxLength: 20 })

    await fc.assert(
      fc.asyncProperty(addresses, fc.boolean(), fc.nat(), async (inside, isMixed, place) => {
        const all = isMixed ? inside.toSpliced(place % inside.length, 0, '127.77.0.1') : inside
        const outbound = openOutbound({ allow: ['127.77.0.1'], lookup: async () => all })
        const before = (await tried()).length
        const answer = await outbound.send(post(`http://shop.example:${port}/`))
        await outbound.close()
        // Nothing listens there; what matters is that it was tried, and nothing else.
        expect(reasonOf(answer)).toMatch(isMixed ? /refused the connection$/ : /does not lead to a public address$/)
        expect((await tried()).slice(before)).toEqual(isMixed ? ['127.77.0.1'] : [])
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['ftp://127.0.0.1/', 'The address must begin with http:// or https://'],
    ['http://user:pass@127.0.0.1/', 'The address must not hold a user name or password'],
    ['http://127.0.0.1:25/', 'The address must not use port 25, which belongs to another protocol'],
    ['127.0.0.1', 'The address is not a web address; allowed: http or https, such as https://shop.example/path'],
  ])('%s, with an exception for its address', async (url, reason) => {
    const tried = watchConnections()
    expect(reasonOf(await openOutbound().send(post(url)))).toBe(reason)
    expect(await tried()).toEqual([])
  })

  test('an exception is for the addresses in it, mapped ones and those of names included', async () => {
    const { port } = await httpReceiver(answering(200))
    const outbound = openOutbound({ allow: ['127.0.0.0/30'], lookup: async () => ['127.0.0.1'] })
    for (const host of ['127.0.0.1', 'localhost', 'shop.example', '[::ffff:127.0.0.1]']) {
      expect(received(await outbound.send(post(`http://${host}:${port}/`))).status).toBe(200)
    }
    expect(reasonOf(await outbound.send(post(`http://127.0.0.4:${port}/`)))).toMatch(/leads to 127\.0\.0\.4/)
  })
})

describe('a receiver that misbehaves costs its own request alone, for a limited time', () => {
  test('it never answers', async () => {
    const receiver = await httpReceiver(() => {})
    const startedAt = performance.now()
    const answer = await openOutbound().send(post(receiver.url, { totalMs: 200 }))
    expect(reasonOf(answer)).toBe('No complete answer within 0.2 s')
    expect(performance.now() - startedAt).toBeLessThan(3_000)
    expect(answer.durationMs).toBeGreaterThanOrEqual(199)
    await receiver.gone()
  })

  test('it sends a byte now and then', async () => {
    const receiver = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n')
      const drip = setInterval(() => socket.write('a'), 20)
      socket.once('close', () => clearInterval(drip))
    })
    const answer = await openOutbound().send(post(receiver.url, { totalMs: 300 }))
    expect(reasonOf(answer)).toBe('No complete answer within 0.3 s')
    expect(answer.durationMs).toBeLessThan(3_000)
    await receiver.gone()
  })

  test('it accepts the connection and never agrees on TLS', async () => {
    const { port } = await rawReceiver(() => {})
    const answer = await openOutbound().send(post(`https://127.0.0.1:${port}/`, { connectMs: 200 }))
    expect(reasonOf(answer)).toBe('No connection to 127.0.0.1 within 0.2 s')
    expect(answer.durationMs).toBeLessThan(3_000)
  })

  test('the time to connect is over with the connection: an answer may take longer', async () => {
    const { url } = await httpReceiver((request, response) => {
      request.resume()
      setTimeout(() => response.end(), 700)
    })
    expect(received(await openOutbound().send(post(url, { connectMs: 500 }))).status).toBe(200)
  })

  test('its name is never resolved', async () => {
    const outbound = openOutbound({ lookup: () => new Promise(() => {}) })
    const answer = await outbound.send(post('http://shop.example/', { connectMs: 200 }))
    expect(reasonOf(answer)).toBe('No connection to shop.example within 0.2 s')
  })

  test('a request that was given up is not sent later', async () => {
    const bodies: string[] = []
    const { port, connections } = await httpReceiver(async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()).toString())
      response.end()
    })
    const found = Promise.withResolvers<string[]>()
    const outbound = openOutbound({ lookup: () => found.promise })
    const url = `http://shop.example:${port}/`
    expect(reasonOf(await outbound.send(post(url, { connectMs: 50, body: 'first' })))).toMatch(/^No connection/)

    found.resolve(['127.0.0.1'])
    await vi.waitUntil(() => connections() === 1)
    expect(received(await outbound.send(post(url, { body: 'second' }))).status).toBe(200)
    expect(bodies).toEqual(['second'])
  })

  test('it sends much more than is wanted', async () => {
    let written = 0
    const receiver = await httpReceiver((request, response) => {
      request.resume()
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) written += 65_536
      }
      response.on('drain', more)
      more()
    })

    const answer = received(await openOutbound().send(post(receiver.url)))

    expect(answer).toMatchObject({ status: 200, body: 'x'.repeat(65_536), isCut: true })
    await receiver.gone()
    expect(written).toBeLessThan(10_000_000)
  })

  test.each([
    [4, 'abcd', 'abcd', false],
    [3, 'abcd', 'abc', true],
    [0, '', '', false],
    [0, 'a', '', true],
    // Nothing is left of a character that is cut in two.
    [4, 'abcä', 'abc', true],
  ])('of an answer no more than %d bytes are kept: %j', async (answerBytesMax, sent, body, isCut) => {
    const { url } = await httpReceiver(answering(200, {}, sent))
    expect(received(await openOutbound().send(post(url, { answerBytesMax })))).toMatchObject({ body, isCut })
  })

  test('it closes the connection at once, or before its answer is complete', async () => {
    const closed = 'The connection was closed before the answer was complete'
    const outbound = openOutbound()
    const talks: ((socket: Socket) => void)[] = [
      (socket) => socket.destroy(),
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end('HTTP/1.1 200 OK\r\n'),
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'),
      (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'),
    ]
    for (const talk of talks) {
      const { url } = await rawReceiver((socket) => socket.once('data', () => talk(socket)))
      expect(reasonOf(await outbound.send(post(url)))).toBe(closed)
    }
  })

  test('it does not listen', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    server.close()
    await once(server, 'close')
    expect(reasonOf(await openOutbound().send(post(`http://127.0.0.1:${port}/`)))).toBe(
      '127.0.0.1 refused the connection',
    )
  })

  test('it does not speak HTTP', async () => {
    const outbound = openOutbound()
    for (const bytes of [
      '220 mail.example ESMTP\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n',
      '\0'.repeat(99),
    ]) {
      const { url } = await saying(bytes)
      expect(reasonOf(await outbound.send(post(url)))).toBe('The answer is not valid HTTP')
    }
  })

  test('it sends headers, or interim answers, without end', async () => {
    const outbound = openOutbound()
    const long = await saying('HTTP/1.1 200 OK\r\n', `X-Long: ${'a'.repeat(20_000)}`)
    expect(reasonOf(await outbound.send(post(long.url)))).toBe('The headers of the answer are too long')
    const many = await saying('HTTP/1.1 200 OK\r\n', 'X-Many: a\r\n'.repeat(4_000))
    expect(reasonOf(await outbound.send(post(many.url)))).toBe('The headers of the answer are too long')
    const trailers = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n'
    const trailing = await saying(trailers, 'X-Many: a\r\n'.repeat(4_000))
    expect(reasonOf(await outbound.send(post(trailing.url)))).toBe('The headers of the answer are too long')
    const interim = await saying('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(11))
    expect(reasonOf(await outbound.send(post(interim.url)))).toBe('The answer is not valid HTTP')
  })

  test('a few interim answers are passed over', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'
    const { url } = await saying('HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n'.repeat(10), answer)
    expect(received(await openOutbound().send(post(url)))).toMatchObject({ status: 200, body: 'hi' })
  })

  test('others at the same address, and elsewhere, do not wait for it', async () => {
    const receiver = await httpReceiver((request, response) => {
      request.resume()
      if (request.url === '/quick') response.end()
    })
    const other = await httpReceiver(answering(200))
    const outbound = openOutbound({ lookup: () => new Promise(() => {}) })
    const hanging = Array.from({ length: 100 }, () => outbound.send(post(receiver.url)))
    const unresolved = Array.from({ length: 100 }, () => outbound.send(post('http://slow.example/')))

    for (const url of [`${receiver.url}quick`, other.url, `${receiver.url}quick`]) {
      const answer = received(await outbound.send(post(url)))
      expect(answer.durationMs).toBeLessThan(3_000)
    }

    await outbound.close()
    for (const answer of await Promise.all([...hanging, ...unresolved])) {
      expect(reasonOf(answer)).toBe('The server is stopping')
    }
  })

  test('at most a thousand requests are under way; the next one is refused at once', async () => {
    const { url } = await httpReceiver(() => {})
    const outbound = openOutbound()
    const hanging = Array.from({ length: 1_000 }, () => outbound.send(post(url)))
    expect(reasonOf(await outbound.send(post(url)))).toBe('Too many requests are under way; try again in a moment')

    await outbound.close()
    expect((await Promise.all(hanging)).map(reasonOf)).toEqual(new Array(1_000).fill('The server is stopping'))
    expect(reasonOf(await outbound.send(post(url)))).toBe('The server is stopping')
  })
})

describe('connections', () => {
  test('are used again while requests follow one another, and closed soon after', async () => {
    const receiver = await httpReceiver(answering(200))
    const outbound = openOutbound()
    for (let sent = 0; sent < 5; sent++) {
      await outbound.send(post(receiver.url))
      await immediate()
    }
    expect(receiver.connections()).toBe(1)
    expect(receiver.open()).toBe(1)
    await vi.waitUntil(() => receiver.open() === 0, 2_500)
  })

  test('are used for a minute at most, so that a name that leads elsewhere by then does', async () => {
    const { port, connections } = await httpReceiver(answering(200))
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    let addresses = ['127.0.0.1']
    const outbound = openOutbound({ lookup: async () => addresses })
    const request = post(`http://shop.example:${port}/`)
    await outbound.send(request)
    await immediate()
    addresses = ['10.0.0.5']

    // Still the connection to the address that was allowed.
    expect(received(await outbound.send(request)).status).toBe(200)
    await immediate()
    vi.setSystemTime(Date.now() + 61_000)
    expect(reasonOf(await outbound.send(request))).toBe('shop.example does not lead to a public address')
    expect(connections()).toBe(1)
  })
})

describe('TLS', () => {
  const authorities = getCACertificates('default')
  const folder = sharedFolder()
  beforeAll(() => {
    const files = ['-keyout', join(folder, 'key'), '-out', join(folder, 'certificate')]
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const names = ['-subj', '/CN=receiver', '-addext', 'subjectAltName=DNS:good.example,IP:127.0.0.1']
    execFileSync('openssl', ['req', ...kind, ...names, ...files], { stdio: 'ignore' })
  })

  async function tlsReceiver() {
    const [key, cert] = ['key', 'certificate'].map((file) => readFileSync(join(folder, file), 'utf8'))
    const receiver = await receiverOf(createHttpsServer({ key, cert }, answering(200, {}, 'over TLS')))
    const outbound = openOutbound({ lookup: async () => ['127.0.0.1'] })
    const send = (host: string) => outbound.send(post(`https://${host}:${receiver.port}/`))
    const trust = () => {
      setDefaultCACertificates([...authorities, String(cert)])
      onTestFinished(() => setDefaultCACertificates(authorities))
    }
    return { send, trust }
  }

  test('a certificate that nobody trusts is refused, whatever the environment says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { send } = await tlsReceiver()
    const reason = 'The certificate of good.example is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)'
    expect(reasonOf(await send('good.example'))).toBe(reason)
    expect(reasonOf(await send('good.example'))).toBe(reason)
  })

  test('a trusted one is good for the names and addresses in it, and no others', async () => {
    const { send, trust } = await tlsReceiver()
    trust()
    expect(received(await send('good.example')).body).toBe('over TLS')
    expect(received(await send('127.0.0.1')).body).toBe('over TLS')
    expect(reasonOf(await send('other.example'))).toBe(
      'The certificate of other.example is not trusted (ERR_TLS_CERT_ALTNAME_INVALID)',
    )
  })

  test('a receiver without TLS', async () => {
    const { port } = await httpReceiver(answering(200))
    expect(reasonOf(await openOutbound().send(post(`https://127.0.0.1:${port}/`)))).toMatch(
      /^127\.0\.0\.1 does not speak TLS correctly \(ERR_SSL_\w+\)$/,
    )
  })
})

function within4(first: string, bits: number): fc.Arbitrary<string> {
  const start = first.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
  return fc
    .integer({ min: start, max: start + 2 ** (32 - bits) - 1 })
    .map((value) => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.'))
    .filter((address) => address !== '127.77.0.1')
}
