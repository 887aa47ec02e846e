import { XMLValidator } from 'fast-xml-parser'
import { answerFaults } from '../support/answer-faults.ts'
import type { Exchange } from '../support/store.ts'
import { OTHER_MARK } from './installation.ts'
import { lineFaults } from './request-lines.ts'
import type { FuzzAnswer, FuzzRequest } from './requests.ts'
import type { Ground } from './surface-openapi.ts'

/** What no answer may say: where the code lies, what it is made of, how the database calls things. */
const internals = [
  /node_modules|\/src\/|file:\/\/\/(?!etc)|\.[jt]s:\d+/,
  /\bat (?:async )?[\w.<>]+ \(/,
  /prisma|\bP20\d\d\b|fastify|FST_ERR|fast-xml|strong-soap|pg_catalog|pg_temp/i,
  /SQLSTATE|relation "|column "|constraint "|syntax error at or near|invalid input syntax|violates |duplicate key value|\bdeadlock\b|canceling statement/,
  /[├└]──/,
  /TypeError|RangeError|SyntaxError|ReferenceError|is not a function|Cannot read prop|is not iterable|ECONNREFUSED|ENOENT/,
]

/** Pages and documents that are the same for everybody and speak of all this. */
const documents = /^\/(docs|openapi\.json|assets|metrics|records\.xsd|\.well-known)/

/** What is wrong with an answer; empty: nothing. */
export function faultsOf(ground: Ground, request: FuzzRequest, answer: FuzzAnswer): string[] {
  if (request.bytes !== undefined) return lineFaults(request, answer)
  const text = answer.body.toString()
  return [
    ...statusFaults(ground, request, answer, text),
    ...headerFaults(request, answer),
    ...formFaults(answer, text),
    ...(documents.test(request.path) && answer.status === 200 ? [] : internalFaults(request, text)),
    ...secretFaults(ground, request, answer, text),
    ...documentFaults(ground, request, answer, text),
  ]
}

function statusFaults(
  { api }: Ground,
  { operation: name, method, path }: FuzzRequest,
  { status, headers }: FuzzAnswer,
  text: string,
): string[] {
  if (status < 500) return []
  if (status === 503 && headers['retry-after'] !== undefined) return []
  if (status === 500 && isSoapFault(text)) return []
  const operation = api.find(path)?.address.operations.get(method)
  // A callback that its receiver refused; pages say it too (contract §3).
  const isOfCallback = api.member(operation, 'responses', '502') !== undefined || /(subscribe|agree)$/.test(name)
  if (status === 502 && isOfCallback) return []
  return [`the status is ${status}`]
}

/** SOAP says with 500 what REST says with 400 and 429 (soap-cartapi §1). */
export function isSoapFault(text: string): boolean {
  return /<(faultcode|soap:Value)>soap:(Client|Sender|VersionMismatch|MustUnderstand)</.test(text)
}

function headerFaults({ method }: FuzzRequest, { status, headers, body }: FuzzAnswer): string[] {
  const faults: string[] = []
  if (headers['x-request-id'] === undefined) faults.push('there is no X-Request-Id')
  if (headers['x-content-type-options'] !== 'nosniff') faults.push('there is no X-Content-Type-Options')
  if (body.length > 0 && headers['content-type'] === undefined) faults.push('there is no Content-Type')
  if (status === 429 && headers['retry-after'] === undefined) faults.push('there is no Retry-After')
  if (method === 'HEAD' && body.length > 0) faults.push('HEAD has a body')
  return faults
}

function formFaults({ headers, body }: FuzzAnswer, text: string): string[] {
  const type = String(headers['content-type'] ?? '')
  if (body.length === 0 || headers['content-encoding'] !== undefined) return []
  if (/[/+]json/.test(type)) return isJson(text) ? [] : ['the body is not JSON']
  if (/ndjson/.test(type))
    return text.split('\n').every((line) => line === '' || isJson(line)) ? [] : ['a line of the body is not JSON']
  if (/[/+]xml/.test(type))
    return XMLValidator.validate(text) === true
      ? []
      : [`the body is not XML: ${JSON.stringify(XMLValidator.validate(text))}`]
  if (type.startsWith('text/html')) return /<\/html>\s*$/.test(text) ? [] : ['the page has no end']
  return /^(text|image)\/|^application\/gzip$|^$/.test(type) ? [] : [`the type of the body is ${type}`]
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

export function internalFaults({ path, headers, body }: FuzzRequest, text: string): string[] {
  return internals.flatMap((pattern) => {
    const [found] = pattern.exec(text) ?? []
    if (found === undefined) return []
    // What the request itself says may be repeated.
    const said = [decoded(path), ...headers.map(([, value]) => value), body?.toString() ?? ''].some((one) =>
      one.includes(found),
    )
    return said ? [] : [`the answer says ${JSON.stringify(around(text, found))}`]
  })
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function around(text: string, found: string): string {
  const place = text.indexOf(found)
  return text.slice(Math.max(0, place - 60), place + found.length + 100)
}

/** The operator sees every store, though no secret of one on the pages, and whoever has all of a store's credentials sees that store. */
function secretFaults(
  { installation: { other, operatorKey } }: Ground,
  { path, headers, body }: FuzzRequest,
  { headers: answered }: FuzzAnswer,
  text: string,
): string[] {
  if (headers.some(([name, value]) => name.toLowerCase() === 'authorization' && value.includes(operatorKey))) return []
  const sent = `${path} ${headers.flat().join(' ')} ${body?.toString() ?? ''}`
  const all = `${text} ${JSON.stringify(answered)}`
  const { privateKey, token, userKey } = other
  const record = path.startsWith('/operator') ? {} : { record: OTHER_MARK }
  return Object.entries({ privateKey, token, userKey, ...record })
    .filter(([, secret]) => all.includes(secret) && !sent.includes(secret))
    .map(([name]) => `the answer holds the ${name} of the other store`)
}

/** Before there is a request to answer: what HTTP's parser and the router refuse. */
const unread = [414, 431]

/** What the reference says otherwise of an answer, for requests to an operation of it; of pages and streams it says little. */
function documentFaults({ api }: Ground, request: FuzzRequest, answer: FuzzAnswer, text: string): string[] {
  const { operation, mutations, method, path } = request
  const found = api.find(path)
  if (found === undefined || !operation.endsWith(` ${found.address.path}`)) return []
  if (mutations.some((name) => /path|method|header|identifier|encoding/.test(name))) return []
  const responses = api.members(api.member(found.address.operations.get(method), 'responses'))
  const isPage = responses.some(([, response]) => /html/.test(JSON.stringify(response.value.content ?? {})))
  const { 'keep-alive': _, 'transfer-encoding': __, ...answered } = answer.headers
  if (isPage || unread.includes(answer.status) || answer.status >= 500) return []
  const headers = Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]))
  if (/html/.test(headers.accept ?? '') || /ndjson/.test(String(answered['content-type']))) return []
  const exchange = {
    method,
    url: path,
    headers,
    body: request.body?.toString() ?? '',
    isTolerated: true,
    answer: { statusCode: answer.status, headers: answered, body: text },
  }
  return answerFaults(api, found, exchange as unknown as Exchange).map(
    (fault) => `the document says otherwise: ${fault}`,
  )
}
