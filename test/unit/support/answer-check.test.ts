import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, test } from 'vitest'
import { answerCheck } from '../../support/answer-check.ts'
import type { Exchange } from '../../support/store.ts'

const record = { type: 'object', properties: { Id: { type: 'integer', minimum: 1 } }, required: ['Id'] }
const records = { type: 'array', items: { $ref: '#/components/schemas/Thing' } }
const refusal = { content: { 'application/json': { schema: { type: 'array', minItems: 1 } } } }

/** A reference of one service, small enough to see what the check makes of it. */
const reference = {
  openapi: '3.1.0',
  servers: [
    { url: 'https://shop.example/api/{version}', variables: { version: { default: 'v1', enum: ['v1', 'v2'] } } },
  ],
  paths: {
    '/Things': {
      get: {
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer' } },
          { name: '$select', in: 'query', schema: { type: 'string' } },
          { name: 'countonly', in: 'query', schema: {} },
        ],
        responses: {
          200: {
            headers: {
              'X-Count': { required: true, schema: { type: 'integer' } },
              Link: { schema: { type: 'string' } },
            },
            content: { 'application/json': { schema: records }, 'application/xml': {} },
          },
          400: { $ref: '#/components/responses/Refusal' },
        },
      },
      post: {
        requestBody: { content: { 'application/json': { schema: record }, 'application/xml': {} } },
        responses: { 201: { content: { 'application/json': { schema: records } } } },
      },
    },
    '/Things/{id}': {
      parameters: [{ name: 'id', in: 'path', schema: { type: 'integer', minimum: 1 } }],
      get: {
        responses: {
          200: { content: { 'application/json': { schema: records } } },
          401: { $ref: '#/components/responses/Refusal' },
          404: { content: { 'application/problem+json': {} } },
        },
      },
    },
    '/Things/all': { delete: { responses: { 200: {} } } },
  },
  components: {
    schemas: { Thing: record },
    responses: {
      Refusal: refusal,
      InsecureTransport: refusal,
      BadRequest: refusal,
    },
  },
}

const services = [{ service: 'Things', names: ['Things', 'Goods'] }]

type Sent = Partial<Omit<Exchange, 'answer'>> & { status?: number; answer?: string; answered?: Record<string, string> }

const json = { 'content-type': 'application/json; charset=utf-8' }
const list: Sent = { answer: '[{"Id":1}]', answered: { ...json, 'x-count': '1', date: 'today' } }
const one: Sent = { url: '/api/v1/Things/1', answer: '[{"Id":1}]' }
const created: Sent = { method: 'POST', headers: json, body: '{"Id":1}', status: 201, answer: '[{"Id":1}]' }
const refused: Sent = { status: 400, answer: '[{}]' }

function exchange(sent: Sent): Exchange {
  const { method = 'GET', url = '/api/v1/Things', headers = {}, body = '', isTolerated = false } = sent
  const { status: statusCode = 200, answer = '', answered = answer === '' ? {} : json } = sent
  const response = { statusCode, headers: answered, body: answer } as unknown as LightMyRequestResponse
  return { method, url, headers, body, isTolerated, answer: response }
}

test.each<[string, Sent]>([
  ['a list', list],
  ['the same without regard to case, empty segments and a slash at the end', { ...list, url: '/API/v2//things/' }],
  ['a query parameter without value', { ...list, url: '/api/v1/Things?LIMIT=' }],
  ['HEAD, which is GET without the body', { ...list, method: 'HEAD', answer: '' }],
  ['one record', one],
  ['a record made', created],
  ['a refusal', refused],
  ['members that were chosen', { ...list, url: '/api/v1/Things?%24select=Name', answer: '[{}]' }],
  ['a number that countonly asked for', { ...list, url: '/api/v1/Things?countonly=True', answer: '{"TotalCount":3}' }],
  ['another name of the service', { ...list, url: '/api/v1/goods?limit=1' }],
  ['an empty 404', { ...one, status: 404, answer: '' }],
  ['an address that there is not', { url: '/api/v1/Others', status: 404, answer: '[{}]' }],
  ['a method that there is not', { ...one, method: 'PUT', status: 405, answered: { ...json, allow: 'GET, HEAD' } }],
  ['a refusal before the method', { ...one, method: 'PUT', status: 401 }],
  ['a refusal before the address', { url: '/api/v1/Others', status: 403, answer: '[{}]' }],
  ['the pattern with fewest identifiers', { method: 'DELETE', url: '/api/v1/Things/all' }],
  ['a tolerated body', { ...created, body: '{"id":"1"}', isTolerated: true }],
])('%s is as the document says', (_what, sent) => {
  expect(() => answerCheck(reference, services).verify(exchange(sent))).not.toThrow()
})

