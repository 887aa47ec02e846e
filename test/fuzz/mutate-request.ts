import { gzipSync } from 'node:zlib'
import type { Draw } from './draw.ts'
import type { FuzzRequest } from './requests.ts'
import { nastyHeader, wellFormed } from './surface-openapi.ts'
import { nastyText } from './values.ts'

/** Changes what goes over the line; of every hundred requests so many stay as they are. */
const AS_MADE = 80

export function mutateRequest(draw: Draw, made: FuzzRequest): FuzzRequest {
  if (draw.happens(AS_MADE)) return made
  let request = made
  for (let count = draw.oneOf([1, 1, 2]); count > 0; count--) {
    const [name, mutate] = draw.oneOf(mutations)
    const changed = mutate(draw, request)
    if (changed !== null) request = { ...request, ...changed, mutations: [...request.mutations, name] }
  }
  return request
}

/** Null: there is nothing of the kind to change. */
type Mutation = (draw: Draw, request: FuzzRequest) => Partial<FuzzRequest> | null

const mutations: readonly (readonly [name: string, mutate: Mutation])[] = [
  ['method', (draw) => ({ method: draw.oneOf(methods) })],
  ['path', (draw, { path }) => ({ path: strangePath(draw, path) })],
  ['query', (draw, { path }) => ({ path: `${path}${path.includes('?') ? '&' : '?'}${strangeQuery(draw)}` })],
  ['header', (draw, { headers }) => ({ headers: [...headers, strangeHeader(draw)] })],
  ['header spelling', (draw, { headers }) => ({ headers: headers.map((pair) => respelt(draw, pair)) })],
  [
    'header twice',
    (draw, { headers }) => (headers.length === 0 ? null : { headers: [...headers, draw.oneOf(headers)] }),
  ],
  [
    'header removed',
    (draw, { headers }) =>
      headers.length === 0 ? null : { headers: headers.toSpliced(draw.int(0, headers.length - 1), 1) },
  ],
  [
    'content type',
    (draw, { body, headers }) =>
      body === null ? null : { headers: replaced(headers, 'content-type', draw.oneOf(contentTypes)) },
  ],
  ['content encoding', (draw, { body, headers }) => (body === null ? null : encoded(draw, body, headers))],
  ['body cut', (draw, { body }) => (body === null ? null : { body: body.subarray(0, draw.int(0, body.length)) })],
  ['body bytes', (draw, { body }) => (body === null ? null : { body: withBytes(draw, body) })],
  ['body markup', (draw, { body }) => (body === null ? null : { body: withMarkup(draw, body) })],
  ['body twice', (_draw, { body }) => (body === null ? null : { body: Buffer.concat([body, body]) })],
  ['body text', (draw) => ({ body: Buffer.from(wellFormed(nastyText(draw))) })],
]

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'SEARCH',
  'PROPFIND',
  'QUERY',
  'PURGE',
  'MKCOL',
]

const contentTypes = [
  'application/json; charset=utf-16', 'application/json; charset=iso-8859-1', 'application/json;charset="utf-8"', 'APPLICATION/JSON', 'application/json; a',
  'application/xml', 'text/xml; charset=windows-1252', 'application/soap+xml; action="x"', 'text/plain', 'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded; charset=utf-7', 'application/x-ndjson', 'application/octet-stream', 'json', '/', ';', '*/*', 'application/json, text/xml',
] // biome-ignore format: a table

