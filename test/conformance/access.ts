import type { LightMyRequestResponse } from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Resource } from '../../src/engine/define.ts'
import type { CallOptions, Method } from '../support/store.ts'
import { countOf, expectRefusal } from './answers.ts'
import { fullBody, newRecord, nextSeed, readRecord } from './records.ts'
import { fixtureOf, type Stage, withPrivileges } from './stage.ts'

type Call = (method: Method, path: string, options?: CallOptions) => Promise<LightMyRequestResponse>

/** Who may call, and with which methods (contract §4.1, §5, §7). */
export function access(resource: Resource, stage: () => Stage): void {
  const { service, privilege, methods } = resource
  let id: number

  beforeAll(async () => {
    id = await newRecord(stage(), stage().home, fixtureOf(resource).minimal(nextSeed('odd')))
  })

  /** Every request that the service takes, each of which would succeed with the right credentials. */
  function requests(kind: 'read' | 'write'): [Method, string, unknown][] {
    if (kind === 'read') {
      return [
        ['GET', `/${service}`, undefined],
        ['GET', `/${service}?countonly=1`, undefined],
        ['GET', `/${service}/${id}`, undefined],
      ]
    }
    const changes = fullBody(stage(), stage().home, nextSeed('even'))
    const all: [Method, string, unknown][] = [
      ['POST', `/${service}`, changes],
      ['PUT', `/${service}/${id}`, changes],
      ['PUT', `/${service}`, [changes]],
      ['DELETE', `/${service}/${id}`, undefined],
    ]
    return all.filter(([method]) => methods.includes(method as 'PUT'))
  }

  async function expectUnauthorized(call: Call, of: [Method, string, unknown][]): Promise<void> {
    const { home } = stage()
    const [record, count] = [await readRecord({ resource }, home, id), await countOf({ resource }, home)]
    for (const [method, path, body] of of) {
      // Refused requests have a bucket of their own.
      stage().server.clock.ms += 500
      expectRefusal(await call(method, path, body === undefined ? {} : { body }), 401)
    }
    expect(await readRecord({ resource }, home, id)).toEqual(record)
    expect(await countOf({ resource }, home)).toBe(count)
  }

  describe('401, and nothing is changed', () => {
    test.each(['privatekey', 'token', 'secureurl'])('without the header %s', async (header) => {
      const call: Call = (method, path, options) =>
        stage().home.call(method, path, { ...options, headers: { [header]: undefined } })

      await expectUnauthorized(call, [...requests('read'), ...requests('write')])
    })

    test('with a wrong key, token or address, in one and the same words', async () => {
      const messages = new Set<string>()
      for (const header of ['privatekey', 'token', 'secureurl']) {
        const call: Call = (method, path, options) =>
          stage().home.call(method, path, { ...options, headers: { [header]: '0123456789abcdef0123456789abcdef' } })
        await expectUnauthorized(call, [...requests('read'), ...requests('write')])
        messages.add((await call('GET', `/${service}`)).json()[0].Message)
      }
      expect([...messages]).toEqual([expect.stringMatching(/^Authentication failed/)])
    })

    test.each(['privatekey', 'token', 'secureurl'] as const)('with the %s of another store', async (header) => {
      const { home, shelf } = stage()
      const call: Call = (method, path, options) =>
        home.call(method, path, { ...options, headers: { [header]: shelf.credentials[header] } })

      await expectUnauthorized(call, [...requests('read'), ...requests('write')])
    })

    test('for reading with the privilege to write alone', async () => {
      const call = await withPrivileges(stage().server, stage().home, { [privilege]: ['write'] })

      await expectUnauthorized(call, requests('read'))
    })

    test('for writing with the privilege to read alone', async () => {
      const call = await withPrivileges(stage().server, stage().home, { [privilege]: ['read'] })

      await expectUnauthorized(call, requests('write'))
      for (const [method, path] of requests('read')) expect((await call(method, path)).statusCode).toBe(200)
    })

    test('with privileges on other services alone', async () => {
      const others = ['Products', 'Customers', 'Category'].filter((name) => name !== privilege)
      const privileges = Object.fromEntries(others.map((name) => [name, ['read', 'write']]))
      const call = await withPrivileges(stage().server, stage().home, privileges)

      await expectUnauthorized(call, [...requests('read'), ...requests('write')])
    })
  })

  if (methods.includes('PUT')) {
    test('the privilege to write is enough to write', async () => {
      const { server, home } = stage()
      const call = await withPrivileges(server, home, { [privilege]: ['write'] })
      const body = fullBody(stage(), home, nextSeed('even'))

      expect((await call('PUT', `/${service}/${id}`, { body })).statusCode).toBe(200)
    })
  }

  describe('405 with Allow, and nothing is changed, for a method that the service does not take', () => {
    const everyMethod: Method[] = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']

    test.each([
      ['on the collection', () => `/${service}`, methods.filter((method) => method !== 'DELETE')],
      ['on a record', () => `/${service}/${id}`, methods.filter((method) => method !== 'POST')],
    ])('%s', async (_where, path, allowed) => {
      const { home } = stage()
      const [record, count] = [await readRecord({ resource }, home, id), await countOf({ resource }, home)]

      for (const method of everyMethod.filter((each) => !allowed.includes(each as 'GET'))) {
        const answer = await home.call(method, path(), method === 'GET' ? {} : { body: [{}] })
        expectRefusal(answer, 405)
        expect(allowHeader(answer)).toEqual([...allowed].sort())
      }

      expect(await readRecord({ resource }, home, id)).toEqual(record)
      expect(await countOf({ resource }, home)).toBe(count)
    })
  })

  test('any letter case of the headers will do, and the store’s address in any of its forms', async () => {
    const { server, home } = stage()
    const { secureurl, privatekey, token } = home.credentials
    const host = new URL(secureurl).host
    for (const address of [secureurl, `${secureurl}/`, host, host.toUpperCase(), `www.${host}`, `http://${host}`]) {
      const headers = { SecureUrl: address, PRIVATEKEY: privatekey, Token: token }
      const answer = await server.app.inject({ url: `/StoreWebAPI/v1/${service}/${id}`, headers })
      expect({ address, status: answer.statusCode }).toEqual({ address, status: 200 })
    }
  })
}

/** HEAD goes with GET. */
export function allowHeader({ headers }: LightMyRequestResponse): string[] {
  const names = String(headers.allow).split(/\s*,\s*/)
  return names.filter((name) => name !== 'HEAD').sort()
}
