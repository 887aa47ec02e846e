import { once } from 'node:events'
import { connect } from 'node:net'
import { internalFaults, isSoapFault } from './check.ts'
import type { Draw } from './draw.ts'
import type { FuzzAnswer, FuzzRequest } from './requests.ts'
import type { FuzzOperation, Ground } from './surface-openapi.ts'

// Bytes that no client library would send: request lines and header lines of all forms, on a connection of their own.

/** Comes behind each, so that whatever the server makes of the bytes before it, it has an end. */
const LAST = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
const END_TIMEOUT_MS = 15_000

export const requestLines: FuzzOperation = {
  name: 'request line',
  kind: 'line',
  make: (draw, ground) => {
    const method = draw.happens(50) ? 'GET' : draw.oneOf(methods)
    const path = targetOf(draw, ground)
    const separator = () => (draw.happens(97) ? ' ' : draw.oneOf(['  ', '\t', '\v', '\0', '']))
    const end = () => (draw.happens(98) ? '\r\n' : draw.oneOf(['\n', '\r', '\n\r', '\r\n\r\n', '\0\r\n']))
    const version = draw.happens(85) ? 'HTTP/1.1' : draw.oneOf(versions)
    const lines = [
      draw.happens(92) ? 'Host: localhost' : draw.oneOf(hosts),
      `X-Forwarded-For: 10.${draw.int(0, 255)}.${draw.int(0, 255)}.1`,
      ...Array.from({ length: draw.oneOf([0, 0, 0, 1, 2]) }, () => draw.oneOf(headerLines)),
    ]
    const line = `${method}${separator()}${path}${separator()}${version}${end()}`
    const bytes = `${line}${lines.map((one) => `${one}${end()}`).join('')}${end()}${LAST}`
    return {
      ...{ operation: requestLines.name, method, path, headers: [], body: null, mutations: [] },
      bytes: Buffer.from(bytes, 'latin1'),
    }
  },
}

function targetOf(draw: Draw, { api }: Ground): string {
  const known = draw.oneOf(api.addresses).path.replaceAll(/\{\w+\}/g, '1')
  const path = draw.oneOf([known, `/StoreWebAPI/v1${known}`, '/', '/healthz', '/admin', '/cart.asmx?WSDL', '/nowhere'])
  const made = draw.oneOf([
    ...[path, path, path, path, path, `${draw.oneOf(origins)}${path}`, `${draw.oneOf(origins)}${path}`],
    ...[draw.oneOf(origins), `${draw.oneOf(origins)}?a=/b`, '*', `*${path}`, 'localhost:80', path.slice(1)],
  ])
  if (draw.happens(75)) return made
  const place = draw.int(0, made.length)
  return made.slice(0, place) + draw.oneOf(pieces) + made.slice(place)
}

const methods = [
  'HEAD', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PATCH', 'M-SEARCH', 'SOURCE', 'CONNECT', 'PRI',
  // RTSP's.
  'DESCRIBE', 'ANNOUNCE', 'SETUP', 'PLAY', 'PAUSE', 'TEARDOWN', 'GET_PARAMETER', 'SET_PARAMETER', 'REDIRECT', 'RECORD', 'FLUSH',
  '', 'get', 'FOO', 'GET\0', 'G', 'G\xc9T', '\r\nGET', '\n\n\nGET', 'X'.repeat(300), '__proto__', 'constructor',
] // biome-ignore format: a table

const origins = [
  'http://localhost', 'HTTP://LOCALHOST:80', 'https://evil.example', 'http://user:pass@evil.example:99999', 'http://', 'http:', 'http://[::1]',
  'http://[::1', 'http://a b', 'ftp://localhost', 'file://', 'ws://localhost', '//evil.example', 'x://', 'javascript:', 'http://\xe9', 'http://%zz',
] // biome-ignore format: a table

const versions = [
  'HTTP/1.0', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/9', 'HTTP/11', 'http/1.1', 'HTTP/1.1 ', 'HTTP', '', 'RTSP/1.0', 'RTSP/1.0',
  'RTSP/1.0', 'ICE/1.0', 'HTTP/1.1\0', 'HTTP/1.\xb9', 'X'.repeat(300),
] // biome-ignore format: a table

const pieces = [
  '\0', '\x01', '\t', '\x7f', '\x80', '\xff', '\xc3\xa9', ' ', '%', '%zz', '%00', '%2f', '%2F..%2f', '%c0%af', '%ff', '%u0041', '%25', '?', '??', '#', ';',
  '\\', '//', '/./', '/../', '..', '@', ':', '[', '|', '^', '"', '<', '{', '`', '*', '&', '=', '\r', '\n', '\r\n', '\r\nX: y',
  'x'.repeat(3_000), '/x'.repeat(4_000), '%41'.repeat(4_000), 'x'.repeat(20_000), '?a='.repeat(500), '://', 'http://x',
] // biome-ignore format: a table

