import { beforeAll, describe, expect, test } from 'vitest'
import { testPerson } from '../../../../support/person.ts'
import { ofTest } from '../../../../support/shared.ts'
import { merchantAccount, merchantIn, newDeveloper } from '../../../../support/signed-in.ts'
import { openServer, sharedServer, type TestStore } from '../../../../support/store.ts'
import { alertOf, cookieSet, leadsTo, steady } from './fixture.ts'

const server = await sharedServer({ TRUST_PROXY: '127.0.0.1', DEVELOPER_SIGNUP: 'open' })
const shop = await server.openStore()
const developer = await newDeveloper(server)

/** Everybody comes from an address of their own, so that no test's failures delay another one. */
let addresses = 0
function fromElsewhere() {
  return { 'x-forwarded-for': `10.9.${++addresses >> 8}.${addresses & 255}` }
}

const areas = [
  { area: 'admin', cookie: 'merchant', home: '/admin', account: () => merchantAccount },
  { area: 'developers', cookie: 'developer', home: '/developers', account: () => developer },
]

describe.each(areas)('/$area/sign-in', ({ area, cookie, home, account }) => {
  const address = `/${area}/sign-in`

  test('the right password leads on, with a cookie that scripts and other sites do not get', async () => {
    const person = testPerson(server.app)
    const answer = await person.submit(address, account())

    expect(leadsTo(answer)).toEqual([303, home])
    expect(cookieSet(answer, cookie)).toMatchObject({ path: '/', httpOnly: true, sameSite: 'Lax' })
    expect(cookieSet(answer, cookie)?.secure).toBeUndefined()
    expect((await person.open(`/${area}/account`)).statusCode).toBe(200)
  })

  test('a program gets the same by JSON, and is told until when', async () => {
    const person = testPerson(server.app)
    const answer = await person.call('POST', address, account())

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      Email: account().Email,
      ExpiresAt: new Date(server.clock.ms + 7 * 24 * 3_600_000).toISOString(),
    })
    expect((await person.call('GET', `/${area}/account`)).json()).toMatchObject({ Email: account().Email })
  })

  test('it asks for nothing twice: who is signed in is led on', async () => {
    const person = testPerson(server.app)
    await person.submit(address, account())

    expect(leadsTo(await person.open(address))).toEqual([303, home])
    expect(leadsTo(await person.open(`${address}?next=%2F${area}%2Faudit`))).toEqual([303, `/${area}/audit`])
  })

  test('after it, the page that was asked for before it comes', async () => {
    const person = testPerson(server.app)
    const sent = await person.open(`/${area}/audit?limit=10`)
    const page = String(sent.headers.location)
    expect(leadsTo(sent)).toEqual([303, `${address}?next=${encodeURIComponent(`/${area}/audit?limit=10`)}`])

    const answer = await person.submit(page, account(), { action: address })

    expect(leadsTo(answer)).toEqual([303, `/${area}/audit?limit=10`])
  })

  test.each([
    '//evil.example',
    'https://evil.example/',
    '/admin\r\nX-Injected: yes',
    '/ädmin',
    '/\\evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '',
  ])('it never leads to another place, such as %j', async (next) => {
    const page = `${address}?${new URLSearchParams({ next })}`
    const asked = await testPerson(server.app).submit(page, account(), { action: address })
    const forged = await testPerson(server.app).submit(address, { ...account(), next })
    const person = testPerson(server.app)
    await person.submit(address, account())
    const ledOn = await person.open(page)

    expect([leadsTo(asked), leadsTo(forged), leadsTo(ledOn)]).toEqual([
      [303, home],
      [303, home],
      [303, home],
    ])
  })

  test('nobody learns whether an address has an account', async () => {
    const wrong = { Email: account().Email, Password: 'not the password' }
    const unknown = { Email: 'nobody@nowhere.example', Password: 'not the password' }
    const answers = [wrong, unknown].map(async (fields) => {
      const page = await testPerson(server.app).submit(address, fields, { headers: fromElsewhere() })
      const json = await testPerson(server.app).call('POST', address, fields)
      return {
        page: steady(page).replaceAll(fields.Email, ''),
        json: json.body,
        statuses: [page.statusCode, json.statusCode],
      }
    })
    const [ofWrong, ofUnknown] = await Promise.all(answers)

    expect(ofWrong).toEqual(ofUnknown)
    expect(ofWrong?.statuses).toEqual([401, 401])
  })

  test('a refused form comes again with what was typed, but never the password', async () => {
    const fields = { Email: 'Typed@shop.example', Password: 'typed password', next: `/${area}/audit` }
    const answer = await testPerson(server.app).submit(address, fields, { headers: fromElsewhere() })

    expect(answer.statusCode).toBe(401)
    expect(alertOf(answer)).toContain('is wrong')
    expect(answer.body).toContain('value="Typed@shop.example"')
    expect(answer.body).toContain(`value="/${area}/audit"`)
    expect(answer.body).not.toContain('typed password')
    expect(cookieSet(answer, cookie)).toBeUndefined()
  })

  test('what cannot be an account is refused beside its field', async () => {
    const answer = await testPerson(server.app).submit(
      address,
      { Email: '', Password: '' },
      { headers: fromElsewhere() },
    )
    const json = await testPerson(server.app).call('POST', address, { Email: account().Email, Pasword: 'x' })

    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('id="Email-problem"')
    expect(answer.body).toContain('id="Password-problem"')
    expect([json.statusCode, json.json()[0].Value]).toEqual([400, 'Pasword'])
  })

  test('who tries too often is told when to come back, by page and by JSON', async () => {
    const headers = fromElsewhere()
    const fields = { Email: `guessed@${area}.example`, Password: 'a guess' }
    const person = testPerson(server.app)
    for (let tries = 0; tries < 5; tries++) {
      expect((await person.submit(address, fields, { headers })).statusCode).toBe(401)
    }
    const page = await person.submit(address, fields, { headers })
    const json = await person.call('POST', address, fields)

    expect([page.statusCode, page.headers['retry-after']]).toEqual([429, '1'])
    expect(alertOf(page)).toContain('come back in 1 s')
    expect([json.statusCode, json.headers['retry-after']]).toEqual([429, '1'])
  })

  test('each sign-in makes a new session, and the one before in the same browser ends', async () => {
    const person = testPerson(server.app)
    await person.submit(address, account())
    const former = testPerson(server.app)
    former.cookies.set(cookie, person.cookies.get(cookie) ?? '')
    expect((await former.call('GET', `/${area}/account`)).statusCode).toBe(200)

    await person.call('POST', address, account())

    expect(person.cookies.get(cookie)).not.toBe(former.cookies.get(cookie))
    expect((await person.call('GET', `/${area}/account`)).statusCode).toBe(200)
    expect((await former.call('GET', `/${area}/account`)).statusCode).toBe(401)
  })

  test('a cookie that somebody else has put into the browser is not taken over', async () => {
    const person = testPerson(server.app)
    person.cookies.set(cookie, 'put-there-by-somebody-else')
    const answer = await person.submit(address, account())

    expect(cookieSet(answer, cookie)?.value).not.toBe('put-there-by-somebody-else')
    expect(cookieSet(answer, cookie)?.value).toMatch(/^[\w-]{43}$/)
  })

  test('a form without its token, or with one of another browser, opens no session', async () => {
    const other = await testPerson(server.app).open(address)
    const foreign = /name="_csrf" value="([^"]+)"/.exec(other.body)?.[1] ?? ''
    for (const _csrf of ['', foreign]) {
      const answer = await testPerson(server.app).submit(address, { ...account(), _csrf })
      expect([answer.statusCode, cookieSet(answer, cookie)]).toEqual([403, undefined])
    }
  })

  test('signing out ends the session on the server and takes its cookie away', async () => {
    const person = testPerson(server.app)
    await person.submit(address, account())
    const stolen = testPerson(server.app)
    stolen.cookies.set(cookie, person.cookies.get(cookie) ?? '')

    const answer = await person.submit(`/${area}/account`, {}, { action: `/${area}/sign-out` })

    expect(leadsTo(answer)).toEqual([303, `${address}?notice=signed-out`])
    expect(person.cookies.has(cookie)).toBe(false)
    expect((await person.open(`${address}?notice=signed-out`)).body).toContain('You are signed out.')
    expect((await stolen.call('GET', `/${area}/account`)).statusCode).toBe(401)
    expect(leadsTo(await stolen.open(`/${area}/account`))).toEqual([303, `${address}?next=%2F${area}%2Faccount`])
  })

  test('a program signs out with a 204', async () => {
    const person = testPerson(server.app)
    await person.call('POST', address, account())

    expect((await person.call('POST', `/${area}/sign-out`)).statusCode).toBe(204)
    expect((await person.call('POST', `/${area}/sign-out`)).statusCode).toBe(401)
  })

  test('nothing of it is kept on the way or shown in a frame', async () => {
    const { headers } = await testPerson(server.app).open(address)

    expect(headers['cache-control']).toBe('no-store')
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(headers['content-security-policy']).not.toContain('unsafe')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['referrer-policy']).toBe('same-origin')
  })
})

