import type { Db } from '../../src/database/client.ts'

/** Ids of records that share of the store's records refers to: half of them, a hundredth, and the last twenty. */
export const shares = { half: 1, hundredth: 2, lastTwenty: 3, none: 4 } as const

/**
 * Fills a store by SQL with `count` products, as many customers and a tenth as many orders, returns and gift registries.
 * Each product and customer refers to a category, a distributor, a manufacturer or a group of each of the `shares`.
 * PostgreSQL's statistics are left as they were.
 */
export async function fillLargeStore(db: Db, storeId: number, count: number): Promise<void> {
  for (const sql of statements) await db.$executeRawUnsafe(sql, storeId, count)
}

/** What record `n` of `$2` refers to. */
const shared = `CASE WHEN n > $2::int - 20 THEN ${shares.lastTwenty} WHEN n % 2 = 0 THEN ${shares.half}
  WHEN n % 100 = 1 THEN ${shares.hundredth} END`
const many = 'generate_series(1, $2::int) n'
const few = 'generate_series(1, $2::int / 10) n'
const targets = 'generate_series(1, least(4, $2::int)) n'

const statements = [
  `INSERT INTO "Category" ("storeId", "id", "name", "updatedAt", "updatedBy", "details")
   SELECT $1::int, n, 'Category ' || n, now(), '', '{}' FROM ${targets}`,
  `INSERT INTO "Manufacturer" ("storeId", "id", "name", "updatedAt", "updatedBy", "details")
   SELECT $1::int, n, 'Maker ' || n, now(), '', '{}' FROM ${targets}`,
  `INSERT INTO "Distributor" ("storeId", "id", "company", "email", "country", "state", "city", "phone", "updatedAt",
     "updatedBy", "details")
   SELECT $1::int, n, 'Carrier ' || n, '', '', '', '', '', now(), '', '{}' FROM ${targets}`,
  `INSERT INTO "CustomerGroup" ("storeId", "id", "name", "priceLevel", "updatedAt", "details")
   SELECT $1::int, n, 'Group ' || n, 0, now(), '{}' FROM ${targets}`,
  `INSERT INTO "Product" ("storeId", "id", "sku", "name", "cost", "price", "retailPrice", "salePrice", "onSale", "stock",
     "manufacturerId", "nonTaxable", "notForSale", "hide", "giftCertificate", "homeSpecial", "categorySpecial",
     "nonSearchable", "selfShip", "freeShipping", "disableRewards", "inventoryControl", "fileName", "createdAt",
     "updatedAt", "updatedBy", "details")
   SELECT $1::int, n, 'SKU-' || n, 'Product ' || md5(n::text), n % 100, n % 300, 0, 0, false, n % 50, ${shared}, false,
     false, false, false, false, false, false, false, false, false, 0, '', now(), now(), '', '{}' FROM ${many}`,
  `INSERT INTO "ProductCategory" ("storeId", "productId", "categoryId", "position")
   SELECT $1::int, n, ${shared}, 0 FROM ${many} WHERE ${shared} IS NOT NULL`,
  `INSERT INTO "ProductDistributor" ("storeId", "productId", "distributorId", "position", "itemCost", "details")
   SELECT $1::int, n, ${shared}, 0, 0, '{}' FROM ${many} WHERE ${shared} IS NOT NULL`,
  `INSERT INTO "Customer" ("storeId", "id", "email", "firstName", "lastName", "city", "state", "country", "phone", "groupId",
     "enabled", "createdAt", "updatedAt", "updatedBy", "storeCredit", "details")
   SELECT $1::int, n, n || '@mail.example', '', '', '', '', '', '', ${shared}, true, now(), now(), '', 0, '{}' FROM ${many}`,
  `INSERT INTO "Order" ("storeId", "id", "invoicePrefix", "invoiceNumber", "orderDate", "statusId", "updatedAt", "updatedBy",
     "billingEmail", "orderAmount", "salesTax", "salesTax2", "salesTax3", "discountCoupon", "discountPromotion", "details")
   SELECT $1::int, n, 'AB-', n, now(), 4, now(), '', '', 0, 0, 0, 0, 0, 0, '{}' FROM ${few}`,
  `INSERT INTO "OrderItem" ("storeId", "id", "orderId", "productId", "sku", "shipmentId", "quantity", "unitPrice",
     "optionPrice", "unitCost", "weight", "unitStock", "addedAt", "description", "details")
   SELECT $1::int, n, n, coalesce(${shared}, n), '', 0, 1, 0, 0, 0, 0, 0, now(), '', '{}' FROM ${few}`,
  `INSERT INTO "Rma" ("storeId", "id", "orderId", "rmaDate", "reasonId", "methodId", "statusId", "updatedAt", "updatedBy",
     "details")
   SELECT $1::int, n, n, now(), 1, 1, 1, now(), '', '{}' FROM ${few}`,
  `INSERT INTO "RmaItem" ("storeId", "rmaId", "position", "productId", "sku", "name", "returnQuantity", "receivedQuantity",
     "restockQuantity")
   SELECT $1::int, n, place, coalesce(${shared}, n), 'SKU-' || coalesce(${shared}, n), '', 1, 0, 0
   FROM ${few}, generate_series(0, 1) place`,
  `INSERT INTO "GiftRegistry" ("storeId", "id", "name", "createdAt", "updatedAt", "updatedBy", "details")
   SELECT $1::int, n, 'Registry ' || n, now(), now(), '', '{}' FROM ${few}`,
  `INSERT INTO "GiftRegistryItem" ("storeId", "registryId", "position", "productId", "sku", "name", "listed", "price", "sold",
     "soldOffline")
   SELECT $1::int, n, place, coalesce(${shared}, n), 'SKU-' || coalesce(${shared}, n), '', 1, 0, 0, 0
   FROM ${few}, generate_series(0, 1) place`,
]
