import { randomUUID } from 'node:crypto'

/** New values for so many products, consecutive ones of `productIds`; or one order of one piece of each. */
export interface Change {
  readonly field: 'Stock' | 'Description' | 'Order'
  readonly records: number
  readonly productIds: readonly number[]
  /** Whether orders have no Idempotency-Key. */
  readonly isKeyless?: boolean
}

const NUMBERS = 1_000_000
const sentence = 'This product is described by one sentence, again and again. '

/** The headers of a request with such a body. Each order has a key of its own, unless they have none. */
export function changeHeaders({ field, isKeyless }: Change): Readonly<Record<string, string>> {
  const key = field === 'Order' && !isKeyless ? { 'idempotency-key': randomUUID() } : {}
  return { 'content-type': 'application/json', ...key }
}

/** The JSON of a PUT of Products, or of an order, from a random product on. A product hardly has its new value already. */
export function changeBody({ field, records, productIds }: Change): string {
  const first = random(productIds.length)
  const body = Array.from({ length: records }, (_, index) => {
    const CatalogID = productIds[(first + index) % productIds.length]
    if (field === 'Order') return { CatalogID, ItemQuantity: 1 }
    if (field === 'Stock') return { SKUInfo: { CatalogID, Stock: random(NUMBERS) } }
    return { SKUInfo: { CatalogID }, Description: `${random(NUMBERS)}. ${sentence.repeat(8)}` }
  })
  return JSON.stringify(field === 'Order' ? { BillingEmail: 'guest@bench.example', OrderItemList: body } : body)
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}
