import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance, FastifyReply, FastifyRequest, InjectOptions } from 'fastify'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { buildApp } from '../../../../src/app.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import { DatabaseHealth } from '../../../../src/foundation/database/health.ts'
import { OWN_ADDRESSES } from '../../../../src/foundation/process/setting-forms.ts'
import { StoreFailure } from '../../../../src/foundation/values/failure.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { holdIn } from '../../../support/held.ts'
import { figureOf, samplesOf } from '../../../support/metrics-text.ts'
import { operatorKey, servicesOn } from '../../../support/services.ts'
import { ofTest, shared } from '../../../support/shared.ts'

const database = await shared(cloneDatabase())

const open: FastifyInstance[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const app of open.splice(0)) await app.close()
})

interface Options {
  settings?: Record<string, string>
  lines?: string[]
  url?: string
}

/** The whole application, with routes besides that fail and tell in all ways. */
function makeApp({ settings, lines, url = database.url }: Options = {}): FastifyInstance {
  const db = url === database.url ? database.db : connect(url)
  const services = servicesOn(db, settings, lines)
  const databaseHealth = new DatabaseHealth(url, services.log)
  const app = buildApp({ ...services, databaseHealth })
  app.addHook('onClose', () => databaseHealth.stop())
  app.get('/test/refusal', () => {
    throw new StoreFailure('invalid-value', 'Colour must be red', { field: 'Colour', logDetail: 'it was blue' })
  })
  app.get('/test/defect', () => {
    throw Object.assign(new Error('secret text from inside'), { detail: 'Key (email)=(ann@example.com)' })
  })
  app.get('/test/things/:id', async (request) => ({ ip: request.ip, protocol: request.protocol, host: request.host }))
  app.post('/test/things', async ({ body }) => body)
  open.push(app)
  return app
}

async function call(app: FastifyInstance, url: string, options: InjectOptions = {}) {
  return app.inject({ url, ...options })
}

const errorBody = (status: number, message: string, field = '') => [
  { Key: 'Error', Value: field, Status: String(status), Message: message },
]

