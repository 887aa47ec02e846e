import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servedResources } from '../../../src/shop/registry.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { contractLines, contractText } from './contract-table.ts'
import { dialects, inDialect, refusalIn } from './dialects.ts'
import { covered, status } from './operations.ts'

/** What is answered whatever the service (contract §4.1, §9), and whether the whole contract has its tests. */
export function everywhere(): void {
  const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const
  let server: TestServer
  let shop: TestStore

  beforeAll(async () => {
    server = await openServer({ PUBLIC_URL: 'https://shop-platform.example', TRUST_PROXY: '127.0.0.1' })
    shop = await server.openStore()
  })

  afterAll(() => server.close())

  /** Over https, as a proxy says. */
  async function expectNoAddress(urls: readonly string[]): Promise<void> {
    for (const url of urls) {
      for (const method of methods) {
        for (const dialect of dialects) {
          const accept = inDialect(dialect).accept
          const headers = { ...shop.credentials, 'x-forwarded-proto': 'https', accept }
          const answer = await server.app.inject({ method, url: `/StoreWebAPI${url}`, headers })
          const { Value, Message } = refusalIn(answer, dialect, 404)
          expect({ url, Value, Message }).toEqual({
            url,
            Value: '',
            Message: expect.stringMatching(/^No such address/),
          })
        }
      }
    }
  }

  describe('every service', () => {
    status({ method: 'any', address: '/{service}' }, 403, ' over plain http, where PUBLIC_URL is https', async () => {
      for (const { service } of servedResources) {
        const https = await shop.call('GET', `/${service}?countonly=1`, { headers: { 'x-forwarded-proto': 'https' } })
        expect(https.statusCode).toBe(200)
        for (const path of [`/${service}`, `/${service}/1`]) {
          for (const method of methods) {
            for (const dialect of dialects) {
              const { Value, Message } = refusalIn(await shop.call(method, path, inDialect(dialect)), dialect, 403)
              expect({ Value, Message }).toEqual({ Value: '', Message: expect.stringContaining('plain http') })
            }
          }
        }
      }
    })

    const otherVersion = { method: 'any', address: '/{version}/{service}' }
    status(otherVersion, 404, ' with an array for another version than v1 and v2', async () => {
      const versions = ['/v3', '/v0', '/v', '/latest', '']
      await expectNoAddress(
        servedResources.flatMap(({ service }) => versions.map((version) => `${version}/${service}`)),
      )
    })

    const otherName = { method: 'any', address: '/{service}/{id}/{name}' }
    status(otherName, 404, ' with an array for what the service does not have', async () => {
      await expectNoAddress(['/v1', '/v1/', '/v1/Nothing', '/v1/Nothing/1'])
      await expectNoAddress(
        servedResources.flatMap(({ service }) => [`/v1/${service}/1/Nothing`, `/v2/${service}/1/Nothing/1`]),
      )
    })

    // Of each address of a service see `otherMethods`.
    status({ method: 'OPTIONS', address: '/{service}' }, 204, ' without credentials; 403 over plain http', async () => {
      for (const { service } of servedResources) {
        for (const path of [`/${service}`, `/${service}/1`, `/${service}/1/Nothing/1/Nothing`]) {
          const url = `/StoreWebAPI/v1${path}`
          const ask = (protocol: string) =>
            server.app.inject({ method: 'OPTIONS', url, headers: { 'x-forwarded-proto': protocol } })
          expect([(await ask('https')).statusCode, (await ask('http')).statusCode]).toEqual([204, 403])
        }
      }
    })
  })

  test('every status of the contract has a test: each service, method and address', async () => {
    expect([...covered].sort()).toEqual([...contractLines].sort())
    await expect(contractText([...covered])).toMatchFileSnapshot('contract.txt')
  })
}
