import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type * as Client from '../../../../clients/typescript/src/index.ts'
import { openApiDocument } from '../../../../src/app.ts'
import { servicesOf } from '../../../../src/http/reference/operations.ts'
import { openClient } from '../../../app/http/oauth/fixture.ts'
import { dispatcherOf } from '../../../support/dispatcher.ts'
import { sharedFolder } from '../../../support/folders.ts'
import { compileBeside, installClient } from '../../../support/installed-client.ts'
import { testPerson } from '../../../support/person.ts'
import { openReceiver } from '../../../support/receiver.ts'
import { freePort } from '../../../support/run-server.ts'
import { developerIn, merchantAccount } from '../../../support/signed-in.ts'
import type { TestStore } from '../../../support/store.ts'
import { type ListeningServer, openListeningServer } from '../../browser/browser.ts'

// The package as the server has it, installed by npm into an empty folder, against a server on this machine.

const project = fileURLToPath(new URL('../../../../', import.meta.url))
const source = join(project, 'clients', 'typescript')

let server: ListeningServer
let dispatcher: ReturnType<typeof dispatcherOf>
let shop: TestStore
const folder = sharedFolder()
let client: typeof Client
/** That of the services. */
let url: string

beforeAll(async () => {
  server = await openListeningServer()
  await installClient(server.origin, app())
  dispatcher = dispatcherOf(server)
  shop = await server.openStore()
  url = `${server.origin}/StoreWebAPI/v2`
  const installed = join(app(), 'node_modules/store-platform-client/lib/index.js')
  client = await import(pathToFileURL(installed).href)
})
afterAll(async () => {
  await dispatcher?.stop()
  await server?.services.outbound.close()
  await server?.close()
})

const app = () => join(folder, 'app')

const keys = () => {
  const { secureurl, privatekey, token } = shop.credentials
  return { url, secureUrl: secureurl, privateKey: privatekey, token }
}

test('its types are those of the document (`npm run client-types` writes them), and its version the server’s', async () => {
  const [own, whole] = await Promise.all(
    [source, project].map(async (at) => JSON.parse(await readFile(join(at, 'package.json'), 'utf8'))),
  )
  expect([own.version, own.dependencies]).toEqual([whole.version, undefined])
  if (!existsSync(join(project, 'tools/node_modules')) && process.env.REQUIRE_TOOLS !== 'true') return
  const { clientTypes, schemaFile } = await import('../../../../clients/typescript/generate.ts')
  expect((await clientTypes()) === (await readFile(schemaFile, 'utf8'))).toBe(true)
})

test('what /docs shows in TypeScript of each operation compiles against the client', async () => {
  const { config } = server.services
  const operations = servicesOf(JSON.parse(JSON.stringify(openApiDocument(config))), config.publicUrl).flatMap(
    (service) => service.operations,
  )
  const shown = operations.filter(({ typescript }) => typescript !== '')
  expect(shown.length).toBeGreaterThan(120)
  const functions = shown.map(({ id, typescript }) => `export async function ${id}() {\n${typescript}\n}`)
  const begin = "import { type StoreClient } from 'store-platform-client'\ndeclare const store: StoreClient\n"
  await writeFile(join(app(), 'operations.ts'), begin + functions.join('\n'))
  await compileBeside(app(), 'operations.ts')
})

