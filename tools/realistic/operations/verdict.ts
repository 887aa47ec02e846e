import { setTimeout as delay } from 'node:timers/promises'
import { type Context, completed } from './steps.ts'
import { send } from './traffic.ts'

const DELIVERY_TIMEOUT_MS = 120_000

/** Throws unless every order that was answered with 201 is there and was told of, the stock is the last one, and the check finds all well. */
export async function expectNothingLost({ installation, traffic }: Context): Promise<string> {
  const stock = await traffic.stop()
  const { shop, query, settings } = installation
  const rows = await query<{ id: number }>(`SELECT id FROM "Order" WHERE "storeId" = ${shop.storeId}`)
  const stored = new Set(rows.map(({ id }) => id))
  expectNone(
    'answered with 201 are not stored',
    traffic.orders.filter((id) => !stored.has(id)),
  )
  const twice = traffic.orders.length - new Set(traffic.orders).size
  if (twice > 0) throw new Error(`${twice} orders were answered twice under different keys`)

  const unnotified = () => traffic.orders.filter((id) => !traffic.notified.has(id))
  for (let waitedMs = 0; unnotified().length > 0 && waitedMs < DELIVERY_TIMEOUT_MS; waitedMs += 100) await delay(100)
  expectNone('were told of by no webhook', unnotified())

  const { value } = await send(shop, 'GET', `/StoreWebAPI/v1/Products/${shop.productIds[0]}`)
  const [{ SKUInfo }] = [value].flat() as [{ SKUInfo: { Stock: number } }]
  if (SKUInfo.Stock !== stock) throw new Error(`The stock is ${SKUInfo.Stock}, and ${stock} was written last`)

  const check = await completed('check', [], settings)
  const { orders, notified, arrivals, longestWaitMs, readsMeanwhile } = traffic
  return [
    `Orders answered with 201: ${orders.length}, all stored, all told of (${arrivals - notified.size} notifications came again)`,
    `Stock written ${stock} times, and so it reads`,
    `The longest that a change had to be sent again: ${(longestWaitMs / 1000).toFixed(1)} s; products read meanwhile: ${readsMeanwhile}`,
    `check: ${check}`,
  ].join('\n')
}

function expectNone(what: string, ids: readonly number[]): void {
  if (ids.length > 0) throw new Error(`${ids.length} orders ${what}: ${ids.slice(0, 10).join(', ')}`)
}
