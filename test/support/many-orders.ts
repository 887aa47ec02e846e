import type { Db } from '../../src/database/client.ts'

/** Orders that one statement adds. */
const BATCH = 100_000

/** Ids of the orders begin behind those of `fillLargeStore`. */
const FIRST = 1_000_000

/**
 * Adds `count` orders of the last two years by SQL to a store that `fillLargeStore` has filled with `products` products and
 * customers: each with a shipment, two lines, a movement of stock, an entry of its history and an event that told of it.
 * PostgreSQL's statistics are left as they were.
 */
export async function addManyOrders(db: Db, storeId: number, count: number, products: number): Promise<void> {
  for (let first = 0; first < count; first += BATCH) {
    const last = Math.min(first + BATCH, count)
    for (const text of statements(`generate_series(${FIRST + first}, ${FIRST + last - 1}) n`)) {
      await db.$executeRawUnsafe(text, storeId, ...(text.includes('$2') ? [products] : []))
    }
  }
  await db.$executeRawUnsafe(
    `INSERT INTO "EventFeed" ("storeId", "lastSequence") VALUES ($1::int, ${FIRST + count})
     ON CONFLICT ("storeId") DO UPDATE SET "lastSequence" = excluded."lastSequence"`,
    storeId,
  )
}

/** Most orders are shipped, few are new, partly shipped or cancelled. */
const status = `CASE WHEN n % 50 = 0 THEN 5 WHEN n % 400 = 1 THEN 3 WHEN n > ${FIRST} + 1000 AND n % 997 = 0 THEN 1 ELSE 4 END`
const at = `now() - (n % 730) * interval '1 day' - (n % 86400) * interval '1 second'`
const address = `'{"BillingFirstName":"Ada","BillingLastName":"Byron","BillingCity":"London","BillingCountry":"GB"}'`

const statements = (numbers: string) => [
  `INSERT INTO "Order" ("storeId", "id", "invoicePrefix", "invoiceNumber", "customerId", "orderDate", "statusId", "updatedAt",
     "updatedBy", "billingEmail", "orderAmount", "salesTax", "salesTax2", "salesTax3", "discountCoupon", "discountPromotion",
     "details")
   SELECT $1::int, n, 'AB-', n, 1 + n % $2::int, ${at}, ${status}, ${at}, 'Order sync', n % $2::int || '@mail.example',
     n % 300 + 5, 0, 0, 0, 0, 0, ${address} FROM ${numbers}`,
  `INSERT INTO "OrderShipment" ("storeId", "id", "orderId", "statusId", "updatedAt", "updatedBy", "cost", "weight", "shippedDate",
     "trackingCode", "number", "details")
   SELECT $1::int, n, n, ${status}, ${at}, '', 5, 0, '', '', 1, '{}' FROM ${numbers}`,
  `INSERT INTO "OrderItem" ("storeId", "id", "orderId", "productId", "sku", "shipmentId", "quantity", "unitPrice", "optionPrice",
     "unitCost", "weight", "unitStock", "addedAt", "description", "details")
   SELECT $1::int, n * 2 + line, n, 1 + (n + line) % $2::int, 'SKU-' || 1 + (n + line) % $2::int, 0, 1, n % 300, 0, 0, 0, 0, ${at},
     'Product', '{}' FROM ${numbers}, generate_series(0, 1) line`,
  `INSERT INTO "StockMovement" ("storeId", "productId", "quantity", "stockAfter", "cause", "orderId", "actor", "createdAt")
   SELECT $1::int, 1 + n % $2::int, -1, 0, 'order', n, 'Order sync', ${at} FROM ${numbers}`,
  `INSERT INTO "HistoryEntry" ("storeId", "at", "recordType", "recordId", "kind", "actorKind", "actor", "changed", "more")
   SELECT $1::int, ${at}, 'Order', n, 'update', 'application', 'Order sync', '[["OrderStatusID", 1, 4]]', 0 FROM ${numbers}`,
  `INSERT INTO "Event" ("storeId", "sequence", "eventType", "recordId", "body", "createdAt")
   SELECT $1::int, n, 1, n, '{}', ${at} FROM ${numbers}`,
]
