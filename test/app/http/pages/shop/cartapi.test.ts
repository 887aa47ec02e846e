import { describe, expect, test } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import { refused } from '../../../../support/refused.ts'
import { ofTest } from '../../../../support/shared.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { openServer, type TestServer, type TestStore } from '../../../../support/store.ts'
import { defaultNamespace, envelope, errorDocument, post, request, soapCall } from '../../soap/support.ts'
import { withMerchant } from './merchant-fixture.ts'

const page = '/admin/modules/cartapi'
/** Of every request that a test injects. */
const here = '127.0.0.1'
const noProducts = '<GetProductCountResponse xmlns=""><ProductQuantity>0</ProductQuantity></GetProductCountResponse>'
const switchedOff = errorDocument(18, 'Login Error')
const addressRefused = errorDocument(16, 'Login Error')

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant((scene) => ({ server, shop, merchant } = scene))

function call() {
  return soapCall(server, shop, 'getProductCount')
}

async function cartApi() {
  const [record] = (await merchant.call('GET', '/admin/stores')).json()
  return record.CartAPI
}

function put(CartAPI: unknown) {
  return merchant.call('PUT', `/admin/stores/${shop.store.id}`, { CartAPI })
}

function putAsOperator(CartAPI: unknown) {
  return server.operate('PUT', `/admin/stores/${shop.store.id}`, { CartAPI })
}

async function newest() {
  const [entry] = (await merchant.call('GET', '/admin/audit?limit=1')).json()
  return entry
}

/** What stands in the field of a form. */
function typed(body: string) {
  return /<textarea id="Addresses"[^>]*>\n([^<]*)</.exec(body)?.[1]
}

function problem(body: string, field: string) {
  return new RegExp(`id="${field}-problem" class="problem">([^<]*)<`).exec(body)?.[1]
}

function ticked(body: string) {
  return [...body.matchAll(/name="Enabled" value="(\w+)" required checked/g)].map(([, value]) => value)
}

