import { draw, place } from './draws.ts'
import * as texts from './texts.ts'

export interface StoreSize {
  readonly products: number
  readonly customers: number
  readonly orders: number
}

/** Ids of records that share of the store's records refers to: half of them, a hundredth, and the last twenty. */
export const shares = { half: 1, hundredth: 2, lastTwenty: 3, none: 4 } as const

/** Lines that an order has at most. */
const LINES_MAX = 6
/** The number of order 1 is one more. */
export const INVOICES_BEFORE = 1_000

/** What fills a table: SQL of an INSERT with the parameters $1 (the store), and the first and the last number of its rows. */
export interface Filling {
  readonly table: string
  readonly count: (size: StoreSize) => number
  readonly sql: (size: StoreSize, now: string) => string
}

const numbers = 'generate_series($2::int, $3::int) n'

/** What record `n` of `count` refers to. */
const shared = (
  count: number,
) => `CASE WHEN n > ${count - 20} THEN ${shares.lastTwenty} WHEN n % 2 = 0 THEN ${shares.half}
  WHEN n % 100 = 1 THEN ${shares.hundredth} END`

const rare = (salt: number, share = 0.01) => `${draw('n', salt)} < ${share}`
const price = (id: string) => `(2 + ${place(id, 31, 40_000, 3)} / 100.0)::numeric(15, 4)`
const email = (id: string) => texts.email(id)

const customerOf = ({ customers }: StoreSize) =>
  `CASE WHEN ${draw('n', 51)} >= 0.1 THEN 1 + ${place('n', 52, customers, 2)} END`
/** Evenly over two years. */
const placedAt = ({ orders }: StoreSize, now: string) =>
  `('${now}'::timestamptz - interval '730 days' * (1 - n / ${orders}::float8))`
/** SQL: some time within so long of the first one. */
const within = (time: string, longest: string, now: string, share: string) =>
  `(${time} + least(interval '${longest}', '${now}'::timestamptz - ${time}) * ${share})`
const orderUpdatedAt = (size: StoreSize, now: string) => within(placedAt(size, now), '4 days', now, draw('n', 53))
/** The last orders are new; of the others, most are shipped, and few in work, cancelled or not completed. */
const status = ({ orders }: StoreSize) => `CASE WHEN n > ${orders - Math.min(200, Math.ceil(orders / 20))} THEN 1
  WHEN ${draw('n', 54)} < 0.03 THEN 5 WHEN ${draw('n', 54)} < 0.04 THEN 7 WHEN ${draw('n', 54)} < 0.042 THEN 2 ELSE 4 END`

/** The lines of order `n`: "line", "productId", "quantity" and "unitPrice". */
const lines = ({ products }: StoreSize) => `generate_series(0, ${place('n', 61, LINES_MAX, 2)}) line
  CROSS JOIN LATERAL (SELECT 1 + ${place('n * 8 + line', 62, products, 2)} AS "productId",
    1 + ${place('n * 8 + line', 63, 5, 4)} AS "quantity") bought
  CROSS JOIN LATERAL (SELECT ${price('"productId"')} AS "unitPrice") priced`

const all = (count: (size: StoreSize) => number) => (size: StoreSize) => Math.ceil(count(size))
const products = all((size) => size.products)
const customers = all((size) => size.customers)
const orders = all((size) => size.orders)
const targets = () => shares.none
const returns = all((size) => Math.min(size.products, size.orders) / 10)

