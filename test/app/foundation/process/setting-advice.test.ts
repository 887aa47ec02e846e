import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { sharedServer, type TestServer } from '../../../support/store.ts'
import { envelope, post, request } from '../../http/soap/support.ts'

// Programs that were built for another server have its prefix and namespace compiled in. The operator learns which setting serves them.

const HOUR_MS = 3_600_000

const sandbox = await sharedServer({ SANDBOX: 'true' })
const production = await sharedServer({ SANDBOX: 'false' })
const served = await sharedServer({ SANDBOX: 'true', REST_PREFIXES: '/StoreWebAPI,/3dCartWebAPI' })
const shop = await production.openStore()
// Each test has an hour of its own, for which nothing is logged yet.
beforeEach(() => {
  for (const server of [sandbox, production]) {
    server.clock.ms += HOUR_MS
    server.log.length = 0
  }
})

/** The names that were logged with a setting. */
const logged = ({ log }: TestServer, setting: string): string[] =>
  log
    .map((line) => JSON.parse(line))
    .filter((line) => line.setting === setting)
    .map(({ name }) => name)

const get = ({ app }: TestServer, url: string, accept = 'application/json') => app.inject({ url, headers: { accept } })

const call = (server: TestServer, namespace: string, operation = 'getProductCount') =>
  post(server, envelope(request(shop, operation, {}, namespace)))

describe('a prefix that is not served', () => {
  test.each([
    ['/3dCartWebAPI/v1/Products', '/3dCartWebAPI'],
    ['/3dcartwebapi/V2/orders/7?limit=3', '/3dcartwebapi'],
    ['/some/Where/v1/Webhooks/Events', '/some/Where'],
    ['//3dCartWebAPI//v1//Category/', '/3dCartWebAPI'],
    ['/StoreWebAPI/3dCartWebAPI/v1/Products', '/StoreWebAPI/3dCartWebAPI'],
  ])('in %s is logged with its setting, and said in a sandbox', async (url, prefix) => {
    const told = await get(sandbox, url)
    const untold = await get(production, url)
    expect([told.statusCode, untold.statusCode]).toEqual([404, 404])
    const advice = `. To serve ${prefix}, add it to REST_PREFIXES`
    expect(told.json()).toEqual([{ ...untold.json()[0], Message: untold.json()[0].Message + advice }])
    for (const server of [sandbox, production]) expect(logged(server, 'REST_PREFIXES')).toEqual([prefix])
  })

  test('is said to a browser too', async () => {
    const page = await get(sandbox, '/3dCartWebAPI/v1/Products', 'text/html')
    expect([page.statusCode, page.body.includes('add it to REST_PREFIXES')]).toEqual([404, true])
  })

  test.each([
    '/StoreWebAPI/v1/Nothing',
    '/StoreWebAPI/v1/Products/1/2/3/4/5',
    '/storewebapi/v1/Products/1/v1/Products/1/2/3',
    '/3dCartWebAPI/v3/Products',
    '/3dCartWebAPI/v1/Nothing',
    '/3dCartWebAPI/v1/',
    '/v1/Products',
    '/admin/v1/Products',
    '/a%20b/v1/Products',
    '/a"b/v1/Products',
    '/0badc0de0badc0de0badc0de0badc0de/v1/Products',
    '/me@host/v1/Products',
  ])('is none in %s', async (url) => {
    const answers = [await get(sandbox, url), await get(production, url)]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404])
    expect(answers[0]?.body).toBe(answers[1]?.body)
    expect(logged(sandbox, 'REST_PREFIXES')).toEqual([])
  })

  test('is no more where it is served', async () => {
    expect((await get(served, '/3dCartWebAPI/v1/Products')).statusCode).toBe(401)
    expect(logged(served, 'REST_PREFIXES')).toEqual([])
  })
})

describe('a namespace that is not served', () => {
  test('is logged with its setting, and said in a sandbox', async () => {
    const namespace = 'http://3dcart.com/'
    const told = await call(sandbox, namespace)
    const untold = await call(production, namespace)
    expect(untold.body).not.toContain('SOAP_NAMESPACES')
    const advice = `. To serve ${namespace}, add it to SOAP_NAMESPACES`
    expect(told.body.replace(advice, '')).toBe(untold.body)
    expect(told.body).toContain(advice)
    for (const server of [sandbox, production]) expect(logged(server, 'SOAP_NAMESPACES')).toEqual([namespace])
  })

  test.each([
    ['', 'getProductCount'],
    ['no uri', 'getProductCount'],
    ['urn:with a blank', 'getProductCount'],
    ['http://me:secret@3dcart.com/', 'getProductCount'],
    ['http://3dcart.com/', 'noSuchOperation'],
    [`urn:${'x'.repeat(255)}`, 'getProductCount'],
    ['urn:store-platform:cartAPI', 'noSuchOperation'],
  ])('is none that SOAP_NAMESPACES could have, or no call: %j %s', async (namespace, operation) => {
    expect((await call(sandbox, namespace, operation)).body).not.toContain('SOAP_NAMESPACES')
    expect(logged(sandbox, 'SOAP_NAMESPACES')).toEqual([])
  })
})

/** What asks for a name. */
const asking: Record<string, (server: TestServer, name: string) => Promise<unknown>> = {
  REST_PREFIXES: (server, name) => get(server, `/${name}/v1/Products`),
  SOAP_NAMESPACES: (server, name) => call(server, `urn:${name}`),
}

describe.each(Object.entries(asking))('%s: the log has', (setting, ask) => {
  const length = () => logged(production, setting).length

  test('each name once an hour', async () => {
    for (let count = 0; count < 3; count++) for (const name of ['one', 'two']) await ask(production, name)
    expect(length()).toBe(2)
    production.clock.ms += HOUR_MS - 1
    await ask(production, 'one')
    expect(length()).toBe(2)
    production.clock.ms += 1
    for (let count = 0; count < 3; count++) await ask(production, 'one')
    expect(length()).toBe(3)
  })

  test('a hundred names an hour, and others in the next', async () => {
    for (let index = 0; index < 130; index++) await ask(production, `name-${index}`)
    expect(length()).toBe(100)
    production.clock.ms += HOUR_MS
    for (let index = 100; index < 130; index++) await ask(production, `name-${index}`)
    expect(length()).toBe(130)
  })

  test('40 characters of a name, which count for all that begin so', async () => {
    for (const end of ['a', 'b']) await ask(production, 'x'.repeat(60) + end)
    const [name, ...others] = logged(production, setting)
    expect(others).toEqual([])
    expect(name).toMatch(/^(\/|urn:)x+…$/)
    expect(name).toHaveLength(40)
  })

  test('one line of plain characters for a name, whatever is sent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), async (name) => {
        const before = production.log.length
        await ask(
          production,
          setting === 'REST_PREFIXES' ? encodeURI(name.toWellFormed()) : name.replace(/\p{C}/gu, ''),
        )
        const lines = production.log.slice(before).map((line) => JSON.parse(line))
        for (const line of lines.filter((each) => each.setting === setting)) {
          expect(line.name).toMatch(/^[\w:/?#[\]!$&'()*+;=.~%-]{1,40}…?$/)
        }
      }),
      { numRuns: 100 },
    )
  })
})
