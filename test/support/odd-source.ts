import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { type FieldSet, isFilledIn, type ListField, type ValueField } from '../../src/engine/definition/fields.ts'
import { isRecord } from '../../src/engine/definition/input.ts'
import type { Resource } from '../../src/engine/definition/resource.ts'
import { resources } from '../../src/shop/registry.ts'

/*
 * A proxy in front of a running server that answers as other platforms of this interface do, and fails as they do. What it
 * draws depends on the seed and the order of the requests alone.
 */

/** How records are written. */
export interface Oddities {
  readonly missingDefaults?: boolean
  readonly nullMembers?: boolean
  readonly otherCase?: boolean
  readonly numbersAsTexts?: boolean
  readonly textsAsNumbers?: boolean
  readonly booleansAsNumbers?: boolean
  readonly twelveHourDates?: boolean
  /** A list of one item is the item, or the item inside an element of its type's name, by turns. */
  readonly singleItems?: boolean
  readonly singleRecord?: boolean
  readonly unknownMembers?: boolean
  /** The server's XML as it is, whatever is asked for: none of the oddities above. */
  readonly xmlOnly?: boolean
  readonly offsetsFromZero?: boolean
  readonly end?: '400' | '404' | '[]'
  readonly withoutBucketHeaders?: boolean
}

/** Shares of the answers, from 0 to 1. */
export interface Faults {
  readonly tooManyWithRetryAfter?: number
  readonly tooMany?: number
  readonly status500?: number
  readonly status503?: number
  /** The connection ends before as many bytes as were declared. */
  readonly cut?: number
  /** The body ends early, and the answer properly. */
  readonly cutWithoutLength?: number
  readonly slow?: number
  readonly shortList?: number
}

export interface Question {
  readonly service: string
  /** As sent, from `/v1` on. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface OddSourceOptions {
  readonly oddities?: Oddities
  readonly faults?: Faults
  readonly slowMs?: number
  /** Slow answers there may be at most. */
  readonly slowMax?: number
  readonly seed?: number
}

export interface OddSource {
  readonly url: string
  readonly requests: readonly string[]
  /** How often each fault came. */
  readonly failed: ReadonlyMap<string, number>
  oddities: Oddities
  faults: Faults
  /** Sees each question before it is passed on; a reply is the answer to it. */
  intercept: (question: Question) => Promise<Reply | undefined> | Reply | undefined
  readonly close: () => Promise<void>
}

export const cardNumber = '4111111111111111'
export const bankAccount = '70218043005566'

export const allOddities: Oddities = {
  missingDefaults: true,
  nullMembers: true,
  otherCase: true,
  numbersAsTexts: true,
  textsAsNumbers: true,
  booleansAsNumbers: true,
  twelveHourDates: true,
  singleItems: true,
  singleRecord: true,
  unknownMembers: true,
  offsetsFromZero: true,
  end: '[]',
  withoutBucketHeaders: true,
}

export async function openOddSource(
  upstream: string,
  { oddities = {}, faults = {}, slowMs = 50, slowMax = Infinity, seed = 1 }: OddSourceOptions = {},
): Promise<OddSource> {
  const agent = new Agent({ keepAliveTimeout: 1 })
  const random = randomFrom(seed)
  const requests: string[] = []
  const failed = new Map<string, number>()
  const fails = (fault: keyof Faults) => {
    // A number is drawn for each, so that switching one off moves no other.
    if (random() >= (source.faults[fault] ?? 0)) return false
    if (fault === 'slow' && (failed.get(fault) ?? 0) >= slowMax) return false
    failed.set(fault, (failed.get(fault) ?? 0) + 1)
    return true
  }
  const server = createServer(async (incoming, response) => {
    const url = new URL(incoming.url ?? '', 'http://source')
    requests.push(url.pathname + url.search)
    const service = /\/v\d\/(\w+)/.exec(url.pathname)?.[1] ?? ''
    const question = { service, path: url.pathname, query: url.searchParams, headers: incoming.headers }
    try {
      const reply = (await source.intercept(question)) ?? (await answer(question))
      send(response, reply, { isCut: fails('cut'), isEndedEarly: fails('cutWithoutLength') })
    } catch {
      response.destroy()
    }
  })
  const answer = async (question: Question): Promise<Reply> => {
    if (fails('tooManyWithRetryAfter')) return { status: 429, headers: { 'retry-after': '0' } }
    if (fails('tooMany')) return { status: 429 }
    if (fails('status500')) return { status: 500, body: "Server Error in '/' Application." }
    if (fails('status503')) return { status: 503 }
    if (fails('slow')) await delay(slowMs)
    return oddAnswer(question, await pass(question))
  }
  const pass = async ({ path, query, headers }: Question) => {
    const asked = new URLSearchParams(query)
    const offset = asked.get('offset')
    if (source.oddities.offsetsFromZero && offset !== null) asked.set('offset', String(Number(offset) + 1))
    const { host: _, connection: __, accept, ...others } = headers
    const {
      statusCode,
      headers: given,
      body,
    } = await request(`${upstream}${path}?${asked}`, {
      headers: { ...others, accept: source.oddities.xmlOnly ? 'application/xml' : accept },
      dispatcher: agent,
    })
    const kept = Object.entries(given).filter(
      ([name]) =>
        !/^(content-length|transfer-encoding|connection|keep-alive|content-encoding)$/.test(name) &&
        !(source.oddities.withoutBucketHeaders && /ratelimit/.test(name)),
    )
    return { status: statusCode, headers: Object.fromEntries(kept) as Record<string, string>, body: await body.text() }
  }
  const oddAnswer = ({ service, path, query }: Question, reply: Required<Reply>): Reply => {
    const { end } = source.oddities
    const isList = new RegExp(`/${service}$`).test(path) && !query.has('countonly')
    const isPastEnd = query.has('offset') && (reply.status === 400 || reply.status === 404)
    if (isPastEnd && end !== undefined) {
      if (end === '[]') return { ...reply, status: 200, body: '[]' }
      return {
        ...reply,
        status: Number(end),
        body: end === '400' ? '[{"Key":"Error","Status":"400","Message":"Offset"}]' : '',
      }
    }
    if (reply.status !== 200 || source.oddities.xmlOnly) return reply
    const resource = resources.find((each) => each.service === service)
    let records = JSON.parse(reply.body) as Record<string, unknown>[]
    if (resource === undefined) return reply
    if (isList && fails('shortList')) records = records.slice(0, 1 + Math.floor(random() * records.length))
    const odd = query.has('countonly') ? records : records.map((record) => oddRecord(resource, record, source.oddities))
    const only = source.oddities.singleRecord && odd.length === 1
    return { ...reply, body: JSON.stringify(only ? odd[0] : odd) }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const source: OddSource = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    failed,
    oddities,
    faults,
    intercept: () => undefined,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await agent.destroy()
    },
  }
  return source
}

