import pg from 'pg'
import type { BenchServer } from './bench-server.ts'

/** Of stores that nobody calls, beside the sandbox. */
const STORES = 100
const PRODUCTS = 1_000
/** Changes that one statement writes the rows of. */
const PIECE = 60_000

/** The tables that a change writes to, and the rows of each in one change, or one in so many changes. */
export const rowsOfAChange = {
  Event: 1,
  Delivery: 1,
  DeliveryAttempt: 1,
  HistoryEntry: 1,
  StockMovement: 1,
  IdempotencyKey: 1,
  IdempotencyAnswer: 1,
  AuditEntry: 0.1,
} as const
export type Table = keyof typeof rowsOfAChange

/** Which changes have been made: so many, a hundred a second, the last of them so many hours ago. */
export interface Past {
  readonly changes: number
  readonly endedHoursAgo: number
  /** The same for idempotency keys, which are kept for a day. */
  readonly keysEndedHoursAgo: number
}

/** Fills the tables as changes of `STORES` stores did, each notified to one webhook. `progress` hears how many are there. */
export async function fillPast(server: BenchServer, pasts: readonly Past[], progress: (made: number) => void) {
  const client = new pg.Client({ connectionString: server.databaseUrl })
  await client.connect()
  try {
    await client.query(`SET synchronous_commit = off; ${newStores}; ${olderRows}`)
    let made = 0
    for (const { changes, endedHoursAgo, keysEndedHoursAgo } of pasts) {
      for (let first = 0; first < changes; first += PIECE) {
        const last = Math.min(first + PIECE, changes)
        const at = (hours: number) => `now() - interval '${hours} hours' - (${changes} - n) * interval '10 ms'`
        await client.query(piece(`generate_series(${first}, ${last - 1}) n`, at(endedHoursAgo), at(keysEndedHoursAgo)))
        made += last - first
        progress(made)
      }
    }
    await client.query('VACUUM ANALYZE')
  } finally {
    await client.end()
  }
}

const newStores = `
  INSERT INTO "Store" ("name", "secureUrl", "currency", "timeZone", "userKeyHash", "userKeySealed", "createdAt")
  SELECT 'Store ' || n, 'https://' || n || '.example', 'USD', 'UTC', 'hash ' || n, '', now()
  FROM generate_series(1, ${STORES}) n;
  INSERT INTO "Webhook" ("storeId", "id", "name", "url", "eventType", "format", "enabled", "createdAt", "updatedAt", "updatedBy", "secretSealed")
  SELECT "id", 1, '', 'https://receiver.example', 1, 'JSON', false, now(), now(), '', '' FROM "Store" WHERE "name" LIKE 'Store %'`

/** What is there already has lower ids, and so has to be older. */
const olderRows = `
  UPDATE "Event" SET "createdAt" = now() - interval '40 days'; UPDATE "StockMovement" SET "createdAt" = now() - interval '40 days'`

/** An event as the newest of the sandbox, its delivery and so on; the stores take turns, and their products. */
function piece(changes: string, at: string, keyAt: string): string {
  return `
    CREATE TEMP TABLE "change" AS SELECT n, (SELECT min("id") FROM "Store" WHERE "name" LIKE 'Store %') + n % ${STORES} AS "storeId",
      n / ${STORES} * 7 % ${PRODUCTS} + 1 AS "recordId", ${at} AS "at", ${keyAt} AS "keyAt" FROM ${changes};
    WITH "event" AS (
      INSERT INTO "Event" ("storeId", "sequence", "eventType", "recordId", "body", "changed", "createdAt")
      SELECT c."storeId", c.n + 1, e."eventType", c."recordId", e."body", e."changed", c."at" FROM "change" c,
        (SELECT * FROM "Event" WHERE "sequence" <> 0 OR "sequence" IS NULL ORDER BY "id" DESC LIMIT 1) e ORDER BY c.n
      RETURNING "id", "storeId", "createdAt"
    ), "delivery" AS (
      INSERT INTO "Delivery" ("storeId", "webhookId", "eventId", "state", "attempts", "status", "createdAt", "endedAt")
      SELECT "storeId", 1, "id", 'delivered', 1, 200, "createdAt", "createdAt" FROM "event" ORDER BY "id"
      RETURNING "id", "createdAt"
    )
    INSERT INTO "DeliveryAttempt" ("deliveryId", "number", "at", "status", "reason", "durationMs", "answer")
    SELECT "id", 1, "createdAt", 200, '', 12, '{"received":true}' FROM "delivery" ORDER BY "id";
    INSERT INTO "HistoryEntry" ("storeId", "at", "recordType", "recordId", "kind", "actorKind", "actor", "changed", "more")
    SELECT "storeId", "at", 'Product', "recordId", 'update', 'application', 'Order sync', '[["SKUInfo.Price",8,9]]', 0
    FROM "change" ORDER BY n;
    INSERT INTO "StockMovement" ("storeId", "productId", "quantity", "stockAfter", "cause", "orderId", "actor", "createdAt")
    SELECT "storeId", "recordId", -1, 1000, 'order', n, 'Order sync', "at" FROM "change" ORDER BY n;
    INSERT INTO "IdempotencyKey" ("storeId", "scope", "bodyHash", "claimedAt", "claim", "leasedUntil", "answered")
    SELECT "storeId", encode(sha256(("keyAt"::text || n)::bytea), 'base64'), encode(sha256(n::text::bytea), 'base64'), "keyAt",
      gen_random_uuid(), "keyAt", true FROM "change" ORDER BY n;
    INSERT INTO "IdempotencyAnswer" ("storeId", "scope", "place", "item")
    SELECT "storeId", encode(sha256(("keyAt"::text || n)::bytea), 'base64'), 0,
      '{"Key":"CatalogID","Value":"12345","Status":"200","Message":"Product updated successfully"}' FROM "change" ORDER BY n;
    INSERT INTO "AuditEntry" ("at", "actorKind", "actor", "action", "target", "storeId", "details", "address")
    SELECT "at", 'merchant', 'owner@shop.example', 'account.signed-in', 'owner@shop.example', "storeId", '{}', '203.0.113.7'
    FROM "change" WHERE n % 10 = 0 ORDER BY n;
    DROP TABLE "change"`
}
