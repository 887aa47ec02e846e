import { expect } from 'vitest'
import { eventKinds } from '../../../../src/engine/definition/event-kinds.ts'
import type { TestServer, TestStore } from '../../../support/store.ts'
import { importInto } from '../../engine/transfer/fixture.ts'
import { envelope, post, request, type SoapCallOptions, soapCall, type Tree, treeOf } from './support.ts'

export type Wire = Record<string, unknown>
/** A record as REST gives it. */
// biome-ignore lint/suspicious/noExplicitAny: a record of any depth
export type Rest = any

/** A store, with what tests of its orders do. */
export async function openOrders(server: TestServer, options: { timeZone?: string } = {}) {
  const shop: TestStore = await server.openStore(options)
  const { db } = server.database
  const storeId = shop.store.id
  let serial = 0

  async function rest(path: string): Promise<Rest> {
    return (await shop.call('GET', path)).json()[0]
  }

  /** A product of which there are 100, unless `fields` say otherwise. */
  async function product(fields: Wire = {}, info: Wire = {}): Promise<number> {
    const SKU = `SKU-${++serial}`
    return shop.add('/Products', { SKUInfo: { SKU, Name: 'Tote Bag', Price: 20, Stock: 100, ...info }, ...fields })
  }

  /** Places an order of a guest who has paid, at the operator's door. */
  const place = (items: Wire[], fields: Wire = {}) => shop.placeOrder(items, { BillingOnLinePayment: true, ...fields })

  /** Brings orders in by an import, which says everything of them. */
  async function bring(...records: Wire[]): Promise<void> {
    const lines = records.map((record) => ({ service: 'Orders', record: { OrderStatusID: 1, ...record } }))
    expect((await importInto(server, shop, lines)).refused).toEqual([])
  }

  const soap = (
    operation: string,
    parameters: Record<string, string | number | boolean> = {},
    more?: SoapCallOptions,
  ) => soapCall(server, shop, operation, parameters, more)

  /** The orders of a page, as trees. */
  async function list(parameters: Record<string, string | number | boolean> = {}): Promise<Rest[]> {
    const tree = treeOf(await soap('getOrder', { batchSize: 100, startNum: 1, ...parameters })) as { Order: Tree }
    expect(Object.keys(tree)).toEqual(['Order'])
    return [tree.Order].flat()
  }

  /** Ids of the orders on a page, in their order. */
  const ids = async (parameters: Record<string, string | number | boolean> = {}) =>
    (await list(parameters)).map(({ OrderID }) => Number(OrderID))

  /** What a call is told in the header, beside the number. */
  async function reason(operation: string, parameters: Record<string, string | number | boolean>): Promise<unknown> {
    const answer = await post(server, envelope(request(shop, operation, parameters)))
    return answer.headers['x-error-reason']
  }

  const stock = async (id: number): Promise<number> => (await rest(`/Products/${id}`)).SKUInfo.Stock

  /** The ledger of a product's stock after its beginning. */
  async function movements(productId: number) {
    const rows = await db.stockMovement.findMany({ where: { storeId, productId }, orderBy: { id: 'asc' } })
    return rows.slice(1).map(({ quantity, cause, actor }) => ({ quantity: Number(quantity), cause, actor }))
  }

  /** The events that the store recorded during `work`: `Order New 12`. */
  async function eventsOf(work: () => Promise<unknown>): Promise<string[]> {
    const last = await db.event.findFirst({ orderBy: { id: 'desc' }, select: { id: true } })
    await work()
    const rows = await db.event.findMany({ where: { storeId, id: { gt: last?.id ?? 0n } }, orderBy: { id: 'asc' } })
    return rows.map(
      ({ eventType, recordId }) => `${eventKinds.find(({ type }) => type === eventType)?.name} ${recordId}`,
    )
  }

  return { shop, rest, product, place, bring, soap, list, ids, reason, stock, movements, eventsOf }
}

export type Orders = Awaited<ReturnType<typeof openOrders>>