test('one browser may be a merchant and a developer at once', async () => {
  const person = await merchantIn(server)
  await person.submit('/developers/sign-in', developer)
  await person.submit('/developers/account', {}, { action: '/developers/sign-out' })

  expect((await person.call('GET', '/admin/account')).statusCode).toBe(200)
  expect((await person.call('GET', '/developers/account')).statusCode).toBe(401)
})

describe('with several stores', () => {
  let second: TestStore
  beforeAll(async () => {
    second = await server.openStore()
  })

  test('an address that came with the page names the store, and is kept when the form is refused', async () => {
    const person = testPerson(server.app)
    const page = `/admin/sign-in?store=${encodeURIComponent(second.store.secureUrl)}`
    const options = { action: '/admin/sign-in', headers: fromElsewhere() }
    expect((await person.open(page)).body).toContain(`<strong>${new URL(second.store.secureUrl).host}</strong>`)

    const refused = await person.submit(page, { ...merchantAccount, Password: 'wrong' }, options)
    expect(refused.statusCode).toBe(401)
    expect(refused.body).toContain(`name="Store" value="${second.store.secureUrl}"`)

    await person.submit(page, merchantAccount, options)
    expect((await person.open('/admin/account')).body).toContain(second.store.name)
    expect((await person.call('GET', '/admin/change-store')).json()).toEqual([])
  })

  test.each(['call 555-0100 for your password', 'https://u:p@shop.example', '<b>shop</b>'])(
    'what is no address, such as %j, is not said by the page, but stays in its field',
    async (store) => {
      const { body } = await testPerson(server.app).open(`/admin/sign-in?${new URLSearchParams({ store })}`)
      const escaped = store.replaceAll('<', '&lt;').replaceAll('>', '&gt;')

      expect(body).not.toContain('To the store')
      expect(body).toMatch(/<details\s+open>/)
      expect(body.split(escaped)).toHaveLength(2)
      expect(body).toContain(`value="${escaped}"`)
    },
  )

  test('asked for the store that the session is for, the page leads on at once', async () => {
    const person = await merchantIn(server, second.store)
    const query = new URLSearchParams({ store: second.store.secureUrl, next: '/admin/orders' })

    expect(leadsTo(await person.open(`/admin/sign-in?${query}`))).toEqual([303, '/admin/orders'])
  })

  test('asked for a store that the session opens too, it asks before it changes', async () => {
    const person = await merchantIn(server)
    const query = new URLSearchParams({ store: second.store.secureUrl, next: '/admin/orders' })
    const answer = await person.open(`/admin/sign-in?${query}`)

    expect(leadsTo(answer)).toEqual([303, `/admin/change-store?${query}`])
    const page = await person.open(`/admin/change-store?${query}`)
    expect(page.body).toContain(`Go on in <strong>${second.store.name}</strong>`)
    expect((await person.open('/admin/account')).body).toContain(shop.store.name)
  })

  test('asked for a store that the session does not open, it asks for the password', async () => {
    const person = await merchantIn(server, shop.store)
    const page = `/admin/sign-in?store=${encodeURIComponent(second.store.secureUrl)}`
    expect((await person.open(page)).statusCode).toBe(200)

    await person.submit(page, merchantAccount, { action: '/admin/sign-in' })
    expect((await person.open('/admin/account')).body).toContain(second.store.name)
  })
})

