import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxFile } from '../../../../src/foundation/process/data-folder.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { sharedFolder } from '../../../support/folders.ts'
import { freePort, type Run, runProgram, runServer, serverKeys, temporaryFolder } from '../../../support/run-server.ts'
import { shared } from '../../../support/shared.ts'

const examples = fileURLToPath(new URL('../../../../docs/guides/examples/', import.meta.url))

type Command = readonly [program: string, ...args: string[]]

interface Language {
  readonly name: string
  readonly ending: string
  readonly isInstalled: boolean
  /** Whether REQUIRE_LANGUAGES demands it. */
  readonly isRequired: boolean
  readonly commandOf: (file: string, args: readonly string[]) => Command
}

const languages: readonly Language[] = [
  {
    name: 'curl',
    ending: 'sh',
    isInstalled: isThere('curl', '--version') && isThere('openssl', 'version'),
    isRequired: true,
    commandOf: (file, args) => ['bash', file, ...args],
  },
  {
    name: 'TypeScript',
    ending: 'ts',
    isInstalled: true,
    isRequired: true,
    commandOf: (file, args) => [process.execPath, file, ...args],
  },
  {
    name: 'Python',
    ending: 'py',
    isInstalled: isThere('python3', '--version'),
    isRequired: true,
    commandOf: (file, args) => ['python3', file, ...args],
  },
  {
    name: 'PHP',
    ending: 'php',
    isInstalled: isThere('php', '--version'),
    isRequired: true,
    commandOf: (file, args) => ['php', '-d', 'display_errors=stderr', file, ...args],
  },
  {
    name: 'C#',
    ending: 'cs',
    isInstalled: isThere('mono', '--version') && isThere('mcs', '--version'),
    isRequired: false,
    commandOf: (file, args) => ['mono', compiled(file), ...args],
  },
]

const isDemanded = process.env.REQUIRE_LANGUAGES === 'true'
const found = languages.filter(({ isInstalled, isRequired }) => isInstalled || (isRequired && isDemanded))
const STOCK = 7_654

const database = await shared(cloneDatabase())
const folder = sharedFolder()
let server: Run
let origin: string
let sandbox: SandboxFile
let environment: Record<string, string>

beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  server = runServer({
    DATABASE_URL: database.url,
    ...serverKeys,
    DATA_DIR: folder,
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: origin,
    SANDBOX: 'true',
  })
  await server.shows('All keys')
  sandbox = JSON.parse(readFileSync(join(folder, 'sandbox.json'), 'utf8'))
  const { store, application } = sandbox
  environment = {
    PATH: process.env.PATH ?? '',
    SERVER: origin,
    API: `${origin}/StoreWebAPI/v1`,
    OLD_API: `${origin}/StoreWebAPI/v2`,
    SECURE_URL: store.secureUrl,
    PUBLIC_KEY: application.publicKey,
    PRIVATE_KEY: application.privateKey,
    TOKEN: application.token,
  }
  // The programs of all languages are one application.
  await operate('PUT', '/admin/applications/1', { Throttle: { Capacity: 10_000, LeakPerSecond: 1_000 } })
})
afterAll(() => server?.end())

test('every guide has its examples in all languages', () => {
  for (const name of readdirSync(examples)) {
    // What curl does there is not to receive, but to add a webhook. The shop front is tried in a browser.
    const some = {
      receiver: languages.slice(1),
      'first-webhook': languages.slice(0, 1),
      'shop-front': languages.slice(1, 2),
      'test-in-ci': languages.slice(1, 2),
      'till-and-marketplace': languages.slice(1, 2),
    }
    const expected = some[name as keyof typeof some] ?? languages
    const endings = readdirSync(join(examples, name)).map((file) => file.split('.').at(-1))
    expect(endings.toSorted(), name).toEqual(expected.map(({ ending }) => ending).toSorted())
  }
})