function strangePath(draw: Draw, whole: string): string {
  const [path = '', ...query] = whole.split('?')
  const place = draw.int(1, Math.max(1, path.length))
  const pieces = [
    '/',
    '//',
    '/./',
    '/../',
    '/..%2f',
    '%2e%2e/',
    '%2f',
    '%5c',
    ';x=1',
    '%00',
    '%20',
    '%zz',
    '%',
    '%c0%ae',
    '%ff',
    '.',
    '%252e',
    '%3f',
    "'",
    '%e2%80%ae',
    '{',
    '*',
    ':',
    '@',
    'x'.repeat(3_000),
  ]
  const kind = draw.int(0, 5)
  const changed =
    kind === 0
      ? path.toUpperCase()
      : kind === 1
        ? path.replace(/[a-z]/i, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
        : path.slice(0, place) + draw.oneOf(pieces) + path.slice(place)
  return [changed, ...query].join('?')
}

function strangeQuery(draw: Draw): string {
  const name = draw.oneOf([
    'limit',
    'offset',
    'cursor',
    'countonly',
    '$select',
    '$orderby',
    'LIMIT',
    'a[]',
    '__proto__',
    '',
    '%zz',
    'sku',
    'lastupdatestart',
  ])
  const value = draw.oneOf([
    '%zz',
    '%',
    '%ff%fe',
    '+',
    '',
    'a=b=c',
    '1;2',
    '%00',
    '%F0%9F',
    encodeURIComponent(wellFormed(nastyText(draw)).slice(0, 2_000)),
  ])
  return draw.oneOf([`${name}=${value}`, name, `${name}=${value}&${name}=1`, '&&&', `=${value}`])
}

function strangeHeader(draw: Draw): readonly [string, string] {
  const text = nastyHeader(draw)
  return draw.oneOf([
    [
      'accept',
      draw.oneOf(['application/xml', 'text/html', '*/*;q=0', 'application/json;q=2', 'image/png', ', ,', text]),
    ],
    ['accept-encoding', draw.oneOf(['br', 'gzip;q=0', 'identity;q=0', '*;q=0', 'zstd, br;q=0.1', text])],
    ['accept-language', text],
    ['x-http-method-override', 'DELETE'],
    ['range', 'bytes=0-10'],
    ['if-match', draw.oneOf(['*', '""', 'W/"1"', text])],
    ['if-none-match', draw.oneOf(['*', '"x"', `${'"x", '.repeat(300)}"y"`, text])],
    ['if-modified-since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['idempotency-key', draw.oneOf(['', 'x'.repeat(256), 'key 1', text])],
    ['prefer', draw.oneOf(['count=exact', 'return=minimal, count=exact', text])],
    ['x-request-id', draw.oneOf([text.slice(0, 300), 'abc', 'x'.repeat(5_000)])],
    [
      'authorization',
      draw.oneOf(['Bearer', 'Bearer ', 'Basic', 'Basic =', 'Basic OjpA', 'Digest x', `Bearer ${text}`]),
    ],
    ['cookie', draw.oneOf(['merchant=x', 'merchant', '=', 'a=b; '.repeat(500), text])],
    ['origin', draw.oneOf(['null', 'https://evil.example', text])],
    ['sec-fetch-site', draw.oneOf(['cross-site', 'same-site', 'x'])],
    ['x-forwarded-for', '1.2.3.4'],
    ['x-forwarded-proto', 'https'],
    ['soapaction', draw.oneOf(['""', '"urn:store-platform:cartAPI/getOrder"', text])],
    ['securl', text],
    ['token', text],
    ['privatekey', text],
  ] as const)
}

function respelt(draw: Draw, [name, value]: readonly [string, string]): readonly [string, string] {
  const kind = draw.int(0, 3)
  if (kind === 0) return [name.toUpperCase(), value]
  if (kind === 1) return [name, value.toUpperCase()]
  return [name.replace(/^./, (letter) => letter.toUpperCase()), kind === 2 ? `${value},` : ` ${value} `]
}

function replaced(headers: FuzzRequest['headers'], name: string, value: string): FuzzRequest['headers'] {
  return [...headers.filter(([one]) => one.toLowerCase() !== name), [name, value]]
}

function encoded(draw: Draw, body: Buffer, headers: FuzzRequest['headers']): Partial<FuzzRequest> {
  const zipped = gzipSync(body)
  const coding = draw.oneOf(['gzip', 'gzip', 'br', 'deflate', 'identity', 'x', 'gzip, gzip'])
  return {
    headers: [...headers, ['content-encoding', coding]],
    body: draw.oneOf([zipped, zipped.subarray(0, zipped.length >> 1), body]),
  }
}

function withBytes(draw: Draw, body: Buffer): Buffer {
  const place = draw.int(0, body.length)
  const piece = draw.oneOf([
    '00',
    'ff',
    'c0af',
    'eda080',
    'f4908080',
    'efbbbf',
    'fffe',
    '0d0a',
    '22',
    '5c',
    '1b',
    'f09f',
  ])
  return Buffer.concat([
    body.subarray(0, place),
    Buffer.from(piece, 'hex'),
    body.subarray(draw.happens(50) ? place : Math.min(body.length, place + 1)),
  ])
}

/** Constructs that break one of the formats, at a place of the body where something begins or ends. */
function withMarkup(draw: Draw, body: Buffer): Buffer {
  const text = body.toString()
  const places = [...text.matchAll(/[<>{}[\],&=:]/g)].map(({ index }) => index)
  const place = places.length === 0 ? 0 : draw.oneOf(places)
  const piece = draw.oneOf(markups)
  return Buffer.from(
    draw.happens(70)
      ? text.slice(0, place) + piece + text.slice(place)
      : text.replaceAll(/ xmlns(:\w+)?="[^"]*"/g, piece),
  )
}

const markups = [
  '<!DOCTYPE a [<!ENTITY b "c">]>', '<!DOCTYPE a SYSTEM "file:///etc/passwd">', '&b;', '&#0;', '&#xD800;', '&amp;'.repeat(2_000), '<![CDATA[', ']]>', '<!--', '-->', '<?xml version="1.1"?>',
  '<?p?>', '<a:b/>', '<a xmlns:a=""/>', '<a a="1" a="2"/>', '</x>', '<x>'.repeat(300), '<x/>'.repeat(3_000), ' xmlns="urn:other"', ' xmlns:soap="urn:other"', ',', ',,', '}', ']', '{"a":1,"a":2}', '"', '\\', 'NaN', '0'.repeat(400),
  '[['.repeat(400), '//', '/*', '&a=b', '%zz', '=', '\u0000', '\ufeff', '\u2028',
] // biome-ignore format: a table