/** In the order in which they refer to one another. */
export const fillings: readonly Filling[] = [
  {
    table: 'Category',
    count: targets,
    sql: () => `INSERT INTO "Category" ("storeId", "id", "name", "updatedAt", "updatedBy", "details")
      SELECT $1::int, n, 'Category ' || n, now(), '', '{}' FROM ${numbers}`,
  },
  {
    table: 'Manufacturer',
    count: targets,
    sql: () => `INSERT INTO "Manufacturer" ("storeId", "id", "name", "updatedAt", "updatedBy", "details")
      SELECT $1::int, n, 'Maker ' || n, now(), '', '{}' FROM ${numbers}`,
  },
  {
    table: 'Distributor',
    count: targets,
    sql: () => `INSERT INTO "Distributor" ("storeId", "id", "company", "email", "country", "state", "city", "phone", "updatedAt",
        "updatedBy", "details")
      SELECT $1::int, n, 'Carrier ' || n, '', '', '', '', '', now(), '', '{}' FROM ${numbers}`,
  },
  {
    table: 'CustomerGroup',
    count: targets,
    sql: () => `INSERT INTO "CustomerGroup" ("storeId", "id", "name", "priceLevel", "updatedAt", "details")
      SELECT $1::int, n, 'Group ' || n, 0, now(), '{}' FROM ${numbers}`,
  },
  {
    table: 'Product',
    count: products,
    sql: (size, now) => {
      const createdAt = `('${now}'::timestamptz - interval '5 years' * (1 - n / ${size.products}::float8))`
      return `INSERT INTO "Product" ("storeId", "id", "sku", "name", "cost", "price", "retailPrice", "salePrice", "onSale", "stock",
          "stockAlert", "manufacturerId", "nonTaxable", "notForSale", "hide", "giftCertificate", "homeSpecial", "categorySpecial",
          "nonSearchable", "selfShip", "freeShipping", "disableRewards", "inventoryControl", "fileName", "createdAt", "updatedAt",
          "updatedBy", "details")
        SELECT $1::int, n, 'SKU-' || n, ${texts.productName('n', size.products)}, round(${price('n')} * 0.6, 2), ${price('n')},
          round(${price('n')} * 1.2, 2), CASE WHEN ${rare(32, 0.08)} THEN round(${price('n')} * 0.8, 2) ELSE 0 END, ${rare(32, 0.08)},
          CASE WHEN ${rare(33, 0.08)} THEN 0 ELSE 6 + ${place('n', 34, 900, 3)} END, CASE WHEN ${rare(35, 0.2)} THEN 5 ELSE 0 END,
          ${shared(size.products)}, ${rare(36)}, ${rare(37)}, ${rare(38, 0.02)}, ${rare(39, 0.002)}, ${rare(40, 0.002)}, ${rare(41)},
          ${rare(42)}, ${rare(43)}, ${rare(44, 0.05)}, ${rare(45)}, -1, '', ${createdAt},
          greatest(${createdAt}, '${now}'::timestamptz - interval '730 days' * power(${draw('n', 46)}, 3)), 'Catalogue',
          ${texts.productDetails('n')} FROM ${numbers}`
    },
  },
  {
    table: 'ProductCategory',
    count: products,
    sql: (size) => `INSERT INTO "ProductCategory" ("storeId", "productId", "categoryId", "position")
      SELECT $1::int, n, ${shared(size.products)}, 0 FROM ${numbers} WHERE ${shared(size.products)} IS NOT NULL`,
  },
  {
    table: 'ProductDistributor',
    count: products,
    sql: (
      size,
    ) => `INSERT INTO "ProductDistributor" ("storeId", "productId", "distributorId", "position", "itemCost", "details")
      SELECT $1::int, n, ${shared(size.products)}, 0, 0, '{}' FROM ${numbers} WHERE ${shared(size.products)} IS NOT NULL`,
  },
  {
    table: 'Customer',
    count: customers,
    sql: (size, now) => {
      const createdAt = `('${now}'::timestamptz - interval '5 years' * (1 - n / ${size.customers}::float8))`
      return `INSERT INTO "Customer" ("storeId", "id", "email", "firstName", "lastName", "city", "state", "country", "phone",
          "groupId", "enabled", "createdAt", "updatedAt", "updatedBy", "storeCredit", "details")
        SELECT $1::int, n, ${email('n')}, ${texts.firstName('n')}, ${texts.lastName('n')}, ${texts.city('n')}, ${texts.state('n')},
          ${texts.country('n')}, ${texts.phone('n')}, ${shared(size.customers)}, true, ${createdAt},
          ${within(createdAt, '90 days', now, `power(${draw('n', 47)}, 3)`)}, 'Checkout', 0,
          format('{"BillingAddress1":"%s","BillingZipCode":"%s","MailList":true}', ${texts.street('n')},
            10000 + ${place('n', 48, 80_000)})::json FROM ${numbers}`
    },
  },
  {
    table: 'Order',
    count: orders,
    sql: (size, now) => {
      const customer = `coalesce(${customerOf(size)}, -n)`
      return `INSERT INTO "Order" ("storeId", "id", "invoicePrefix", "invoiceNumber", "customerId", "orderDate", "statusId",
          "updatedAt", "updatedBy", "billingEmail", "orderAmount", "salesTax", "salesTax2", "salesTax3", "discountCoupon",
          "discountPromotion", "details")
        SELECT $1::int, n, CASE WHEN ${rare(55, 0.03)} THEN 'WS-' ELSE 'AB-' END, ${INVOICES_BEFORE} + n, ${customerOf(size)},
          ${placedAt(size, now)}, ${status(size)}, ${orderUpdatedAt(size, now)}, 'Order sync', ${email(customer)},
          5 + (SELECT sum(round("unitPrice" * "quantity", 2)) FROM ${lines(size)}), 0, 0, 0, 0, 0,
          format('{"BillingFirstName":"%s","BillingLastName":"%s","BillingAddress":"%s","BillingCity":"%s","BillingState":"%s","BillingZipCode":"%s","BillingCountry":"%s","BillingPhoneNumber":"%s","BillingPaymentMethodID":"1"}',
            ${texts.firstName(customer)}, ${texts.lastName(customer)}, ${texts.street(customer)}, ${texts.city(customer)},
            ${texts.state(customer)}, 10000 + ${place(customer, 48, 80_000)}, ${texts.country(customer)},
            ${texts.phone(customer)})::json FROM ${numbers}`
    },
  },
  {
    table: 'OrderShipment',
    count: orders,
    sql: (
      size,
      now,
    ) => `INSERT INTO "OrderShipment" ("storeId", "id", "orderId", "statusId", "updatedAt", "updatedBy", "cost", "weight",
        "shippedDate", "trackingCode", "number", "details")
      SELECT $1::int, n, n, ${status(size)}, ${orderUpdatedAt(size, now)}, '', 5, 0, '',
        CASE WHEN ${status(size)} = 4 THEN 'TRACK' || n ELSE '' END, 1, '{}' FROM ${numbers}`,
  },
  {
    table: 'OrderItem',
    count: orders,
    sql: (
      size,
      now,
    ) => `INSERT INTO "OrderItem" ("storeId", "id", "orderId", "productId", "sku", "shipmentId", "quantity", "unitPrice",
        "optionPrice", "unitCost", "weight", "unitStock", "addedAt", "description", "details")
      SELECT $1::int, n * 8 + line, n, "productId", 'SKU-' || "productId", 0, "quantity", "unitPrice", 0, round("unitPrice" * 0.6, 2),
        0, 0, ${placedAt(size, now)}, ${texts.productName('"productId"', size.products)}, '{}'
      FROM ${numbers} CROSS JOIN LATERAL (SELECT * FROM ${lines(size)}) l`,
  },
  {
    table: 'OrderTransaction',
    count: orders,
    sql: (
      size,
      now,
    ) => `INSERT INTO "OrderTransaction" ("storeId", "id", "orderId", "occurredAt", "type", "amount", "captured", "details")
      SELECT $1::int, n * 2 + refund, n, ${placedAt(size, now)} + refund * interval '1 day', CASE refund WHEN 0 THEN 'Sale' ELSE 'Refund' END, 20, 0,
        format('{"TransactionMethod":"%s","TransactionReference":"BANK-%s"}', (ARRAY['PayPal', 'Card', 'Bank'])[1 + n % 3], n)::json
      FROM ${numbers}, generate_series(0, CASE WHEN ${rare(56, 0.03)} THEN 1 ELSE 0 END) refund`,
  },
  {
    table: 'HistoryEntry',
    count: orders,
    sql: (
      size,
      now,
    ) => `INSERT INTO "HistoryEntry" ("storeId", "at", "recordType", "recordId", "kind", "actorKind", "actor", "changed", "more")
      SELECT $1::int, ${orderUpdatedAt(size, now)}, 'Order', n, 'update', 'application', 'Order sync', '[["OrderStatusID", 1, 4]]', 0
      FROM ${numbers}`,
  },
  {
    table: 'Event',
    count: orders,
    sql: (size, now) => `INSERT INTO "Event" ("storeId", "sequence", "eventType", "recordId", "body", "createdAt")
      SELECT $1::int, n, 1, n, '{}', ${placedAt(size, now)} FROM ${numbers}`,
  },
  {
    table: 'Rma',
    count: returns,
    sql: () => `INSERT INTO "Rma" ("storeId", "id", "orderId", "rmaDate", "reasonId", "methodId", "statusId", "updatedAt", "updatedBy",
        "details")
      SELECT $1::int, n, n, now(), 1, 1, 1, now(), '', '{}' FROM ${numbers}`,
  },
  {
    table: 'RmaItem',
    count: returns,
    sql: (
      size,
    ) => `INSERT INTO "RmaItem" ("storeId", "rmaId", "position", "productId", "sku", "name", "returnQuantity", "receivedQuantity",
        "restockQuantity")
      SELECT $1::int, n, line, coalesce(${shared(returns(size))}, n), 'SKU-' || coalesce(${shared(returns(size))}, n), '', 1, 0, 0
      FROM ${numbers}, generate_series(0, 1) line`,
  },
  {
    table: 'GiftRegistry',
    count: returns,
    sql: () => `INSERT INTO "GiftRegistry" ("storeId", "id", "name", "createdAt", "updatedAt", "updatedBy", "details")
      SELECT $1::int, n, 'Registry ' || n, now(), now(), '', '{}' FROM ${numbers}`,
  },
  {
    table: 'GiftRegistryItem',
    count: returns,
    sql: (
      size,
    ) => `INSERT INTO "GiftRegistryItem" ("storeId", "registryId", "position", "productId", "sku", "name", "listed", "price", "sold",
        "soldOffline")
      SELECT $1::int, n, line, coalesce(${shared(returns(size))}, n), 'SKU-' || coalesce(${shared(returns(size))}, n), '', 1, 0, 0, 0
      FROM ${numbers}, generate_series(0, 1) line`,
  },
]

