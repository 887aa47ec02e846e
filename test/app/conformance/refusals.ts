import type { LightMyRequestResponse } from 'fastify'
import { expect, test } from 'vitest'
import { accessOf, type Method } from '../../../src/engine/caller.ts'
import type { ResultItem } from '../../../src/foundation/values/failure.ts'
import { servedResources } from '../../../src/shop/registry.ts'
import type { Method as HttpMethod } from '../../support/store.ts'
import { allowHeader, expectNothing } from './answers.ts'
import { type Dialect, dialectAt, dialectsOf, inDialect, refusalIn, written } from './dialects.ts'
import { covered, type Operation, status } from './operations.ts'
import { plainValuesOf, withValue } from './paths.ts'
import { UNKNOWN } from './places.ts'
import { longestText, type Wire } from './samples.ts'
import type { Scene } from './scene.ts'
import type { Type } from './xml.ts'

// The refusals that operations have in common (contract §5, §7, §8; rest-protocol §5.2), all asked of the quiet store.
// `body` makes one that would be taken; absent: the operation takes none.

type MakeBody = (() => Wire) | undefined

/** What cannot be the number of a record, or of an item. */
export const notIds = ['-1', '1.5', 'abc', '2147483648', '99999999999999999999', "1' OR '1'='1", '{{7*7}}', '1;2', ' ']

export function badIdentifiers(operation: Operation, body?: MakeBody): void {
  for (const { name, min, pathWith } of operation.identifiers) {
    if (min === null) continue
    status(operation, 400, ` that names ${name} when it is no number from ${min} to 2147483647`, async () => {
      for (const [index, id] of [...notIds, ...(min === 0 ? [] : ['0'])].entries()) {
        const dialect = dialectAt(index)
        const answer = await ask(operation, dialect, pathWith(encodeURIComponent(id)), body)
        expect({ id, Value: refusalIn(answer, dialect, 400).Value }).toEqual({ id, Value: name })
      }
    })
  }
}

/** `many`: whether a list of several records would be taken. */
export function badBodies(operation: Operation, body: () => Wire, many: boolean): void {
  const { method, scene, place, path, dialects } = operation
  const { type } = place

  /** Sends a text as it is. */
  async function refused(dialect: Dialect, text: string): Promise<ResultItem> {
    const answer = await scene().quiet.call(method, await path(), inDialect(dialect, text))
    return refusalIn(answer, dialect, 400)
  }

  status(operation, 400, ' for a body that is missing or cannot be parsed', async () => {
    const broken = { json: ['', '{', '{"a":1}}', 'a=1', '[{}'], xml: ['', '<', `<${type.typeName}>`, 'a=1', '{}'] }
    for (const dialect of dialects) {
      for (const text of broken[dialect.format]) {
        const { Value, Message } = await refused(dialect, text)
        const told = text === '' ? /empty/ : new RegExp(`^Invalid ${dialect.format}`, 'i')
        expect({ text, Value, Message }).toEqual({ text, Value: '', Message: expect.stringMatching(told) })
      }
    }
  })

  status(operation, 400, ' for a body that holds no record', async () => {
    const json = ['12', '"record"', 'null', 'true', '[]', '[[]]', '[5]']
    const xml = [
      '<Nothing/>',
      `<ArrayOf${type.typeName}/>`,
      `<ArrayOf${type.typeName}><Nothing/></ArrayOf${type.typeName}>`,
    ]
    for (const dialect of dialects) {
      for (const text of { json, xml }[dialect.format]) await refused(dialect, text)
    }
  })

  status(operation, 400, many ? ' for more than 100 records' : ' for a list of two records', async () => {
    const records = Array.from({ length: many ? 101 : 2 }, () => ({}))
    for (const dialect of dialects) expect((await refused(dialect, written(dialect, records, type))).Value).toBe('')
  })

  const wrong = wrongValues(type)
  status(operation, 400, ` that names ${namesOf(wrong)} with a value that it cannot have`, async () => {
    for (const dialect of dialects) {
      for (const { path, value } of wrong) {
        const { Value, Message } = await refused(dialect, written(dialect, withValue(body(), path, value), type))
        expect({ Value, Message }).toEqual({ Value: path, Message: expect.stringContaining(path) })
      }
    }
  })
}

