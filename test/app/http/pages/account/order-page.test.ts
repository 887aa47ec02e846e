import { beforeAll, describe, expect, test } from 'vitest'
import { createSecrets } from '../../../../../src/foundation/values/secrets.ts'
import { orderOfPage, orderPageAddress } from '../../../../../src/shop/resources/orders/order-page.ts'
import { testPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { openServer, sharedServer, type TestStore } from '../../../../support/store.ts'

const DAY_MS = 86_400_000
const html = { accept: 'text/html' }
const json = { accept: 'application/json' }

const server = await sharedServer({ ORDER_PAGE_DAYS: '30' })
const shop = await server.openStore({ timeZone: 'Europe/Berlin', currency: 'EUR' })
const { publicUrl } = server.services.config

/** The path of the page of an order, as this server names it. */
function pathOf(id: number, { store }: Pick<TestStore, 'store'> = shop, services = server.services): string {
  const address = orderPageAddress(services, store.id, id) ?? ''
  expect(address).toMatch(new RegExp(`^${publicUrl}/order/${store.id}-${id}-[\\w-]{22}$`))
  return address.slice(publicUrl.length)
}

const get = (url: string, headers: Record<string, string> = html) => server.app.inject({ url, headers })

const sent = {
  BillingFirstName: 'Bill',
  BillingLastName: 'Payer',
  BillingAddress: '1 Billing Street',
  BillingPhoneNumber: '617-555-0123',
  BillingEmail: 'payer@shop.example',
  CustomerComments: 'Ring at the neighbour',
  ExternalComments: 'Thank you',
  SalesTax: 1.5,
  ShipmentList: [
    {
      ShipmentFirstName: 'Ada',
      ShipmentLastName: 'Byron',
      ShipmentCompany: 'Engines',
      ShipmentAddress: '5 Main Street',
      ShipmentZipCode: '10115',
      ShipmentCity: 'Berlin',
      ShipmentCountry: 'DE',
      ShipmentPhone: '555-0199',
      ShipmentEmail: 'ada@shop.example',
      ShipmentMethodName: 'Ground',
      ShipmentCost: 4.5,
      ShipmentTrackingCode: '1Z-1',
    },
  ],
}
const heldBack = [/Main Street|Billing Street|10115|Engines|555|@|neighbour|Payer/, /\/account|\/admin|sign-in|<form/]

let id: number
let other: number

beforeAll(async () => {
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp <i>', Price: 20, Stock: 100 } })
  id = await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 2 }], sent)
  other = await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 1 }])
  await shop.add(`/Orders/${id}/Transactions`, { TransactionType: 'Sale', TransactionAmount: 46 })
})

describe('the page of one order', () => {
  test('shows it to whoever has the address, without a session or cookie and without whose it is', async () => {
    const { statusCode, body, headers, cookies } = await get(pathOf(id))
    expect(statusCode).toBe(200)
    for (const shown of [
      'Lamp &lt;i&gt;',
      '€46.00',
      '€4.50',
      '€1.50',
      '1Z-1',
      'Ground',
      'Paid',
      'Ada Byron<br>Berlin<br>',
      'Thank you',
    ])
      expect(body).toContain(shown)
    for (const pattern of heldBack) expect(body).not.toMatch(pattern)
    const links = [...body.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href)
    expect(links).toEqual(['#main', shop.store.secureUrl])
    expect(cookies).toEqual([])
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(headers.etag).toBeUndefined()
  })

  test('is the same for somebody who is signed in, in the language of the browser', async () => {
    const merchant = await merchantIn(server, shop.store)
    const german = { 'accept-language': 'de', ...html }
    const { body } = await merchant.open(pathOf(id), german)
    expect(body).toBe((await get(pathOf(id), german)).body)
    expect(body).toContain('<h1 id="order">Bestellung ')
  })

  test('answers programs by JSON', async () => {
    const answer = await get(pathOf(id), json)
    expect(answer.json()).toMatchObject({
      OrderID: id,
      OrderAmount: 46,
      CustomerComments: '',
      ShipmentList: [{ ShipmentTrackingCode: '1Z-1', ShipmentAddress: 'Ada Byron\nBerlin' }],
    })
    expect([answer.headers['cache-control'], answer.headers['referrer-policy']]).toEqual(['no-store', 'no-referrer'])
    for (const pattern of heldBack) expect(answer.body).not.toMatch(pattern)
  })

  test('changes nothing: other methods are of no address', async () => {
    for (const method of ['POST', 'PUT', 'DELETE'] as const)
      expect((await server.app.inject({ method, url: pathOf(id), headers: json })).statusCode).toBe(404)
  })
})

