import { type StoreOptions, sharedServer } from '../../../../support/store.ts'

export interface Goods {
  readonly id: number
  readonly sku: string
}

let serial = 0

/** A store that sells by Checkout, on a server of the test file's own. */
export async function openCheckout(privileges: NonNullable<StoreOptions['privileges']>) {
  const server = await sharedServer()
  const shop = await server.openStore({ privileges })
  return {
    server,
    shop,
    /** A product of ten pieces at 20.00, unless the changes say otherwise. */
    goods: async (changes: object = {}, more: object = {}): Promise<Goods> => {
      const sku = `P-${++serial}`
      const SKUInfo = { SKU: sku, Name: 'Tote Bag', Price: 20, Stock: 10, ...changes }
      return { sku, id: await shop.add('/Products', { SKUInfo, ...more }) }
    },
    stockOf: async ({ id }: Goods): Promise<number> =>
      (await shop.call('GET', `/Products/${id}`)).json()[0].SKUInfo.Stock,
    ordersOf: () => server.database.db.order.count({ where: { storeId: shop.store.id } }),
  }
}

export const line = ({ id }: Pick<Goods, 'id'>, ItemQuantity = 1, more: object = {}) => ({
  CatalogID: id,
  ItemQuantity,
  ...more,
})

/** The body of a guest's order. */
export const order = (items: readonly object[], more: object = {}) => ({
  BillingEmail: 'guest@shop.example',
  OrderItemList: items,
  ...more,
})
