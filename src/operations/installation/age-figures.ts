import { queryRows } from '../../foundation/database/client.ts'
import type { DatabaseFigures } from '../../foundation/database/figures.ts'
import { identifier, join, type Sql, sql } from '../../foundation/database/sql.ts'

/** Tables that grow with time, each with its time and the index by which its oldest row is found. */
const inOrder = [
  ['Event', 'createdAt', 'id'],
  ['Delivery', 'createdAt', 'id'],
  ['DeliveryAttempt', 'at', 'id'],
  ['StockMovement', 'createdAt', 'id'],
  ['AuditEntry', 'at', 'id'],
  ['IdempotencyKey', 'claimedAt', 'claimedAt'],
  ['CsvImport', 'createdAt', 'createdAt'],
  ['Mail', 'createdAt', 'createdAt'],
] as const

/** The history has no order over all stores: a skip scan finds the oldest entry of each, of the first 5,000. */
const oldestHistory = sql`
  WITH RECURSIVE "oldest" ("storeId", "at") AS (
    (SELECT "storeId", "at" FROM "HistoryEntry" ORDER BY "storeId", "id" LIMIT 1)
    UNION ALL
    SELECT "next".* FROM "oldest" CROSS JOIN LATERAL (
      SELECT "storeId", "at" FROM "HistoryEntry" WHERE "storeId" > "oldest"."storeId" ORDER BY "storeId", "id" LIMIT 1
    ) AS "next"
  )
  SELECT min("at") FROM (SELECT "at" FROM "oldest" LIMIT 5000) AS "some"`

/** The ages of what is deleted by its age, or never. */
export const ageFigures: DatabaseFigures = {
  gauges: {
    database_oldest_row_timestamp_seconds: {
      help: 'When the oldest row of the table was written; absent: it has none',
      labelNames: ['table'],
    },
  },
  ask: async (tx, show) => {
    const oldest = (table: string, found: Sql) =>
      sql`SELECT ${table}::text AS "table", extract(epoch FROM (${found}))::float8 AS "epoch"`
    const all = [
      ...inOrder.map(([table, at, by]) =>
        oldest(table, sql`SELECT ${identifier(at)} FROM ${identifier(table)} ORDER BY ${identifier(by)} LIMIT 1`),
      ),
      oldest('HistoryEntry', oldestHistory),
    ]
    const rows = await queryRows<{ table: string; epoch: number | null }>(tx)`${join(all, ' UNION ALL ')}`
    for (const { table, epoch } of rows) {
      if (epoch !== null) show('database_oldest_row_timestamp_seconds', epoch, { table })
    }
  },
}
