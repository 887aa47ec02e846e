import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
import type { Answer, ServerStore } from '../../test/load/shop/webhooks/server-store.ts'

/** Between two requests of a client, so that a small machine has time for everything else. */
const PAUSE_MS = 40
const RETRY_MS = 100
/** How long it runs before anything is done to the cluster, and behind it. */
export const CALM_MS = 2_000

/** A request, and how it ended. */
export interface Sent {
  readonly isChange: boolean
  readonly endedAtMs: number
  /** Null: no answer. */
  readonly status: number | null
  readonly text: string
}

export interface Load {
  readonly sent: readonly Sent[]
  /** The order of each key that was answered 201. */
  readonly orders: ReadonlyMap<string, number>
  /** How often one more of a product was answered. */
  readonly added: ReadonlyMap<number, number>
  /** Stops when every change has been answered. */
  readonly stop: () => Promise<void>
}

export interface Goods {
  /** One for each client that adds to a stock, which was 0. */
  readonly changed: readonly number[]
  readonly sold: number
}

/** Reads, changes of stock and new orders, each over kept connections and over new ones. A change is repeated until it is answered. */
export function startLoad(store: ServerStore, { changed, sold }: Goods): Load {
  const sent: Sent[] = []
  const orders = new Map<string, number>()
  const added = new Map(changed.map((id) => [id, 0]))
  // Without pipelining, undici takes a new connection for each request.
  const agents = [new Agent(), new Agent({ pipelining: 0 })]
  let isStopping = false

  async function send(isChange: boolean, request: () => Promise<Answer>): Promise<Answer | null> {
    const { status, text } = await request().catch((error: Error) => ({ status: null, text: error.message }))
    sent.push({ isChange, endedAtMs: performance.now(), status, text })
    return status === null ? null : { status, text }
  }

  async function insist(request: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const answer = await send(true, request)
      if (answer !== null && answer.status < 300) return answer
      await delay(RETRY_MS)
    }
  }

  async function repeat(work: () => Promise<unknown>): Promise<void> {
    while (!isStopping) {
      await work()
      await delay(PAUSE_MS)
    }
  }

  const clientsOf = (dispatcher: Dispatcher, product: number) => [
    repeat(() => send(false, () => store.call('GET', `/Products/${product}`, { dispatcher }))),
    repeat(async () => {
      const [key, body] = [randomUUID(), { SKUInfo: { StockAdjust: 1 } }]
      await insist(() => store.call('PUT', `/Products/${product}`, { body, key, dispatcher }))
      added.set(product, (added.get(product) ?? 0) + 1)
    }),
    repeat(async () => {
      const key = randomUUID()
      const { text } = await insist(() => store.place(orderOf(sold), key, dispatcher))
      orders.set(key, idIn(text))
    }),
  ]
  const clients = agents.flatMap((agent, index) => clientsOf(agent, changed[index] ?? 0))
  return {
    sent,
    orders,
    added,
    stop: async () => {
      isStopping = true
      await Promise.all(clients)
      await Promise.all(agents.map((agent) => agent.close()))
    },
  }
}

export function orderOf(product: number) {
  return { BillingEmail: 'guest@shop.example', OrderItemList: [{ CatalogID: product, ItemQuantity: 1 }] }
}

/** The identifier in the first result item. */
export function idIn(text: string): number {
  const [item] = JSON.parse(text) as { Value: string }[]
  return Number(item?.Value)
}

/** A request was served: neither refused, nor broken off. */
export const isServed = ({ status }: Sent) => status !== null && status < 300
