import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lastCalls } from '../../../../src/access/applications/calls/call-log.ts'
import { openApiDocument } from '../../../../src/app.ts'
import type { Operation } from '../../../../src/http/server/json/openapi.ts'
import { sharedServer } from '../../../support/store.ts'

// What a page of another site needs: the preflight, and the headers of answers that it may read.

const server = await sharedServer()
const shop = await server.openStore({ throttle: { capacity: 1, leakPerSecond: 1 } })

/** As browsers ask, which leave the credentials out. Null: for no header that needs asking. */
const preflight = (url: string, asked: string | null = 'privatekey,secureurl,token') =>
  server.app.inject({
    method: 'OPTIONS',
    url,
    headers: {
      origin: 'https://page.example',
      'access-control-request-method': 'GET',
      ...(asked !== null && { 'access-control-request-headers': asked }),
    },
  })

const namesIn = (header: unknown) => String(header).toLowerCase().split(', ')

describe('OPTIONS', () => {
  test.each([
    ['/StoreWebAPI/v1/Products', 'GET, HEAD, POST, PUT'],
    ['/StoreWebAPI/v2/Products/1', 'GET, HEAD, PUT, DELETE'],
    ['/storewebapi/v1/categories/1/options/2', 'PUT'],
    ['/StoreWebAPI/v1/Events', 'GET, HEAD'],
    ['/StoreWebAPI/v1/Products/abc', 'GET, HEAD, PUT, DELETE'],
    ['/StoreWebAPI/v1/Nothing', 'GET, HEAD, POST, PUT, DELETE'],
    ['/StoreWebAPI/v3/Products', 'GET, HEAD, POST, PUT, DELETE'],
    ['/StoreWebAPI', 'GET, HEAD, POST, PUT, DELETE'],
    ['/openapi.json', 'GET, HEAD'],
    ['/records.xsd', 'GET, HEAD'],
    ['/docs', 'GET, HEAD'],
    ['/docs/reference/Products', 'GET, HEAD'],
  ])('of %s is answered 204 with its methods', async (url, methods) => {
    const answer = await preflight(url)
    expect([answer.statusCode, answer.body]).toEqual([204, ''])
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': methods,
      'access-control-max-age': expect.stringMatching(/^[1-9]\d+$/),
      allow: methods,
    })
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test('allows every header that the reference names', async () => {
    const { components, paths } = openApiDocument(server.services.config)
    const schemes = Object.values(components.securitySchemes ?? {}) as { in?: string; name?: string }[]
    const parameters = [
      ...Object.values(components.parameters ?? {}),
      // Routes outside of REST have a server of their own, and sessions: no page of another site may use them.
      ...Object.values(paths)
        .filter((item) => !('servers' in item))
        .flatMap((item) => Object.values(item).flatMap((each) => (each as Operation).parameters ?? [])),
    ]
    const named = [...schemes, ...parameters].filter((each) => 'in' in each && each.in === 'header')
    const names = named.map((each) => String((each as { name?: string }).name).toLowerCase())
    expect(names).toEqual(expect.arrayContaining(['secureurl', 'idempotency-key', 'if-match']))

    const allowed = namesIn((await preflight('/StoreWebAPI/v1/Products')).headers['access-control-allow-headers'])
    expect(allowed).toEqual(
      expect.arrayContaining([...names, 'authorization', 'content-type', 'accept', 'x-request-id']),
    )
  })

  describe('allows the headers that a page asks for', () => {
    const allowedFor = async (asked: string | null, url = '/StoreWebAPI/v1/Products') =>
      namesIn((await preflight(url, asked)).headers['access-control-allow-headers'])

    test.each(['/StoreWebAPI/v1/Products', '/StoreWebAPI/v1/Nothing', '/openapi.json', '/records.xsd', '/docs'])(
      'at %s, beside its own',
      async (url) => {
        const own = await allowedFor(null, url)
        expect(own).toContain('idempotency-key')
        expect(await allowedFor('x-correlation-id, traceparent,privatekey', url)).toEqual([
          ...own,
          'x-correlation-id',
          'traceparent',
        ])
        const { headers } = await preflight(url, 'x-correlation-id')
        expect(namesIn(headers.vary)).toContain('access-control-request-headers')
      },
    )

    test('as far as their names have 1 kB', async () => {
      const own = await allowedFor(null)
      const names = Array.from({ length: 400 }, (_, index) => `x-${String(index).padStart(8, '0')}`)
      const allowed = (await allowedFor(names.join(','))).slice(own.length)
      // 10 characters each, and two between them.
      expect(allowed).toEqual(names.slice(0, 85))
      expect((await allowedFor(`x-${'y'.repeat(2_000)}, x-short`)).slice(own.length)).toEqual(['x-short'])
    })

    test('whatever they are, as a list of header names that any client can read', async () => {
      const own = await allowedFor(null)
      const name = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9a-z-]{1,40}$/)
      const other = fc.string({ unit: 'binary-ascii', maxLength: 20 }).map((text) => text.replace(/[^\x20-\x7e]/g, ''))
      await fc.assert(
        fc.asyncProperty(fc.array(fc.oneof(name, other), { maxLength: 20 }), async (asked) => {
          const allowed = await allowedFor(asked.join(','))
          expect(allowed.slice(0, own.length)).toEqual(own)
          for (const each of allowed) expect(each).toMatch(/^[!#$%&'*+.^_`|~0-9a-z-]+$/)
          const parts = asked.join(',').split(',')
          const valid = parts
            .map((each) => each.trim().toLowerCase())
            .filter((each) => /^[^\s"(),/:;<=>?@[\\\]{}]+$/.test(each))
          expect(new Set(allowed)).toEqual(new Set([...own, ...valid]))
        }),
      )
    })
  })

  test('takes from no bucket, counts as no refused sign-in, and is no call of the application', async () => {
    const wrong = { ...shop.credentials, token: 'wrong' }
    for (let count = 0; count < 60; count++) {
      const answer = await server.app.inject({ method: 'OPTIONS', url: '/StoreWebAPI/v1/Products', headers: wrong })
      expect(answer.statusCode).toBe(204)
      expect(answer.headers).not.toHaveProperty('x-ratelimit-remaining')
    }
    const options = { method: 'OPTIONS', url: '/StoreWebAPI/v1/Products', headers: shop.credentials } as const
    expect((await server.app.inject(options)).statusCode).toBe(204)
    expect((await shop.call('GET', '/Products?countonly=1')).statusCode).toBe(200)
    expect((await shop.call('GET', '/Products?countonly=1')).statusCode).toBe(429)
    expect((await shop.call('GET', '/Products', { headers: { token: 'wrong', privatekey: 'wrong' } })).statusCode).toBe(
      401,
    )
    const { callLog } = server.services
    await callLog.flush()
    const subscriptionId = shop.caller.application?.subscriptionId ?? 0
    const { calls, refusals } = await lastCalls(server.services, { subscriptionId, limit: 100 })
    expect([...calls, ...refusals].map(({ method }) => method)).toEqual(['GET', 'GET'])
  })
})

test('a page may read every header that the reference names, and Date, whether the request is taken or refused', async () => {
  const { components } = openApiDocument(server.services.config)
  const names = Object.keys(components.headers ?? {}).map((name) => name.toLowerCase())
  expect(names).toEqual(expect.arrayContaining(['etag', 'link', 'x-request-id', 'retry-after']))
  const other = await server.openStore()
  const answers = [
    await other.call('GET', '/Products?countonly=1'),
    await other.call('GET', '/Products/9'),
    await other.call('GET', '/Products', { headers: { token: 'wrong' } }),
    await other.call('GET', '/Nothing'),
  ]
  for (const { headers } of answers) {
    expect(namesIn(headers['access-control-expose-headers'])).toEqual(expect.arrayContaining([...names, 'date']))
    expect(headers['access-control-allow-origin']).toBe('*')
  }
})

test.each(['/openapi.json', '/records.xsd', '/docs', '/docs/guides/first-call'])('a page may read %s', async (url) => {
  expect((await server.app.inject(url)).headers['access-control-allow-origin']).toBe('*')
})

test.each(['/admin', '/developers', '/oauth/token', '/assets/app.css', '/cart.asmx'])(
  'the preflight of %s is refused, and nothing lets a page of another site read it',
  async (url) => {
    const answer = await preflight(url)
    expect(answer.statusCode).toBeGreaterThanOrEqual(400)
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  },
)
