import { expect, test } from 'vitest'
import { orderPageAddress } from '../../../../../src/shop/resources/orders/order-page.ts'
import { sharedServer } from '../../../../support/store.ts'
import { shopWithOrder } from './order-fixture.ts'

const server = await sharedServer({ ORDER_PAGE_DAYS: '30' })

test('goods have the picture of their product wherever an order is shown, and a stand-in once it is gone', async () => {
  const { shop, merchant } = await shopWithOrder(server)
  const { publicUrl } = server.services.config
  const thumbnail = (storeId: number) => `/files/${storeId}/${'a'.repeat(22)}/160`
  const picture = (storeId: number) => `${publicUrl}${thumbnail(storeId).replace(/160$/, '1920')}`
  const [{ OrderItemList }] = (await shop.call('GET', '/Orders/1')).json()
  const [{ CatalogID }] = OrderItemList
  await shop.add('/RMA', { OrderID: 1, RMAStatusID: 1, RMAItemList: [{ CatalogID, ReturnQuantity: 1 }] })
  const own = orderPageAddress(server.services, shop.store.id, 1)?.slice(publicUrl.length) ?? ''
  const typed = { 'ItemID.1': 'LAMP', 'ItemID.2': 'lam', 'ItemQuantity.1': '1' }
  const addresses = ['', '/lines', '/refund', '/returns/new', '/returns/1', '/packing-slip']
  const pages = async () => [
    ...(await Promise.all(addresses.map((end) => merchant.open(`/admin/orders/1${end}`)))),
    await merchant.submit('/admin/orders/new', typed, { action: '/admin/orders', to: '/admin/orders/new' }),
    await server.app.inject({ url: own, headers: { accept: 'text/html' } }),
  ]
  const shown = async () =>
    (await pages()).map(({ statusCode, body }) => {
      expect(statusCode).toBe(200)
      return [...body.matchAll(/<(?:img|span) class="thumbnail"(?: src="([^"]*)")?/g)].map(
        ([, address = null]) => address,
      )
    })
  const rename = (MainImageFile: string) => shop.call('PUT', `/Products/${CatalogID}`, { body: { MainImageFile } })

  await rename(picture(shop.store.id))
  for (const images of await shown()) expect(new Set(images)).toEqual(new Set([thumbnail(shop.store.id)]))
  // A shop's own images may be of any size, and another store's are none of this one's.
  for (const text of ['images/lamp.jpg', picture(shop.store.id + 1)]) {
    await rename(text)
    for (const images of await shown()) expect(new Set(images)).toEqual(new Set([null]))
  }
})