test.each<[string, Sent, string]>([
  ['a status', { ...list, status: 206 }, 'it answers 200, 400'],
  ['a bound', { ...list, answer: '[{"Id":0}]' }, 'the body /0/Id must be >= 1'],
  ['a type', { ...one, answer: '[{"Id":"1"}]' }, 'the body /0/Id must be integer'],
  ['a member', { ...one, answer: '[{}]' }, "the body /0 must have required property 'Id'"],
  ['a shape', { ...refused, answer: '[]' }, 'the body must NOT have fewer than 1 items'],
  ['a number that nobody asked for', { ...list, answer: '{"TotalCount":3}' }, 'the body must be array'],
  ['text', { ...one, answer: 'oops' }, 'the body is not JSON'],
  ['a body where none is', { method: 'DELETE', url: '/api/v1/Things/all', answer: 'x' }, 'the body is empty, not "x"'],
  ['no body', { ...list, answer: '' }, 'the body is not JSON'],
  ['a body to HEAD', { ...list, method: 'HEAD' }, 'the answer to HEAD has a body'],
  [
    'a media type',
    { ...one, answered: { 'content-type': 'text/html' } },
    'the body is application/json, not text/html',
  ],
  ['a header that is missing', { ...list, answered: json }, 'the header X-Count is missing'],
  ['a header’s value', { ...list, answered: { ...json, 'x-count': 'many' } }, 'the header X-Count is "many"'],
  ['another header', { ...one, answered: { ...json, etag: '"a"' } }, 'the header etag is not in the document'],
  ['an unknown address', { ...list, url: '/api/v1/Others' }, 'there is no such address'],
  [
    'an unknown address without a body',
    { url: '/api/v3/Things', status: 404 },
    'the body is application/json, not of no type',
  ],
  [
    'an unknown address that does not say so',
    { url: '/api/v1/Others', status: 404, answer: '[]' },
    'the body must NOT',
  ],
  [
    'a member of what was chosen',
    { ...list, url: '/api/v1/Things?$select=Id', answer: '[{"Id":0}]' },
    'the body /0/Id must',
  ],
  ['a method', { ...one, method: 'PUT' }, 'it takes GET, and Allow is ""'],
  [
    'too few allowed',
    { method: 'PUT', status: 405, answered: { allow: 'GET' } },
    'it takes GET, POST, and Allow is "GET"',
  ],
  ['too many allowed', { ...one, method: 'PUT', status: 405, answered: { allow: 'GET, PUT' } }, 'it takes GET, and'],
  ['an identifier', { ...one, url: '/api/v1/Things/0' }, 'id is "0": must be >= 1'],
  ['a query parameter', { ...list, url: '/api/v1/Things?limit=x' }, 'limit is "x": must be integer'],
  [
    'another query parameter',
    { ...list, url: '/api/v1/Things?size=1' },
    'the query parameter size is not in the document',
  ],
  ['a body that was taken', { ...created, body: '{"Id":"1"}' }, 'the request /Id must be integer'],
  [
    'its media type',
    { ...created, headers: { 'content-type': 'image/png' } },
    'the request is application/json, application/xml, not image/png',
  ],
])('what the document does not say is named with the request: %s', (_what, sent, fault) => {
  const { method, url, answer } = exchange(sent)
  const start = `${method} ${url} was answered ${answer.statusCode}, and the document says otherwise:\n- ${fault}`

  expect(() => answerCheck(reference, services).verify(exchange(sent))).toThrow(start)
})

test('of many faults the first are told', () => {
  const answer = JSON.stringify(Array.from({ length: 20 }, () => ({ Id: 0 })))

  expect(() => answerCheck(reference, services).verify(exchange({ ...list, answer }))).toThrow(
    /\/7\/Id .*\n- and 12 more$/,
  )
})

test('operations count as answered by a success', () => {
  const check = answerCheck(reference, services)
  const all = ['GET /Things', 'POST /Things', 'GET /Things/{id}', 'DELETE /Things/all']
  expect(check.unanswered()).toEqual(all)

  for (const sent of [refused, list, created]) check.verify(exchange(sent))

  expect(check.unanswered()).toEqual(all.slice(2))
})

describe('XML', () => {
  const xml = { 'content-type': 'application/xml; charset=utf-8' }
  const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:element name="Id" type="xs:int" /></xs:schema>`
  const answered = { ...xml, 'x-count': '1' }

  test('answers, and requests that were taken, are held against the schema at the end, each text once', async () => {
    const check = answerCheck(reference, services)
    check.verify(exchange({ ...list, answered, answer: '<Id>1</Id>' }))
    for (const url of ['/api/v1/Things', '/api/v2/Things']) {
      check.verify(exchange({ ...list, answered, url, answer: '<Id>x</Id>' }))
    }
    check.verify(exchange({ ...created, headers: xml, body: '<Id />' }))
    check.verify(exchange({ ...created, headers: xml, body: '<ID />', isTolerated: true }))
    check.verify(exchange({ ...refused, headers: xml, body: '<Nonsense />' }))

    expect(await check.xmlFaults(schema)).toEqual([
      expect.stringMatching(/^the answer of GET \/api\/v1\/Things was answered 200:\n- Element 'Id': 'x' is not/),
      expect.stringMatching(/^the request of POST \/api\/v1\/Things was answered 201:\n- Element 'Id': '' is not/),
    ])
  })

  test('a schema that is not valid itself holds for nothing', async () => {
    const check = answerCheck(reference, services)
    check.verify(exchange({ ...list, answered, answer: '<Id>1</Id>' }))

    await expect(check.xmlFaults(schema.replace('xs:int', 'xs:nonsense'))).rejects.toThrow('does not resolve')
  })
})