describe('an address', () => {
  const refusedPage = async (url: string) => {
    const { statusCode, body, headers, cookies } = await get(url)
    expect([statusCode, headers['referrer-policy'], headers['x-robots-tag'], cookies]).toEqual([
      404,
      'no-referrer',
      'noindex',
      [],
    ])
    return body.replaceAll(/<code>[\w-]+<\/code>/g, '')
  }

  test('that is wrong, of no order, of another store or has ended gets one answer', async () => {
    const stranger = await server.openStore()
    const [own, foreign] = [pathOf(id), pathOf(id, stranger)]
    const code = own.slice(-22)
    const changed = [...code].map(
      (_, at) => `${own.slice(0, -22)}${code.slice(0, at)}${code[at] === 'A' ? 'B' : 'A'}${code.slice(at + 1)}`,
    )
    const wrong = [
      ...changed,
      own.slice(0, -1),
      `${own}A`,
      own.replace(`-${id}-`, `-${other}-`),
      own.replace(`/${shop.store.id}-`, `/${stranger.store.id}-`),
      own.replace(`-${id}-`, `-0${id}-`),
      foreign,
      pathOf(999_999),
      '/order/x',
      `/order/${id}`,
    ]
    const answers = new Set<string>()
    for (const url of wrong) answers.add(await refusedPage(url))
    server.clock.ms += 30 * DAY_MS
    expect((await get(own)).statusCode).toBe(200)
    server.clock.ms += 1
    answers.add(await refusedPage(own))
    expect([...answers]).toEqual([expect.stringContaining('its page has ended')])
    server.clock.ms -= 30 * DAY_MS + 1
  })

  test('that is wrong is counted for its network, and right ones are not', async () => {
    server.clock.ms += DAY_MS
    const statuses = new Set<number>()
    for (let tries = 0; tries < 60; tries++) statuses.add((await get('/order/1-1-x')).statusCode)
    expect([...statuses]).toEqual([404, 429])
    expect((await get(pathOf(id))).statusCode).toBe(200)
    server.clock.ms -= DAY_MS
  })

  test('stays through a change of the secret key, as long as the process has the former one', async () => {
    const [former = '', next = ''] = ['f'.repeat(32), 'n'.repeat(32)]
    const serverOf = (secrets: ReturnType<typeof createSecrets>) => ({ ...server.services, secrets })
    const token = pathOf(7, shop, serverOf(createSecrets(former))).slice('/order/'.length)
    expect(orderOfPage(serverOf(createSecrets(next, [former])), token)).toEqual({ storeId: shop.store.id, id: 7 })
    expect(orderOfPage(serverOf(createSecrets(next)), token)).toBeNull()
  })

  test('there is none where the setting is 0, and a former one ends', async () => {
    const without = await openServer({ ORDER_PAGE_DAYS: '0' })
    try {
      const other = await without.openStore()
      expect(orderPageAddress(without.services, other.store.id, 1)).toBeNull()
      const allowed = { ...without.services, config: { ...without.services.config, orderPageDays: 30 } }
      await other.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 20, Stock: 100 } })
      const orderDate = '2050-01-01T00:00:00'
      const placed = await other.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 1 }], { OrderDate: orderDate })
      const url = pathOf(placed, other, allowed)
      expect((await without.app.inject({ url, headers: html })).statusCode).toBe(404)
    } finally {
      await without.close()
    }
  })

  test('is in no log, whatever is answered', async () => {
    const person = testPerson(server.app)
    const url = pathOf(id)
    for (const each of [url, `${url}?a=b`, `${url}/x`, `${url}x`, url.toUpperCase()]) await person.open(each)
    await server.app.inject({ method: 'POST', url, headers: json })
    await get('/healthz', { referer: publicUrl + url })
    const log = server.log.join('\n')
    expect(log).toContain('/order/:token')
    expect(log.toLowerCase()).not.toContain(url.slice(-22).toLowerCase())
  })
})
