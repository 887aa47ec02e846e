import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { request } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/values/secrets.ts'
import { sharedFolder } from '../../support/folders.ts'
import { type Command, startCommand } from '../../support/run-command.ts'
import { freePort } from '../../support/run-server.ts'
import { sharedServer } from '../../support/store.ts'

const password = 'a quiet harbour with boats'

let shopNumber = 0
/** Of a store that there is not yet. */
let shop: string

const server = await sharedServer({ TIME_ZONE: 'Europe/Vienna' })
const baseUrl = await server.app.listen({ host: '127.0.0.1', port: 0 })
const folder = sharedFolder()
beforeEach(() => {
  shop = `https://www.new-${++shopNumber}.example`
})
afterEach(() => {
  expect(server.log.join('\n')).not.toContain(password)
})

function start(args: readonly string[], settings: Record<string, string> = {}): Command {
  const own = { PUBLIC_URL: baseUrl, OPERATOR_KEY: server.services.operatorKey, DATA_DIR: folder }
  return startCommand('new-store', args, { settings: { ...own, TIME_ZONE: 'Europe/Vienna', ...settings }, cwd: folder })
}

const known = () => ['--url', shop, '--name', 'New shop', '--email', 'owner@new.example']

/** What the store has by now. */
async function stored() {
  const { db } = server.services
  const include = { users: true, subscriptions: { include: { application: true } } } as const
  const stores = await db.store.findMany({ where: { secureUrl: shop }, include })
  return stores.map(({ name, currency, timeZone, users, subscriptions }) => ({
    ...{ name, currency, timeZone, merchants: users.map(({ email }) => email) },
    applications: subscriptions.map(({ application }) => application.name),
  }))
}

/** Sends the headers that a curl line for a shell has. */
async function sendAsCurl(output: string, path: string, method: 'GET' | 'DELETE' = 'GET'): Promise<number> {
  const [line = ''] = /curl .*/.exec(output) ?? []
  const headers = Object.fromEntries(
    [...line.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [name, value]),
  )
  expect(line).toContain(`'${baseUrl}/StoreWebAPI/v1/Products/skuinfo?limit=3'`)
  const answer = await request(`${baseUrl}/StoreWebAPI/v1${path}`, {
    method,
    headers: headers as Record<string, string>,
  })
  await answer.body.dump()
  return answer.statusCode
}

