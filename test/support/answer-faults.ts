import { commonHeaders } from '../../src/http/rest/answer.ts'
import { PROBLEM_TYPE } from '../../src/http/server/json/problem.ts'
import type { Found, OpenApi, Part } from './openapi.ts'
import type { Exchange } from './store.ts'

/**
 * What the document says otherwise of one exchange; empty: nothing.
 *
 * An address that the document does not have must be refused with a 404 that has a body, a method that an address does not have
 * there with a 405 that names those that it has; or both be refused before that. A document has no place for either.
 * What was taken must be as documented too: the identifiers and the query in the address, and the body, unless the test says
 * that it is spelt in a tolerated way.
 */
export function answerFaults(api: OpenApi, found: Found | undefined, exchange: Exchange): string[] {
  const { statusCode } = exchange.answer
  if (exchange.method === 'OPTIONS' && statusCode !== 403) return preflightFaults(found, exchange)
  if (found === undefined) {
    if (statusCode !== 403 && statusCode !== 404) return ['there is no such address']
    return responseFaults(api, api.response(plainRefusal), exchange)
  }
  const operation = found.address.operations.get(methodOf(exchange))
  if (operation === undefined) return unknownMethod(api, found, exchange)
  const response = api.member(operation, 'responses', String(statusCode))
  if (response === undefined) return [`it answers ${namesIn(api.member(operation, 'responses'))}`]
  const isTaken = isSuccess(exchange) && !exchange.isTolerated
  return [
    ...responseFaults(api, response, exchange),
    ...(isTaken ? parameterFaults(api, found, operation, exchange) : []),
    ...(isTaken ? requestFaults(api, operation, exchange) : []),
  ]
}

/** A response of the document in the form of every refusal that comes before an application is known. */
const plainRefusal = 'InsecureTransport'
/** One in the form of every refusal after that. */
const countedRefusal = 'BadRequest'

/** Not 206: some of its records were refused. */
export function isSuccess({ answer: { statusCode } }: Exchange): boolean {
  return statusCode === 200 || statusCode === 201
}

/** HEAD is GET without the body. */
export function methodOf({ method }: Exchange): string {
  return method === 'HEAD' ? 'GET' : method
}

export function isXml(contentType: unknown): boolean {
  return mediaTypeOf(contentType).endsWith('xml')
}

/** OPTIONS is no operation of the document; it is answered with the methods that the document has, or with all. */
function preflightFaults(found: Found | undefined, { answer: { statusCode, headers, body } }: Exchange): string[] {
  const expected = found ? withHead([...found.address.operations.keys()]) : withHead(['GET', 'POST', 'PUT', 'DELETE'])
  const allowed = [headers.allow, headers['access-control-allow-methods']].map((names) => String(names).split(', '))
  const isAnswered = statusCode === 204 && body === ''
  if (isAnswered && allowed.every((names) => names.toSorted().join() === expected.join())) return []
  return [`OPTIONS gives 204 with ${expected.join(', ')}, not ${statusCode} with ${allowed.join(' and ')}`]
}

function withHead(methods: readonly string[]): string[] {
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).toSorted()
}

/** Statuses of what is looked at before the method; every operation of the address has them. */
const earlier = [401, 403, 429]

function unknownMethod(api: OpenApi, { address }: Found, exchange: Exchange): string[] {
  const { statusCode, headers } = exchange.answer
  const [operation] = address.operations.values()
  const response = earlier.includes(statusCode) ? api.member(operation, 'responses', String(statusCode)) : undefined
  if (response !== undefined) return responseFaults(api, response, exchange)
  const methods = [...address.operations.keys()]
  const expected = withHead(methods)
  const { allow, ...others } = headers
  const allowed = String(allow).split(', ').toSorted()
  if (statusCode !== 405 || allowed.join() !== expected.join()) {
    return [`it takes ${methods.join(', ')}, and Allow is "${allow ?? ''}"`]
  }
  const answer = { ...exchange.answer, headers: others }
  return responseFaults(api, api.response(countedRefusal), { ...exchange, answer })
}

function responseFaults(api: OpenApi, response: Part, exchange: Exchange): string[] {
  return [...headerFaults(api, response, exchange.answer), ...bodyFaults(api, response, exchange)]
}

type Answer = Exchange['answer']

/** Those that a document does not tell of: HTTP's own, and those that are the same on every answer. */
const plainHeaders = [
  'content-type',
  'content-length',
  'date',
  'connection',
  'set-cookie',
  'content-security-policy',
  'x-content-type-options',
  'strict-transport-security',
  'referrer-policy',
  'cross-origin-opener-policy',
  ...Object.keys(commonHeaders),
]

function headerFaults(api: OpenApi, response: Part, { headers }: Answer): string[] {
  const documented = api.members(api.member(response, 'headers'))
  const names = [...plainHeaders, ...documented.map(([name]) => name.toLowerCase())]
  const others = Object.keys(headers).filter((name) => !names.includes(name))
  return [
    ...others.map((name) => `the header ${name} is not in the document`),
    ...documented.flatMap(([name, header]) => headerFault(api, name, header, headers[name.toLowerCase()])),
  ]
}