describe.each(found)('in $name', (language) => {
  const { name, ending, commandOf } = language
  const number = languages.indexOf(language)
  const isCurl = name === 'curl'

  function fileOf(example: string): string {
    const file = readdirSync(join(examples, example)).find((each) => each.endsWith(`.${ending}`))
    return join(examples, example, file ?? '')
  }

  /** Starts a program in a folder of its own. */
  function start(example: string, args: readonly string[] = [], more: Record<string, string> = {}): Run {
    const [program, ...words] = commandOf(fileOf(example), args)
    return runProgram(program, words, { cwd: folder, env: { ...environment, ...more }, timeout: 60_000 })
  }

  /** Runs a program to its end, and returns its exit code and what it wrote. */
  async function result(...[example, args, more]: Parameters<typeof start>) {
    const started = start(example, args, more)
    const code = await started.exited
    return { example, code, output: started.output() }
  }

  /** Runs a program to its end, which must be a good one; what it wrote. */
  async function run(...given: Parameters<typeof start>): Promise<string> {
    const ended = await result(...given)
    expect(ended).toMatchObject({ code: 0 })
    return ended.output
  }

  /** Runs a program to its end, which must be a bad one; what it wrote. */
  async function fail(...given: Parameters<typeof start>): Promise<string> {
    const ended = await result(...given)
    expect(ended.code, ended.output).toBeGreaterThan(0)
    return ended.output
  }

  test('the first call shows products', async () => {
    expect(await run('first-call')).toMatch(isCurl ? /^HTTP\/1\.1 200 OK[\s\S]*"SKU":"KIT-/ : /^KIT-\S+ [\d.]+ \d+/)
  })

  test('both addresses have as many records', async () => {
    const lines = (await run('compare-counts')).trim().split('\n')
    expect(lines).toHaveLength(6)
    expect(lines[0]).toMatch(
      isCurl ? /^Products \{"TotalCount":600\} \{"TotalCount":600\}$/ : /^Products 600 600 equal$/,
    )
  })

  test('a wrong address ends a program with its message, and no place in the feed is stored', async () => {
    const wrong = { API: `${environment.API}/wrong` }
    const target = join(folder, `wrong-${ending}`)
    const [file, args] = [join(folder, `wrong-${ending}.csv`), ['SKU', '1']]
    writeFileSync(file, 'SKU;1\n')
    const outputs = await Promise.all([
      fail('order-export', [target], wrong),
      fail('stock-sync', isCurl ? args : [file], wrong),
      fail('new-orders', [], wrong),
      fail('first-call', [], wrong),
      fail('compare-counts', [], wrong),
    ])
    for (const output of outputs) expect(output).toContain('No such address')
    expect(existsSync(isCurl ? join(folder, 'after.txt') : join(target, 'after.json'))).toBe(false)
  })

  test('stock is set or adjusted once, and left alone after that', async () => {
    const [counted, moved] = (await services(`/Products/skuinfo?limit=2&offset=${10 + 2 * number}`)) as unknown as [
      Info,
      Info,
    ]
    const stockOf = async ({ CatalogID }: Info) => {
      const [product] = (await services(`/Products/${CatalogID}`)) as unknown as [{ SKUInfo: Info }]
      return product.SKUInfo.Stock
    }
    const delivery = `delivery-${number}`
    if (isCurl) {
      expect(await run('stock-sync', [counted.SKU, String(STOCK)])).toContain('updated successfully')
      for (const _ of [1, 2]) await run('stock-sync', [moved.SKU, '+3', delivery])
      expect(await fail('stock-sync', ['NOBODY-HAS-IT', '1'])).toContain('NOBODY-HAS-IT is not there')
      await fail('stock-sync', [moved.SKU, 'twelve'])
    } else {
      const file = join(folder, `stock-${ending}.csv`)
      const counts = `${counted.SKU.toLowerCase()};${STOCK}\r\n`
      const refused = `NOBODY-HAS-IT;1\n${moved.SKU};twelve\n${moved.SKU};+3\n`
      writeFileSync(file, `\uFEFF${counts}\n \n${refused}${moved.SKU};+3;${delivery}\n`)
      const output = await fail('stock-sync', [file])
      expect(output).toMatch(new RegExp(`${counted.SKU} \\S+ -> ${STOCK}`, 'i'))
      expect(output).toMatch(/line 4: NOBODY-HAS-IT is not/)
      expect(output.match(/line [56]: \S+ needs a number/g)).toHaveLength(2)
      writeFileSync(file, `${counts}${moved.SKU};+3;${delivery}\n`)
      expect(await run('stock-sync', [file])).not.toContain('->')
    }
    expect(await stockOf(counted)).toBe(STOCK)
    expect(await stockOf(moved)).toBe(moved.Stock + 3)
  })

  test('the export has every order, and what is new, changed and returned afterwards', async () => {
    const target = join(folder, `export-${ending}`)
    if (isCurl) {
      await placeOrder()
      await expect.poll(() => run('order-export'), { timeout: 20_000 }).toContain('"EventName":"Order New"')
      return
    }
    await run('order-export', [target])
    const { TotalCount } = (await services('/Orders?countonly=1')) as unknown as { TotalCount: number }
    const exported = () => readdirSync(target).filter((file) => /^order-\d+\.json$/.test(file))
    expect(exported()).toHaveLength(TotalCount)

    const id = await placeOrder()
    await change(`/Orders/${id}`, { OrderStatusID: 3 })
    await change('/Orders/1', { InternalComments: `Ring twice, says ${name}` })
    const [line] = (await services(`/Orders/${id}/Items`)) as { ItemID: string }[]
    const RMAItemList = [{ SKU: line?.ItemID, ReturnQuantity: 1 }]
    const [{ Value: returnId = '' } = {}] = (await services('/RMA', 'POST', { OrderID: id, RMAItemList })) as {
      Value: string
    }[]
    const kinds = ['Order New', 'Order Status Change', 'Order Changed', 'Return New']
    await expect.poll(() => kindsSince(target), { timeout: 10_000 }).toEqual(expect.arrayContaining(kinds))
    await run('order-export', [target])
    expect(exported()).toHaveLength(TotalCount + 1)
    const order = JSON.parse(readFileSync(join(target, `order-${id}.json`), 'utf8'))
    expect(order).toMatchObject({ OrderID: id, OrderStatusID: 3 })
    expect(readFileSync(join(target, 'order-1.json'), 'utf8')).toContain(`Ring twice, says ${name}`)
    const returned = JSON.parse(readFileSync(join(target, `return-${returnId}.json`), 'utf8'))
    expect(returned).toMatchObject({ RMAID: Number(returnId), OrderID: id })

    await services(`/RMA/${returnId}`, 'DELETE')
    await expect.poll(() => kindsSince(target), { timeout: 10_000 }).toContain('Return Deleted')
    await run('order-export', [target])
    expect(existsSync(join(target, `return-${returnId}.json`))).toBe(false)

    // Beyond the newest event (410) it begins anew, and keeps nothing that the store does not have.
    writeFileSync(join(target, 'after.json'), '999999999')
    writeFileSync(join(target, 'order-999999.json'), '{}')
    await run('order-export', [target])
    expect(exported()).toHaveLength(TotalCount + 1)
    expect(Number(readFileSync(join(target, 'after.json'), 'utf8'))).toBeLessThan(999_999_999)
  })

  async function kindsSince(target: string): Promise<string[]> {
    const after = readFileSync(join(target, 'after.json'), 'utf8')
    const events = (await services(`/Events?after=${after}`)) as { EventName: string }[]
    return events.map(({ EventName }) => EventName)
  }

  test.skipIf(isCurl)('the receiver takes what is signed, once, and refuses what is not', async () => {
    const port = await freePort()
    const address = `http://127.0.0.1:${port}/`
    const webhook = { Name: name, Url: address, EventType: 1, Enabled: true, Format: 'JSON' }
    const [{ Value: id = '' } = {}] = (await services('/Webhooks', 'POST', webhook)) as { Value: string }[]
    const [{ Secret = '' } = {}] = (await services(`/Webhooks/${id}/Secret`)) as { Secret: string }[]
    const more = { SECRET: Secret, PORT: String(port), TMPDIR: folder }
    const receiver =
      name === 'PHP'
        ? runProgram('php', ['-S', `127.0.0.1:${port}`, fileOf('receiver')], { env: { ...environment, ...more } })
        : start('receiver', [], more)
    try {
      await receiver.shows(name === 'PHP' ? 'started' : 'listening')
      await services(`/Webhooks/${id}/Test`, 'POST')
      await receiver.shows(/Order New 0 \d+/)
      const forged = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) }
      const answer = await fetch(address, {
        method: 'POST',
        headers: { ...forged, 'webhook-signature': `v1,${'A'.repeat(43)}=` },
        body: '[{"OrderID":666}]',
      })
      expect(answer.status).toBe(401)
      expect(receiver.output()).not.toContain('666')
    } finally {
      await receiver.end('SIGKILL')
      await services(`/Webhooks/${id}`, 'DELETE')
    }
  })

  test.runIf(isCurl)('a webhook is added, shows its secret and is tried', async () => {
    const output = await run('first-webhook', [], { RECEIVER: 'http://127.0.0.1:8399/orders' })
    expect(output).toMatch(/whsec_[\s\S]*DeliveryID/)
    // Sent again with its key, the request adds no other one.
    await run('first-webhook', [], { RECEIVER: 'http://127.0.0.1:8399/orders' })
    expect(await services('/Webhooks')).toHaveLength(1)
    for (const { Id } of (await services('/Webhooks')) as { Id: number }[]) await services(`/Webhooks/${Id}`, 'DELETE')
  })

  test('new orders are taken, and none of them twice', async () => {
    const id = await placeOrder()
    await change(`/Orders/${id}`, { OrderStatusID: 1 })
    if (isCurl) {
      // Of one order, the first.
      expect(await run('new-orders')).toContain('updated successfully')
      return
    }
    await run('new-orders')
    expect(await services(`/Orders/${id}`)).toMatchObject([{ OrderStatusID: 2 }])
    expect((await run('new-orders')).trim()).toBe('')
  })

  test('a merchant connects the store by OAuth', async () => {
    const redirect = `http://127.0.0.1:${await freePort()}/oauth`
    await operate('PUT', '/admin/applications/1', { RedirectURIs: [redirect] })
    const more = { REDIRECT_URI: redirect }
    const [program, ...words] = commandOf(fileOf('oauth'), [])
    const child = spawn(program, words, { cwd: folder, env: { ...environment, ...more }, timeout: 60_000 })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    const closed = new Promise((resolve) => child.once('close', resolve))
    await expect.poll(() => output, { timeout: 10_000 }).toMatch(/\/oauth\/authorize\?\S+\s/)
    const [address = ''] = /http\S+\/oauth\/authorize\?\S+/.exec(output) ?? []
    const back = await allow(`${address}&store_url=${encodeURIComponent(sandbox.store.secureUrl)}`)
    expect(back.href.startsWith(redirect)).toBe(true)
    if (isCurl) child.stdin.end(`${back.searchParams.get('code')}\n`)
    else {
      const forged = new URL(back)
      forged.searchParams.set('state', 'another')
      expect((await fetch(forged)).status).toBe(400)
      expect((await fetch(back)).status).toBe(200)
    }
    await closed
    expect(output).toMatch(/KIT-HOL-0001/)
  })
})