describe('npm run new-store', () => {
  test('opens store, merchant and application by arguments, with the password from standard input', async () => {
    const first = await start([...known(), '--currency', 'eur', '--application', 'Order sync']).ends(`${password}\n`)
    expect(first.code).toBe(0)
    expect(await stored()).toEqual([
      {
        ...{ name: 'New shop', currency: 'EUR', timeZone: 'Europe/Vienna' },
        ...{ merchants: ['owner@new.example'], applications: ['Order sync'] },
      },
    ])
    expect(await sendAsCurl(first.output, '/Orders?countonly=1')).toBe(200)
    expect(first.output).toContain(`${baseUrl}/admin\n`)
    expect(first.output).not.toContain(password)
    expect(first.output).toContain(`Only this machine reaches ${baseUrl}. Set PUBLIC_URL`)
  })

  test('asks for what is missing, and again after an answer that is wrong', async () => {
    const answers = ['no address', shop, 'Asked shop', 'owner', 'owner@new.example', 'short', 'owner@new.example', '']
    const rest = ['', 'Mars/Olympus', '', 'Reader', 'Orders:fly', 'orders:read, Products:read']
    const { code, output, errors } = await start([]).ends(`${[...answers, ...rest].join('\n')}\n`)
    expect(code).toBe(0)
    for (const fault of [
      'SecureURL must be an address',
      'Email must be an e-mail address',
      'Password must be a text of 12 to 1000 characters',
      'Password must differ from the e-mail address',
      'TimeZone must be a time zone name',
      'Privileges must be all, or a comma list such as',
    ]) {
      expect(errors.split(fault)).toHaveLength(2)
    }
    expect(await stored()).toMatchObject([{ name: 'Asked shop', currency: 'USD', applications: ['Reader'] }])
    expect(output).toContain('Orders read, Products read.')
    expect(output).toMatch(/owner@new\.example, password [\w-]{20} \(shown once\)/)
    expect(await sendAsCurl(output, '/Orders?countonly=1')).toBe(200)
    expect(await sendAsCurl(output, '/Products/1', 'DELETE')).toBe(401)
  })

  test('shows what the server refuses, and asks again', async () => {
    const command = start([])
    await command.shows('Address of the shop')
    command.answer(shop)
    await command.shows('Name of the store')
    await start([...known(), '--generate-password']).ends()
    shop = `https://elsewhere-${shopNumber}.example`
    const answers = ['Late shop', 'late@new.example', password, '', '', shop, '', '']
    const { code, errors } = await command.ends(`${answers.join('\n')}\n`)
    expect(errors).toContain('SecureURL has the host of another store')
    expect(code).toBe(0)
    expect(await stored()).toMatchObject([{ name: 'Late shop', merchants: ['late@new.example'] }])
  })

  test('run again, finds what there is and makes what is missing', async () => {
    const made = JSON.parse((await start([...known(), '--generate-password', '--json']).ends()).output)
    expect(made).toMatchObject({
      baseUrl,
      store: { secureUrl: shop, email: 'owner@new.example', created: true },
      application: { name: 'Integration', privileges: null, created: true },
    })
    const again = JSON.parse((await start(['--url', shop.replace('www.', ''), '--json']).ends()).output)
    const { email, password: _, ...store } = made.store
    expect(email).toBe('owner@new.example')
    expect(again).toEqual({
      ...{ baseUrl, store: { ...store, created: false } },
      application: { ...made.application, created: false },
    })
    const other = await start(['--url', shop, '--application', 'Other', '--privileges', 'Orders:read+write']).ends()
    expect(other.errors).toContain('has this address already and stays as it is')
    expect(await stored()).toMatchObject([{ applications: ['Integration', 'Other'] }])
  })

  test('finds a store by a further address, and marks the keys that were brought along', async () => {
    const call = async (...request: Parameters<typeof server.operate>) => (await server.operate(...request)).json()
    const old = `old-${shopNumber}.platform.example`
    const [PublicKey, PrivateKey, Token, UserKey] = [generateKey(), generateKey(), generateKey(), generateKey()]
    const made = { Name: 'New shop', SecureURL: shop, SecureURLs: [old], UserKey }
    const { Id } = await call('POST', '/admin/stores', { ...made, Email: 'owner@new.example', Password: password })
    const Privileges = { Orders: ['read'] }
    await call('POST', '/admin/applications', { Name: 'Brought', PublicKey, PrivateKey, Privileges })
    await call('POST', `/admin/stores/${Id}/subscriptions`, { PublicKey, Token })
    const args = ['--url', old, '--application', 'Brought']
    const { code, output } = await start(args).ends()
    expect(code).toBe(0)
    for (const key of [PrivateKey, Token, UserKey]) {
      expect(output).toContain(`${key}  (brought along: rotate when you can)\n`)
    }
    const json = JSON.parse((await start([...args, '--json']).ends()).output)
    expect(json).toMatchObject({
      store: { id: Id, userKey: UserKey, userKeyBrought: true },
      application: { privateKeyBrought: true, token: Token, tokenBrought: true, created: false },
    })
  })

  test('makes nothing twice when answers are lost, at once or when run again', async () => {
    const lossy = await openLossyProxy()
    const settings = { PUBLIC_URL: lossy.url }
    lossy.lose('/admin/stores', 1)
    lossy.lose('/admin/applications', 3)
    const { code, errors } = await start([...known(), '--generate-password'], settings).ends()
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining('cannot be reached') })
    const before = await server.services.db.application.count()
    expect((await start(known()).ends()).code).toBe(0)
    lossy.close()
    expect(await server.services.db.application.count()).toBe(before)
    expect(await stored()).toMatchObject([{ merchants: ['owner@new.example'], applications: ['Integration'] }])
  })

  test.each<{ name: string; args: string[]; settings?: () => Promise<Record<string, string>>; says: RegExp }>([
    { name: 'a wrong argument', args: ['--currency', 'x'], says: /^--currency: Currency must be a currency code/ },
    { name: 'a password as an argument', args: ['--password', 'x'], says: /^Unknown option '--password'/ },
    { name: 'an input without a password', args: [], says: /Password is missing: .* --generate-password\n$/ },
    {
      name: 'no server',
      args: [],
      settings: async () => ({ PUBLIC_URL: `http://127.0.0.1:${await freePort()}` }),
      says: /^No server answers at http:\/\/127\.0\.0\.1:\d+\. Start it: npm start\n$/,
    },
    {
      name: 'a name that is not in the DNS yet',
      args: [],
      settings: async () => ({ PUBLIC_URL: 'https://api.new-shop.invalid' }),
      says: /^PUBLIC_URL \(https:\/\/api\.new-shop\.invalid\) does not lead to this server yet: .* see "Going live" in docs\/operations\.md .*\n$/,
    },
    {
      name: 'an address that has no TLS yet',
      args: [],
      settings: async () => ({ PUBLIC_URL: baseUrl.replace('http:', 'https:') }),
      says: /^PUBLIC_URL \(https:\/\/127\.0\.0\.1:\d+\) does not lead to this server yet: it does not speak TLS [^\n]+\n$/,
    },
  ])('ends with one clear line, and makes nothing: $name', async ({ args, settings, says }) => {
    const { code, output, errors } = await start([...known(), ...args], await settings?.()).ends()
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toMatch(says)
    expect(await stored()).toEqual([])
  })
})

