-- Servers from 0.2.0 on may run on it.
-- The tax that an order's prices include, at the rate that was stated for it: as the tax of proposals (proposals.ts), of the lines that were
-- taxable when they were ordered. 0: none, or nobody stated it.
CREATE FUNCTION "containedTax"("ofStore" int, "ofOrder" int, "decimals" int) RETURNS numeric LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN "hasTaxed" THEN round((greatest("taxed" - CASE WHEN "goods" > 0 THEN round("discount" * "taxed" / "goods", $3) ELSE 0 END, 0)
    + "shipping") * "taxRate" / (100 + "taxRate"), $3) ELSE 0 END
  FROM (SELECT "taxRate", round("discountCoupon", $3) + round("discountPromotion", $3) AS "discount" FROM "Order"
    WHERE "storeId" = $1 AND "id" = $2 AND "taxIncluded" AND "taxRate" > 0) o
  CROSS JOIN LATERAL (
    SELECT coalesce(sum("amount"), 0) AS "goods", coalesce(sum("amount") FILTER (WHERE "isTaxed"), 0) AS "taxed", bool_or("isTaxed") AS "hasTaxed"
    FROM (SELECT round(("unitPrice" + "optionPrice") * "quantity", $3) AS "amount", "details" ->> 'ItemNonTaxable' IS DISTINCT FROM 'true' AS "isTaxed"
      FROM "OrderItem" WHERE "storeId" = $1 AND "orderId" = $2) line) g
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(round("cost", $3)), 0) AS "shipping" FROM "OrderShipment" WHERE "storeId" = $1 AND "orderId" = $2) s
$$;