test('a CI makes a test store, sells in it, resets it and throws it away, also when a step has failed', async () => {
  const [example = ''] = readdirSync(join(examples, 'test-in-ci'))
  const file = join(examples, 'test-in-ci', example)
  const { email: Email, password: Password } = sandbox.developer
  const headers = { 'content-type': 'application/json' }
  const account = { method: 'POST', headers, body: JSON.stringify({ Email, Password }) }
  const signedIn = await fetch(`${origin}/developers/sign-in`, account)
  const cookie = signedIn.headers.getSetCookie().map((each) => each.split(';', 1)[0])
  const path = '/developers/account/tokens'
  const made = await ask(path, 'POST', { cookie: cookie.join('; ') }, { Name: 'CI', Days: 1 })
  const { Token } = made as unknown as { Token: string }
  const run = async (program: string) => {
    const env = { ...environment, DEVELOPER_TOKEN: Token }
    const started = runProgram(process.execPath, [program], { cwd: folder, env, timeout: 120_000 })
    return { code: await started.exited, output: started.output() }
  }
  const isEmpty = async () => {
    const of = ['/developers/test-stores', '/developers/applications']
    const authorization = `Bearer ${Token}`
    expect(await Promise.all(of.map((each) => ask(each, 'GET', { authorization })))).toEqual([[], []])
  }
  const { code, output } = await run(file)
  expect({ code, oks: output.match(/^ok (the store sells: |an order|its goods)/gm) }, output).toMatchObject({
    code: 0,
    oks: { length: 6 },
  })
  await isEmpty()

  const failing = join(folder, 'failing.ts')
  writeFileSync(failing, readFileSync(file, 'utf8').replace('=== Stock - 1', '=== Stock'))
  expect(await run(failing)).toMatchObject({ code: 1, output: expect.stringContaining('Not as expected: its goods') })
  await isEmpty()
})