test('the page offers sign-up to developers, where it is open, and to nobody else', async () => {
  const closed = await ofTest(openServer({ DEVELOPER_SIGNUP: 'closed' }))
  expect((await testPerson(server.app).open('/developers/sign-in')).body).toContain('/developers/sign-up')
  expect((await testPerson(server.app).open('/admin/sign-in')).body).not.toContain('sign-up')
  expect((await testPerson(closed.app).open('/developers/sign-in')).body).not.toContain('sign-up')
})

test('with https, cookies go over https alone, and to this host alone', async () => {
  const secure = await ofTest(openServer({ PUBLIC_URL: 'https://api.shop.example', TRUST_PROXY: '127.0.0.1' }))
  await secure.openStore()
  const headers = { 'x-forwarded-proto': 'https' }
  const plain = await secure.app.inject({ url: '/admin/sign-in', headers: { accept: 'text/html' } })
  const page = await secure.app.inject({ url: '/admin/sign-in', headers: { ...headers, accept: 'text/html' } })
  const answer = await secure.app.inject({
    method: 'POST',
    url: '/admin/sign-in',
    headers: { ...headers, 'content-type': 'application/json' },
    payload: merchantAccount,
  })

  expect(leadsTo(plain)).toEqual([302, 'https://api.shop.example/admin/sign-in'])
  expect(page.headers['strict-transport-security']).toMatch(/^max-age=\d{7,}$/)
  for (const cookie of [cookieSet(page, '__Host-csrf'), cookieSet(answer, '__Host-merchant')]) {
    expect(cookie).toMatchObject({ path: '/', httpOnly: true, sameSite: 'Lax', secure: true })
    expect(cookie?.domain).toBeUndefined()
  }
})

test('no password and no session’s token is in the log', async () => {
  const person = await merchantIn(server)
  const lines = server.log.join('\n')

  expect(lines).not.toContain(merchantAccount.Password)
  expect(lines).not.toContain(person.cookies.get('merchant'))
})