const otherServers: Record<string, (answer: ServerResponse) => void> = {
  'a page for any address': (answer) => void answer.end('<h1>Parked</h1>'),
  'a list of something else': (answer) => void answer.end('[{"id":1}]'),
  'a redirect': (answer) => void answer.writeHead(301, { location: '/elsewhere' }).end(),
  'a proxy without the server': (answer) => void answer.writeHead(502).end(),
  'a body without an end': (answer) => void pipeline(Readable.from(endless()), answer, () => {}),
  'no HTTP': (answer) => void answer.socket?.end('220 mail\r\n'),
}
test.each(Object.entries(otherServers))('new-store gives its key to no other server: %s', async (_what, respond) => {
  const seen: unknown[] = []
  const other = createServer(({ headers }, answer) => {
    seen.push(headers.authorization)
    respond(answer)
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const outcome = await start(known(), { PUBLIC_URL: `http://127.0.0.1:${port}` }).ends(`${password}\n`)
  other.closeAllConnections()
  other.close()
  expect(outcome).toMatchObject({ code: 1, output: '' })
  expect(outcome.errors).toMatch(
    /^PUBLIC_URL \(http:\/\/127\.0\.0\.1:\d+\) does not lead to this server yet: [^\n]+\n$/,
  )
  expect(seen).toEqual([undefined])
})

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(16_384, ' ')
}

/** Hands requests on to the server, and loses the answers to changes of an address, as often as it is told. */
async function openLossyProxy() {
  const losses = new Map<string, number>()
  const proxy = createServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const answer = await request(`${baseUrl}${url}`, {
      method: method as 'GET',
      headers: {
        ...(headers.authorization && { authorization: headers.authorization }),
        'content-type': headers['content-type'] ?? 'text/plain',
        ...(headers['idempotency-key'] && { 'idempotency-key': headers['idempotency-key'] }),
      },
      ...(method === 'POST' && { body: incoming }),
    })
    const body = await answer.body.text()
    const left = losses.get(url) ?? 0
    if (method === 'POST' && left > 0) {
      losses.set(url, left - 1)
      return outgoing.destroy()
    }
    outgoing.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    lose: (path: string, times: number) => losses.set(path, times),
    close: () => proxy.close(),
  }
}