function send(
  response: ServerResponse,
  { status, headers = {}, body = '' }: Reply,
  { isCut, isEndedEarly }: { isCut: boolean; isEndedEarly: boolean },
): void {
  const half = body.slice(0, body.length / 2)
  if (isEndedEarly && half !== '') response.writeHead(status, headers).end(half)
  else if (isCut && half !== '') {
    response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
    response.write(half, () => response.destroy())
  } else response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) }).end(body)
}

/** A record as a server with these oddities writes it. */
export function oddRecord(resource: Resource, record: Record<string, unknown>, oddities: Oddities): object {
  const odd = oddMembers(resource.fields, record, oddities)
  if (!oddities.unknownMembers) return odd
  const secrets = resource.service === 'Orders' ? { CardNumber: cardNumber, CheckAccount: bankAccount } : {}
  return { ...odd, ...secrets, PlatformNote: { Flavour: 'other' } }
}

function oddMembers(fields: FieldSet, record: Record<string, unknown>, oddities: Oddities): Record<string, unknown> {
  const members = Object.entries(record).flatMap(([name, value], index): [string, unknown][] => {
    const field = fields.get(name)
    const written = oddities.otherCase ? otherCase(name, index) : name
    if (field === undefined) return [[written, value]]
    if (field.kind === 'object')
      return [[written, oddMembers(field.fields, value as Record<string, unknown>, oddities)]]
    if (field.kind === 'list') return [[written, oddList(field, value as Record<string, unknown>[], oddities, index)]]
    if (isLeftOut(field, value)) {
      if (oddities.missingDefaults && (index % 2 === 0 || !oddities.nullMembers)) return []
      if (oddities.nullMembers) return [[written, null]]
    }
    return [[written, oddValue(field, value, oddities)]]
  })
  return Object.fromEntries(members)
}

function isLeftOut(field: ValueField, value: unknown): boolean {
  return value === field.default && field.access === 'rw' && !isFilledIn(field) && !field.defaultNow
}

function oddList(field: ListField, items: Record<string, unknown>[], oddities: Oddities, turn: number): unknown {
  const odd = items.map((item) => (isRecord(item) ? oddMembers(field.fields, item, oddities) : item))
  if (!oddities.singleItems || odd.length !== 1) return odd
  return turn % 2 === 0 ? odd[0] : { [field.typeName]: odd[0] }
}

function oddValue(field: ValueField, value: unknown, oddities: Oddities): unknown {
  if (typeof value === 'boolean') return oddities.booleansAsNumbers ? Number(value) : value
  if (typeof value === 'number') return oddities.numbersAsTexts ? String(value) : value
  if (field.kind === 'date' && oddities.twelveHourDates) return twelveHours(String(value))
  const isNumber = oddities.textsAsNumbers && value !== '' && String(Number(value)) === value
  return isNumber ? Number(value) : value
}

/** `7/10/2026 2:44:08 PM` */
function twelveHours(date: string): string {
  const [, year, month, day, hour, rest] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d)(:\d\d:\d\d)$/.exec(date) ?? []
  if (hour === undefined) return date
  const half = Number(hour) < 12 ? 'AM' : 'PM'
  return `${Number(month)}/${Number(day)}/${year} ${Number(hour) % 12 || 12}${rest} ${half}`
}

function otherCase(name: string, turn: number): string {
  if (turn % 3 === 0) return name.toLowerCase()
  return turn % 3 === 1 ? name.charAt(0).toLowerCase() + name.slice(1) : name.toUpperCase()
}

/** mulberry32, from 0 up to 1. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