test('a till sells once what it could not send at first, and a marketplace’s file comes in once', async () => {
  const program = join(examples, 'till-and-marketplace', 'sales.ts')
  const cwd = temporaryFolder()
  const run = async (args: string[], more = {}) => {
    const started = runProgram(process.execPath, [program, ...args], { cwd, env: { ...environment, ...more } })
    return { code: await started.exited, output: started.output() }
  }
  const unsent = await run(['sell', 'KIT-HOL-0001', '2', '4.90', 'Cash'], { API: `${environment.API}/wrong` })
  expect(unsent.output).toContain('is waiting: unknown-address')
  const [, sold] = /is order (\d+)/.exec((await run([])).output) ?? []
  expect(await services(`/Orders/${sold}`)).toMatchObject([{ OrderStatusID: 1, OrderAmount: 9.8 }])
  const line = 'MP-1;2025-03-10T12:00:00Z;ann@market.example;4.90;KIT-HOL-0001'
  writeFileSync(join(cwd, 'orders.csv'), `number;…\n${line};3;0.3333\n${line};1;5\nMP-2${line.slice(4)};9999999;1\n`)
  const first = await run(['import', 'orders.csv'])
  expect(first).toEqual({ code: 1, output: expect.stringMatching(/MP-2 is waiting: insufficient-stock/) })
  const [placed, id] = /MP-1 is order (\d+)/.exec(first.output) ?? []
  rmSync(join(cwd, 'placed'), { recursive: true })
  expect((await run(['import', 'orders.csv'])).output).toContain(placed)
  const expected = { AlternateOrderID: 'MP-1', OrderAmount: 10.9, OrderStatusID: 1, OrderDate: '2025-03-10T08:00:00' }
  expect(await services(`/Orders/${id}`)).toMatchObject([expected])
  rmSync(cwd, { recursive: true })
})