describe('every answer has a request id', () => {
  test.each(['abc-1.2_3', 'x'.repeat(64)])('the one that was sent: %s', async (id) => {
    const answer = await call(makeApp(), '/healthz', { headers: { 'x-request-id': id } })
    expect(answer.headers['x-request-id']).toBe(id)
  })
  test.each(['', 'x'.repeat(65), 'a b', 'a"b', 'é'])('a new one instead of %j', async (id) => {
    const answer = await call(makeApp(), '/healthz', { headers: { 'x-request-id': id } })
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('no answer is taken for another type than it says, and over https each asks for https', () => {
  const settings = { PUBLIC_URL: 'https://api.shop.example', TRUST_PROXY: '127.0.0.1', REST_PREFIXES: '/Rest' }
  const addresses: [url: string, status: number, method?: 'GET' | 'POST'][] = [
    ['/healthz', 200],
    ['/metrics', 200],
    ['/', 200],
    ['/assets/app.js', 200],
    ['/admin/stores', 303],
    ['/oauth/token', 401, 'POST'],
    ['/.well-known/oauth-authorization-server', 200],
    ['/Rest/v1/Products', 401],
    ['/Rest/nothing', 404],
    ['/records.xsd', 200],
    ['/openapi.json', 200],
    ['/docs', 200],
    ['/cart.asmx?WSDL', 200],
    ['/cart.asmx', 500, 'POST'],
    ['/nowhere', 404],
    ['/test/defect', 500],
  ]
  test('every part of the server', async () => {
    const app = makeApp({ settings })
    for (const [url, status, method = 'GET'] of addresses) {
      const headers = { 'x-forwarded-proto': 'https', accept: 'text/html' }
      const answer = await call(app, url, { method, headers })
      expect([url, answer.statusCode, answer.headers]).toMatchObject([
        url,
        status,
        { 'x-content-type-options': 'nosniff', 'strict-transport-security': 'max-age=15552000' },
      ])
    }
  })
  test.each([
    ['over plain http', settings, 'http'],
    ['where PUBLIC_URL is plain http', { TRUST_PROXY: '127.0.0.1' }, 'https'],
  ])('%s nothing is said of https', async (_name, given, protocol) => {
    const answer = await call(makeApp({ settings: given }), '/healthz', { headers: { 'x-forwarded-proto': protocol } })
    expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff' })
    expect(answer.headers).not.toHaveProperty('strict-transport-security')
  })
  test.each([
    ['what is not HTTP', 'GET / HTTP/9\r\n\r\n', 400],
    ['a broken address', 'GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n', 417],
  ])('%s', async (_name, head, status) => {
    const answer = await rawRequest(await listening(makeApp({ settings })), head)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*\r\nX-Content-Type-Options: nosniff\r\n`, 'i'))
    expect(answer).not.toMatch(/strict-transport/i)
  })
})

describe('errors are a small JSON list', () => {
  test('a refusal tells its field, and keeps the log detail to itself', async () => {
    const answer = await call(makeApp(), '/test/refusal')
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual(errorBody(400, 'Colour must be red', 'Colour'))
  })
  test('500 for a defect, without text from inside', async () => {
    const answer = await call(makeApp(), '/test/defect')
    expect(answer.statusCode).toBe(500)
    expect(answer.json()).toEqual(errorBody(500, 'Internal error'))
  })
  test('400 for broken percent-encoding', async () => {
    const answer = await call(makeApp(), '/%zz')
    expect(answer.json()).toEqual(errorBody(400, 'The address is not validly encoded'))
  })
  test.each([
    ['/nowhere', 404],
    ['/%zz', 400],
    [`/${'x'.repeat(3_000)}`, 404],
  ])('a person gets a page, which runs and frames nothing foreign: %.20s answers %i', async (url, status) => {
    const { statusCode, headers, body } = await call(makeApp(), url, { headers: { accept: 'text/html' } })
    expect(statusCode).toBe(status)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/,
    )
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })
    expect(body).toContain('<h1>')
  })
  test('a body of 9 MB is taken', async () => {
    const answer = await call(makeApp(), '/test/things', {
      method: 'POST',
      payload: { a: 'x'.repeat(9 * 1024 * 1024) },
    })
    expect(answer.statusCode).toBe(200)
  })
  test.each<[head: string, status: string, message: string, path?: string]>([
    ['GET / HTTP/9', '400 Bad Request', 'Bad Request', ''],
    ['POST /Shop/v1/Products HTTP/1.1\r\nHost: x\r\nExpect: miracles', '417', 'Expect may only be 100-continue'],
    ['GET /healthz HTTP/1.1', '400', 'The header Host is missing', '/healthz'],
    ['POST / HTTP/1.1\r\nHost: a\r\nHost: a', '400', 'The header Host came more than once; send it once'],
    ['POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xyz', '501', 'Transfer-Encoding may only be chunked'],
    ['POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked', '501', 'Transfer-Encoding may only be chunked'],
  ])('%j is answered %s, with a request id and a line in the log', async (head, status, message, path) => {
    const lines: string[] = []
    const answer = await rawRequest(await listening(makeApp({ lines })), `${head}\r\n\r\n`)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} ?[\\s\\S]*\r\nx-request-id: [\\w-]{36}\r\n`, 'i'))
    const code = Number.parseInt(status, 10)
    expect(answer).toContain(JSON.stringify(errorBody(code, message)))
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ status: code, ...(path !== undefined && { path }) })
  })
  test('HTTP/1.0 goes without Host', async () => {
    const answer = await rawRequest(await listening(makeApp()), 'GET /healthz HTTP/1.0\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('the target of a request', () => {
  const send = async (line: string, headers = '', settings = {}) => {
    const lines: string[] = []
    const port = await listening(makeApp({ lines, settings: { LOG_LEVEL: 'trace', ...settings } }))
    const answer = await rawRequest(
      port,
      `${line.replace(/^\S+ \S+$/, '$& HTTP/1.1')}\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`,
    )
    return { answer, lines: lines.filter((line) => !line.includes('listening')) }
  }

  test.each([
    ['GET http://shop.example/healthz', 200, '/healthz'],
    ['GET HTTPS://user:pass@shop.example:8080/healthz?a=http://b', 200, '/healthz'],
    ['GET http://shop.example', 200, '/'],
    ['GET http://shop.example?a=/b', 200, '/'],
    ['OPTIONS *', 404, ''],
    ['GET *', 404, ''],
    ['PUT *?a=b', 404, ''],
    ['GET ftp://shop.example/healthz', 404, ''],
    ['GET x://', 404, ''],
    ['GET http:///healthz', 404, ''],
    ['GET http:healthz', 400, null],
    ['GET healthz', 400, null],
    ['DESCRIBE /healthz RTSP/1.0', 404, ''],
    ['ANNOUNCE * RTSP/1.0', 404, ''],
    ['SOURCE /healthz ICE/1.0', 404, ''],
  ])('%s is answered %i, with the headers of every answer and a line of the log', async (target, status, path) => {
    const { answer, lines } = await send(target)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toMatch(/^x-request-id: /im)
    expect(answer).toMatch(/^x-content-type-options: nosniff/im)
    if (status === 404) expect(answer).toContain(JSON.stringify(errorBody(404, 'No such address')))
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ status, ...(path !== null && { path }) }),
    ])
  })

  test.each([
    ['/StoreWebAPI/v1/Products?sku=secret-ü', '/StoreWebAPI/v1/Products'],
    ['/admin/Orders/5/lines/hunter2/ü', '/admin/Orders/5/lines'],
    ['/secret-ü', ''],
  ])('%s is answered what to encode, and logged as far as it names routes and numbers', async (target, path) => {
    const { answer, lines } = await send(`GET ${target}`)
    const message = 'The address has a byte beyond ASCII; percent-encode its UTF-8, such as é as %C3%A9'
    expect(answer).toContain(JSON.stringify(errorBody(400, message)))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ status: 400, path }])
  })

  test('a page over plain http leads to PUBLIC_URL, whatever host the target names; so do its files', async () => {
    const settings = { PUBLIC_URL: 'https://api.shop.example' }
    for (const [path, accept] of [
      ['/admin/sign-in?next=%2F', 'text/html'],
      ['/assets/app.css', 'text/css'],
      ['/order/1-1-x', 'text/html'],
    ] as const) {
      for (const origin of ['', 'http://evil.example', 'HTTPS://evil.example:1']) {
        const { answer } = await send(`GET ${origin}${path}`, `Accept: ${accept}\r\n`, settings)
        expect(/^location: (.*)\r$/im.exec(answer)?.[1]).toBe(`https://api.shop.example${path}`)
      }
    }
  })
})

