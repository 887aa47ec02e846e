import { expect } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { fieldsAt, type TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'

/** A store with ten lamps at 42.50, of which order 1 took three: 135.25 with shipping (6.50) and tax (1.25). */
export async function shopWithOrder(server: TestServer) {
  const shop = await server.openStore()
  const merchant = await merchantIn(server, shop.store)
  await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5, Stock: 10 } } })
  await placeOrder(shop.caller, {
    BillingEmail: 'guest@shop.example',
    BillingFirstName: 'Ada',
    BillingPaymentMethodID: '1',
    SalesTax: 1.25,
    OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 3 }],
    ShipmentList: [{ ShipmentFirstName: 'Ada', ShipmentCity: 'London', ShipmentCost: 6.5 }],
  })
  return { shop, merchant, ...readers(server, shop) }
}

function readers(server: TestServer, shop: TestStore) {
  return {
    order: async () => (await shop.call('GET', '/Orders/1')).json()[0],
    stock: async (sku = 'LAMP') => (await shop.call('GET', `/Products?sku=${sku}`)).json()[0].SKUInfo.Stock as number,
    /** The ledger's rows of orders, oldest first, such as `LAMP order -3`. */
    ledger: async () => {
      const { db } = server.database
      const where = { storeId: shop.store.id, orderId: { not: null } }
      const rows = await db.stockMovement.findMany({ where, orderBy: { id: 'asc' } })
      const products = await db.product.findMany({ where: { storeId: shop.store.id } })
      const skuOf = (id: number) => products.find((product) => product.id === id)?.sku
      return rows.map(({ productId, cause, quantity }) => `${skuOf(productId)} ${cause} ${quantity}`)
    },
  }
}

/** A form that somebody has open: what it holds, and sending it with changes, any time later. */
export async function opened(person: TestPerson, url: string) {
  const fields = await person.formOf(url)
  return {
    fields,
    send: (changes: Record<string, string>, to = url) => person.submit(url, { ...fields, ...changes }, { to }),
  }
}

/** What the page says above its form about what is wrong. */
export const alertIn = (html: string): string => /role="alert">([\s\S]*?)<\/div>/.exec(html)?.[1] ?? ''

/** What the first page that `action` posts to would send again. */
export const typedIn = fieldsAt

export function expectSaved(
  answer: { statusCode: number; body: string; headers: Record<string, unknown> },
  to: string,
) {
  expect([answer.statusCode, answer.headers.location], answer.body).toEqual([303, to])
}
