import { type Sql, sql } from './sql.ts'

/** Whether the work in the background goes on for the store with this id, as a condition: that for a closed store stands still. Null: it is of no store. */
export function isOpenStore(storeId: Sql): Sql {
  return sql`NOT EXISTS (SELECT FROM "Store" WHERE "Store"."id" = ${storeId} AND "Store"."closedAt" IS NOT NULL)`
}