test('the settings of paths are refused the first segments of all routes', async () => {
  const app = buildApp(servicesOn(database.db, { REST_PREFIXES: '/rest', SOAP_PATH: '/soap' }))
  const own = new Set<string>()
  app.addHook('onRoute', ({ url }) => void own.add(url.replace(/(?<=.)\/.*/, '')))
  await app.ready()
  await app.close()
  expect([...own].sort().join(', ')).toBe(`/, ${OWN_ADDRESSES}, /rest, /soap, /soap_advanced`)
})

async function listening(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return Number(new URL(app.listeningOrigin).port)
}

async function rawRequest(port: number, head: string): Promise<string> {
  const socket = connectSocket(port, '127.0.0.1')
  socket.write(head)
  return text(socket)
}

test('a body that does not come in time ends in 408', async () => {
  const app = makeApp()
  const begun = Promise.withResolvers<void>()
  app.addHook('preParsing', async () => begun.resolve())
  const port = await listening(app)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const answer = rawRequest(
    port,
    'POST /test/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a"',
  )
  await begun.promise
  vi.advanceTimersByTime(60_000)
  expect(await answer).toMatch(/^HTTP\/1.1 408 /)
})

describe('a body that does not come at all, of a request that was answered before it', () => {
  test.each([
    ['for its type', 'POST /test/things HTTP/1.1\r\nContent-Type: image/png', 415],
    ['for its credentials', 'POST /StoreWebAPI/v1/Products HTTP/1.1\r\nContent-Type: application/json', 401],
  ])('%s ends the connection in time, and nothing fails', async (_name, head, status) => {
    const lines: string[] = []
    const port = await listening(makeApp({ lines }))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const socket = connectSocket(port, '127.0.0.1')
    socket.write(`${head}\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"a"`)
    const [begin] = await once(socket, 'data')
    vi.advanceTimersByTime(60_000)
    expect(String(begin) + (await text(socket).catch(() => ''))).toMatch(
      new RegExp(`^HTTP/1.1 ${status} (?!.*HTTP/1.1)`, 's'),
    )
    expect(lines.join()).not.toMatch(/"err"|Reply|aborted/)
  })

  test('the connection goes on when it comes', async () => {
    const port = await listening(makeApp())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const socket = connectSocket(port, '127.0.0.1')
    socket.write('POST /test/things HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 9\r\n\r\nhalf')
    await once(socket, 'data')
    socket.write('-full')
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /)
    vi.advanceTimersByTime(60_000)
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200 /)
  })
})

