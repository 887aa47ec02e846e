import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import type { ResultItem } from '../../../src/foundation/values/failure.ts'
import type { CallOptions, Method, TestStore } from '../../support/store.ts'
import type { Wire } from './samples.ts'
import { elementsIn, recordsOf, rootOf, type Type, textOf, toXml } from './xml.ts'

/** A version of the interface and a format, in which a client may ask and be answered (contract §1, §9). */
export interface Dialect {
  readonly version: 'v1' | 'v2'
  readonly format: 'json' | 'xml'
}

export const dialects: readonly Dialect[] = [
  { version: 'v1', format: 'json' },
  { version: 'v1', format: 'xml' },
  { version: 'v2', format: 'json' },
  { version: 'v2', format: 'xml' },
]

/** Those that an address is asked in: a service's own in all of them, what stands below it in two that have both versions and formats. */
export function dialectsOf(address: string): readonly Dialect[] {
  const isOfService = /^\/\w+(\/\{\w+\})?$/.test(address)
  return isOfService ? dialects : dialects.filter(({ version, format }) => (version === 'v1') === (format === 'json'))
}

/** Each in its turn, where all of them for everything would take the suite's time. */
export function dialectAt(index: number): Dialect {
  return dialects[index % dialects.length] as Dialect
}

/** The options of a request that sends a text and takes the answer in this dialect. */
export function inDialect({ version, format }: Dialect, body?: string): CallOptions {
  const type = `application/${format}`
  return { version, accept: type, ...(body !== undefined && { body, contentType: type }) }
}

/** Bodies of records, as a client of the dialect writes them. */
export function written({ format }: Dialect, body: Wire | readonly Wire[], type: Type): string {
  return format === 'json' ? JSON.stringify(body) : toXml(body, type)
}

/** Sends records and takes the answer in the same dialect. */
export function send(
  call: TestStore['call'],
  dialect: Dialect,
  method: Method,
  path: string,
  body: Wire | readonly Wire[],
  type: Type,
  options: Pick<CallOptions, 'tolerated'> = {},
): Promise<LightMyRequestResponse> {
  return call(method, path, { ...inDialect(dialect, written(dialect, body, type)), ...options })
}

/** The records of a 200: a bare list, compact in JSON (rest-protocol §4). */
export function recordsIn(answer: LightMyRequestResponse, { format }: Dialect, type: Type): Wire[] {
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
  expectFormat(answer, format)
  if (format === 'xml') return recordsOf(answer.body, type)
  const records = answer.json()
  expect(answer.body.startsWith('[{') && answer.body.endsWith('}]')).toBe(true)
  expect(answer.body === JSON.stringify(records)).toBe(true)
  return records
}

/** What `countonly` answers (rest-resources §0.5). */
export function countIn(answer: LightMyRequestResponse, { format }: Dialect): number {
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
  expectFormat(answer, format)
  if (format === 'json') {
    expect(answer.body).toMatch(/^\{"TotalCount":\d+\}$/)
    return answer.json().TotalCount
  }
  const [count, ...others] = elementsIn(rootOf(answer.body, 'CountOnly'))
  expect(others).toEqual([])
  expect(count?.name).toBe('TotalCount')
  expect(count?.inner).toMatch(/^\d+$/)
  return Number(count?.inner)
}

/** The one item of a refusal (rest-protocol §5.2). */
export function refusalIn(answer: LightMyRequestResponse, dialect: Dialect, status: number): ResultItem {
  const [item, ...others] = resultsIn(answer, dialect, status)
  expect(others).toEqual([])
  expect(item).toMatchObject({ Key: 'Error', Status: String(status), Message: expect.stringMatching(/\S/) })
  return item as ResultItem
}

/** The result items of an answer: four texts each, in this order, without a blank between them (contract §2, rest-protocol §4). */
export function resultsIn(answer: LightMyRequestResponse, { format }: Dialect, status: number): ResultItem[] {
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(status)
  expectFormat(answer, format)
  if (format === 'xml') return resultsInXml(answer.body)
  const items: ResultItem[] = answer.json()
  for (const { Key, Value, Status, Message } of items) {
    for (const text of [Key, Value, Status, Message]) expect(text).toBeTypeOf('string')
  }
  const exactly = items.map(({ Key, Value, Status, Message }) => ({ Key, Value, Status, Message }))
  expect(answer.body).toBe(JSON.stringify(exactly))
  return items
}

function resultsInXml(body: string): ResultItem[] {
  return elementsIn(rootOf(body, 'ArrayOfResponseInfo')).map(({ name, inner }) => {
    expect(name).toBe('ResponseInfo')
    const members = elementsIn(inner)
    expect(members.map((member) => member.name)).toEqual(['Key', 'Value', 'Status', 'Message'])
    return Object.fromEntries(members.map((member) => [member.name, textOf(member.inner)])) as unknown as ResultItem
  })
}

function expectFormat({ headers }: LightMyRequestResponse, format: Dialect['format']): void {
  expect(headers['content-type']).toBe(`application/${format}; charset=utf-8`)
}
