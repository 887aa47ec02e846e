import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { request } from 'undici'
import type { Situation, Target } from './situations.ts'

/** With their events, histories and movements some 100,000 rows. */
const PRODUCTS = 20_000
const PRODUCTS_OF_REQUEST = 100
const AT_ONCE = 4
const LOOK_MS = 250

/** A large store whose 30 days are over goes, and takes as long as it takes. */
export const deletedStore: Pick<Situation, 'prepare' | 'attack'> = {
  prepare: async (target) => {
    const requests = PRODUCTS / PRODUCTS_OF_REQUEST
    const fill = async (first: number) => {
      for (let at = first; at < requests; at += AT_ONCE) await addProducts(target, at)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => fill(at)))
    await withDatabase(target, async (client, storeId) => {
      await client.query(`UPDATE "Store" SET "closedAt" = now() - interval '31 days' WHERE "id" = $1`, [storeId])
      // The worker ends the store at once, and would begin to empty it a minute later.
      const hold = `UPDATE "TestStore" SET "endedAt" = now() + interval '1 day' WHERE "storeId" = $1`
      while ((await client.query(hold, [storeId])).rowCount === 0) await sleep(LOOK_MS)
    })
  },
  attack: (target, signal) =>
    withDatabase(target, async (client, storeId) => {
      const before = await rowsOf(client, storeId)
      await client.query(`UPDATE "TestStore" SET "endedAt" = now() - interval '1 hour' WHERE "storeId" = $1`, [storeId])
      const isThere = async () => (await client.query('SELECT FROM "Store" WHERE "id" = $1', [storeId])).rowCount === 1
      const startedAt = performance.now()
      while (!signal.aborted && (await isThere())) await sleep(LOOK_MS)
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
      process.stderr.write(`Rows of the store: ${before}, and ${await rowsOf(client, storeId)} after ${seconds} s\n`)
    }),
}

async function addProducts({ origin, wideHeaders: [headers] }: Target, at: number): Promise<void> {
  const products = Array.from({ length: PRODUCTS_OF_REQUEST }, (_, index) => {
    const SKU = `Deleted-${at}-${index}`
    return { SKUInfo: { SKU, Name: `Product ${SKU}`, Price: 8, Stock: 5 }, Description: 'What it is. '.repeat(50) }
  })
  const answer = await request(`${origin}/StoreWebAPI/v1/Products`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(products),
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`Products were not taken: ${answer.statusCode} ${text.slice(0, 500)}`)
}

async function withDatabase(
  { databaseUrl, storeId }: Target,
  work: (client: pg.Client, storeId: number) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await work(client, storeId)
  } finally {
    await client.end()
  }
}

/** How many rows the largest of its tables have. */
async function rowsOf(client: pg.Client, storeId: number): Promise<number> {
  let count = 0
  for (const table of ['Product', 'Event', 'HistoryEntry', 'StockMovement']) {
    const { rows } = await client.query(`SELECT count(*)::int AS "count" FROM "${table}" WHERE "storeId" = $1`, [
      storeId,
    ])
    count += rows[0].count
  }
  return count
}
