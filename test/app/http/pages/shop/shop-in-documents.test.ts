import sharp from 'sharp'
import { expect, test } from 'vitest'
import { pictureSweep } from '../../../../../src/shop/pictures/sweep.ts'
import { orderPageAddress } from '../../../../../src/shop/resources/orders/order-page.ts'
import { sharedFolder } from '../../../../support/folders.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { filled } from '../../../../support/pictures.ts'
import { customerIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant(
  async (scene) => {
    ;({ server, shop, merchant } = scene)
    await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 5, Stock: 50 } })
  },
  { FILES_DIR: sharedFolder() },
)

/** A new order, by the page that everybody may open who has its address, and by the shop's. */
async function newOrder(fields = {}) {
  const id = await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 1 }], fields)
  return {
    own: `/admin/orders/${id}`,
    page: new URL(orderPageAddress(server.services, shop.store.id, id) ?? '').pathname,
  }
}

const documents = '/admin/settings/documents'
const upload = (file: Buffer) => merchant.upload(`${documents}/logo`, file, 'logo.txt', { page: documents })
const logoIn = (body: string) => /<img src="(\/(?:files|logo)\/[^"]*)"/.exec(body)?.[1] ?? ''
const read = (url: string) => server.app.inject({ url })
const png = (background: string) => filled(600, 300, background).png().toBuffer()

/** The addresses of the logo on all pages that have it. */
async function shown(): Promise<string[]> {
  const { own, page } = await newOrder()
  const customer = await customerIn(server, shop)
  const ofShop = [documents, `${own}/invoice`, `${own}/packing-slip`].map((each) => merchant.open(each))
  const all = await Promise.all([...ofShop, customer.open('/account'), customer.open(page)])
  return [...new Set(all.map(({ body }) => logoIn(body)))]
}

test('the logo of a store is a picture at the head of its slips and its customers’ pages, and stays while it is', async () => {
  expect(await shown()).toEqual([''])
  const addresses: string[] = []
  for (const file of [await png('red'), await filled(600, 300, 'blue').webp().toBuffer()]) {
    expect((await upload(file)).headers.location).toBe(`${documents}?notice=settings-saved#logo`)
    const [address = '', ...others] = await shown()
    expect(others).toEqual([])
    expect(await sharp((await read(address)).rawPayload).metadata()).toMatchObject({ width: 480, format: 'jpeg' })
    addresses.push(address)
  }
  const [from = '', to = ''] = addresses
  const [{ Details }] = (await merchant.call('GET', '/admin/audit?limit=1')).json()
  expect(Details).toEqual({ logo: { from, to } })
  for (const _ of [1, 2]) {
    server.clock.ms += 86_400_001
    await pictureSweep(server.services)(() => false)
  }
  expect([(await read(from)).statusCode, (await read(to)).statusCode]).toEqual([404, 200])
})

test('a logo of a former server is shown until another one is set or it is removed', async () => {
  const { db } = server.services
  const bytes = new Uint8Array(await png('green'))
  const data = { storeId: shop.store.id, type: 'image/png', bytes, updatedAt: new Date(1_000) }
  const former = `/logo/${shop.store.id}/1000`
  await upload(await png('red'))
  await db.storeLogo.create({ data })
  expect(await shown()).toEqual([former])
  const { headers, rawPayload } = await read(former)
  const safe = { 'content-type': 'image/png', 'x-content-type-options': 'nosniff' }
  expect(headers).toMatchObject({ ...safe, 'cache-control': 'public, max-age=31536000, immutable' })
  expect(rawPayload.equals(bytes)).toBe(true)
  await upload(await png('blue'))
  expect(await shown()).toEqual([expect.stringContaining('/files/')])
  await db.storeLogo.create({ data })
  await merchant.submit(documents, { RemoveLogo: 'yes' })
  expect(await shown()).toEqual([''])
  for (const gone of [former, '/logo/1/x']) expect((await read(gone)).statusCode).toBe(404)
})

test('a logo that is none, or too large, is refused beside its field, and the former one stays', async () => {
  await upload(await png('red'))
  const former = logoIn((await merchant.open(documents)).body)
  for (const [file, says] of [
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'WebP, AVIF or GIF picture'],
    [Buffer.alloc(0), 'is cut off or damaged'],
    [Buffer.alloc(10 * 1024 ** 2 + 1), 'larger than 10 MB'],
  ] as const) {
    const { statusCode, body } = await upload(file)
    expect([statusCode >= 400, logoIn(body), body]).toEqual([true, former, expect.stringContaining(says)])
  }
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
