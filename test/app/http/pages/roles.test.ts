import Fastify from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { allows } from '../../../../src/access/applications/privileges.ts'
import { openPages } from '../../../../src/http/html/page-routes.ts'
import type { Need, Role } from '../../../../src/http/server/json/roles.ts'
import { builtInRoles } from '../../../../src/shop/staff/roles.ts'
import { guardedRoutes } from '../../../support/guarded-routes.ts'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import { operatorKey } from '../../../support/services.ts'
import { customerIn, merchantIn, operatorIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'

/** The roles of a store's people that have all of these privileges. */
function staffWith(needs: readonly Need[]): string[] {
  const roles = Object.entries(builtInRoles).filter(([, { privileges }]) =>
    needs.every(([privilege, access]) => allows(privileges, privilege, access)),
  )
  return roles.map(([name]) => name)
}

type Visitor = Exclude<Role, 'anyone'> | 'nobody'
const visitors: readonly Visitor[] = ['nobody', 'operator-key', 'operator', 'merchant', 'developer', 'customer']

let serial = 0

const server = await sharedServer({ DEVELOPER_SIGNUP: 'open' })
const shop = await server.openStore()
const people = {
  merchant: await merchant(),
  developer: await developer(),
  operator: await operatorIn(server),
  customer: await customer(),
}

const routes = await guardedRoutes()

/** Signing out comes last, since it ends the session. */
const ordered = routes.toSorted((one, other) => Number(isEnding(one.url)) - Number(isEnding(other.url)))

describe('the roles of routes', () => {
  test('are those of the list', async () => {
    const lines = routes.map(({ method, url, allowed, needs, forOwners, asksProof, takesTokens }) => {
      const staff = forOwners ? ['owner'] : staffWith(needs)
      const who = allowed.flatMap((role) => (role === 'merchant' ? staff : role))
      const byToken = takesTokens ? ' (by a token too)' : ''
      return `${method} ${url}: ${who.join(', ')}${asksProof ? ' (with a recent proof)' : ''}${byToken}\n`
    })
    await expect(lines.toSorted().join('')).toMatchFileSnapshot('roles.txt')
  })

  test('a route without any stops the start', async () => {
    const app = Fastify()
    app.register(async (scope) => {
      await openPages(scope, server.services)
      scope.get('/admin/secrets', async () => 'all of them')
    })

    await expect(app.ready()).rejects.toThrow('GET /admin/secrets has no roles')
  })

  test.each(visitors)(
    'let %s in where the list does, and nowhere else; no request makes a schema, which is there from the first one on',
    async (visitor) => {
      const { defineProperty } = Object
      const wrong: string[] = []
      for (const { method, url, allowed } of ordered) {
        const isNamed = allowed.some((role) => role === visitor)
        const answer = await knock(visitor, method, url)
        const isFor = isNamed || allowed.includes('anyone')
        if (isRefusal(answer) === isFor) wrong.push(`${method} ${url}: ${answer.statusCode}`)
        if (!isNamed || isEnding(url)) continue
        // zod gives each schema the property `_zod` with its type, and errors that property without one.
        Object.defineProperty = (object, name, attributes) => {
          if (name === '_zod' && attributes.value.def.type !== undefined) wrong.push(`${method} ${url}: makes a schema`)
          return defineProperty(object, name, attributes)
        }
        await knock(visitor, method, url)
        Object.defineProperty = defineProperty
      }
      expect(wrong).toEqual([])
    },
  )

  test('send a browser without a session to the sign-in of their part, and back by GET alone', async () => {
    const areas: Partial<Record<Role, string>> = {
      merchant: 'admin',
      developer: 'developers',
      operator: 'operator',
      customer: 'account',
    }
    const ofPeople = routes.filter(({ allowed }) => !allowed.includes('anyone') && !allowed.includes('operator-key'))
    for (const { method, url, allowed } of ofPeople) {
      const area = allowed[0] && areas[allowed[0]]
      const { statusCode, headers } = await server.app.inject({
        method,
        url: addressOf(url),
        headers: { accept: 'text/html' },
      })
      const next = method === 'GET' ? `?next=${encodeURIComponent(addressOf(url))}` : ''
      expect([method, url, statusCode, headers.location]).toEqual([method, url, 303, `/${area}/sign-in${next}`])
    }
  })
})

test('a browser that asks for a long address comes to the sign-in without being led back', async () => {
  const short = `/admin/orders?x=${'%ef'.repeat(600)}`
  const locations = [short, `/admin/orders?x=${'%ef'.repeat(3_000)}`].map(async (url) => {
    return (await server.app.inject({ url, headers: { accept: 'text/html' } })).headers.location
  })
  expect(await Promise.all(locations)).toEqual([`/admin/sign-in?next=${encodeURIComponent(short)}`, '/admin/sign-in'])
})

describe('an address that does not exist', () => {
  const areas = [
    { area: 'admin', signIn: merchant, home: '/admin/orders' },
    { area: 'developers', signIn: developer, home: '/developers/applications' },
    { area: 'account', signIn: customer, home: '/account' },
  ]
  const text = (page: string) => page.replace(/<[^>]*>|\s+/g, ' ')

  test.each(areas)('below /$area keeps the navigation of who is signed in there', async ({ area, signIn, home }) => {
    const person = await signIn()
    for (const address of [`/${area}/nope`, `/${area}/nope/deeper?x=1`]) {
      const { statusCode, body } = await person.open(address)
      expect(statusCode).toBe(404)
      expect(text(body)).toContain('There is no such page')
      expect(body).toContain(`<a href="${home}"`)
      expect(body).toContain('Sign out')
    }
    const answer = await person.submit(`/${area}/nope`, {}, { action: `/${area}/sign-out` })
    expect(answer.statusCode).toBe(303)
  })

  test.each(areas)('below /$area is a plain page without a session, and JSON for programs', async ({ area, home }) => {
    const strangers = [{}, { cookie: 'merchant=nonsense; developer=nonsense; customer=nonsense' }]
    for (const headers of strangers) {
      const page = await server.app.inject({ url: `/${area}/nope`, headers: { ...headers, accept: 'text/html' } })
      expect(page.statusCode).toBe(404)
      expect(page.body).not.toContain(`<a href="${home}"`)
      expect(page.body).not.toContain('Sign out')
    }
    for (const headers of [{}, { authorization: `Bearer ${operatorKey}` }]) {
      const answer = await server.app.inject({ url: `/${area}/nope`, headers })
      expect([answer.statusCode, answer.json()]).toEqual([
        404,
        [{ Key: 'Error', Value: '', Status: '404', Message: 'No such address' }],
      ])
    }
  })

  test.each([
    { status: 404, address: '/admin/orders/999999' },
    { status: 400, address: '/admin/orders?cursor=x' },
  ])('or a page that answers $status keeps it too', async ({ status, address }) => {
    const { statusCode, body } = await (await merchant()).open(address)
    expect(statusCode).toBe(status)
    expect(body).toContain('<a href="/admin/orders"')
  })

  test('and so does a form that is refused', async () => {
    const person = await merchant()
    const sent = [{ _csrf: '' }, { CurrentPassword: 'x'.repeat(300_000) }]
    const answers = await Promise.all(
      sent.map((form) => person.submit('/admin/account', form, { action: '/admin/account/password' })),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([403, 413])
    for (const { body } of answers) expect(body).toContain('<a href="/admin/orders"')
  })
})

test('a merchant finds no other store below /admin/stores', async () => {
  const other = await server.openStore()
  const own = routes.filter(({ url, allowed }) => url.startsWith('/admin/stores/:id') && allowed.includes('merchant'))
  expect(own.length).toBeGreaterThan(4)
  const signedIn = await merchant()

  for (const { method, url } of own) {
    const address = addressOf(url).replace(`/stores/${shop.store.id}`, `/stores/${other.store.id}`)
    const answer = await signedIn.call(method, address, method === 'GET' ? undefined : {})
    expect([method, url, answer.statusCode]).toEqual([method, url, 404])
  }
})

const withIds = routes.filter(({ url, allowed }) => allowed.includes('operator-key') && url.includes(':'))

test.each(withIds)('$method $url takes ids in digits alone', async ({ method, url, allowed }) => {
  const signedIn = allowed.includes('merchant') ? await merchant() : null
  const before = await stored()
  for (const id of ['1e0', '0x1', '%201', '+1', '0', '%EF%BC%91', '2147483648', '1%00']) {
    const address = url.replace(/:\w+/g, id)
    const payload = method === 'GET' ? {} : { payload: '{}' }
    const type = url.endsWith('/import') ? 'application/x-ndjson' : 'application/json'
    const headers = { authorization: `Bearer ${operatorKey}`, ...(method !== 'GET' && { 'content-type': type }) }
    const answer = await server.app.inject({ method, url: address, headers, ...payload })
    expect([id, answer.statusCode]).toEqual([id, 400])
    expect(answer.json()[0].Message).toMatch(/^(id|subscriptionId|userId) must be a whole number from 1 to 2147483647/)

    const ofMerchant = await signedIn?.call(method, address, method === 'GET' ? undefined : {})
    expect(ofMerchant?.statusCode ?? 404).toBe(404)
  }
  expect(await stored()).toEqual(before)
})

test.each([
  { from: 'another site', headers: { 'sec-fetch-site': 'cross-site' } },
  { from: 'a neighbouring host', headers: { 'sec-fetch-site': 'same-site' } },
  { from: 'another site, by a browser that tells the origin alone', headers: { origin: 'https://evil.example' } },
])('what a page of $from makes a browser send changes nothing', async ({ headers }) => {
  const signedIn = await merchant()
  const answer = await server.app.inject({
    method: 'POST',
    url: '/admin/sign-out',
    headers: { ...headers, cookie: cookiesOf(signedIn), 'content-type': 'application/json' },
    payload: '{}',
  })

  expect(answer.statusCode).toBe(403)
  expect((await signedIn.open('/admin/account')).statusCode).toBe(200)
})

describe('a change by session', () => {
  let signedIn: typeof people
  beforeAll(async () => {
    signedIn = {
      merchant: await merchant(),
      developer: await developer('second@tools.example'),
      operator: await operatorIn(server),
      customer: await customer(),
    }
  })

  const changing = ordered.flatMap(({ method, url, allowed }) =>
    method === 'GET' || allowed.includes('anyone')
      ? []
      : allowed.flatMap((role) => (role === 'operator-key' || role === 'anyone' ? [] : [{ method, url, role }])),
  )
  const form = 'application/x-www-form-urlencoded'

  async function send({ method, url, role }: (typeof changing)[number], headers: object, payload?: string) {
    const all = { cookie: cookiesOf(signedIn[role]), accept: 'application/json', ...headers }
    const sent = { method, url: addressOf(url), headers: all, ...(payload !== undefined && { payload }) }
    return (await server.app.inject(sent)).statusCode
  }

  test.each(changing)('$method $url of a $role needs a token or a header', async (change) => {
    const before = await stored()
    expect(await send(change, {})).toBe(403)
    expect(await send(change, { 'content-type': form }, '_csrf=guessed')).toBe(403)
    expect(await stored()).toEqual(before)
    expect([401, 403]).not.toContain(await send(change, { 'x-requested-with': 'a program' }))
  })

  test.each<[Record<string, string>, string?]>([
    [{ 'x-requested-with': '' }],
    [{ 'content-type': 'text/plain; application/json' }, '{}'],
    [{ 'content-type': 'application/jsonx' }, '{}'],
    [{ 'content-type': 'text/plain' }, '{}'],
    [{ 'content-type': form }],
  ])('is not let through by %j', async (headers, payload) => {
    const person = await merchant()
    signedIn = { ...signedIn, merchant: person }
    expect(await send({ method: 'POST', url: '/admin/sign-out', role: 'merchant' }, headers, payload)).toBe(403)
    expect((await person.open('/admin/account')).statusCode).toBe(200)
  })
})

/** What a change would change, short of another sign-in. */
function stored() {
  const { db } = server.services
  return Promise.all([
    db.store.findMany({ orderBy: { id: 'asc' } }),
    db.session.findMany({ select: { id: true }, orderBy: { id: 'asc' } }),
    db.auditEntry.count(),
  ])
}

test('a form without its token, or with that of another session, changes nothing', async () => {
  const signedIn = await merchant()
  const other = await merchant()
  const foreign = /name="_csrf" value="([^"]+)"/.exec((await other.open('/admin/account')).body)?.[1]
  expect(foreign).toMatch(/./)

  for (const payload of ['', `_csrf=${foreign}`, '_csrf=nonsense']) {
    const answer = await server.app.inject({
      method: 'POST',
      url: '/admin/sign-out',
      headers: {
        cookie: cookiesOf(signedIn),
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'text/html',
      },
      payload,
    })
    expect([payload, answer.statusCode]).toEqual([payload, 403])
  }
  expect((await signedIn.open('/admin/account')).statusCode).toBe(200)
})

