import { expect, test } from 'vitest'
import { orderPageAddress } from '../../../../../src/shop/resources/orders/order-page.ts'
import type { TestPerson } from '../../../../support/person.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant((scene) => ({ server, shop, merchant } = scene))

const page = '/admin/settings/carriers'
const names = (form: Record<string, string>) =>
  Object.keys(form).filter((name) => /^Name\.\d/.test(name) && form[name] !== '')

/** Where the parcel of a new order is followed, by the merchant's page and by that of the one order. */
async function linksOf(ShipmentMethodName: string, ShipmentTrackingCode: string): Promise<unknown> {
  const id = await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 1 }], { ShipmentList: [{ ShipmentMethodName }] })
  const sent = { ShipmentID: 0, ShipmentTrackingCode, ShipmentShippedDate: '03/11/2026' }
  await shop.call('PUT', `/Orders/${id}`, { body: { ShipmentList: [sent] } })
  const address = new URL(orderPageAddress(server.services, shop.store.id, id) ?? '').pathname
  const pages = await Promise.all([merchant.open(`/admin/orders/${id}`), merchant.open(address)])
  const [own, customers] = pages.map(({ body }) => /<a href="([^"]*)" rel="noreferrer">/.exec(body)?.[1])
  expect(customers).toBe(own)
  return own
}

test('the number of a parcel leads to its carrier, the one with the longest name that its shipping method begins with', async () => {
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 5, Stock: 50 } })
  const carriers = {
    'Name.0': 'Post',
    'TrackingUrl.0': 'https://post.example/{code}/view?lang=en#map',
    'Name.1': 'Post Express',
    'TrackingUrl.1': 'HTTPS://express.example:8443/?id={code}',
    'Name.2': 'Courier',
  }
  expect((await merchant.submit(page, carriers)).headers.location).toBe(`${page}?notice=settings-saved`)
  expect(await linksOf('post parcel', ' 1/2 ?&"<#ä ')).toBe(
    'https://post.example/1%2F2%20%3F%26%22%3C%23%C3%A4/view?lang=en#map',
  )
  expect(await linksOf('POST EXPRESS, 9 am', "a$&'{code}")).toBe(
    'HTTPS://express.example:8443/?id=a%24%26&#39;%7Bcode%7D',
  )
  for (const other of ['A Post', 'Courier', '']) expect(await linksOf(other, '1')).toBeUndefined()
  expect(await linksOf('Post', '')).toBeUndefined()

  const saved = await merchant.formOf(page)
  const express = names(saved).find((name) => saved[name] === 'Post Express') ?? ''
  await merchant.submit(page, { ...saved, [express]: '' })
  expect(names(await merchant.formOf(page))).toHaveLength(2)
  expect(await linksOf('Post Express', '1')).toBe('https://post.example/1/view?lang=en#map')
  const change = (await merchant.open('/admin/audit')).body
  expect(change).toContain('Post Express HTTPS://express.example:8443/?id={code}')
})

test.each([
  'http://carrier.example/{code}',
  'javascript:alert({code})',
  'https://{code}.example/',
  'https://carrier.example{code}/',
  'https://carrier.example@{code}/x',
  'https://user:word@carrier.example/{code}',
  'https://carrier.example\\@evil.example/{code}',
  'https://carrier.example/#{code}',
  'https://carrier.example/{code}/{code}',
  'https://carrier.example/{other}/{code}',
  'https://carrier.example/track',
  'https://carrier.example:99999/{code}',
  `https://carrier.example/${'x'.repeat(500)}{code}`,
])('the tracking address %s is refused beside it, and nothing is stored', async (url) => {
  const answer = await merchant.submit(page, { 'Name.0': 'Post', 'TrackingUrl.0': url })
  expect(answer.statusCode).toBe(400)
  expect(answer.body).toMatch(/id="TrackingUrl.0" name="TrackingUrl.0" aria-invalid="true"/)
  expect(names(await merchant.formOf(page))).toEqual([])
})

test('a store has a bounded number of carriers', async () => {
  const rows = Array.from({ length: 50 }, (_, at) => ({ storeId: shop.store.id, name: `Carrier ${at}` }))
  await server.database.db.carrier.createMany({ data: rows })
  const shown = await merchant.formOf(page)
  expect(shown).not.toHaveProperty(['Name.50'])
  expect((await merchant.submit(page, { ...shown, 'Name.50': 'Post' })).statusCode).toBe(400)
})