interface Info {
  readonly CatalogID: number
  readonly SKU: string
  readonly Stock: number
}

const newOrder = {
  CustomerID: 5,
  BillingOnLinePayment: false,
  OrderItemList: [{ CatalogID: 1, ItemQuantity: 1 }],
}

async function placeOrder(): Promise<number> {
  const [item] = await operate('POST', '/admin/stores/1/orders', newOrder)
  return Number(item?.Value)
}

async function ask(path: string, method: string, headers: object, body?: object): Promise<Record<string, unknown>[]> {
  const answer = await fetch(origin + path, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text)
}

function operate(method: string, path: string, body: object) {
  return ask(path, method, { authorization: `Bearer ${sandbox.operatorKey}` }, body)
}

function services(path: string, method = 'GET', body?: object) {
  const { SECURE_URL, PRIVATE_KEY, TOKEN } = environment
  return ask(`/StoreWebAPI/v1${path}`, method, { secureurl: SECURE_URL, privatekey: PRIVATE_KEY, token: TOKEN }, body)
}

function change(path: string, body: object) {
  return services(path, 'PUT', body)
}

/** Does what a merchant's browser does, from the address of the application to the one it is sent back to. */
async function allow(address: string): Promise<URL> {
  const cookies = new Map<string, string>()
  const visit = async (url: string, init: RequestInit = {}) => {
    const headers = { accept: 'text/html', cookie: [...cookies].map((pair) => pair.join('=')).join('; ') }
    const answer = await fetch(url, { ...init, headers: { ...headers, ...init.headers }, redirect: 'manual' })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  const { email, password } = sandbox.store
  await visit(`${origin}/admin/sign-in`, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify({ Email: email, Password: password }),
  })
  const page = await (await visit(address)).text()
  const [form = ''] = /<form method="post" action="\/oauth[\s\S]*?<\/form>/.exec(page) ?? []
  const fields = new URLSearchParams()
  for (const [, name = '', value = ''] of form.matchAll(/name="([^"]+)" value="([^"]*)"/g)) {
    fields.set(name, value.replaceAll('&quot;', '"'))
  }
  const answer = await visit(address, { method: 'POST', body: fields })
  const location = answer.headers.get('location')
  if (location === null)
    throw new Error(`${answer.status} ${/role="alert">([\s\S]*?)<\/div>/.exec(await answer.text())}`)
  return new URL(location)
}

function compiled(file: string): string {
  const target = join(folder, `${basename(file, '.cs')}.exe`)
  if (existsSync(target)) return target
  const references = ['-r:System.Net.Http', '-r:System.Web.Extensions']
  execFileSync('mcs', ['-warnaserror', ...references, `-out:${target}`, file], { stdio: 'pipe' })
  return target
}

function isThere(program: string, argument: string): boolean {
  try {
    execFileSync(program, [argument], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
