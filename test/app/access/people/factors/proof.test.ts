import { describe, expect, test } from 'vitest'
import { type TestPerson, testPerson } from '../../../../support/person.ts'
import { refused } from '../../../../support/refused.ts'
import { developerIn, merchantAccount, operatorIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { alertOf, leadsTo } from '../../../http/pages/people/fixture.ts'
import { newOwner } from './fixture.ts'

const QUARTER_MS = 15 * 60_000

const server = await sharedServer()

const { Password } = merchantAccount

describe('after 15 minutes', () => {
  const pages = [
    '/admin/people',
    '/admin/modules/rest-api',
    '/admin/modules/cartapi',
    '/admin/customers/export?format=csv',
    '/admin/customers/csv',
  ]

  test.each(pages)('%s asks for the password first, and leads back', async (page) => {
    const { person } = await newOwner(server)
    server.clock.ms += QUARTER_MS
    expect((await person.open(page)).statusCode).toBe(200)
    server.clock.ms += 1
    const prove = `/admin/prove?next=${encodeURIComponent(page)}`
    expect(leadsTo(await person.open(page))).toEqual([303, prove])
    const wrong = await person.submit(prove, { Password: 'a guess of somebody' }, { action: '/admin/prove' })
    expect([wrong.statusCode, alertOf(wrong)]).toEqual([400, expect.stringContaining('not the current password')])
    expect((await person.open(page)).statusCode).toBe(303)
    expect(leadsTo(await person.submit(prove, { Password }, { action: '/admin/prove' }))).toEqual([303, page])
    expect((await person.open(page)).statusCode).toBe(200)
  })

  test('records are open without, but a file of all customers', async () => {
    const { person } = await newOwner(server)
    server.clock.ms += QUARTER_MS + 1
    for (const page of [
      '/admin',
      '/admin/customers',
      '/admin/products/export?format=csv',
      '/admin/settings',
      '/admin/account',
    ]) {
      expect([page, (await person.open(page)).statusCode]).toEqual([page, 200])
    }
  })

  test('what a file of customers would change is a page that asks, with its problems and buttons', async () => {
    const { person, shop } = await newOwner(server)
    const pageOf = async (service: string, file: string) => {
      const { statusCode, headers } = await person.upload(`/admin/${service}/csv`, file)
      expect(statusCode).toBe(303)
      return String(headers.location)
    }
    const ofCustomers = await pageOf('customers', 'BillingFirstName,Email\nAda,ada@example.com\n')
    const ofManufacturers = await pageOf('manufacturers', 'ManufacturerName\nLoom\n')
    expect((await person.open(ofCustomers)).statusCode).toBe(200)
    server.clock.ms += QUARTER_MS + 1
    expect((await person.open(ofManufacturers)).statusCode).toBe(200)
    const prove = `/admin/prove?next=${encodeURIComponent(ofCustomers)}`
    expect(leadsTo(await person.open(ofCustomers))).toEqual([303, prove])
    for (const [method, path] of [
      ['GET', '/problems'],
      ['POST', '/apply'],
      ['POST', '/cancel'],
    ] as const) {
      expect([path, (await person.call(method, ofCustomers + path)).statusCode]).toEqual([path, 403])
    }
    const { db } = server.services
    const { state } = await db.csvImport.findFirstOrThrow({
      where: { storeId: shop.store.id, id: Number(ofCustomers.split('/').at(-1)) },
    })
    expect(state).toBe('ready')
    await person.submit(prove, { Password }, { action: '/admin/prove' })
    expect((await person.open(ofCustomers)).statusCode).toBe(200)
  })

  test('a form that is sent comes back to its page, and nothing is changed', async () => {
    const { person, shop } = await newOwner(server)
    const { db } = server.services
    const before = await db.store.findUniqueOrThrow({ where: { id: shop.store.id } })
    const page = await person.open('/admin/modules/cartapi')
    const csrf = /name="_csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    server.clock.ms += QUARTER_MS + 1
    const send = (referer: string) =>
      server.app.inject({
        method: 'POST',
        url: '/admin/modules/cartapi/user-key',
        headers: {
          cookie: [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          'content-type': 'application/x-www-form-urlencoded',
          accept: 'text/html',
          host: 'localhost:3000',
          referer,
        },
        payload: new URLSearchParams({ _csrf: csrf }).toString(),
      })
    expect(leadsTo(await send('http://localhost:3000/admin/modules/cartapi'))).toEqual([
      303,
      `/admin/prove?next=${encodeURIComponent('/admin/modules/cartapi')}`,
    ])
    expect(leadsTo(await send('https://elsewhere.example/admin'))).toEqual([303, '/admin/prove'])
    expect((await db.store.findUniqueOrThrow({ where: { id: shop.store.id } })).userKeyHash).toBe(before.userKeyHash)
  })

  test('a program is told what to send, and keys are left out', async () => {
    const { person, shop } = await newOwner(server)
    const subscriptions = `/admin/stores/${shop.store.id}/subscriptions`
    expect((await person.call('GET', '/admin/stores')).json()[0].UserKey).toMatch(/^[0-9a-f]{32}$/)
    server.clock.ms += QUARTER_MS + 1
    expect(refused(await person.call('GET', subscriptions))).toMatchObject({
      statusCode: 403,
      message: expect.stringContaining('POST /admin/prove with Password'),
    })
    expect((await person.call('GET', '/admin/stores')).json()[0]).not.toHaveProperty('UserKey')
    const cartApi = await person.call('PUT', `/admin/stores/${shop.store.id}`, {
      CartAPI: { Enabled: false, Addresses: [] },
    })
    expect(cartApi.statusCode).toBe(403)
    expect((await person.call('PUT', `/admin/stores/${shop.store.id}`, { Name: 'Another name' })).statusCode).toBe(200)
    expect((await person.call('POST', '/admin/prove', { Password })).statusCode).toBe(204)
    expect((await person.call('GET', subscriptions)).statusCode).toBe(200)
    expect((await person.call('GET', '/admin/stores')).json()[0].UserKey).toMatch(/^[0-9a-f]{32}$/)
  })

  test('the key of the operator is not asked', async () => {
    const { shop } = await newOwner(server)
    server.clock.ms += QUARTER_MS + 1
    const { statusCode } = await server.operate('GET', `/admin/stores/${shop.store.id}/subscriptions`)
    expect(statusCode).toBe(200)
  })

  test('a developer is asked before the keys of an application are shown', async () => {
    const developer = await developerIn(server)
    const { Id } = (await developer.call('POST', '/developers/applications', { Name: 'Sync' })).json()
    const address = `/developers/applications/${Id}`
    server.clock.ms += QUARTER_MS + 1
    expect(leadsTo(await developer.open(address))).toEqual([
      303,
      `/developers/prove?next=${encodeURIComponent(address)}`,
    ])
    for (const [method, url] of [
      ['GET', address],
      ['GET', '/developers/applications'],
      ['POST', `${address}/private-key`],
    ] as const) {
      expect([url, (await developer.call(method, url)).statusCode]).toEqual([url, 403])
    }
    expect((await developer.open('/developers/applications')).statusCode).toBe(200)
    expect((await developer.call('POST', '/developers/prove', { Password })).statusCode).toBe(204)
    expect((await developer.open(address)).statusCode).toBe(200)
  })

  test.each(['/admin', '/developers', '/operator'])('at %s a change of second factors is asked for', async (area) => {
    const people: Record<string, () => Promise<TestPerson>> = {
      '/admin': async () => (await newOwner(server)).person,
      '/developers': () => developerIn(server),
      '/operator': () => operatorIn(server),
    }
    const person = await (people[area] as () => Promise<TestPerson>)()
    const factors = `${area}/account/factors`
    server.clock.ms += QUARTER_MS + 1
    expect(leadsTo(await person.open(factors))).toEqual([303, `${area}/prove?next=${encodeURIComponent(factors)}`])
    expect((await person.call('POST', `${factors}/authenticator`)).statusCode).toBe(403)
    expect((await person.call('POST', `${area}/prove`, { Password })).statusCode).toBe(204)
    expect((await person.call('POST', `${factors}/authenticator`)).statusCode).toBe(200)
  })
})

test('wrong passwords count as failed sign-ins', async () => {
  const { person, account } = await newOwner(server)
  // A browser that nothing trusts.
  person.cookies.delete('devices')
  const statuses = []
  for (let count = 0; count < 6; count++) {
    statuses.push((await person.call('POST', '/admin/prove', { Password: 'a guess of somebody' })).statusCode)
  }
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429])
  expect((await testPerson(server.app).call('POST', '/admin/sign-in', account)).statusCode).toBe(429)
})

test('next leads to no other host', async () => {
  const { person } = await newOwner(server)
  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example']) {
    const prove = `/admin/prove?next=${encodeURIComponent(next)}`
    expect(leadsTo(await person.submit(prove, { Password }, { action: '/admin/prove' }))).toEqual([303, '/admin'])
  }
})
