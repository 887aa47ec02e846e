import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import { operatorCaller } from '../../../../../src/access/stores/caller-store.ts'
import { updateRecord } from '../../../../../src/engine/changing/change.ts'
import { orders } from '../../../../../src/shop/resources/orders/orders.ts'
import { openServer } from '../../../../support/store.ts'

export type Wire = Record<string, unknown>

/** A store that sells and takes back, through the front door. */
export async function openReturns() {
  const server = await openServer()
  const shop = await server.openStore()
  const { db } = server.database
  let serial = 0

  /** A product with 10 pieces; with options, 10 of each. */
  async function product(optionCodes: readonly string[] = []): Promise<{ id: number; sku: string }> {
    const sku = `Bag-${++serial}`
    const AdvancedOptionList = optionCodes.map((code) => ({
      AdvancedOptionCode: code,
      AdvancedOptionSufix: `-${code}`,
      AdvancedOptionStock: 10,
    }))
    const SKUInfo = { SKU: sku, Name: 'Tote Bag', Price: 20, Stock: 10 }
    return { id: await shop.add('/Products', { SKUInfo, AdvancedOptionList, AllowFractionalQuantity: true }), sku }
  }

  /** An order as the checkout places it. */
  const order = (OrderItemList: readonly Wire[]) => shop.placeOrder(OrderItemList)

  /** An order of 3 of the 10 pieces of a product. */
  async function sold(): Promise<{ orderId: number; productId: number; sku: string }> {
    const { id, sku } = await product()
    return { orderId: await order([{ CatalogID: id, ItemQuantity: 3 }]), productId: id, sku }
  }

  /** The operator alone reopens a cancelled order. */
  async function setStatus(orderId: number, OrderStatusID: number): Promise<void> {
    await updateRecord(await operatorCaller(server.services, shop.store.id), orders, orderId, { OrderStatusID })
  }

  const put = (id: number, body: Wire) => shop.call('PUT', `/RMA/${id}`, { body })

  async function read(service: string, id: number) {
    return (await shop.call('GET', `/${service}/${id}`)).json()[0]
  }

  async function stockOf(productId: number, optionCode?: string): Promise<number> {
    const { SKUInfo, AdvancedOptionList } = await read('Products', productId)
    if (optionCode === undefined) return SKUInfo.Stock
    const option = AdvancedOptionList.find((each: Wire) => each.AdvancedOptionCode === optionCode)
    return option.AdvancedOptionStock
  }

  /** What moved a stock, and why, from the first order on. */
  async function movements(productId: number, optionCode: string | null = null) {
    const rows = await db.stockMovement.findMany({
      where: { storeId: shop.store.id, productId, optionCode, cause: { not: 'initial' } },
      orderBy: { id: 'asc' },
    })
    return rows.map(({ quantity, cause, orderId }) => ({ quantity: Number(quantity), cause, orderId }))
  }

  /** Everything that a refusal must leave as it was. */
  async function everything(): Promise<unknown> {
    const storeId = shop.store.id
    return [
      await db.stockMovement.findMany({ where: { storeId }, orderBy: { id: 'asc' } }),
      await db.product.findMany({ where: { storeId }, orderBy: { id: 'asc' } }),
      await db.advancedOption.findMany({ where: { storeId }, orderBy: [{ productId: 'asc' }, { code: 'asc' }] }),
      await db.rma.findMany({ where: { storeId }, orderBy: { id: 'asc' } }),
      await db.rmaItem.findMany({ where: { storeId }, orderBy: [{ rmaId: 'asc' }, { position: 'asc' }] }),
      await db.orderItem.findMany({ where: { storeId }, orderBy: { id: 'asc' } }),
    ]
  }

  /** Expects a 400 that names the field, and that nothing is changed. */
  async function expectRefused(call: () => Promise<LightMyRequestResponse>, field: string): Promise<string> {
    const before = await everything()
    const answer = await call()
    expect(answer.statusCode, answer.body).toBe(400)
    expect(answer.json()).toMatchObject([{ Key: 'Error', Value: field }])
    expect(await everything()).toEqual(before)
    return answer.json()[0].Message
  }

  return {
    server,
    shop,
    db,
    product,
    order,
    sold,
    setStatus,
    /** Posts a return and gives its id. */
    rma: (body: Wire) => shop.add('/RMA', body),
    put,
    read,
    stockOf,
    movements,
    expectRefused,
    close: server.close,
  }
}

export type Returns = Awaited<ReturnType<typeof openReturns>>
