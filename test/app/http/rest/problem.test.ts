import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, test } from 'vitest'
import { type CallOptions, type Method, openServer, sharedServer } from '../../../support/store.ts'
import { productBody } from './fixture.ts'

// Refusals as problem details, for who asks for them by name (RFC 9457).

const PROBLEM = 'application/problem+json'

const server = await sharedServer({ REST_PREFIXES: '/StoreWebAPI,/api/3dCartWebAPI' })
const shop = await server.openStore()
await shop.call('POST', '/Products', { body: [productBody('A-1'), productBody('B-2')] })

interface Problem {
  type: string
  title: string
  status: number
  detail: string
  errors: { index: number; field: string; status: number; detail: string }[]
  requestId: string
}

/** The lines of the log about the request that this answers. */
function linesOf({ headers }: LightMyRequestResponse): Record<string, unknown>[] {
  const lines = server.log.flatMap((text) => text.split('\n').filter((line) => line !== ''))
  return lines.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === headers['x-request-id'])
}

const titles: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
}

/** Checks everything that all problems have in common, and gives the problem. */
function problemOf(answer: LightMyRequestResponse, status: number): Problem {
  expect(answer.statusCode).toBe(status)
  expect(answer.headers['content-type']).toBe(`${PROBLEM}; charset=utf-8`)
  const problem = answer.json<Problem>()
  expect(Object.keys(problem)).toEqual(['type', 'title', 'status', 'detail', 'errors', 'requestId'])
  expect(problem).toMatchObject({ type: `urn:store-platform:problem:${status}`, title: titles[status], status })
  expect(problem.detail).not.toBe('')
  expect(problem.requestId).toBe(answer.headers['x-request-id'])
  expect(linesOf(answer)).toContainEqual(expect.objectContaining({ msg: 'request', status }))
  for (const name of ['cache-control', 'access-control-allow-origin', 'vary'])
    expect(answer.headers).toHaveProperty(name)
  return problem
}

const one = (field: string, status: number, detail: unknown = expect.any(String)) => [
  { index: 0, field, status, detail },
]

type Case = [status: number, what: string, field: string, Method, path: string, CallOptions?, headers?: object]

const otherTag = { body: {}, headers: { 'if-match': '"x"' } }
const large = { body: Buffer.alloc(11 * 1024 * 1024, 0x20), contentType: 'application/json' }

const cases: Case[] = [
  [400, 'a wrong parameter', 'limit', 'GET', '/Products?limit=abc'],
  [400, 'a wrong field', 'SKUInfo.Price', 'PUT', '/Products/1', { body: { SKUInfo: { Price: 'cheap' } } }],
  [400, 'broken JSON', '', 'POST', '/Products', { body: '{' }],
  [401, 'a wrong token', '', 'GET', '/Products', { headers: { token: 'wrong' } }],
  [405, 'a method', '', 'DELETE', '/Products', {}, { allow: 'GET, HEAD, POST, PUT' }],
  [412, 'another tag', 'If-Match', 'PUT', '/Products/1', otherTag],
  [413, 'a body of 11 MB', '', 'POST', '/Products', large],
  [415, 'a picture', 'Content-Type', 'POST', '/Products', { body: 'x', contentType: 'image/png' }],
]

describe('a refusal is problem details for who accepts them by name', () => {
  test.each(cases)('%s for %s', async (status, _what, field, method, path, options = {}, headers = {}) => {
    const answer = await shop.call(method, path, { ...options, accept: PROBLEM, tolerated: true })
    const { detail, errors } = problemOf(answer, status)
    expect(errors).toEqual(one(field, status, detail))
    expect(answer.headers).toMatchObject(headers)
  })

  test('403 for plain http', async () => {
    const secure = await openServer({ PUBLIC_URL: 'https://shop-platform.example' })
    const answer = await secure.app.inject({ url: '/StoreWebAPI/v1/Products', headers: { accept: PROBLEM } })
    await secure.close()
    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toMatchObject({ title: 'Forbidden', status: 403, errors: one('', 403) })
  })

  test.each([
    ['GET', '/Products/400000'],
    ['GET', '/Products?sku=none'],
    ['GET', '/Products/1/Images'],
    ['GET', '/Category/400000/Products?countonly=1'],
    ['PUT', '/Products/400000'],
    ['PUT', '/Products'],
    ['DELETE', '/Products/400000'],
  ] as const)('404 for %s %s says so, where the body is empty for everyone else', async (method, path) => {
    const body = { PUT: path === '/Products' ? [{ SKUInfo: { CatalogID: 400_000 } }] : {} }[method as 'PUT']
    const problem = problemOf(await shop.call(method, path, { body, accept: PROBLEM }), 404)
    expect(problem).toMatchObject({ detail: 'There is no such record', errors: [] })
    for (const accept of ['*/*', 'application/json', 'application/xml']) {
      const answer = await shop.call(method, path, { body, accept })
      expect([answer.statusCode, answer.body, answer.headers['content-type']]).toEqual([404, '', undefined])
    }
  })

  test('404 for an unknown address', async () => {
    const url = '/api/3dCartWebAPI/v1/Products/1/Nothing'
    const answer = await server.app.inject({ method: 'POST', url, headers: { accept: PROBLEM }, payload: 'x' })
    const { errors, detail } = problemOf(answer, 404)
    expect(detail).toContain('No such address')
    expect(errors).toEqual(one('', 404, detail))
  })

  test('429 says when to come back', async () => {
    const { call } = await server.openStore({ throttle: { capacity: 1, leakPerSecond: 0.5 } })
    await call('GET', '/Products')
    const answer = await call('GET', '/Products', { accept: PROBLEM })
    expect(problemOf(answer, 429).detail).toContain('come back in 2 s')
    expect(answer.headers['retry-after']).toBe('2')
    expect(answer.headers['x-ratelimit-remaining']).toBe('0')
  })

  test('500 tells nothing from inside; the log has it under the same request id', async () => {
    const { db } = server.database
    await db.$executeRawUnsafe('ALTER TABLE "Distributor" RENAME TO "Elsewhere"')
    const answer = await shop.call('GET', '/Distributors', { accept: PROBLEM })
    await db.$executeRawUnsafe('ALTER TABLE "Elsewhere" RENAME TO "Distributor"')
    const { errors, detail } = problemOf(answer, 500)
    expect([detail, errors]).toEqual(['Internal error', one('', 500, 'Internal error')])
    expect(answer.body).not.toMatch(/Distributor|relation|Elsewhere|stack/)
    expect(linesOf(answer)).toContainEqual(expect.objectContaining({ level: 'error', msg: 'request failed' }))
  })

  test('HEAD has the headers alone', async () => {
    const answer = await shop.call('HEAD', '/Products/400000', { accept: PROBLEM })
    expect([answer.statusCode, answer.body]).toEqual([404, ''])
    expect(answer.headers['content-type']).toBe(`${PROBLEM}; charset=utf-8`)
  })
})

