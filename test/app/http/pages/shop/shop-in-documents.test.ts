import { expect, test } from 'vitest'
import { orderPageAddress } from '../../../../../src/shop/resources/orders/order-page.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { customerIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant(async (scene) => {
  ;({ server, shop, merchant } = scene)
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 5, Stock: 50 } })
})

/** A new order, by the page that everybody may open who has its address, and by the shop's. */
async function newOrder(fields = {}) {
  const id = await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 1 }], fields)
  return {
    own: `/admin/orders/${id}`,
    page: new URL(orderPageAddress(server.services, shop.store.id, id) ?? '').pathname,
  }
}

const documents = '/admin/settings/documents'
const hex = (side: number) => side.toString(16).padStart(8, '0')
const png = (width: number, height: number) =>
  Buffer.from(`89504e470d0a1a0a0000000d49484452${hex(width)}${hex(height)}08`, 'hex')
/** With a segment of tables before the frame. */
const jpeg = Buffer.from('ffd8ffe000044142ffc40004abcdffc0000b080010002001000000ffd9', 'hex')
const upload = (file: Buffer) => merchant.upload(`${documents}/logo`, file, 'logo.txt', { page: documents })
const logoIn = (body: string) => /<img src="(\/logo\/[^"]*)"/.exec(body)?.[1] ?? ''
const read = (url: string) => server.app.inject({ url })

test('the logo of a store is at the head of its slips and its customers’ pages, each one at its own address', async () => {
  const { own, page } = await newOrder()
  const customer = await customerIn(server, shop)
  const shown = async () => {
    const ofShop = [documents, `${own}/invoice`, `${own}/packing-slip`].map((each) => merchant.open(each))
    const all = await Promise.all([...ofShop, customer.open('/account'), customer.open(page)])
    return [...new Set(all.map(({ body }) => logoIn(body)))]
  }
  expect(await shown()).toEqual([''])
  const addresses = new Set<string>()
  for (const [file, type] of [
    [png(640, 480), 'image/png'],
    [jpeg, 'image/jpeg'],
    [png(5_000, 1), 'image/png'],
  ] as const) {
    expect((await upload(file)).headers.location).toBe(`${documents}?notice=settings-saved#logo`)
    const [address = '', ...others] = await shown()
    const { headers, rawPayload, cookies } = await read(address)
    const safe = { 'content-type': type, 'x-content-type-options': 'nosniff' }
    expect(headers).toMatchObject({ ...safe, 'cache-control': 'public, max-age=31536000, immutable' })
    expect([rawPayload.equals(file), cookies, others]).toEqual([true, [], []])
    addresses.add(address)
  }
  expect(addresses.size).toBe(3)
  const [{ Details }] = (await merchant.call('GET', '/admin/audit?limit=1')).json()
  expect(Details).toEqual({ logo: { from: 'image/jpeg', to: 'image/png' } })
  await merchant.submit(documents, { RemoveLogo: 'yes' })
  expect(await shown()).toEqual([''])
  for (const gone of [...addresses, '/logo/1/x']) expect((await read(gone)).statusCode).toBe(404)
})

const [noPicture, noSides] = ['must be a PNG or JPEG picture', 'must have a width and a height of 1 to 5000 pixels']

test.each([
  ['a picture by its name alone', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), noPicture],
  ['empty', Buffer.alloc(0), noPicture],
  ['a PNG that ends before its sides', png(1, 1).subarray(0, 20), noPicture],
  ['a JPEG that ends before its frame', jpeg.subarray(0, 18), noPicture],
  ['without pixels', png(0, 9), noSides],
  ['larger than browsers have memory for', png(9, 5_001), noSides],
  ['of more than 1 MB', Buffer.concat([png(9, 9), Buffer.alloc(1024 * 1024)]), 'larger than 1 MB'],
])('a logo that is %s is refused, and the former one stays', async (_, file, says) => {
  await upload(png(1, 1))
  const before = logoIn((await merchant.open(documents)).body)
  const { statusCode, body } = await upload(file)
  expect([statusCode >= 400, logoIn(body)]).toEqual([true, before])
  expect(body).toContain(says)
})

const carriers = '/admin/settings/carriers'
const namesOf = async () =>
  Object.entries(await merchant.formOf(carriers)).flatMap(([field, name]) => (/^name/.test(field) && name ? name : []))

async function trackingOf(ShipmentMethodName: string, ShipmentTrackingCode: string): Promise<string | undefined> {
  const ShipmentList = [{ ShipmentMethodName, ShipmentTrackingCode, ShipmentShippedDate: '03/11/2026' }]
  const { own, page } = await newOrder({ ShipmentList })
  const pages = await Promise.all([merchant.open(own), merchant.open(page)])
  const [ofShop, ofCustomer] = pages.map(({ body }) => /<a href="([^"]*)" rel="noreferrer">/.exec(body)?.[1])
  expect(ofCustomer).toBe(ofShop)
  return ofShop
}

test('the number of a parcel leads to its carrier, the one with the longest name that its shipping method begins with', async () => {
  const fields = {
    'name.1': 'Post',
    'trackingUrl.1': 'https://post.example/{code}/view?lang=en#map',
    'name.2': 'Post Express',
    'trackingUrl.2': 'HTTPS://express.example:8443/?id={code}',
    'name.3': 'Courier',
  }
  await merchant.submit(carriers, fields)
  expect(await trackingOf('post parcel', ' 1/2 ?"<#ä ')).toBe(
    'https://post.example/1%2F2%20%3F%22%3C%23%C3%A4/view?lang=en#map',
  )
  expect(await trackingOf('POST EXPRESS', 'a$&{code}')).toBe('HTTPS://express.example:8443/?id=a%24%26%7Bcode%7D')
  for (const other of ['A Post', 'Courier', '']) expect(await trackingOf(other, '1')).toBeUndefined()
  expect(await trackingOf('Post', '')).toBeUndefined()
  // By name: Courier, Post, Post Express.
  await merchant.submit(carriers, { ...(await merchant.formOf(carriers)), 'remove.3': 'yes' })
  expect(await namesOf()).toEqual(['Courier', 'Post'])
  expect((await merchant.open('/admin/audit')).body).toContain('Carriers changed')
})

test.each([
  'http://carrier.example/{code}',
  'javascript:alert({code})',
  'https://{code}.example/',
  'https://carrier.example@{code}/x',
  'https://user:word@carrier.example/{code}',
  'https://carrier.example\\@evil.example/{code}',
  'https://carrier.example/#{code}',
  'https://carrier.example/{code}/{code}',
  'https://carrier.example/track',
  'https://carrier.example:99999/{code}',
  `https://carrier.example/${'x'.repeat(500)}{code}`,
])('the tracking address %s is refused beside it, and nothing is stored', async (url) => {
  const answer = await merchant.submit(carriers, { 'name.1': 'Post', 'trackingUrl.1': url })
  expect(answer.body).toMatch(/id="trackingUrl.1" name="trackingUrl.1"[^>]* aria-invalid="true"/)
  expect([answer.statusCode, await namesOf()]).toEqual([400, []])
})

test('a table of the settings has at most 200 rows', async () => {
  const names = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`name.${at + 1}`, `C ${at}`]))
  expect((await merchant.submit(carriers, names(201))).statusCode).toBe(400)
  expect((await merchant.submit(carriers, names(200))).statusCode).toBe(303)
  expect(await namesOf()).toHaveLength(200)
})