test('what the README shows compiles as strictly as the compiler can, and does what it says', async () => {
  const readme = await readFile(join(source, 'README.md'), 'utf8')
  const blocks = Array.from(readme.matchAll(/```ts\n([\s\S]*?)```/g), ([, code]) => code)
  expect(blocks.length).toBeGreaterThan(6)
  const receiver = await freePort()
  const program = blocks
    .join('\n')
    .replaceAll('http://localhost:3000', server.origin)
    .replaceAll('8080', String(receiver))
  await writeFile(join(app(), 'program.ts'), program)
  await compileBeside(app(), 'program.ts')

  await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'CUP', Name: 'Cup', Price: 5, Stock: 3 } } })
  const { secureUrl: SECURE_URL, privateKey: PRIVATE_KEY, token: TOKEN } = keys()
  const env = { ...process.env, SECURE_URL, PRIVATE_KEY, TOKEN }
  const child = spawn(process.execPath, ['program.ts'], { cwd: app(), env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const lines: string[] = []
  let rest = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    const [...whole] = `${rest}${chunk}`.split('\n')
    rest = whole.pop() ?? ''
    lines.push(...whole)
    if (lines.includes('connect connected')) await delivered()
    if (lines.some((line) => line.startsWith('order'))) break
  }
  expect(lines).toEqual([
    '12 statuses',
    'CUP 3',
    '0 on sale',
    'placeOrder',
    'unknown-reference ManufacturerID',
    'connect connected',
    'makeTestStore',
    'order 1',
  ])
})

/** Sends what is due once the program has asked for a test. */
async function delivered(): Promise<void> {
  const { db } = server.services
  for (;;) {
    await dispatcher.settle()
    const done = await db.delivery.count({ where: { storeId: shop.store.id, state: 'delivered' } })
    if (done > 0) return
  }
}

describe('a client', () => {
  test('reads a list page by page to its end, and an empty one as empty; counts; and names what was refused', async () => {
    const store = client.createClient(keys())
    const makers = Array.from({ length: 7 }, (_, index) => ({ ManufacturerName: `Potter ${index}` }))
    const { data, status } = await store.post('/Manufacturers', { body: [...makers, { ManufacturerName: '' }] })
    expect([status, data.length, data[7]?.Status]).toEqual([206, 8, '400'])

    const names: string[] = []
    const query = { limit: 3, manufacturer: 'potter' }
    for await (const maker of store.list('/Manufacturers', { query })) names.push(maker.ManufacturerName)
    expect(names).toEqual(makers.map(({ ManufacturerName }) => ManufacturerName))
    const sizes: number[] = []
    for await (const page of store.pages('/Manufacturers', { query: { ...query, offset: 2 } })) sizes.push(page.length)
    expect(sizes).toEqual([3, 3])
    expect(await store.count('/Manufacturers', { query: { manufacturer: 'potter' } })).toBe(7)
    const none = []
    for await (const maker of store.list('/Manufacturers', { query: { manufacturer: 'nobody' } })) none.push(maker)
    expect(none).toEqual([])
    // @ts-expect-error: no code of the list
    const isUnknown = (error: Client.StoreError) => error.code === 'out-of-stock'
    expect(isUnknown).toBeTypeOf('function')
    // What is wrong is no empty list.
    const lost = client.createClient({ ...keys(), url: `${url}/nowhere` }).pages('/Manufacturers')
    await expect(lost.next()).rejects.toMatchObject({ name: 'StoreError', status: 404 })
    const manufacturerid = Number(data[0]?.Value)
    expect(await store.count('/Manufacturers/{manufacturerid}/Products', { path: { manufacturerid } })).toBe(0)

    const refused = store.put('/Manufacturers/{manufacturerid}', {
      path: { manufacturerid },
      body: { ManufacturerName: '' },
    })
    await expect(refused).rejects.toMatchObject({
      name: 'StoreError',
      status: 400,
      code: 'missing-field',
      requestId: expect.stringMatching(/./),
      items: [{ Value: 'ManufacturerName' }],
    })
    // @ts-expect-error: the address names a manufacturer
    await expect(store.get('/Manufacturers/{manufacturerid}')).rejects.toThrow('needs manufacturerid')
  })

  test('sends Prefer, of the client and of one call', async () => {
    const strict = client.createClient({ ...keys(), prefer: 'handling=strict' })
    const query = { nonsense: 1 } as object
    await expect(strict.get('/Products', { query })).rejects.toMatchObject({ status: 400 })
    const { headers } = await strict.get('/Products', { query, prefer: 'handling=lenient, count=exact' })
    expect([headers.get('x-ignored'), Number(headers.get('x-total-count'))]).toEqual(['nonsense', expect.any(Number)])
  })

  test('compares ETags: one change of two is made, and what is unchanged is not read again', async () => {
    const store = client.createClient(keys())
    const { data } = await store.post('/Category', { body: { CategoryName: 'Cups' } })
    const path = { categoryid: Number(data[0]?.Value) }
    const { etag } = await store.get('/Category/{categoryid}', { path })
    const change = (Sorting: number) =>
      store.put('/Category/{categoryid}', { path, body: { Sorting }, ifMatch: etag ?? '' })

    expect(await store.getIfChanged('/Category/{categoryid}', etag ?? '', { path })).toBe(null)
    expect((await change(1)).status).toBe(200)
    await expect(change(2)).rejects.toMatchObject({ status: 412, code: 'precondition-failed' })
    const changed = await store.getIfChanged('/Category/{categoryid}', etag ?? '', { path })
    expect(changed?.data[0]?.Sorting).toBe(1)
    expect((await store.delete('/Category/{categoryid}', { path })).status).toBe(200)
  })
})

