import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type EventKind, orderNew, productStockChanged } from '../../src/engine/definition/event-kinds.ts'
import { withConnection } from '../../src/foundation/database/connection.ts'
import { readFeed } from '../../test/load/shop/webhooks/server-webhooks.ts'
import { ownTree, programEnv } from '../../test/support/run-server.ts'
import { idIn, type Load, orderOf } from './load.ts'
import { until } from './processes.ts'
import type { Shop } from './scene.ts'

/** A delivery whose result was lost is sent again when its lease of a minute has ended. */
const DELIVERED_MS_MAX = 150_000

/** The kinds of the webhooks. */
const notified = [orderNew, productStockChanged].map(({ type }) => type)

/** What the load changed and told; `tree`: of the version that looks at it. */
export interface Changed extends Shop {
  readonly settings: Readonly<Record<'DATABASE_DIRECT_URL', string>>
  readonly tree?: URL
}

/** Throws unless all that was answered is there, once, and all of it was notified. Returns what there is to tell. */
export async function findLosses(changed: Changed, load: Load): Promise<string[]> {
  return [await findLostOrders(changed, load), await findLostStocks(changed, load), await findLostEvents(changed, load)]
}

async function findLostOrders({ store, goods, settings }: Changed, { orders }: Load): Promise<string> {
  for (const [key, id] of orders) {
    const { status, text } = await store.place(orderOf(goods.sold), key)
    if (status !== 201 || idIn(text) !== id) throw new Error(`Order ${id} of ${key} is now answered ${status}: ${text}`)
  }
  const [row] = await query<{ count: number }>(
    settings.DATABASE_DIRECT_URL,
    `SELECT count(*)::int FROM "Order" WHERE "storeId" = ${store.id}`,
  )
  if (row?.count !== orders.size) throw new Error(`${orders.size} orders were placed, and there are ${row?.count}`)
  return `${orders.size} orders were answered 201: all are there, none twice`
}

async function findLostStocks({ store, settings }: Changed, { added }: Load): Promise<string> {
  const rows = await query<{ productId: number; stock: number; moved: number }>(
    settings.DATABASE_DIRECT_URL,
    `SELECT p."id" AS "productId", "stock"::int, sum(m."quantity")::int AS "moved"
     FROM "Product" p JOIN "StockMovement" m ON m."storeId" = p."storeId" AND m."productId" = p."id"
     WHERE p."storeId" = ${store.id} GROUP BY p."id", "stock"`,
  )
  for (const [product, count] of added) {
    const { stock, moved } = rows.find(({ productId }) => productId === product) ?? {}
    if (stock !== count || moved !== count)
      throw new Error(
        `${count} were added to the stock of product ${product}, which is ${stock}, by the ledger ${moved}`,
      )
  }
  return `${sumOf(added)} changes of stock were answered: all are in the ledger, none twice`
}

function sumOf(added: Load['added']): number {
  return [...added.values()].reduce((sum, count) => sum + count, 0)
}

async function findLostEvents({ store, receiver }: Changed, { orders, added }: Load): Promise<string> {
  const isTold = async () => {
    const feed = await readFeed(store)
    const arrived = new Set(receiver.arrivals.map(({ id }) => id))
    const isDelivered = feed.every(({ Id, EventType }) => arrived.has(Id) || !notified.includes(EventType))
    const told = Map.groupBy(feed, ({ EventType, RecordID }) => `${EventType} ${RecordID}`)
    const isOf = ({ type }: EventKind, id: number, count: number) => told.get(`${type} ${id}`)?.length === count
    const isFed =
      [...orders.values()].every((id) => isOf(orderNew, id, 1)) &&
      [...added].every(([id, count]) => isOf(productStockChanged, id, count))
    return isDelivered && isFed ? feed : null
  }
  const feed = await until('each event once', isTold, { waitMs: DELIVERED_MS_MAX, everyMs: 1_000 })
  const known = new Map(feed.map(({ Id, Sequence }) => [Id, Sequence]))
  const strange = receiver.arrivals.filter(({ id, sequence }) => known.get(id) !== sequence)
  const faults = [...receiver.faults, ...strange.map(({ id }) => `${id} is not in the feed`)]
  if (faults.length > 0) throw new Error(`Wrong deliveries: ${faults.slice(0, 5).join('; ')}`)
  const distinct = new Set(receiver.arrivals.map(({ id }) => id)).size
  const again = receiver.arrivals.length - distinct
  return `${distinct} events were delivered, as the feed has them, ${again} of them once more under the same id`
}

/** Runs `npm run check` with the settings of the servers. Throws unless it is clean. */
export async function checkData({ settings, tree = ownTree }: Pick<Changed, 'settings' | 'tree'>): Promise<string[]> {
  const program = fileURLToPath(new URL('src/cli/check.ts', tree))
  await promisify(execFile)(process.execPath, [program], { env: { ...programEnv, ...settings } }).catch((error) => {
    throw new Error(`npm run check ended with ${error.code}:\n${error.stdout}${error.stderr}`)
  })
  return ['npm run check: all is well']
}

function query<T extends object>(url: string, sql: string): Promise<T[]> {
  return withConnection(url, async (client) => (await client.query<T>(sql)).rows)
}
