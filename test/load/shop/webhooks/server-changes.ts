import { vi } from 'vitest'
import {
  customerKinds,
  type EventKind,
  orderNew,
  orderStatusChange,
  productKinds,
  productStockChanged,
} from '../../../../src/engine/definition/event-kinds.ts'
import { type Answer, idsIn, type ServerStore } from './server-store.ts'

/** What a change has to be notified as: the kind, the record, and what tells it from the record's other changes. */
export function tell({ name }: EventKind, id: number, detail: unknown = ''): string {
  return `${name} ${id} ${detail}`
}

export type Change = () => Promise<unknown>

export interface Shop {
  /** To be sold and changed. */
  readonly products: readonly number[]
  /** In no order, and without stock. */
  readonly unsold: readonly number[]
  /** New, and of the status that new orders have. */
  readonly orders: readonly number[]
}

export interface Wanted {
  readonly placed: number
  readonly moved: number
  readonly stocked: number
  readonly renamed: number
  readonly created: number
  readonly deleted: number
  readonly joined: number
}

/** Makes changes of a shop, and keeps what has to be notified of those that it knows to be committed. */
export interface Changes {
  /** All but those of stocks, which the ledger tells, and those of new orders. */
  readonly told: string[]
  /** The new orders. */
  readonly placed: number[]
  /** In a random order. */
  readonly planned: readonly Change[]
}

/** How long a change may be tried again, over every outage in the way. */
const PATIENCE_MS = 120_000
const STATUS_PROCESSING = 2

export function plan(
  store: ServerStore,
  { products, unsold, orders }: Shop,
  wanted: Wanted,
  random: () => number,
): Changes {
  const told: string[] = []
  const placed: number[] = []
  const some = (ids: readonly number[]) => ids[Math.floor(random() * ids.length)] ?? 0
  let serial = 0

  /** Sends a change under a key of its own until it is answered as made; the key has it made once. */
  async function insistOn(send: (key: string) => Promise<Answer>): Promise<number> {
    const key = `change-${++serial}`
    const look = { timeout: PATIENCE_MS, interval: 25 }
    return vi.waitFor(async () => idsIn(await send(key))[0] ?? 0, look)
  }

  function insist(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<number> {
    return insistOn((key) => store.call(method, path, { key, ...(body !== undefined && { body }) }))
  }

  const makers: Record<keyof Wanted, (index: number) => Change> = {
    placed: () => {
      const order = orderOf(some(products))
      return () => insistOn((key) => store.place(order, key)).then((id) => placed.push(id))
    },
    moved: (index) => async () => {
      const id = orders[index] ?? 0
      await insist('PUT', `/Orders/${id}`, { OrderStatusID: STATUS_PROCESSING })
      told.push(tell(orderStatusChange, id, STATUS_PROCESSING))
    },
    stocked: (index) => {
      const body = [{ SKUInfo: { CatalogID: some(products), Stock: 20_000 + index * 1_000 } }]
      return () => insist('PUT', '/Products', body)
    },
    renamed: (index) => {
      const id = some(products)
      const Name = `Renamed ${index}`
      return async () => {
        await insist('PUT', `/Products/${id}`, { SKUInfo: { Name } })
        told.push(tell(productKinds.changed, id, Name))
      }
    },
    created: (index) => async () => {
      const id = await insist('POST', '/Products', { SKUInfo: { SKU: `NEW-${index}`, Name: `New ${index}` } })
      told.push(tell(productKinds.new, id))
    },
    deleted: (index) => async () => {
      const id = unsold[index] ?? 0
      await insist('DELETE', `/Products/${id}`)
      told.push(tell(productKinds.deleted, id))
    },
    joined: (index) => async () => {
      const id = await insist('POST', '/Customers', { Email: `buyer-${index}@shop.example`, Password: 'secret words' })
      told.push(tell(customerKinds.new, id))
    },
  }
  const all = Object.entries(wanted).flatMap(([what, count]) =>
    Array.from({ length: count }, (_, index) => makers[what as keyof Wanted](index)),
  )
  return { told, placed, planned: shuffled(all, random) }
}

/** Products with stock, products without, and orders; all of it is notified too. */
export async function openShop(
  store: ServerStore,
  counts: Record<keyof Shop, number>,
): Promise<Shop & { told: string[] }> {
  const create = async (prefix: string, count: number) => {
    const body = numbers(count).map((number) => ({ SKUInfo: { SKU: `${prefix}-${number}`, Name: 'Mug', Price: 8 } }))
    return idsIn(await store.call('POST', '/Products', { body }))
  }
  const products = await create('SOLD', counts.products)
  const unsold = await create('UNSOLD', counts.unsold)
  const stocks = products.map((CatalogID) => ({ SKUInfo: { CatalogID, Stock: 10_000 } }))
  idsIn(await store.call('PUT', '/Products', { body: stocks }))
  const orders: number[] = []
  for (const number of numbers(counts.orders)) {
    const CatalogID = products[number % products.length]
    orders.push(...idsIn(await store.place(orderOf(CatalogID))))
  }
  return { products, unsold, orders, told: [...products, ...unsold].map((id) => tell(productKinds.new, id)) }
}

function orderOf(CatalogID: number | undefined) {
  return { BillingEmail: 'guest@shop.example', OrderItemList: [{ CatalogID, ItemQuantity: 1 }] }
}

/** What is to be told of an order, and of a movement of stock. */
export const tellOrder = (id: number) => tell(orderNew, id)
export const tellStock = (productId: number, stock: number) => tell(productStockChanged, productId, stock)

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item)
}
