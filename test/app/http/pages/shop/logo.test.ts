import { expect, test } from 'vitest'
import { orderPageAddress } from '../../../../../src/shop/resources/orders/order-page.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { customerIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant((scene) => ({ server, shop, merchant } = scene))

const page = '/admin/settings/documents'
const form = `${page}/logo`

function png(width: number, height: number): Buffer {
  const sides = Buffer.alloc(8)
  sides.writeUInt32BE(width, 0)
  sides.writeUInt32BE(height, 4)
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), sides, Buffer.alloc(9)])
}

/** With a segment of tables before the frame. */
const jpeg = Buffer.from('ffd8ffe000044142ffc40004abcdffc0000b080010002001000000ffd9', 'hex')

const upload = (file: Buffer) => merchant.upload(form, file, 'logo.txt', { page })
const logoIn = (body: string) => /<img src="(\/logo\/[^"]*)"/.exec(body)?.[1] ?? ''
const read = (url: string) => server.app.inject({ url })

test('the logo of a store is at the head of its slips and its customers’ pages, and each one has its own address', async () => {
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 5, Stock: 5 } })
  const id = await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 1 }])
  const customer = await customerIn(server, shop)
  const orderPage = new URL(orderPageAddress(server.services, shop.store.id, id) ?? '').pathname
  const shown = async () => {
    const slips = ['invoice', 'packing-slip'].map((each) => merchant.open(`/admin/orders/${id}/${each}`))
    const all = await Promise.all([merchant.open(page), ...slips, customer.open('/account'), customer.open(orderPage)])
    return [...new Set(all.map(({ body }) => logoIn(body)))]
  }
  expect(await shown()).toEqual([''])

  const files = [
    [png(640, 480), 'image/png'],
    [jpeg, 'image/jpeg'],
    [png(5_000, 1), 'image/png'],
  ] as const
  const addresses: string[] = []
  for (const [file, type] of files) {
    expect((await upload(file)).headers.location).toBe(`${page}?notice=settings-saved#logo`)
    const [address = '', ...others] = await shown()
    expect([address.startsWith(`/logo/${shop.store.id}/`), others]).toEqual([true, []])
    const { headers, rawPayload, cookies } = await read(address)
    const wanted = { 'content-type': type, 'x-content-type-options': 'nosniff' }
    expect(headers).toMatchObject({ ...wanted, 'cache-control': 'public, max-age=31536000, immutable' })
    expect([rawPayload.equals(file), cookies]).toEqual([true, []])
    addresses.push(address)
  }
  const [first = '', , last = ''] = addresses
  expect(new Set(addresses).size).toBe(3)
  const audit = (await merchant.call('GET', '/admin/audit?limit=1')).json()
  expect(audit).toMatchObject([{ Action: 'store.changed', Details: { logo: { from: 'image/jpeg', to: 'image/png' } } }])

  await merchant.submit(page, { RemoveLogo: 'yes' })
  expect(await shown()).toEqual([''])
  for (const gone of [first, last, last.replace(/\d+$/, 'x')]) expect((await read(gone)).statusCode).toBe(404)
})

test.each([
  [
    'a picture by its name alone',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    400,
    'a PNG or JPEG picture',
  ],
  ['nothing', Buffer.alloc(0), 400, 'a PNG or JPEG picture'],
  ['a PNG without sides', png(1, 1).subarray(0, 20), 400, 'a PNG or JPEG picture'],
  ['a JPEG without a frame', jpeg.subarray(0, 18), 400, 'a PNG or JPEG picture'],
  ['a side of no pixels', png(0, 9), 400, 'a width and a height of 1 to 5000 pixels'],
  ['a side of more pixels than browsers hold', png(9, 5_001), 400, 'a width and a height of 1 to 5000 pixels'],
  ['more than 1 MB', Buffer.concat([png(9, 9), Buffer.alloc(1024 * 1024)]), 413, 'larger than 1 MB. Choose a smaller'],
])('a logo that is %s is refused, and the former one stays', async (_, file, status, says) => {
  await upload(png(1, 1))
  const before = logoIn((await merchant.open(page)).body)
  const { statusCode, body } = await upload(file)
  expect([statusCode, logoIn(body)]).toEqual([status, before])
  expect(body).toContain(says)
})
