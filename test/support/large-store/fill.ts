import { openClient } from '../client.ts'
import { counters, fillings, movements, type StoreSize } from './statements.ts'
import { withoutIndexes } from './without-indexes.ts'

/** Numbers of records that one statement adds. */
const BATCH = 100_000

interface FillOptions {
  /** Gets the numbers of records added, whose sum is `recordsOf` the store. */
  readonly onRecords?: (count: number) => void
  /**
   * Whether indexes are made behind the rows, and PostgreSQL's statistics and visibility maps behind that: for stores of millions,
   * with nobody else on the database. Default: neither.
   */
  readonly isWhole?: boolean
}

/** The records of a store of this size, each with what belongs to it as one. */
export function recordsOf(size: StoreSize): number {
  return fillings.reduce((sum, { count }) => sum + count(size), 0)
}

/**
 * Fills an empty store by SQL with products, customers and orders of the last two years, each with its lines, a shipment, the
 * movements of stock, an entry of its history and an event, and a tenth as many returns and gift registries. Some words, cities,
 * customers and products are frequent and others rare, most products are in stock and visible, and `npm run check` finds all well.
 * Each product and customer refers to a category, a distributor, a manufacturer or a group of each of the `shares`.
 */
export async function fillLargeStore(
  url: string,
  storeId: number,
  size: StoreSize,
  { onRecords = () => {}, isWhole = false }: FillOptions = {},
): Promise<void> {
  const client = await openClient(url)
  const now = new Date().toISOString()
  const fill = async () => {
    for (const { count, sql } of fillings) {
      const [text, total] = [sql(size, now), count(size)]
      for (let first = 1; first <= total; first += BATCH) {
        const last = Math.min(first + BATCH - 1, total)
        await client.query(text, [storeId, first, last])
        onRecords(last - first + 1)
      }
    }
    // Without statistics, PostgreSQL would add up what was sold anew for each product.
    await client.query('SET enable_nestloop = off')
    for (const text of movements(now)) await client.query(text, [storeId])
  }
  try {
    await client.query(`SET synchronous_commit = off; SET work_mem = '256MB'; SET jit = off`)
    const tables = [...fillings.map(({ table }) => table), 'StockMovement']
    await (isWhole ? withoutIndexes(client, tables, fill) : fill())
    for (const text of counters(size)) await client.query(text, [storeId])
    if (isWhole) await client.query('VACUUM (ANALYZE)')
  } finally {
    await client.end()
  }
}