test('a route that streams its body is not timed', async () => {
  const app = makeApp()
  const begun = Promise.withResolvers<void>()
  app.addHook('preParsing', async () => begun.resolve())
  app.register(async (scope) => {
    scope.addContentTypeParser('application/x-ndjson', (_request, payload, done) => done(null, payload))
    scope.post('/test/stream', { config: { streamed: true } }, async ({ body }) => text(body as NodeJS.ReadableStream))
  })
  const port = await listening(app)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const socket = connectSocket(port, '127.0.0.1')
  socket.write(
    'POST /test/stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\nContent-Length: 8\r\n\r\nlong',
  )
  const answer = text(socket)
  await begun.promise
  vi.advanceTimersByTime(3_600_000)
  socket.write('time')
  expect(await answer).toMatch(/^HTTP\/1.1 200 [\s\S]*longtime$/)
})

describe('X-Forwarded-* headers', () => {
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https', host: 'x' }

  test('count from a proxy of TRUST_PROXY', async () => {
    const app = makeApp({ settings: { TRUST_PROXY: '10.0.0.0/8' } })
    const answer = await call(app, '/test/things/1', { headers, remoteAddress: '10.1.2.3' })
    expect(answer.json()).toMatchObject({ ip: '203.0.113.9', protocol: 'https' })
  })
  test.each([
    ['from another address', { TRUST_PROXY: '10.0.0.0/8' }],
    ['without TRUST_PROXY', {}],
  ])('do not count %s', async (_name, settings) => {
    const answer = await call(makeApp({ settings }), '/test/things/1', { headers, remoteAddress: '192.0.2.1' })
    expect(answer.json()).toMatchObject({ ip: '192.0.2.1', protocol: 'http' })
  })
})

describe('/readyz', () => {
  test('200 while the database answers and has every migration', async () => {
    const answer = await call(makeApp(), '/readyz')
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ status: 'ready' })
  })
  test('503 when a migration is missing; /healthz goes on', async () => {
    const other = await ofTest(cloneDatabase())
    await other.db.$executeRaw`delete from _prisma_migrations`
    const app = makeApp({ url: other.url })
    const answer = await call(app, '/readyz')
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('1')
    expect(answer.json()).toEqual({ status: 'unavailable', reason: 'migrations are not applied' })
    expect((await call(app, '/healthz')).statusCode).toBe(200)
  })
  test('503 when there is no database, without its address', async () => {
    const url = 'postgresql://store:pass-word@127.0.0.1:1/store'
    const answer = await call(makeApp({ url }), '/readyz')
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toEqual({ status: 'unavailable', reason: 'the database does not answer' })
  })
  test('503 when the database does not answer within 2 s', async () => {
    const app = makeApp()
    await app.ready()
    const release = await holdIn(
      database.db,
      (tx) => tx.$executeRaw`lock table _prisma_migrations in access exclusive mode`,
    )
    const answer = await call(app, '/readyz')
    expect(answer.json()).toEqual({ status: 'unavailable', reason: 'the database does not answer in time' })
    await release()
  })
})

