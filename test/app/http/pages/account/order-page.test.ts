import { beforeAll, expect, test } from 'vitest'
import { createSecrets } from '../../../../../src/foundation/values/secrets.ts'
import { orderOfPage, orderPageAddress } from '../../../../../src/shop/resources/orders/order-page.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'

const DAY_MS = 86_400_000
const html = { accept: 'text/html' }
const json = { accept: 'application/json' }
const safe = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' }

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

const to = { ShipmentFirstName: 'Ada', ShipmentLastName: 'Byron', ShipmentCity: 'Berlin', ShipmentZipCode: '10115' }
const parcel = { ShipmentAddress: '5 Main Street', ShipmentPhone: '555-0199', ShipmentTrackingCode: '1Z-1' }
const billing = { BillingLastName: 'Payer', BillingAddress: '1 Billing Street', BillingPhoneNumber: '617-555-0123' }
const words = { CustomerComments: 'Ring at the neighbour', ExternalComments: 'Thank you' }
const sent = { ...billing, ...words, SalesTax: 1.5, ShipmentList: [{ ...to, ...parcel, ShipmentCost: 4.5 }] }
const heldBack = /Main Street|Billing Street|10115|555|@|neighbour|Payer|\/account|\/admin|sign-in|<form/

let id: number

beforeAll(async () => {
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp <i>', Price: 20, Stock: 100 } })
  id = await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 2 }], sent)
  const paid = { TransactionType: 'Sale', TransactionAmount: 46, TransactionMethod: 'PayPal of ada@home.example' }
  await shop.add(`/Orders/${id}/Transactions`, paid)
  const [{ OrderItemList }] = (await shop.call('GET', `/Orders/${id}`)).json()
  const [{ ItemIndexID, CatalogID }] = OrderItemList
  const RMAItemList = [{ CatalogID, ReturnQuantity: 1 }]
  await shop.add('/RMA', { OrderID: id, RMAStatusID: 1, Comments: '9 Main Street', RMAItemList })
  await shop.add(`/Orders/${id}/Transactions`, {
    ...{ TransactionType: 'Refund', TransactionAmount: 25, TransactionMethod: 'PayPal of ada@home.example' },
    RefundItemList: [{ ItemIndexID, RefundQuantity: 1, RefundAmount: 20 }],
    RefundShippingAmount: 4.5,
  })
})

test('the page of one order shows it to whoever has the address, without a session or cookie and without whose it is', async () => {
  const { statusCode, body, headers, cookies } = await get(pathOf(id))
  expect([statusCode, cookies]).toEqual([200, []])
  for (const fact of '&lt;i&gt; €46.00 €4.50 €1.50 1Z-1 Paid Byron<br>Berlin<br> €25.00 €0.50 CN-1 Thank'.split(' '))
    expect(body).toContain(fact)
  for (const part of ['<strong>Return 1</strong>', '1 × Lamp &lt;i&gt;: €20.00']) expect(body).toContain(part)
  expect(body).not.toMatch(heldBack)
  expect([...body.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, to]) => to)).toEqual(['#main', shop.store.secureUrl])
  expect(headers).toMatchObject(safe)
  expect(headers.etag).toBeUndefined()
})

test('the page is the same for somebody who is signed in, in the language of the browser', async () => {
  const merchant = await merchantIn(server, shop.store)
  const german = { 'accept-language': 'de', ...html }
  const { body } = await merchant.open(pathOf(id), german)
  expect(body).toBe((await get(pathOf(id), german)).body)
  expect(body).toContain('<h1 id="order">Bestellung ')
})

test('the page answers programs by JSON, and is read only', async () => {
  const { headers, body } = await get(pathOf(id), json)
  const ShipmentList = [{ ShipmentTrackingCode: '1Z-1', ShipmentAddress: 'Ada Byron\nBerlin' }]
  const shown = { OrderID: id, OrderAmount: 46, CustomerComments: '', ShipmentList }
  expect({ ...headers, ...JSON.parse(body) }).toMatchObject({ ...safe, ...shown })
  expect(body).not.toMatch(heldBack)
  for (const method of ['POST', 'PUT', 'DELETE'] as const)
    expect((await server.app.inject({ method, url: pathOf(id), headers: json })).statusCode).toBe(404)
})

test('an address that is wrong, of no order, of another store or has ended gets one answer', async () => {
  const answers = new Set<string>()
  const refuse = async (url: string) => {
    const { statusCode, body, headers, cookies } = await get(url)
    expect({ url, statusCode, cookies, headers }).toMatchObject({ statusCode: 404, cookies: [], headers: safe })
    answers.add(body.replaceAll(/<code>[\w-]+<\/code>/g, ''))
  }
  const stranger = await server.openStore()
  const own = pathOf(id)
  for (let at = own.length - 22; at < own.length; at++)
    await refuse(`${own.slice(0, at)}${own[at] === 'A' ? 'B' : 'A'}${own.slice(at + 1)}`)
  const otherOrders = [`-${id + 1}-`, `-0${id}-`].map((other) => own.replace(`-${id}-`, other))
  const ofStranger = [own.replace(/\/\d+/, `/${stranger.store.id}`), pathOf(id, stranger)]
  for (const url of [own.slice(0, -1), `${own}A`, ...otherOrders, ...ofStranger, pathOf(999_999)]) await refuse(url)
  server.clock.ms += 30 * DAY_MS
  expect((await get(own)).statusCode).toBe(200)
  server.clock.ms += 1
  await refuse(own)
  expect([...answers]).toEqual([expect.stringContaining('its page has ended')])
  server.clock.ms -= 30 * DAY_MS + 1
})

test('an address lasts as long as a process has its secret key, and ends where the setting is 0', () => {
  const under = (...[key = '', ...others]: string[]) => ({ ...server.services, secrets: createSecrets(key, others) })
  const token = pathOf(7, shop, under('former')).slice('/order/'.length)
  expect(orderOfPage(under('next', 'former'), token)).toEqual({ storeId: shop.store.id, id: 7 })
  expect(orderOfPage(under('next'), token)).toBeNull()
  const none = { ...server.services, config: { ...server.services.config, orderPageDays: 0 } }
  expect(orderPageAddress(none, shop.store.id, id)).toBeNull()
  expect(orderOfPage(none, pathOf(id).slice('/order/'.length))).toBeNull()
})

test('an address is in no log, whatever is answered', async () => {
  const url = pathOf(id)
  for (const each of [url, `${url}?a=b`, `${url}/x`, `${url}x`, url.toUpperCase()]) await get(each)
  await server.app.inject({ method: 'POST', url, headers: json })
  await get('/healthz', { referer: publicUrl + url })
  const log = server.log.join('\n')
  expect(log).toContain('/order/:token')
  expect(log.toLowerCase()).not.toContain(url.slice(-22).toLowerCase())
})