/**
 * The movements that lead to each stock: the first is what there is and what was sold, and each line of an order that was
 * neither cancelled nor left incomplete takes its quantity. $1: the store.
 */
export const movements = (now: string): readonly string[] => {
  const sold = `"OrderItem" i JOIN "Order" o ON o."storeId" = i."storeId" AND o."id" = i."orderId" AND "isSale"(o."statusId")
    WHERE i."storeId" = $1::int`
  return [
    `INSERT INTO "StockMovement" ("storeId", "productId", "quantity", "stockAfter", "cause", "actor", "createdAt")
     SELECT p."storeId", p."id", p."stock" + coalesce(s."sold", 0), p."stock" + coalesce(s."sold", 0), 'initial', 'Catalogue',
       '${now}'::timestamptz - interval '5 years'
     FROM "Product" p LEFT JOIN (SELECT i."productId", sum(i."quantity") AS "sold" FROM ${sold} GROUP BY 1) s ON s."productId" = p."id"
     WHERE p."storeId" = $1::int AND (p."stock" > 0 OR s."sold" > 0)`,
    `INSERT INTO "StockMovement" ("storeId", "productId", "quantity", "stockAfter", "cause", "orderId", "actor", "createdAt")
     SELECT i."storeId", i."productId", -i."quantity", p."stock" + sum(i."quantity") OVER later - i."quantity", 'order', i."orderId",
       'Checkout', i."addedAt"
     FROM (SELECT i.* FROM ${sold}) i JOIN "Product" p ON p."storeId" = i."storeId" AND p."id" = i."productId"
     WINDOW later AS (PARTITION BY i."productId" ORDER BY i."id" DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
     ORDER BY i."id"`,
  ]
}

/** What the platform keeps beside the records, so that those to come go on where these end. */
export const counters = ({ products, customers, orders }: StoreSize): readonly string[] => [
  `INSERT INTO "Counter" ("storeId", "name", "value")
   SELECT $1::int, c."name", c."value" FROM (VALUES ('Category', 4), ('Manufacturer', 4), ('Distributor', 4), ('CustomerGroup', 4),
     ('Product', ${products}), ('Customer', ${customers}), ('Order', ${orders}), ('Rma', ${orders}), ('GiftRegistry', ${orders}),
     ('row', ${orders * 8 + 7})) c ("name", "value")
   ON CONFLICT ("storeId", "name") DO UPDATE SET "value" = greatest("Counter"."value", excluded."value")`,
  `UPDATE "Store" SET "nextInvoiceNumber" = greatest("nextInvoiceNumber", ${INVOICES_BEFORE + orders + 1}) WHERE "id" = $1::int`,
  `INSERT INTO "EventFeed" ("storeId", "lastSequence") VALUES ($1::int, ${orders})
   ON CONFLICT ("storeId") DO UPDATE SET "lastSequence" = excluded."lastSequence"`,
]
