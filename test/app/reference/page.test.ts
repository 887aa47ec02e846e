import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServer, type TestServer } from '../../support/store.ts'

let server: TestServer
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server?.close())

test('/docs is a page for anyone, all of whose files come from this server', async () => {
  const page = await server.app.inject('/docs')
  expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  const addresses = [...page.body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address)
  const files = addresses.filter((address) => address.startsWith('/docs/'))
  expect(files.toSorted()).toEqual([
    '/docs/page.css',
    '/docs/start.js',
    '/docs/swagger-ui-bundle.js',
    '/docs/swagger-ui.css',
  ])
  expect(addresses.filter((address) => !files.includes(address))).toEqual(['data:,', '/openapi.json'])
  for (const file of files) {
    const { statusCode, headers, body } = await server.app.inject(file)
    expect([statusCode, headers['content-type']], file).toEqual([
      200,
      file.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
    ])
    expect(body.length, file).toBeGreaterThan(10)
  }
})

test('the page may load and send nothing but to this server, and stands in no frame', async () => {
  for (const url of ['/docs', '/docs/start.js']) {
    const policy = String((await server.app.inject(url)).headers['content-security-policy'])
    const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')]))
    expect(Object.fromEntries(rules)).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'connect-src': "'self'",
      'frame-ancestors': "'none'",
    })
    expect(policy).not.toMatch(/https?:|\*/)
  }
})

test('a file of the page that the browser has already is not sent again', async () => {
  const { headers } = await server.app.inject('/docs/swagger-ui.css')
  const again = await server.app.inject({
    url: '/docs/swagger-ui.css',
    headers: { 'if-none-match': String(headers.etag) },
  })
  expect([again.statusCode, again.body]).toEqual([304, ''])
})

test('no other file is served', async () => {
  for (const name of ['index.html', '..%2froutes.ts', 'swagger-ui.js', 'static/swagger-ui.css', 'x/start.js']) {
    expect((await server.app.inject(`/docs/${name}`)).statusCode, name).toBe(404)
  }
})

test('keys are never typed into a page that came over plain http where PUBLIC_URL is https', async () => {
  const secure = await openServer({ PUBLIC_URL: 'https://api.shop.example', TRUST_PROXY: '127.0.0.1' })
  try {
    const plain = await secure.app.inject('/docs')
    expect([plain.statusCode, plain.headers.location]).toEqual([302, 'https://api.shop.example/docs'])
    const proxied = await secure.app.inject({ url: '/docs', headers: { 'x-forwarded-proto': 'https' } })
    expect(proxied.statusCode).toBe(200)
    const untrusted = await secure.app.inject({
      url: '/docs',
      headers: { 'x-forwarded-proto': 'https' },
      remoteAddress: '192.0.2.7',
    })
    expect([untrusted.statusCode, untrusted.headers.location]).toEqual([403, undefined])
    expect(untrusted.json()).toMatchObject([{ Message: expect.stringContaining('TRUST_PROXY') }])
  } finally {
    await secure.close()
  }
})