describe('the page of cartAPI', () => {
  test('names what a program is set up with: address, WSDL, storeUrl, user key and every namespace', async () => {
    const other = await ofTest(
      openServer({
        PUBLIC_URL: 'http://localhost:8123/shops',
        SOAP_PATH: '/old/service.asmx',
        SOAP_NAMESPACES: 'urn:first:cartAPI, http://second.example/',
      }),
    )
    const { store } = await other.openStore()
    const { body } = await (await merchantIn(other, store)).open(page)

    const codes = [...body.matchAll(/<code[^>]*>([^<]*)<\/code>/g)].map(([, text]) => text)
    expect(codes).toEqual(
      expect.arrayContaining([
        'http://localhost:8123/shops/old/service.asmx',
        'http://localhost:8123/shops/old/service.asmx?WSDL',
        store.secureUrl,
        store.userKey,
        'urn:first:cartAPI',
        'http://second.example/',
      ]),
    )
    expect(body).toContain('SOAP_NAMESPACES')
  })

  test('says of a new store that programs may call, from anywhere', async () => {
    const { body } = await merchant.open(page)
    expect([ticked(body), typed(body)]).toEqual([['true'], ''])
    expect(body).toContain('<span class="badge ok">on</span>')
    expect(await cartApi()).toEqual({ Enabled: true, Addresses: [] })
    expect(await call()).toBe(noProducts)
  })

  test('switches cartAPI off and on, and both count at once', async () => {
    expect(await call()).toBe(noProducts)
    const answer = await merchant.submit(page, { Enabled: 'false', Addresses: '' })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${page}?notice=settings-saved`])
    expect(await call()).toBe(switchedOff)
    const { body } = await merchant.open(page)
    expect([ticked(body), body.includes('<span class="badge">off</span>')]).toEqual([['false'], true])

    await merchant.submit(page, { Enabled: 'true', Addresses: '' })
    expect(await call()).toBe(noProducts)
  })

  test('keeps a list of addresses, one a line, which counts at once', async () => {
    expect(await call()).toBe(noProducts)
    await merchant.submit(page, { Enabled: 'true', Addresses: '  203.0.113.7 \r\n\r\n2001:db8::/32\r\n' })
    expect(await cartApi()).toEqual({ Enabled: true, Addresses: ['203.0.113.7', '2001:db8::/32'] })
    expect(typed((await merchant.open(page)).body)).toBe('203.0.113.7\n2001:db8::/32')
    expect(await call()).toBe(addressRefused)

    await merchant.submit(page, { Enabled: 'true', Addresses: `203.0.113.7\r\n${here}` })
    expect(await call()).toBe(noProducts)
    await merchant.submit(page, { Enabled: 'true', Addresses: '' })
    expect(await cartApi()).toEqual({ Enabled: true, Addresses: [] })
  })

  test('names each line that is no address, by number, keeps what was typed, and saves nothing', async () => {
    const lines = ['203.0.113.7', '', ' 10.0.0.300', 'shop.example', '10.0.0.0/33', '10.0.0.1-10.0.0.9', '::1']
    const answer = await merchant.submit(page, { Enabled: 'false', Addresses: lines.join('\r\n') })
    expect(answer.statusCode).toBe(400)
    const told =
      'must each be an IP address or a CIDR block, such as 203.0.113.7 or 203.0.113.0/24; wrong: line 3 (“10.0.0.300”), line 4 (“shop.example”), line 5 (“10.0.0.0/33”) and 1 more'
    expect(problem(answer.body, 'Addresses')).toBe(`Allowed addresses ${told}`)
    expect(answer.body).toContain(`<a href="#Addresses">Allowed addresses</a> ${told}`)
    expect(answer.body).toMatch(/<textarea id="Addresses"[^>]* aria-invalid="true"/)
    expect([ticked(answer.body), typed(answer.body)]).toEqual([['false'], lines.join('\r\n')])
    expect(await cartApi()).toEqual({ Enabled: true, Addresses: [] })
    expect(await call()).toBe(noProducts)
  })

  test('takes 100 addresses, and no more', async () => {
    const addresses = Array.from({ length: 101 }, (_, index) => `10.0.${index}.0/24`)
    const many = await merchant.submit(page, { Enabled: 'true', Addresses: addresses.join('\n') })
    expect(many.statusCode).toBe(400)
    expect(problem(many.body, 'Addresses')).toMatch(/^Allowed addresses must be a list of at most 100 IP addresses/)
    expect(await cartApi()).toEqual({ Enabled: true, Addresses: [] })

    const kept = addresses.slice(0, 100)
    expect((await merchant.submit(page, { Enabled: 'true', Addresses: kept.join('\n') })).statusCode).toBe(303)
    expect(await cartApi()).toEqual({ Enabled: true, Addresses: kept })
  })

  test('shows a long wrong line cut, as text', async () => {
    const line = `<b>${'x'.repeat(10_000)}`
    const { body } = await merchant.submit(page, { Enabled: 'true', Addresses: line })
    expect(problem(body, 'Addresses')).toMatch(/wrong: line 1 \(“&lt;b&gt;x{47}”\)$/)
  })

  test('leaves as it is what a form does not hold, and refuses what is neither on nor off', async () => {
    await put({ Enabled: false, Addresses: ['203.0.113.7'] })
    expect((await merchant.submit(page, { Addresses: '203.0.113.8' })).statusCode).toBe(303)
    expect(await cartApi()).toEqual({ Enabled: false, Addresses: ['203.0.113.8'] })
    expect((await merchant.submit(page, { Enabled: 'true' })).statusCode).toBe(303)
    expect(await cartApi()).toEqual({ Enabled: true, Addresses: ['203.0.113.8'] })

    const answer = await merchant.submit(page, { Enabled: 'perhaps', Addresses: '' })
    expect(answer.statusCode).toBe(400)
    expect(problem(answer.body, 'Enabled')).toBe('Access by cartAPI must be true or false')
    expect(await cartApi()).toEqual({ Enabled: true, Addresses: ['203.0.113.8'] })
  })
})

describe('CartAPI in the JSON of a store', () => {
  test('is the merchant’s and the operator’s to change, each member by itself, and counts at once', async () => {
    expect(await call()).toBe(noProducts)
    const answer = await put({ Enabled: false })
    expect([answer.statusCode, answer.json().CartAPI]).toEqual([200, { Enabled: false, Addresses: [] }])
    expect(await call()).toBe(switchedOff)

    const changed = await putAsOperator({ addresses: [' 10.0.0.0/8 '] })
    expect(changed.json().CartAPI).toEqual({ Enabled: false, Addresses: ['10.0.0.0/8'] })
    expect(await call()).toBe(switchedOff)
    await putAsOperator({ Enabled: true })
    expect(await call()).toBe(addressRefused)
    await putAsOperator({ Addresses: [] })
    expect(await call()).toBe(noProducts)
  })

  test('changed twice at once, has both changes', async () => {
    const answers = await Promise.all([put({ Enabled: false }), putAsOperator({ Addresses: ['10.0.0.0/8'] })])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200])
    expect(await cartApi()).toEqual({ Enabled: false, Addresses: ['10.0.0.0/8'] })
  })

  const list = 'must be a list of at most 100 IP addresses or CIDR blocks, such as 203.0.113.7 or 203.0.113.0/24'
  const item = 'must be an IP address or a CIDR block, such as 203.0.113.7 or 203.0.113.0/24'
  test.each([
    ['CartAPI', null, 'must be an object'],
    ['CartAPI', ['10.0.0.1'], 'must be an object'],
    ['CartAPI.Allowed', { Allowed: [] }, 'has no property Allowed; allowed are Enabled, Addresses'],
    ['CartAPI.Enabled', { Enabled: 'true' }, 'must be true or false'],
    ['CartAPI.Enabled', { Enabled: null }, 'must be true or false'],
    ['CartAPI.Addresses', { Addresses: '10.0.0.1' }, list],
    ['CartAPI.Addresses', { Addresses: null }, list],
    ['CartAPI.Addresses', { Addresses: Array(101).fill('10.0.0.1') }, list],
    ['CartAPI.Addresses.1', { Addresses: ['10.0.0.1', 'shop.example'] }, item],
    ['CartAPI.Addresses.0', { Addresses: [7] }, item],
    ['CartAPI.Addresses.0', { Addresses: [`fe80::1%${'x'.repeat(100)}`] }, item],
  ])('refuses for %s %j, by name', async (field, given, message) => {
    const answer = refused(await put(given))
    const subject = field === 'CartAPI.Allowed' ? 'CartAPI' : field
    expect(answer).toMatchObject({ statusCode: 400, field, message: `${subject} ${message}` })
    expect(await cartApi()).toEqual({ Enabled: true, Addresses: [] })
  })
})

test.each([
  { client: '203.0.113.7', isIn: true },
  { client: '::ffff:203.0.113.7', isIn: true },
  { client: '203.0.113.8', isIn: false },
  { client: '198.51.100.77', isIn: true },
  { client: '198.51.100.128', isIn: false },
  { client: '2001:db8:1::5', isIn: true },
  { client: '2001:db8:2::5', isIn: false },
])('with a list of addresses, a program at $client is let in: $isIn', async ({ client, isIn }) => {
  await put({ Addresses: ['203.0.113.7', '198.51.100.0/25', '2001:db8:1::/48'] })
  const answer = await server.app.inject({
    method: 'POST',
    url: '/cart.asmx',
    remoteAddress: client,
    headers: { 'content-type': 'text/xml' },
    payload: envelope(request(shop, 'getProductCount')),
  })
  expect(answer.statusCode).toBe(200)
  expect(answer.body).toContain(isIn ? noProducts : addressRefused)
})

test('a store that is off, or closed to an address, tells a wrong key nothing of it', async () => {
  await put({ Enabled: false, Addresses: ['10.0.0.0/8'] })
  const payload = envelope(request(shop, 'getProductCount', { userKey: '0'.repeat(32) }))
  const answer = await post(server, payload)
  expect(answer.body).toContain(errorDocument(17, 'Login Error'))
  expect(answer.body).toContain(defaultNamespace)
})

test('what changes is in the audit log with both values, in words on its page, and nothing where nothing changed', async () => {
  await merchant.submit(page, { Enabled: 'false', Addresses: '203.0.113.7\n10.0.0.0/8' })
  expect(await newest()).toMatchObject({
    Actor: { Kind: 'merchant', Name: 'merchant@shop.example' },
    Action: 'store.changed',
    Target: shop.store.name,
    Details: {
      cartApiEnabled: { from: true, to: false },
      cartApiAddresses: { from: [], to: ['203.0.113.7', '10.0.0.0/8'] },
    },
  })
  expect((await merchant.open('/admin/audit')).body).toContain(
    'cartAPI: on → off; cartAPI from: anywhere → 203.0.113.7, 10.0.0.0/8',
  )

  const { Id } = await newest()
  await merchant.submit(page, { Enabled: 'false', Addresses: '203.0.113.7\n10.0.0.0/8' })
  await merchant.submit(page, { Enabled: 'true', Addresses: 'nowhere' })
  expect((await newest()).Id).toBe(Id)
})
