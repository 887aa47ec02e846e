import { decimal, fieldSet, integer, list, money, text } from '../../../engine/definition/fields.ts'
import type { Filters } from '../../../engine/definition/filters.ts'
import type { ComputedSubResource } from '../../../engine/definition/resource.ts'
import { constant, join, type Sql, sql } from '../../../foundation/database/sql.ts'
import { byDecimals } from '../../../foundation/values/currency.ts'
import { effect, paidSums } from './payments.ts'

/** What goods a line or an item of a return is of, over `i`: as `goodsOf` (stock.ts). */
const goods = sql`json_build_array(i."productId",
  CASE WHEN i."productId" IS NULL THEN lower(btrim(i."sku")) ELSE i."optionCode" END)::text`

/**
 * The lines with what returned of them and what was refunded. A return names goods, so that of several lines of the same goods the
 * first ones returned first.
 */
const lines: Sql = sql`(
  SELECT json_agg(json_build_object('ItemIndexID', l."id", 'ItemID', l."sku", 'ItemQuantity', l."quantity",
    'ReturnedQuantity', greatest(least(l."quantity", coalesce(b."quantity", 0) - l."before"), 0),
    'RefundedQuantity', coalesce(f."quantity", 0)) ORDER BY l."id")
  FROM (
    SELECT i."id", i."sku", i."quantity", ${goods} AS "goods",
      sum(i."quantity") OVER (PARTITION BY ${goods} ORDER BY i."id") - i."quantity" AS "before"
    FROM "OrderItem" i WHERE i."storeId" = t."storeId" AND i."orderId" = t."id") l
  LEFT JOIN (
    SELECT ${goods} AS "goods", sum(i."returnQuantity") AS "quantity"
    FROM "Rma" a JOIN "RmaItem" i ON i."storeId" = a."storeId" AND i."rmaId" = a."id"
    WHERE a."storeId" = t."storeId" AND a."orderId" = t."id" GROUP BY 1) b ON b."goods" = l."goods"
  LEFT JOIN (
    SELECT (item ->> 'ItemIndexID')::int AS "id", sum((item ->> 'RefundQuantity')::numeric) AS "quantity"
    FROM "OrderTransaction" x CROSS JOIN json_array_elements(x."details" -> 'RefundItemList') item
    WHERE x."storeId" = t."storeId" AND x."orderId" = t."id" AND ${effect} = 'refunded' GROUP BY 1) f ON f."id" = l."id")`

/** How many decimals a sum has in the currency of the store, over `s`: as `decimalsOf`. */
const decimals: Sql = sql`CASE ${join(
  Object.entries(byDecimals).map(
    ([count, codes]) => sql`WHEN s."currency" = ANY (string_to_array(${codes}, ' ')) THEN ${constant(Number(count))}`,
  ),
  ' ',
)} ELSE 2 END`

/** What an order amounts to, part by part, each rounded to the currency's decimals as pages and invoices do (amounts.ts). */
export const partsOf = (decimals: Sql): Sql => sql`(
  SELECT *, greatest("items" + "shipping" + "tax" - "discount", 0) AS "sum"
  FROM (
    SELECT
      (SELECT coalesce(sum(round((i."unitPrice" + i."optionPrice") * i."quantity", "decimals")), 0)
        FROM "OrderItem" i WHERE i."storeId" = t."storeId" AND i."orderId" = t."id") AS "items",
      (SELECT coalesce(sum(round(i."cost", "decimals")), 0)
        FROM "OrderShipment" i WHERE i."storeId" = t."storeId" AND i."orderId" = t."id") AS "shipping",
      round(t."salesTax", "decimals") + round(t."salesTax2", "decimals") + round(t."salesTax3", "decimals") AS "tax",
      round(t."discountCoupon", "decimals") + round(t."discountPromotion", "decimals") AS "discount"
    FROM (SELECT ${decimals} AS "decimals") store) each)`

const type: ComputedSubResource['type'] = {
  typeName: 'OrderSum',
  nouns: ['sums', 'sums'],
  fields: fieldSet({
    OrderID: integer({ column: 'id', access: 'key', description: 'The order whose sums these are.' }),
    ItemTotal: money({
      sql: sql`p."items"`,
      description:
        'What the lines cost: of each its ItemQuantity at ItemUnitPrice and ItemOptionPrice, rounded to the decimals of the store’s currency.',
    }),
    DiscountTotal: money({
      sql: sql`p."discount"`,
      description: 'OrderDiscountCoupon and OrderDiscountPromotion together; they come off.',
    }),
    ShippingTotal: money({ sql: sql`p."shipping"`, description: 'ShipmentCost of all shipments.' }),
    TaxTotal: money({ sql: sql`p."tax"`, description: 'SalesTax, SalesTax2 and SalesTax3 together.' }),
    OtherAmount: money({
      sql: sql`t."orderAmount" - p."sum"`,
      description:
        'What OrderAmount has beside these parts, such as a gift certificate; below 0 where it is less than they come to.',
    }),
    OrderAmount: money({ sql: sql`t."orderAmount"`, description: 'What the order comes to, as the order has it.' }),
    PaidAmount: money({
      sql: sql`p."paid"`,
      description: 'The transactions of the types Sale and Capture, and those of Authorize that are captured.',
    }),
    RefundedAmount: money({
      sql: sql`p."refunded"`,
      description: 'The transactions of the types Refund and Credit, and payments below 0, without their sign.',
    }),
    NetAmount: money({ sql: sql`p."net"`, description: 'PaidAmount less RefundedAmount: what the store has of it.' }),
    OpenAmount: money({
      sql: sql`p."open"`,
      description:
        'What is still to be paid; below 0 where more was paid than the order comes to. A refund of an order that was paid in full opens nothing.',
    }),
    ItemSumList: list(
      'ItemSum',
      {
        ItemIndexID: integer({ description: 'The line: the ItemIndexID of one in the OrderItemList of the order.' }),
        ItemID: text(150, { description: 'The SKU that was sold.' }),
        ItemQuantity: decimal({ description: 'How many pieces were sold.' }),
        ReturnedQuantity: decimal({
          description:
            'How many of them the returns of the order have. They name goods, not lines: of several lines of the same goods the first ones count first.',
        }),
        RefundedQuantity: decimal({ description: 'How many of them refunds name in their RefundItemList.' }),
      },
      { sql: lines, description: 'The lines of the order, with what became of them.' },
    ),
  }),
}

/** Sums of orders (rest-resources §3.11). */
export function orderSums(filters: Filters): ComputedSubResource {
  return {
    kind: 'computed',
    filters,
    from: sql`(SELECT * FROM ${partsOf(decimals)} parts CROSS JOIN LATERAL ${paidSums} payments)`,
    type,
  }
}
