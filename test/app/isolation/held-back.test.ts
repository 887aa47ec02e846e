import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { areaPaths, type SessionKind } from '../../../src/access/people/sessions.ts'
import { openApiDocument } from '../../../src/app.ts'
import { readConfig } from '../../../src/foundation/process/settings.ts'
import { builtInRoles } from '../../../src/shop/staff/roles.ts'
import { guardedRoutes } from '../../support/guarded-routes.ts'
import { readOpenApi } from '../../support/openapi.ts'
import { formsAt, type TestPerson } from '../../support/person.ts'
import { openRaw, requestHead } from '../../support/raw-connection.ts'
import { memberIn, operatorIn } from '../../support/signed-in.ts'
import { statementsOf } from '../../support/statements.ts'
import { sharedServer } from '../../support/store.ts'
import { exchangeOf } from '../http/oauth/fixture.ts'
import { envelope, request } from '../http/soap/support.ts'
import { filled } from './identifiers.ts'
import { mayUse } from './roles.ts'
import { dumpOf, openSide } from './two-stores.ts'

// What was ended while a body was on its way is ended: what the body asks for is not done, and the answer is that to a request which
// comes as a whole after the end.

const server = await sharedServer({ TRUST_PROXY: '127.0.0.1' }, undefined, { fill: async () => {} })
const side = await openSide(server)
await server.services.db.application.updateMany({ data: { throttleCapacity: 1_000, throttleLeakPerSecond: 1_000 } })
await server.app.listen({ port: 0, host: '127.0.0.1' })

type Headers = Readonly<Record<string, string>>
/** `first`: how many bytes of the body come at first. */
type Sent = { method: string; path: string; headers: Headers; body: string; first?: number }

/** Sends headers and the first bytes of a body; comes back when the server waits for the others, or for the request's turn. */
async function hold({ method, path, headers, body, first = 3 }: Sent): Promise<() => Promise<unknown[]>> {
  const arrived = once(server.app.server, 'request') as Promise<[IncomingMessage, ServerResponse]>
  const { port } = server.app.server.address() as AddressInfo
  const head = requestHead(method, path, { ...headers, connection: 'close', 'content-length': body.length })
  const { socket, text, status } = await openRaw(port, head + body.slice(0, first))
  const closed = once(socket, 'close')
  const [raw, answer] = await arrived
  const isRead = () => raw.listenerCount('readable') > 0 || raw.readableEnded
  while (!isRead() && !answer.writableEnded) await new Promise(setImmediate)
  if (answer.writableEnded && first < body.length) throw new Error(`${path} did not wait for its body: ${text()}`)
  return async () => {
    socket.write(body.slice(first))
    await closed
    return told(await status(), /^location: (.*)\r$/im.exec(text())?.[1], text())
  }
}

/** What says how a request was answered. */
function told(status: unknown, location: unknown, text: string): unknown[] {
  return [status, location, /("Message":.*|<Description>.*|"error_description":.*)/.exec(text)?.[1]]
}

let networks = 0

/** Holds the bodies back until `end` is over. None of them then changes a row of the store, nor gets another answer than if sent anew. */
async function expectEnded(all: readonly Sent[], end: () => Promise<unknown>, refusal: number) {
  // Refusals are counted by network.
  const network = () => ({ 'x-forwarded-for': `10.1.${networks >> 8}.${networks++ & 255}` })
  const requests = all.map((sent) => ({ ...sent, headers: { ...sent.headers, ...network() } }))
  const held: (() => Promise<unknown[]>)[] = []
  for (const sent of requests) held.push(await hold(sent))
  await end()
  const before = await dumpOf(server, side)
  const answers: unknown[] = []
  for (const send of held) answers.push(await send())
  // A file that was refused at its end leaves a gap in the numbers.
  const { Counter, ...after } = await dumpOf(server, side)
  expect(Object.keys(after).filter((table) => String(after[table]) !== String(before[table]))).toEqual([])
  for (const [index, { method, path: url, headers, body: payload }] of requests.entries()) {
    const anew = await server.app.inject({ method: method as 'PUT', url, headers, payload })
    expect([url, answers[index]]).toEqual([url, told(anew.statusCode, anew.headers.location, anew.body)])
    expect(anew.statusCode).toBe(refusal)
  }
}

const routes = await guardedRoutes()
const isFile = ({ path }: Sent) => path.endsWith('/csv')
const cookieOf = ({ cookies }: TestPerson) => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** What a program sends to every route that needs the session of a person. */
function callsOf(person: TestPerson, role: SessionKind) {
  const headers = { cookie: cookieOf(person), ...json }
  const forRole = routes.filter(({ allowed }) => allowed.includes(role) && !allowed.includes('anyone'))
  const changing = forRole.filter(({ method }) => method !== 'GET')
  return changing.map((route) => ({ ...route, path: filled(route.url, side), headers, body: '{"Name":"Held"}' }))
}

/** What a browser sends by the forms of pages. */
async function formsOf(person: TestPerson, role: SessionKind): Promise<Sent[]> {
  const [{ fields: { _csrf = '' } = {} } = {}] = formsAt((await person.open(`${areaPaths[role]}/account`)).body)
  const part = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"`
  const file = `${part('_csrf')}\r\n\r\n${_csrf}\r\n${part('file')}; filename="a"\r\n\r\nSKUInfo.SKU\nHELD\n\r\n--b--`
  const posts = callsOf(person, role).filter(({ method }) => method === 'POST')
  return posts.map((sent) => {
    const [type, body] = isFile(sent)
      ? [{ 'content-type': 'multipart/form-data; boundary=b' }, file]
      : [form, `Name=Held&_csrf=${encodeURIComponent(_csrf)}`]
    return { ...sent, headers: { cookie: cookieOf(person), accept: 'text/html', ...type }, body }
  })
}

