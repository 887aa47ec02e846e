import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Profiler } from 'node:inspector'
import { Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { productStockChanged } from '../../../src/engine/definition/event-kinds.ts'
import { Dispatcher } from '../../../src/shop/webhooks/dispatch/dispatcher.ts'
import { formsAt } from '../../support/person.ts'

// Runs the server with the settings of the environment, PORT and OPERATOR_KEY among them, on an empty database, and prints as JSON how many
// files and lines of src have functions that run during one warm request, by V8 coverage; with `--functions`, their names too. The dispatcher
// stands still but for the notification. Other loops look for work every few seconds, so that the smallest count is without them.

const WARM_UPS = 20
const MEASUREMENTS = 5
/** Longer than wakes of workers are merged, so that what one request wakes is not counted with the next. */
const PAUSE_MS = 50

const { prototype } = Dispatcher
const started = Promise.withResolvers<Dispatcher>()
prototype.start = function keep() {
  started.resolve(this)
}
prototype.wake = () => {}
prototype.eventsCommitted = () => {}
await import('../../../src/main.ts')

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

const cookies = new Map<string, string>()
const json = { 'content-type': 'application/json' }
const operator = { ...json, authorization: `Bearer ${process.env.OPERATOR_KEY}` }
const account = { Email: 'merchant@shop.example', Password: 'correct horse battery' }
await send('POST', '/admin/stores', operator, { Name: 'Shop', SecureURL: 'https://shop.example', ...account })
const limits = { Throttle: { capacity: 1_000_000, leakPerSecond: 10_000 } }
const { PublicKey, PrivateKey } = await send('POST', '/admin/applications', operator, { Name: 'Figures', ...limits })
const { Token } = await send('POST', '/admin/stores/1/subscriptions', operator, { PublicKey })
const program = { ...json, secureurl: 'https://shop.example', privatekey: String(PrivateKey), token: String(Token) }
const product = { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 25, Stock: 1_000_000 } }
await send('POST', '/StoreWebAPI/v1/Products', program, product)
const order = { BillingEmail: 'ann@customers.example', OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 1 }] }
const place = () => send('POST', '/admin/stores/1/orders', operator, order)
const [{ Value: orderId }] = await place()
const page = `/admin/orders/${orderId}`
await submit('/admin/sign-in', await formOf('/admin/sign-in', '/admin/sign-in'), account)
let last = 1_000_000
const put = () => send('PUT', '/StoreWebAPI/v1/Products/1', program, { SKUInfo: { Stock: --last } })
let notes: Fields = {}
const readForm = async () => {
  notes = await formOf(page, `${page}/notes`)
}
const receiver = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const { port } = receiver.address() as AddressInfo
const webhook = {
  Name: 'Figures',
  Url: `http://127.0.0.1:${port}/`,
  EventType: productStockChanged.type,
  Format: 'json',
  Enabled: true,
}

const figures = {
  'GET of a list': await figureOf(() => send('GET', '/StoreWebAPI/v1/Products', program)),
  'PUT of a stock': await figureOf(put),
  'an order placed': await figureOf(place),
  'GET of an order’s page': await figureOf(() => open(page)),
  'POST of its notes': await figureOf(
    () => submit(`${page}/notes`, notes, { InternalComments: `Note ${--last}` }),
    readForm,
  ),
  'a notification': await send('POST', '/StoreWebAPI/v1/Webhooks', program, webhook).then(async () => {
    const dispatcher = await started.promise
    return figureOf(() => dispatcher.settle(), put)
  }),
}
process.stdout.write(`\n${JSON.stringify(figures, null, 2)}\n`)
session.disconnect()
receiver.close()
process.kill(process.pid, 'SIGTERM')

type Fields = Readonly<Record<string, string>>

async function send(method: 'GET' | 'POST' | 'PUT', path: string, headers: Fields, body?: object) {
  const answer = await ask(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  // biome-ignore lint/suspicious/noExplicitAny: each address answers with a shape of its own.
  return (await answer.json()) as any
}

async function open(path: string): Promise<string> {
  const answer = await ask(path, { headers: { accept: 'text/html' } })
  return answer.text()
}

async function formOf(path: string, action: string): Promise<Fields> {
  const form = formsAt(await open(path)).find(({ actions }) => actions.includes(action))
  if (form === undefined) throw new Error(`${path} has no form for ${action}`)
  return form.fields
}

async function submit(path: string, form: Fields, fields: Fields): Promise<void> {
  const headers = { accept: 'text/html', 'sec-fetch-site': 'same-origin' }
  await ask(path, { method: 'POST', headers, body: new URLSearchParams({ ...form, ...fields }), redirect: 'manual' })
}

async function ask(path: string, { headers, ...request }: RequestInit & { headers: Fields }): Promise<Response> {
  const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
  const answer = await fetch(`http://localhost:${process.env.PORT}${path}`, {
    ...request,
    headers: { ...headers, cookie },
  })
  for (const given of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(given) ?? []
    cookies.set(name, value)
  }
  if (answer.status >= 400) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return answer
}

async function figureOf(request: () => Promise<unknown>, before: () => Promise<unknown> = async () => {}) {
  for (let count = 0; count < WARM_UPS; count++) await before().then(request)
  const counts: Awaited<ReturnType<typeof ranSince>>[] = []
  while (counts.length < MEASUREMENTS) {
    await before()
    await delay(PAUSE_MS)
    await session.post('Profiler.takePreciseCoverage')
    await request()
    counts.push(await ranSince())
  }
  const [smallest] = counts.sort((one, other) => one.lines - other.lines)
  return process.argv.includes('--functions') ? smallest : { files: smallest?.files, lines: smallest?.lines }
}

/** What ran since the last coverage was taken. */
async function ranSince() {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const ran = result.flatMap(({ url, functions }) => {
    const isOurs = /\/src\/(?!foundation\/database\/generated)/.test(url)
    const running = functions.filter((each) => hasRun(each))
    return isOurs && running.length > 0 ? [{ url, lines: linesOf(url, functions), names: running.map(nameOf) }] : []
  })
  const functions = ran.map(({ url, names }) => `${url.replace(/.*\/src\//, '')}: ${names.join(', ')}`).sort()
  return { files: ran.length, lines: ran.reduce((sum, { lines }) => sum + lines, 0), functions }
}

type Run = Profiler.FunctionCoverage

function hasRun({ ranges }: Run): boolean {
  return (ranges[0]?.count ?? 0) > 0
}

function nameOf({ functionName }: Run): string {
  return functionName || '…'
}

/** How many lines the functions have that ran, without those of functions within them that did not. */
function linesOf(url: string, functions: readonly Run[]): number {
  // Node blanks types out, so that places are those of the source.
  const source = readFileSync(fileURLToPath(url), 'utf8')
  const lineAt = (place: number) => source.slice(0, place).split('\n').length
  const lines = new Set<number>()
  // A function stands before those within it.
  for (const each of functions) {
    const [{ startOffset = 0, endOffset = 0 } = {}] = each.ranges
    const [first, end] = [lineAt(startOffset), lineAt(endOffset)]
    if (hasRun(each)) for (let line = first; line <= end; line++) lines.add(line)
    else for (let line = first + 1; line < end; line++) lines.delete(line)
  }
  return lines.size
}