interface Scripted {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/** A server that answers as it is told, in this order; `lost` ends the connection without an answer. */
async function scripted(answers: readonly (Scripted | 'lost')[]) {
  const requests: { readonly at: number; readonly key: string | undefined; readonly url: string }[] = []
  const waiting = [...answers]
  const proxy = createServer((request: IncomingMessage, response: ServerResponse) => {
    const { headers, url: address = '' } = request
    requests.push({ at: performance.now(), key: headers['idempotency-key'] as string | undefined, url: address })
    const answer = waiting.shift() ?? { status: 500 }
    if (answer === 'lost') return void request.socket.destroy()
    const { status, headers: sent, body = [] } = answer
    response.writeHead(status, { 'content-type': 'application/json', ...sent }).end(JSON.stringify(body))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const { port } = proxy.address() as AddressInfo
  const store = client.createClient({ ...keys(), url: `http://127.0.0.1:${port}/api/` })
  return { store, requests, left: waiting }
}

const soon = { 'retry-after': '0' }

describe('repetitions', () => {
  test('a change is sent again with its key until it is answered, after lost connections too', async () => {
    const { store, requests } = await scripted([
      'lost',
      { status: 503, headers: soon },
      { status: 409, headers: { ...soon, 'x-error-code': 'in-progress' } },
      { status: 201, body: [{ Key: 'CatalogID', Value: '1', Status: '201', Message: '' }] },
    ])
    const { data } = await store.post('/Products', { body: { SKUInfo: { SKU: 'CUP', Name: 'Cup' } } })
    expect(data[0]?.Value).toBe('1')
    const sent = requests.map(({ key }) => key)
    expect([sent.length, new Set(sent).size, sent[0]]).toEqual([4, 1, expect.stringMatching(/^[\da-f-]{36}$/)])
  })

  test.each([
    ['a conflict with what is stored', { status: 409, headers: { ...soon, 'x-error-code': 'insufficient-stock' } }, 1],
    ['a defect', { status: 500 }, 1],
    ['a wait that is too long', { status: 429, headers: { 'retry-after': '3600' } }, 1],
    ['what does not pass', { status: 503, headers: soon }, 5],
  ])('%s is told', async (_what, answer, count) => {
    const { store, requests } = await scripted(Array.from({ length: 9 }, () => answer))
    await expect(store.get('/Products')).rejects.toMatchObject({ name: 'StoreError', status: answer.status })
    expect(requests).toHaveLength(count)
  })

  test('no answer names the method and the address, and nothing that is secret', async () => {
    const host = `127.0.0.1:${await freePort()}`
    const given = { url: `http://user:secret@${host}/S/v2`, privateKey: 'secret', retries: 0 }
    const clientWith = (token: string) => client.createClient({ ...given, secureUrl: 'https://shop.example', token })
    const oauth = client.createOAuth({ ...given, publicKey: 'p', redirectUri: 'https://app.example' })
    const query = { name: 'secret' }
    for (const [method, path, call] of [
      ['PUT', '/Products', () => clientWith('secret').put('/Products', { body: [] })],
      ['GET', '/Products', () => clientWith('secret\nof two lines').get('/Products', { query })],
      ['POST', '/oauth/revoke', () => oauth.revoke('secret')],
    ] as const) {
      const error = await call().catch((reason: Error) => reason)
      const message = expect.stringContaining(`${method} http://${host}/S/v2${path} got no answer`)
      expect(error).toMatchObject({ name: 'NoAnswerError', message })
      expect(inspect(error, { depth: 9 })).not.toContain('secret')
    }
  })

  test('waits until the bucket has room, as RateLimit says', async () => {
    const { store, requests } = await scripted([
      { status: 200, headers: { ratelimit: '"default";r=0;t=1' } },
      { status: 200, headers: { ratelimit: '"default";r=7;t=1' } },
      { status: 200 },
    ])
    for (let request = 0; request < 3; request++) await store.get('/Products')
    const [first = 0, second = 0, third = 0] = requests.map(({ at }) => at)
    expect(second - first).toBeGreaterThan(950)
    expect(third - second).toBeLessThan(900)
  })

  test('of the address of a next page only the cursor counts, and redirects are not followed', async () => {
    const { store, requests } = await scripted([
      { status: 200, body: [{}], headers: { link: '<https://elsewhere.example/x?cursor=5>; rel="next"' } },
      { status: 200, body: [{}] },
      ...Array.from({ length: 9 }, () => ({ status: 302, headers: { location: '/moved' } })),
    ])
    const query = { limit: 1, offset: 1, sku: ['A', 'B&'] }
    for await (const _page of store.pages('/Products', { query })) {
    }
    expect(requests.map(({ url: address }) => address)).toEqual([
      '/api/Products?limit=1&offset=1&sku=A&sku=B%26',
      '/api/Products?limit=1&sku=A&sku=B%26&cursor=5',
    ])
    await expect(store.get('/Products', { signal: AbortSignal.timeout(700) })).rejects.toThrow()
    expect(requests.map(({ url: address }) => address)).not.toContain('/moved')
  })
})

describe('a notification', () => {
  const secret = (text: string) => `whsec_${Buffer.from(text.padEnd(32, '.')).toString('base64')}`
  const [current, former] = [secret('current'), secret('former')]
  const body = '[{"OrderID":7}]'

  function signed(by: readonly string[], at = Date.now()) {
    const seconds = String(Math.floor(at / 1000))
    const signature = by.map((one) => {
      const key = Buffer.from(one.slice('whsec_'.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`evt_1.${seconds}.${body}`).digest('base64')}`
    })
    return {
      'webhook-id': 'evt_1',
      'webhook-timestamp': seconds,
      'webhook-signature': signature.join(' '),
      'webhook-event': 'Order Changed',
      'webhook-sequence': '4',
      'webhook-changed': 'BillingCity,OrderItemList',
    }
  }

  test('is taken with any of its signatures and any of the secrets, and read', async () => {
    const expected = {
      id: 'evt_1',
      event: 'Order Changed',
      sequence: 4,
      changed: ['BillingCity', 'OrderItemList'],
      record: { OrderID: 7 },
    }
    for (const [by, secrets] of [
      [[current], current],
      [[current, former], former],
      [[current], [former, current]],
    ] as const) {
      const headers = signed(by)
      expect(await client.verifyNotification({ headers, body }, secrets)).toMatchObject(expected)
      const bytes = { headers: new Headers(headers), body: Buffer.from(body) }
      expect(await client.verifyNotification(bytes, secrets)).toMatchObject(expected)
    }
  })

  test.each([
    ['another secret', signed([former]), body],
    ['another body', signed([current]), '[{"OrderID":8}]'],
    ['6 minutes ago', signed([current], Date.now() - 360_000), body],
    ['an hour ahead', signed([current], Date.now() + 3_600_000), body],
    ['no time', { ...signed([current]), 'webhook-timestamp': 'now' }, body],
    ['no signature', { ...signed([current]), 'webhook-signature': 'v1,%%% v1a,x' }, body],
    ['no headers', {}, body],
  ])('is refused: %s', async (_what, headers, text) => {
    await expect(client.verifyNotification({ headers, body: text }, current)).rejects.toThrow(client.VerificationError)
  })
})

test('a person’s token calls the JSON routes of its area, and a refusal has its code', async () => {
  const person = await developerIn(server)
  const made = await person.call('POST', '/developers/account/tokens', { Name: 'CI', Days: 1 })
  const account = client.createAccount({ url: server.origin, token: made.json().Token })
  const { Id } = await account<{ Id: number }>('POST', '/developers/inboxes', { Name: 'Orders' })
  expect(await account('GET', '/developers/inboxes')).toMatchObject([{ Id, Name: 'Orders' }])
  await account('DELETE', `/developers/inboxes/${Id}`)
  expect(await account('GET', '/developers/inboxes')).toEqual([])
  const refused = account('GET', '/developers/account/tokens')
  await expect(refused).rejects.toMatchObject({ name: 'StoreError', status: 403, code: 'forbidden' })
})

test('OAuth: a merchant agrees, the callback verifies, the token works until it is revoked, and other answers are refused', async () => {
  const callback = await openReceiver()
  onTestFinished(callback.close)
  const application = await openClient(server, { CallBackURL: callback.url, Kind: 'new' })
  const redirectUri = application.RedirectURIs[0] ?? ''
  const { PublicKey: publicKey, PrivateKey: privateKey } = application
  const oauth = client.createOAuth({ url: server.origin, publicKey, privateKey, redirectUri })
  const authorization = await oauth.authorize({ storeUrl: shop.store.secureUrl })
  const merchant = testPerson(server.app)
  const { pathname, search } = new URL(authorization.url)
  const signIn = String((await merchant.open(pathname + search)).headers.location)
  const consent = String(
    (await merchant.submit(signIn, merchantAccount, { action: '/admin/sign-in' })).headers.location,
  )
  const back = String((await merchant.submit(consent, { decision: 'allow' })).headers.location)

  const [{ headers, text } = { headers: {}, text: '' }] = callback.received
  const told = await client.verifyCallback({ headers, body: text }, application.CallBackSecret)
  expect(told).toMatchObject({ Action: 'AUTHORIZE', PublicKey: publicKey, SecureURL: shop.store.secureUrl })

  await expect(oauth.exchange(back, { ...authorization, state: 'other' })).rejects.toMatchObject({
    error: 'invalid_state',
  })
  await expect(
    oauth.exchange(`${redirectUri}&state=${authorization.state}&error=access_denied`, authorization),
  ).rejects.toMatchObject({ error: 'access_denied' })
  const first = await oauth.exchange(back, authorization)
  expect(first.expiresAt?.getTime()).toBeGreaterThan(Date.now())
  const { accessToken, refreshToken } = await oauth.refresh(first.refreshToken ?? '')
  expect([accessToken === first.accessToken, refreshToken]).toEqual([false, expect.any(String)])
  const store = client.createClient({ url, accessToken: async () => accessToken })
  expect((await store.get('/OrderStatus')).status).toBe(200)
  await oauth.revoke(accessToken)
  await expect(store.get('/OrderStatus')).rejects.toMatchObject({ status: 401 })
  await expect(oauth.exchange(back, authorization)).rejects.toMatchObject({
    name: 'OAuthError',
    error: 'invalid_grant',
  })
  await expect(oauth.refresh('nothing')).rejects.toThrow(client.OAuthError)
})
