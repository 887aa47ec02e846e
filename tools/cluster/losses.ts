import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { orderNew, productStockChanged } from '../../src/engine/definition/event-kinds.ts'
import { withConnection } from '../../src/foundation/database/connection.ts'
import { readFeed } from '../../test/load/shop/webhooks/server-webhooks.ts'
import { programEnv } from '../../test/support/run-server.ts'
import { idIn, type Load, orderOf } from './load.ts'
import { until } from './processes.ts'
import type { Scene } from './scene.ts'

/** A delivery whose result was lost is sent again when its lease of a minute has ended. */
const DELIVERED_MS_MAX = 150_000

/** The kinds of the webhooks. */
const notified = [orderNew, productStockChanged].map(({ type }) => type)

/** Throws unless all that was answered is there, once, and all of it was notified. Returns what there is to tell. */
export async function findLosses(scene: Scene, load: Load): Promise<string[]> {
  return [await findLostOrders(scene, load), await findLostStocks(scene, load), await findLostEvents(scene, load)]
}

async function findLostOrders({ store, goods, settings }: Scene, { orders }: Load): Promise<string> {
  for (const [key, id] of orders) {
    const { status, text } = await store.place(orderOf(goods.sold), key)
    if (status !== 201 || idIn(text) !== id) throw new Error(`Order ${id} of ${key} is now answered ${status}: ${text}`)
  }
  const [row] = await query<{ count: number }>(settings.DATABASE_DIRECT_URL, `SELECT count(*)::int FROM "Order"`)
  if (row?.count !== orders.size) throw new Error(`${orders.size} orders were placed, and there are ${row?.count}`)
  return `${orders.size} orders were answered 201: all are there, none twice`
}

async function findLostStocks({ settings }: Scene, { stocks }: Load): Promise<string> {
  const rows = await query<{ productId: number; stock: number }>(
    settings.DATABASE_DIRECT_URL,
    `SELECT "productId", (sum("quantity") OVER (PARTITION BY "productId" ORDER BY "id"))::int AS "stock" FROM "StockMovement"`,
  )
  const ledger = new Set(rows.map(({ productId, stock }) => `${productId} ${stock}`))
  const answered = [...stocks].flatMap(([product, counts]) => counts.map((count) => `${product} ${count}`))
  const lost = answered.filter((one) => !ledger.has(one))
  if (lost.length > 0) throw new Error(`${lost.length} changes of stock are lost: ${lost.slice(0, 5).join(', ')}`)
  return `${answered.length} changes of stock were answered: all are in the ledger`
}

async function findLostEvents({ store, receiver }: Scene, { orders }: Load): Promise<string> {
  const isTold = async () => {
    const feed = await readFeed(store)
    const placed = new Set(feed.flatMap(({ EventType, RecordID }) => (EventType === orderNew.type ? [RecordID] : [])))
    const arrived = new Set(receiver.arrivals.map(({ id }) => id))
    const isDelivered = feed.every(({ Id, EventType }) => arrived.has(Id) || !notified.includes(EventType))
    return isDelivered && [...orders.values()].every((id) => placed.has(id)) ? feed : null
  }
  const feed = await until('all events', isTold, { waitMs: DELIVERED_MS_MAX, everyMs: 1_000 })
  const known = new Map(feed.map(({ Id, Sequence }) => [Id, Sequence]))
  const strange = receiver.arrivals.filter(({ id, sequence }) => known.get(id) !== sequence)
  const faults = [...receiver.faults, ...strange.map(({ id }) => `${id} is not in the feed`)]
  if (faults.length > 0) throw new Error(`Wrong deliveries: ${faults.slice(0, 5).join('; ')}`)
  const distinct = new Set(receiver.arrivals.map(({ id }) => id)).size
  const again = receiver.arrivals.length - distinct
  return `${distinct} events were delivered, as the feed has them, ${again} of them once more under the same id`
}

/** Runs `npm run check` with the settings of the servers. Throws unless it is clean. */
export async function checkData({ settings }: Scene): Promise<string[]> {
  const program = fileURLToPath(new URL('../../src/cli/check.ts', import.meta.url))
  await promisify(execFile)(process.execPath, [program], { env: { ...programEnv, ...settings } }).catch((error) => {
    throw new Error(`npm run check ended with ${error.code}:\n${error.stdout}${error.stderr}`)
  })
  return ['npm run check: all is well']
}

function query<T extends object>(url: string, sql: string): Promise<T[]> {
  return withConnection(url, async (client) => (await client.query<T>(sql)).rows)
}