describe('several records', () => {
  test('that all fail are errors with their places, in one problem', async () => {
    const body = [{}, 5, productBody('C-3', { SKUInfo: { Price: 'x' } })]
    const answer = await shop.call('POST', '/Products', { body, accept: PROBLEM, tolerated: true })
    const { errors, detail } = problemOf(answer, 400)
    expect(errors.map(({ index, field, status }) => [index, field, status])).toEqual([
      [0, 'SKUInfo.SKU', 400],
      [1, '', 400],
      [2, 'SKUInfo.Price', 400],
    ])
    expect(detail).toBe(errors.map((error) => error.detail).join('; '))
  })

  test('that fail for different reasons have each their own status', async () => {
    const body = [{ SKUInfo: { CatalogID: 400_000 } }, { SKUInfo: { CatalogID: 1, Price: 'x' } }]
    const answer = await shop.call('PUT', '/Products', { body, accept: PROBLEM, tolerated: true })
    const { errors } = problemOf(answer, 400)
    expect(errors).toEqual([
      { index: 0, field: '400000', status: 404, detail: 'There is no Product 400000' },
      { index: 1, field: 'SKUInfo.Price', status: 400, detail: expect.any(String) },
    ])
  })

  test('of which some succeed are answered 206 with the array', async () => {
    const body = [{ SKUInfo: { CatalogID: 1 } }, { SKUInfo: { CatalogID: 400_000 } }]
    const answer = await shop.call('PUT', '/Products', { body, accept: PROBLEM })
    expect(answer.statusCode).toBe(206)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json().map(({ Status }: { Status: string }) => Status)).toEqual(['200', '404'])
  })

  test('a hundred of which each is refused are one problem of a bounded length', async () => {
    const body = Array.from({ length: 100 }, () => productBody('A-1', { SKUInfo: { Name: 'x'.repeat(5_000) } }))
    const answer = await shop.call('POST', '/Products', { body, accept: PROBLEM, tolerated: true })
    expect(problemOf(answer, 400).errors).toHaveLength(100)
    expect(answer.body.length).toBeLessThan(100_000)
  })
})

describe('Accept', () => {
  const refusal = (accept: string) => shop.call('GET', '/Products?limit=abc', { accept, tolerated: true })

  test.each([
    PROBLEM,
    'Application/Problem+JSON',
    `${PROBLEM}; charset=utf-8`,
    `application/json, ${PROBLEM}`,
    `${PROBLEM}, application/json;q=0.9`,
    `application/json, ${PROBLEM};q=0.1`,
    `application/xml, ${PROBLEM}`,
    `*/*;q=0.1,${PROBLEM};q=0.001`,
  ])('%s asks for problem details', async (accept) => {
    problemOf(await refusal(accept), 400)
  })

  test.each([
    [`${PROBLEM};q=0`, 'application/json'],
    [`${PROBLEM};q=0.000, */*`, 'application/json'],
    [`${PROBLEM};q=nonsense`, 'application/json'],
    ['application/*', 'application/json'],
    ['application/problem+xml', 'application/json'],
    ['application/xml', 'application/xml'],
    [`application/xml, ${PROBLEM};q=0`, 'application/xml'],
    ['', 'application/json'],
  ])('%s asks for no problem details, but for %s', async (accept, type) => {
    const answer = await refusal(accept)
    expect(answer.statusCode).toBe(400)
    expect(answer.headers['content-type']).toBe(`${type}; charset=utf-8`)
    expect(answer.body).toMatch(type.endsWith('xml') ? /^<\?xml.*ResponseInfo/s : /^\[\{"Key":"Error"/)
  })

  test('for problem details changes nothing of a success', async () => {
    const requests: [Method, string, CallOptions?][] = [
      ['GET', '/Products'],
      ['GET', '/Products/1'],
      ['GET', '/Products?countonly=1'],
      ['PUT', '/Products/1', { body: {} }],
    ]
    for (const [method, path, options] of requests) {
      for (const format of ['application/json', 'application/xml']) {
        const plain = await shop.call(method, path, { ...options, accept: format })
        const answer = await shop.call(method, path, { ...options, accept: `${format}, ${PROBLEM}` })
        expect([answer.statusCode, answer.body]).toEqual([plain.statusCode, plain.body])
        for (const name of ['content-type', 'etag', 'link']) expect(answer.headers[name]).toBe(plain.headers[name])
      }
    }
    const only = await shop.call('GET', '/Products', { accept: PROBLEM })
    expect([only.statusCode, only.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  })
})