const hosts = [
  'Host:', 'Host: a b', 'Host: evil.example:99999', 'Host: [::1', 'Host: a\r\nHost: b', 'Host: \xe9', 'Host: ,', 'Host : localhost', 'X-No: host',
  `Host: ${'x'.repeat(5_000)}`,
] // biome-ignore format: a table

const headerLines = [
  ': x', 'A', ' A: folded', 'A : b', 'A: \0', 'A: \x7f', 'A: \xe9', '\xe9: a', 'A\0: b', 'A:', `A: ${'x'.repeat(20_000)}`, `${'x'.repeat(20_000)}: a`,
  Array.from({ length: 300 }, (_, number) => `A${number}: b`).join('\r\n'), 'Content-Length: 5', 'Content-Length: 0', 'Content-Length: -1',
  'Content-Length: +5', 'Content-Length: 5, 5', 'Content-Length: 5\r\nContent-Length: 6', 'Content-Length: 18446744073709551616', 'Content-Length: x',
  'Transfer-Encoding: chunked', 'Transfer-Encoding: gzip', 'Transfer-Encoding: chunked, gzip', 'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5', 'Expect: 100-continue', 'Expect: miracles', 'Connection: close', 'Connection: keep-alive, x', 'Connection: \0',
  'Upgrade: websocket\r\nConnection: Upgrade, close', 'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings, close\r\nHTTP2-Settings: AAMAAABk', 'Accept-Version: 1.x', 'Accept: text/html',
  'Accept: text/html', 'X-Forwarded-Proto: https', 'X-Forwarded-Proto: \xe9', 'X-Forwarded-Host: evil.example', 'X-Request-Id: a\tb', 'Content-Type: \xff', 'Cookie: \xff=\xff',
  'Trailer: Host', 'TE: trailers', 'Proxy-Connection: close', 'Max-Forwards: 0', '__proto__: x',
] // biome-ignore format: a table

/** Sends the bytes and reads until the server ends the connection. The body of the answer is all that came. */
export async function sendBytes(baseUrl: string, bytes: Buffer): Promise<FuzzAnswer> {
  const { hostname: host, port } = new URL(baseUrl)
  const socket = connect({ host, port: Number(port) })
  const chunks: Buffer[] = []
  // A reset may follow an answer to bytes of which the server read only a part.
  socket.on('error', () => {}).on('data', (chunk) => chunks.push(chunk))
  try {
    socket.write(bytes)
    await once(socket, 'close', { signal: AbortSignal.timeout(END_TIMEOUT_MS) })
  } catch {
    throw new Error(`the connection was not ended within ${END_TIMEOUT_MS / 1_000} s`)
  } finally {
    socket.destroy()
  }
  const body = Buffer.concat(chunks)
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(body.toString('latin1'))?.[1] ?? 0), headers: {}, body }
}

/** What is wrong with the answers on a connection; empty: nothing. */
export function lineFaults(request: FuzzRequest, { body }: FuzzAnswer): string[] {
  const text = body.toString('latin1')
  // Node closes these without an answer.
  if (text === '') return ['CONNECT', 'PRI'].includes(request.method) ? [] : ['there is no answer']
  const faults: string[] = []
  let isHead = request.method === 'HEAD'
  for (let rest = text; rest !== ''; ) {
    const [head, status = '', lines = ''] = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest) ?? []
    if (head === undefined) return [...faults, `what follows is no answer: ${JSON.stringify(rest.slice(0, 200))}`]
    rest = rest.slice(head.length)
    if (status === '100') continue
    const headers = new Map(lines.split('\r\n').map((line) => [line.split(':', 1)[0]?.toLowerCase(), line]))
    if (!headers.has('x-request-id')) faults.push(`a ${status} has no X-Request-Id`)
    if (!headers.has('x-content-type-options')) faults.push(`a ${status} has no X-Content-Type-Options`)
    if (/^5(?!01)/.test(status) && !isSoapFault(rest)) faults.push(`a status is ${status}`)
    const end = isHead && /^(HTTP|$)/.test(rest) ? 0 : endOfBody(status, headers, rest)
    faults.push(...internalFaults(request, rest.slice(0, end)))
    rest = rest.slice(end)
    isHead = false
  }
  return faults
}

function endOfBody(status: string, headers: ReadonlyMap<string | undefined, string>, rest: string): number {
  if (status === '204' || status === '304') return 0
  if (headers.has('transfer-encoding')) return rest.indexOf('\r\n0\r\n\r\n') + 7
  return Number(/\d+/.exec(headers.get('content-length') ?? '')?.[0] ?? rest.length)
}