export interface WrongValue {
  readonly path: string
  readonly value: unknown
}

/** Of the first field of each kind: what is no number, boolean or date, and a text that is too long. */
export function wrongValues({ fields }: Type): WrongValue[] {
  const values = plainValuesOf(fields)
  return (['integer', 'decimal', 'boolean', 'date', 'text'] as const).flatMap((kind) => {
    const first = values.find(({ field }) => field.kind === kind)
    if (first === undefined) return []
    return [{ path: first.path, value: kind === 'text' ? 'x'.repeat(longestText(first.field) + 1) : 'abc' }]
  })
}

function namesOf(wrong: readonly WrongValue[]): string {
  return wrong.map(({ path }) => path).join(', ')
}

const TOGETHER = 'PrivateKey, Token and SecureURL must be valid together'

export function unauthorized(operation: Operation): void {
  const { method, scene, place, path, identifiers, dialects } = operation

  status(operation, 401, ' without SecureURL, PrivateKey or Token, and with one that is wrong', async () => {
    const { server, quiet, home } = scene()
    const names = { secureurl: 'SecureURL', privatekey: 'PrivateKey', token: 'Token' }
    const wrong = Object.entries(names).flatMap(([header, name]): [Record<string, string | undefined>, string][] => [
      [{ [header]: undefined }, `the header ${name} is missing`],
      // In one and the same words: they must not tell which of the three is wrong.
      [{ [header]: '0123456789abcdef0123456789abcdef' }, TOGETHER],
      [{ [header]: home.credentials[header as 'token'] }, TOGETHER],
    ])
    for (const [index, [headers, told]] of wrong.entries()) {
      // Refused requests have a bucket of their own.
      server.clock.ms += 500
      const dialect = dialectAt(index)
      const answer = await quiet.call(method, await path(), { ...inDialect(dialect), headers })
      const { Value, Message } = refusalIn(answer, dialect, 401)
      expect({ Value, Message }).toEqual({ Value: '', Message: `Authentication failed: ${told}` })
    }
  })

  test(`${method} ${place.address} → 401 with the token of the subscription as Bearer, without PrivateKey or SecureURL`, async () => {
    const { server, quiet } = scene()
    const authorization = `Bearer ${quiet.token}`
    for (const left of [
      { privatekey: undefined },
      { secureurl: undefined },
      { privatekey: undefined, secureurl: undefined },
    ]) {
      server.clock.ms += 500
      const headers = { ...left, token: undefined, authorization }
      const answer = await quiet.call(method, await path(), { headers })
      expect([answer.statusCode, answer.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"'])
    }
  })

  const [access, other] = accessOf(method) === 'read' ? (['read', 'write'] as const) : (['write', 'read'] as const)
  status(operation, 401, ` without the privilege to ${access} ${place.privileges.join(' or ')}`, async () => {
    const needed = Object.fromEntries(place.privileges.map((privilege) => [privilege, [access]]))
    for (const privilege of place.privileges) {
      const others = servedResources.filter(({ service }) => service !== privilege)
      const everyOther = Object.fromEntries(others.map(({ service }) => [service, ['read', 'write'] as const]))
      for (const given of [{ ...needed, [privilege]: [other] }, everyOther]) {
        const call = await scene().allowed(given)
        for (const dialect of dialects) {
          const { Value, Message } = refusalIn(await call(method, await path(), inDialect(dialect)), dialect, 401)
          expect({ Value, Message }).toEqual({ Value: privilege, Message: expect.stringContaining(access) })
        }
      }
    }
    // It is all that is needed: now the body is missing, or there is no such record.
    const enough = await scene().allowed(needed)
    const unknown = identifiers.at(-1)?.pathWith(UNKNOWN)
    const admitted = await enough(method, method === 'DELETE' && unknown !== undefined ? unknown : await path())
    expect(admitted.statusCode).toBe({ GET: place.isOwned ? 404 : 200, POST: 400, PUT: 400, DELETE: 404 }[method])
  })
}

export function unknownIdentifiers(operation: Operation, body?: MakeBody): void {
  const { identifiers, scene, dialects } = operation
  if (identifiers.length === 0) return
  const names = identifiers.map(({ name }) => name).join(' or ')
  status(operation, 404, ` with an empty body for an unknown ${names}`, async () => {
    for (const { pathWith } of identifiers) {
      for (const id of [UNKNOWN, 2_147_483_647, scene().foreign]) {
        for (const dialect of dialects) expectNothing(await ask(operation, dialect, pathWith(id), body))
      }
    }
  })
}

export function unacceptableBodies({ method, address, scene, place, path }: Operation, body: () => Wire): void {
  status({ method, address }, 413, ' for a body of more than 10 MB', async () => {
    const dialect = dialectAt(address.length)
    const answer = await scene().quiet.call(method, await path(), { ...inDialect(dialect, ''), body: hugeBody })
    expect(refusalIn(answer, dialect, 413).Message).toContain('10 MB')
  })

  status({ method, address }, 415, ' for a body of another media type', async () => {
    const takesPictures = /\/Images$|^\/(Category|Manufacturers)\/\{\w+\}$/.test(address)
    const form = takesPictures ? 'application/pdf' : 'multipart/form-data; boundary=x'
    const types = ['text/plain', 'application/x-www-form-urlencoded', form, 'nonsense']
    for (const [index, contentType] of types.entries()) {
      const dialect = dialectAt(index)
      const options = { ...inDialect(dialect, written(dialect, body(), place.type)), contentType }
      const answer = await scene().quiet.call(method, await path(), options)
      const { Value, Message } = refusalIn(answer, dialect, 415)
      expect({ Value, Message: Message.split(':')[0] }).toEqual({
        Value: 'Content-Type',
        Message: 'Unsupported media type',
      })
    }
  })
}

const hugeBody = Buffer.alloc(11 * 1024 * 1024, ' ')

export function throttled({ method, address, scene, path, dialects }: Operation): void {
  status({ method, address }, 429, ' with Retry-After when the bucket is full', async () => {
    for (const dialect of dialects) {
      const answer = await scene().throttled(method, await path(), inDialect(dialect))
      expect(refusalIn(answer, dialect, 429).Message).toMatch(/^Too many requests/)
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    }
  })
}

/** 405 for every method that the address does not take; OPTIONS, which browsers ask with, tells those that it does. */
export function otherMethods(
  address: string,
  methods: readonly Method[],
  scene: () => Scene,
  path: () => string,
): void {
  const others = everyMethod.filter((method) => !methods.includes(method as Method))
  covered.add(`other ${address} 405`)
  test(`${others.join(', ')} ${address} → 405 with Allow: ${methods.join(', ')}`, async () => {
    for (const method of others) {
      for (const dialect of dialectsOf(address)) {
        const answer = await scene().quiet.call(method, path(), inDialect(dialect))
        expect(refusalIn(answer, dialect, 405).Message).toMatch(/^Method not allowed/)
        expect(allowHeader(answer)).toEqual([...methods].sort())
      }
    }
    // Without credentials, as browsers send it.
    const none = { secureurl: undefined, privatekey: undefined, token: undefined }
    const answer = await scene().quiet.call('OPTIONS', path(), { headers: none })
    expect([answer.statusCode, answer.body, allowHeader(answer)]).toEqual([204, '', [...methods].sort()])
  })
}

const everyMethod: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']

async function ask(
  { method, scene, place }: Operation,
  dialect: Dialect,
  path: string,
  body: MakeBody,
): Promise<LightMyRequestResponse> {
  const text = body === undefined ? undefined : written(dialect, body(), place.type)
  return scene().quiet.call(method, path, inDialect(dialect, text))
}
