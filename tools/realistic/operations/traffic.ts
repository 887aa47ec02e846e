import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { openReceiver } from '../../../test/support/receiver.ts'

/** Whom the traffic is for. Read for each request, because a command may take the store to another server. */
export interface Shop {
  baseUrl: string
  readonly operatorKey: string
  readonly storeId: number
  readonly headers: Readonly<Record<string, string>>
  readonly productIds: readonly number[]
}

export interface Traffic {
  /** Ids of the orders that were answered with 201, in the order of the answers. */
  readonly orders: readonly number[]
  /** How often each answer came that is not a success; `no answer` where the connection ended. */
  readonly refusals: Readonly<Record<string, number>>
  /** The longest time, in ms, that an order was sent again until it was taken. */
  readonly longestWaitMs: number
  /** Ids of the orders that webhooks told of. */
  readonly notified: ReadonlySet<number>
  /** Of all arrivals, repeats included. */
  readonly arrivals: number
  /** Reads while changes were refused. */
  readonly readsMeanwhile: number
  /** Rejects when an answer comes that must not come. */
  readonly failed: Promise<never>
  /** Ends the orders and reads; resolves with the stock that was written last. */
  stop(): Promise<number>
  close(): Promise<void>
}

const ORDERING = 2
const PAUSE_MS = 50
const PREFIX = '/StoreWebAPI/v1'

/**
 * Places orders, changes a stock and reads products until it is stopped. Each change is sent again, with its Idempotency-Key,
 * until it is answered, as a careful client does; anything but a success, 409, 503 or a lost connection ends it with an error.
 */
export async function startTraffic(shop: Shop): Promise<Traffic> {
  const receiver = await openReceiver()
  const [counted = 0, ...sold] = shop.productIds
  await send(shop, 'POST', `${PREFIX}/Webhooks`, { Name: 'Day', Url: receiver.url, EventType: 1, Enabled: true })
  const orders: number[] = []
  const refusals: Record<string, number> = {}
  let isStopped = false
  let isRefused = false
  let longestWaitMs = 0
  let readsMeanwhile = 0
  let stock = 0

  const untilTaken = async (method: 'POST' | 'PUT', path: string, body: object) => {
    const key = randomUUID()
    const startedAt = performance.now()
    for (;;) {
      const { status, value } = await send(shop, method, path, body, key).catch(() => ({ status: 0, value: null }))
      if (status === 200 || status === 201) {
        isRefused = false
        longestWaitMs = Math.max(longestWaitMs, performance.now() - startedAt)
        return value
      }
      if (status === 503) isRefused = true
      const name = status === 0 ? 'no answer' : String(status)
      refusals[name] = (refusals[name] ?? 0) + 1
      if (![0, 409, 503].includes(status))
        throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(value)}`)
      await delay(PAUSE_MS)
    }
  }
  const ordering = async (worker: number) => {
    for (let number = worker; !isStopped; number += ORDERING) {
      const OrderItemList = [{ CatalogID: sold[number % sold.length], ItemQuantity: 1 }]
      const body = { BillingEmail: 'day@mail.example', OrderItemList }
      const answer = await untilTaken('POST', `/admin/stores/${shop.storeId}/orders`, body)
      orders.push(Number((answer as [{ Value: string }])[0].Value))
      await delay(PAUSE_MS)
    }
  }
  const stocking = async () => {
    while (!isStopped) {
      stock += 1
      await untilTaken('PUT', `${PREFIX}/Products/${counted}`, { SKUInfo: { Stock: stock } })
      await delay(PAUSE_MS)
    }
  }
  const reading = async () => {
    while (!isStopped) {
      const { status } = await send(shop, 'GET', `${PREFIX}/Products/${counted}`).catch(() => ({ status: 0 }))
      if (isRefused && status === 200) readsMeanwhile += 1
      await delay(PAUSE_MS)
    }
  }
  const work = Promise.all([
    ...Array.from({ length: ORDERING }, (_, worker) => ordering(worker)),
    stocking(),
    reading(),
  ])
  const failed = new Promise<never>((_, reject) => work.catch(reject))
  failed.catch(() => {})
  return {
    orders,
    refusals,
    failed,
    get longestWaitMs() {
      return longestWaitMs
    },
    get readsMeanwhile() {
      return readsMeanwhile
    },
    get notified() {
      return new Set(receiver.received.map(({ text }) => orderOf(text)))
    },
    get arrivals() {
      return receiver.received.length
    },
    stop: async () => {
      isStopped = true
      await work
      return stock
    },
    close: async () => {
      isStopped = true
      await receiver.close()
    },
  }
}

/** Sends a request of the store's application, or of the operator. */
export async function send(shop: Shop, method: 'GET' | 'POST' | 'PUT', path: string, body?: object, key?: string) {
  const isOperator = path.startsWith('/admin')
  const answer = await request(`${shop.baseUrl}${path}`, {
    method,
    headers: {
      ...(isOperator ? { authorization: `Bearer ${shop.operatorKey}` } : shop.headers),
      ...(body && { 'content-type': 'application/json' }),
      ...(key && { 'idempotency-key': key }),
    },
    body: body ? JSON.stringify(body) : null,
    headersTimeout: 30_000,
  })
  const text = await answer.body.text()
  return { status: answer.statusCode, value: text === '' ? null : (JSON.parse(text) as unknown) }
}

function orderOf(text: string): number {
  return Number(/"OrderID":\s*(\d+)/.exec(text)?.[1])
}