function merchant(): Promise<TestPerson> {
  return merchantIn(server, shop.store)
}

async function developer(Email = `dev-${++serial}@tools.example`): Promise<TestPerson> {
  const person = testPerson(server.app)
  const answer = await person.submit('/developers/sign-up', {
    Email,
    Password: 'correct horse battery',
  })
  expect(answer.statusCode).toBe(303)
  return person
}

function customer(): Promise<TestPerson> {
  return customerIn(server, shop)
}

async function knock(visitor: Visitor, method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string) {
  const address = addressOf(url)
  const body = method === 'GET' ? undefined : {}
  if (visitor !== 'nobody' && visitor !== 'operator-key') return people[visitor].call(method, address, body)
  return server.app.inject({
    method,
    url: address,
    headers: {
      accept: 'application/json',
      ...(visitor === 'operator-key' && { authorization: `Bearer ${operatorKey}` }),
    },
    ...(body && { payload: body }),
  })
}

/** By the guard, before the route itself has a say. */
function isRefusal({ statusCode, body }: { statusCode: number; body: string }): boolean {
  return (
    [401, 429].includes(statusCode) && /Sign in first|must be Bearer and the operator key|Too many requests/.test(body)
  )
}

function isEnding(url: string): boolean {
  return url.endsWith('/sign-out')
}

/** Of the shop where a store is meant; other records that do not exist are as good as any to be refused at. */
function addressOf(url: string): string {
  return url
    .replace('/admin/stores/:id', `/admin/stores/${shop?.store.id ?? 1}`)
    .replace(':file', 'app.css')
    .replace(/:\w+/g, '999999')
}

function cookiesOf({ cookies }: TestPerson): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}