describe('/metrics', () => {
  test('counts requests by kind and status, and by route; has former names of gauges and counters; shows the process', async () => {
    const app = makeApp()
    const paths =
      '/test/things/7 /nowhere/at/all /test/defect /StoreWebAPI/v1/Products /cart.asmx /admin/stores/1/export'
    for (const url of paths.split(' ')) await call(app, url)
    const { body, headers } = await call(app, '/metrics')
    expect(headers['content-type']).toMatch(/^text\/plain; version=0.0.4/)
    const counted = (figure: string) =>
      samplesOf(body).flatMap(({ name, labels, value }) =>
        name === `store_platform_http_${figure}` ? [[...Object.values(labels), value].join(' ')] : [],
      )
    const failed = 'web 500 GET /test/defect 1'
    const refused = ['rest 401 1', 'cartapi 200 1', 'files 401 1']
    expect(counted('requests_total')).toEqual(['web 200 1', 'web 404 1', failed, ...refused])
    expect(counted('request_duration_seconds_count')).toEqual(['web 3', 'rest 1', 'cartapi 1', 'files 1'])
    expect(counted('route_requests_total').slice(0, 2)).toEqual(['GET /test/things/:id 1', 'GET unmatched 1'])
    expect([figureOf(body, 'http_requests_in_hand'), counted('requests_in_hand')]).toEqual([1, ['1']])
    expect(figureOf(body, 'http_throttled_requests_total{bucket="cartapi"}')).toBe(0)
    expect(body).not.toMatch(/^http_(requests_total|route_|request_duration_)|store_platform_(nodejs|store)_/m)
    expect(body).toContain('process_cpu_user_seconds_total')
  })
  test('has two series more after a further route, whatever that answers', async () => {
    const app = makeApp()
    const answer = (request: FastifyRequest, reply: FastifyReply) => reply.code(Number(request.url.slice(-3))).send()
    for (const name of ['one', 'other']) app.get(`/test/${name}/:status`, answer)
    const seriesAfter = async (url: string) => {
      for (const status of [200, 303, 400, 401, 404, 409]) await call(app, `${url}/${status}`)
      return samplesOf((await call(app, '/metrics')).body).filter(({ name }) => !name.startsWith('nodejs_')).length
    }
    await call(app, '/metrics')
    const before = await seriesAfter('/test/one')
    expect(await seriesAfter('/test/other')).toBe(before + 2)
  })
  test.each([
    ['from another machine', { remoteAddress: '192.0.2.1' }],
    ['through a proxy on this machine', { headers: { 'x-forwarded-for': '192.0.2.1' } }],
    ['with a wrong key', { remoteAddress: '192.0.2.1', headers: { authorization: `Bearer ${operatorKey}x` } }],
  ])('401 %s', async (_name, options: InjectOptions) => {
    const answer = await call(makeApp(), '/metrics', options)
    expect(answer.statusCode).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(answer.body).not.toContain('process_')
  })
  test.each(['localhost', 'LOCALHOST:3000', '127.0.0.1:3000', '127.9.9.9', '[::1]:3000', '[::ffff:127.0.0.1]'])(
    '200 on this machine by the name %s',
    async (host) => {
      expect((await call(makeApp(), '/metrics', { headers: { host } })).statusCode).toBe(200)
    },
  )
  test.each(['rebound.example', 'rebound.example:3000', 'localhost.example', '10.0.0.1', '[2001:db8::1]', 'a b'])(
    '401 on this machine by the name %j, as from a page of another site whose name leads here; 200 with the key',
    async (host) => {
      const answer = await call(makeApp(), '/metrics', { headers: { host } })
      expect(answer.statusCode).toBe(401)
      expect(answer.json()[0].Message).toMatch(/operator key.*loopback address/)
      const headers = { host, authorization: `Bearer ${operatorKey}` }
      expect((await call(makeApp(), '/metrics', { headers })).statusCode).toBe(200)
    },
  )
  test('200 from another machine with the operator key', async () => {
    const headers = { authorization: `Bearer ${operatorKey}` }
    expect((await call(makeApp(), '/metrics', { remoteAddress: '192.0.2.1', headers })).statusCode).toBe(200)
  })
})

describe('the log', () => {
  test('has one line per request, with the path alone of its address and no header', async () => {
    const lines: string[] = []
    const app = makeApp({ lines })
    await call(app, '/test/things/7?email=ann@example.com', {
      headers: { 'x-request-id': 'r-1', privatekey: 'private-key-1', token: 'token-1', authorization: 'Bearer key-1' },
    })
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        requestId: 'r-1',
        method: 'GET',
        path: '/test/things/7',
        route: '/test/things/:id',
        status: 200,
      }),
    ])
    expect(lines.join()).not.toMatch(/ann@|private-key-1|token-1|key-1/)
  })
  test('has what the caller is not told', async () => {
    const lines: string[] = []
    const app = makeApp({ lines })
    await call(app, '/test/refusal')
    await call(app, '/test/defect')
    expect(lines.join()).toMatch(/it was blue/)
    expect(lines.join()).toMatch(/secret text from inside/)
    expect(lines.join()).not.toMatch(/ann@/)
  })
})

test('nothing is in hand when every request is answered', async () => {
  const app = makeApp()
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  app.get('/test/slow', async () => {
    reached.resolve()
    await released.promise
    return {}
  })
  const port = await listening(app)
  const answer = rawRequest(port, 'GET /test/slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await reached.promise
  let isDrained = false
  const drained = app.drained().then(() => {
    isDrained = true
  })
  await new Promise(setImmediate)
  expect(isDrained).toBe(false)
  released.resolve()
  await drained
  expect(await answer).toMatch(/^HTTP\/1.1 200 /)
})