function headerFault(api: OpenApi, name: string, header: Part, value: unknown): string[] {
  if (value === undefined) return header.value.required === true ? [`the header ${name} is missing`] : []
  return textFaults(api, header, String(value)).map((fault) => `the header ${name} is "${value}": ${fault}`)
}

function bodyFaults(api: OpenApi, response: Part, exchange: Exchange): string[] {
  const { method, answer } = exchange
  const { headers, body } = answer
  const content = api.member(response, 'content')
  if (method === 'HEAD') return body === '' ? [] : ['the answer to HEAD has a body']
  if (content === undefined) return body === '' ? [] : [`the body is empty, not "${body.slice(0, 100)}"`]
  // A document cannot say that a body may be missing. There is none where only problem details are documented, unasked for.
  if (body === '' && namesIn(content) === PROBLEM_TYPE) return []
  const query = queryOf(exchange)
  // The document tells of the number in place of a list in words, in the parameter, so that lists are lists in generated programs.
  const isCount =
    /^\{"TotalCount":\d+\}$/.test(body) && ['1', 'true'].includes(query.get('countonly')?.[0]?.toLowerCase() ?? '')
  if (isCount && mediaTypeOf(headers['content-type']) === 'application/json') return []
  return contentFaults(api, content, headers['content-type'], body, query.has('$select')).map(
    (fault) => `the body ${fault}`,
  )
}

function requestFaults(api: OpenApi, operation: Part, { headers, body }: Exchange): string[] {
  const content = api.member(operation, 'requestBody', 'content')
  const isOptional = api.member(operation, 'requestBody')?.value.required === false
  if (content === undefined || (isOptional && body === '')) return []
  // The server takes text/json and text/xml for the same (rest-protocol §2).
  const contentType = (headers['content-type'] ?? 'application/json').replace(/^text\//i, 'application/')
  return contentFaults(api, content, contentType, body).map((fault) => `the request ${fault}`)
}

/** XML is held against its own schema. Of a part of a record no member is required. */
function contentFaults(api: OpenApi, content: Part, contentType: unknown, text: string, isPart = false): string[] {
  const type = mediaTypeOf(contentType)
  const [, media] = api.members(content).find(([name]) => mediaTypeOf(name) === type) ?? []
  if (media === undefined) return [`is ${namesIn(content)}, not ${type || 'of no type'}`]
  const schema = api.member(media, 'schema')
  if (!type.endsWith('json') || schema === undefined) return []
  try {
    return [...api.faults(schema, JSON.parse(text), isPart)]
  } catch (error) {
    if (error instanceof SyntaxError) return ['is not JSON']
    throw error
  }
}

function parameterFaults(api: OpenApi, { address, params }: Found, operation: Part, exchange: Exchange): string[] {
  const documented = [address.item, operation].flatMap((part) => api.members(api.member(part, 'parameters')))
  const query = queryOf(exchange)
  const faults = documented.flatMap(([, parameter]) => {
    const { name, in: place } = parameter.value as { name: string; in: string }
    const inPath = params[name]
    const values = place === 'path' && inPath !== undefined ? [inPath] : []
    if (place === 'query') values.push(...(query.get(name.toLowerCase()) ?? []))
    if (place === 'query') query.delete(name.toLowerCase())
    // Of any other the first counts.
    const counted = takesSeveral(api, parameter) ? values : values.slice(0, 1)
    // Those of a lenient request are cut to the bounds.
    const isCut = (fault: string) => ['limit', 'offset'].includes(name) && /^must be [<>]=/.test(fault)
    const found = counted.flatMap((value) => textFaults(api, parameter, value).map((fault) => [value, fault] as const))
    return found.filter(([, fault]) => !isCut(fault)).map(([value, fault]) => `${name} is "${value}": ${fault}`)
  })
  return [...faults, ...[...query.keys()].map((name) => `the query parameter ${name} is not in the document`)]
}

/** By names in small letters, without those that have no value. */
function queryOf({ url }: Exchange): Map<string, string[]> {
  const given = [...new URLSearchParams(url.split('?')[1])].filter(([, value]) => value !== '')
  const byName = Map.groupBy(given, ([name]) => name.toLowerCase())
  return new Map([...byName].map(([name, all]) => [name, all.map(([, value]) => value)]))
}

/** Whether the schema of a parameter is of one value or of a list of them. */
function takesSeveral(api: OpenApi, parameter: Part): boolean {
  return api.member(parameter, 'schema', 'anyOf') !== undefined
}

function textFaults(api: OpenApi, described: Part, text: string): readonly string[] {
  const schema = api.member(described, 'schema')
  return schema === undefined ? [] : api.textFaults(schema, text)
}

function mediaTypeOf(contentType: unknown): string {
  const [type = ''] = String(contentType ?? '').split(';', 1)
  return type.trim().toLowerCase()
}

function namesIn(part: Part | undefined): string {
  return Object.keys(part?.value ?? {}).join(', ')
}
