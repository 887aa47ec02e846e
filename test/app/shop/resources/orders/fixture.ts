import { operatorCaller } from '../../../../../src/access/stores/caller-store.ts'
import type { Caller } from '../../../../../src/engine/caller.ts'
import { createRecord, updateRecord } from '../../../../../src/engine/changing/change.ts'
import type { Resource } from '../../../../../src/engine/definition/resource.ts'
import { getRecord } from '../../../../../src/engine/reading/read.ts'
import { customerGroups } from '../../../../../src/shop/resources/customer-groups/customer-groups.ts'
import { customers } from '../../../../../src/shop/resources/customers/customers.ts'
import { orders } from '../../../../../src/shop/resources/orders/orders.ts'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { products } from '../../../../../src/shop/resources/products/products.ts'
import { newStore, openAccess } from '../../../../support/access.ts'

type Wire = Record<string, unknown>

/** A store in a database of its own, as the operator and as an application see it. */
export async function openShop() {
  const { services, clock, close } = await openAccess()
  const { db } = services
  const { id: storeId } = await newStore(services)
  const operator = await operatorCaller(services, storeId)
  const { store } = operator
  const sync = { id: 1, name: 'Sync', subscriptionId: 1 }
  const application: Caller = { ...operator, application: sync, channel: 'api', actor: 'Sync' }
  /** The operator at work in another store of the same database. */
  let serial = 0

  const create = (resource: Resource, body: Wire) => createRecord(operator, resource, body)
  const read = async (resource: Resource, id: number) => JSON.parse(await getRecord(application, resource, id))

  /** A product with 10 pieces at 20.00, unless `changes` say otherwise; members of SKUInfo stand at the top. */
  async function product(changes: Wire = {}): Promise<{ id: number; sku: string }> {
    const {
      SKU = `SKU-${++serial}`,
      Name = 'Tote Bag',
      Price = 20,
      Stock = 10,
      Cost = 8,
      SalePrice,
      OnSale,
      ...rest
    } = changes
    const id = await create(products, { SKUInfo: { SKU, Name, Price, Stock, Cost, SalePrice, OnSale }, ...rest })
    return { id, sku: String(SKU) }
  }

  async function customer(changes: Wire = {}): Promise<number> {
    return create(customers, { Email: `buyer-${++serial}@shop.example`, Password: 'secret words', ...changes })
  }

  const group = (priceLevel: number) => create(customerGroups, { Name: `Level ${priceLevel}`, PriceLevel: priceLevel })

  /** Places an order of a guest. */
  const place = (items: Wire[], changes: Wire = {}) =>
    placeOrder(operator, { BillingEmail: 'guest@shop.example', OrderItemList: items, ...changes })

  const order = (id: number) => read(orders, id)
  const update = (id: number, body: Wire, caller: Caller = application) => updateRecord(caller, orders, id, body)

  const stockOf = async (id: number): Promise<number> => (await read(products, id)).SKUInfo.Stock

  /** The ledger of one stock: what moved, and why. */
  async function movements(productId: number, optionCode: string | null = null) {
    const rows = await db.stockMovement.findMany({
      where: { storeId: store.id, productId, optionCode },
      orderBy: { id: 'asc' },
    })
    return rows.map(({ quantity, cause, orderId }) => ({ quantity: Number(quantity), cause, orderId }))
  }

  return {
    db,
    store,
    clock,
    operator,
    application,
    close,
    create,
    product,
    customer,
    group,
    place,
    order,
    update,
    stockOf,
    movements,
  }
}

export type Shop = Awaited<ReturnType<typeof openShop>>