async function ownerIn() {
  const owner = await memberIn(server, side, 'owner')
  const { id } = await server.services.db.storeUser.findFirstOrThrow({ orderBy: { id: 'desc' } })
  return { owner, page: `/admin/people/${id}` }
}

test('of an owner who signs out, and of one who is a reader by now', async () => {
  const { owner } = await ownerIn()
  const forms = (await formsOf(owner, 'merchant')).filter((sent) => !isFile(sent))
  await expectEnded(forms, () => owner.call('POST', '/admin/sign-out', {}), 303)
  const other = await ownerIn()
  const calls = callsOf(other.owner, 'merchant').filter((call) => !mayUse(builtInRoles.reader.privileges, call, ''))
  await expectEnded(calls, () => side.merchant.call('POST', other.page, { Role: 'reader' }), 403)
})

test('of an owner who is removed while files are on their way, and another request waits for its turn behind four', async () => {
  for (let from = 0; from < callsOf(side.merchant, 'merchant').filter(isFile).length; from += 4) {
    const { owner, page } = await ownerIn()
    const forms = await formsOf(owner, 'merchant')
    const files = forms.filter(isFile).slice(from, from + 4)
    const behind = forms.filter(({ path }) => path === '/admin/settings').map((sent) => ({ ...sent, first: 1_000 }))
    const sent = files.length === 4 ? [...files, ...behind] : files
    await expectEnded(sent, () => side.merchant.call('POST', `${page}/remove`, {}), 303)
  }
})

test('of a developer, an operator and a customer', async () => {
  const operator = await operatorIn(server)
  const { session, customer } = server.services.db
  const end = () => session.deleteMany({ where: { developerId: { not: null } } })
  await expectEnded(callsOf(side.developer, 'developer'), end, 401)
  await expectEnded(await formsOf(operator, 'operator'), () => operator.call('POST', '/operator/sign-out', {}), 303)
  await expectEnded(callsOf(side.customer, 'customer'), () => customer.updateMany({ data: { enabled: false } }), 401)
})

/** Requests to all addresses of REST that take a body. */
function restCalls(headers: Headers): Sent[] {
  const api = readOpenApi(openApiDocument(readConfig({})))
  return api.addresses.flatMap(({ path, item, operations }) =>
    [...operations].flatMap(([method, operation]) => {
      const example = api.member(operation, 'requestBody', 'content', 'application/json')?.value.example
      const address = `/StoreWebAPI/v1${filled(path.replace(/\{(\w+)\}/g, ':$1'), side)}`
      // Its privileges have to be named, and these have everything else.
      return example && !('servers' in item.value) && !path.startsWith('/Checkout')
        ? { method, path: address, headers, body: JSON.stringify(example) }
        : []
    }),
  )
}

test('of an application whose token is revoked, whose privileges are withdrawn, and whose keys are changed', async () => {
  const { accessToken: token, client, code, application } = side
  const { db } = server.services
  const payload = String(new URLSearchParams(exchangeOf(client, code, { token }) as Record<string, string>))
  const revoke = { method: 'POST', url: '/oauth/revoke', headers: form, payload } as const
  await expectEnded(restCalls({ authorization: `Bearer ${token}` }), () => server.app.inject(revoke), 401)
  const withdraw = () =>
    server.operate('PUT', `/admin/applications/${application.id}`, { Privileges: { Products: ['read'] } })
  await expectEnded(restCalls(side.credentials), withdraw, 401)
  const paths = ['/oauth/token', '/oauth/revoke']
  const sent = paths.map((path) => ({ method: 'POST', path, headers: form, body: payload }))
  const change = { where: { id: client.Id }, data: { privateKeyHash: 'of another key' } }
  await expectEnded(sent, () => db.application.update(change), 401)
  const body = envelope(request(side, 'getProductCount'))
  const call = { method: 'POST', path: '/cart.asmx', headers: { 'content-type': 'text/xml' }, body }
  await expectEnded([call], () => side.merchant.call('POST', '/admin/modules/cartapi/user-key', {}), 200)
})

test('a request counts once, and another look at who sends it is taken for a body that came later alone', async () => {
  const shop = await server.openStore({ throttle: null })
  const post = { method: 'POST', body: '{"ManufacturerName":"Late","Language":"de-DE"}' }
  await (await hold({ ...post, path: '/StoreWebAPI/v1/Manufacturers', headers: { ...json, ...shop.credentials } }))()
  expect((await shop.call('GET', '/Manufacturers')).headers).toMatchObject({ 'x-ratelimit-remaining': '48' })
  const sent = { ...post, path: '/admin/account/language', headers: { ...json, cookie: cookieOf(side.merchant) } }
  const looks = async (first: number) => {
    const statements = await statementsOf(async () => (await hold({ ...sent, first }))())
    return statements.filter(({ text }) => /FROM "Session"/.test(text)).length
  }
  expect([await looks(1_000), await looks(3)]).toEqual([1, 2])
})
