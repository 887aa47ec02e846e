-- The movements of each stock add up to it. The first versions imported stocks without movements, the sandbox's among them,
-- and an advanced option that went took no movement along.
-- One statement, so that whatever applies it does all of it or nothing.
DO $$
BEGIN
  -- Nobody moves a stock meanwhile; in the order in which every change takes its locks.
  LOCK TABLE "Product", "AdvancedOption", "StockMovement" IN SHARE ROW EXCLUSIVE MODE;

  -- Stocks whose movements add up to something else. Of an advanced option that is gone, the stock is 0.
  CREATE TEMPORARY TABLE "incomplete" ON COMMIT DROP AS
  SELECT stocks.*, p."createdAt" FROM (
    SELECT "storeId", "productId", "optionCode", sum("stock") AS "stock" FROM (
      SELECT "storeId", "id" AS "productId", NULL::text AS "optionCode", "stock", 0 AS "moved" FROM "Product"
      UNION ALL SELECT "storeId", "productId", "code", "stock", 0 FROM "AdvancedOption"
      UNION ALL SELECT "storeId", "productId", "optionCode", 0, "quantity" FROM "StockMovement"
    ) each
    GROUP BY "storeId", "productId", "optionCode" HAVING sum("stock") <> sum("moved")
  ) stocks JOIN "Product" p ON p."storeId" = stocks."storeId" AND p."id" = stocks."productId";

  -- Their whole ledgers: each movement says what the stock was after it, and so what is missing before it.
  CREATE TEMPORARY TABLE "completed" ON COMMIT DROP AS
  WITH known AS (
    SELECT m.*, i."createdAt" AS "productCreatedAt", m."stockAfter" - m."quantity" AS "stockBefore",
      lag(m."stockAfter") OVER ledger AS "lastStock", lead(m."id") OVER ledger IS NULL AS "isLast"
    FROM "incomplete" i JOIN "StockMovement" m
      ON m."storeId" = i."storeId" AND m."productId" = i."productId" AND m."optionCode" IS NOT DISTINCT FROM i."optionCode"
    WINDOW ledger AS (PARTITION BY m."storeId", m."productId", m."optionCode" ORDER BY m."id")
  )
  SELECT "id", 1 AS "place", "storeId", "productId", "optionCode", "quantity", "stockAfter", "cause", "orderId", "actor", "createdAt"
  FROM known
  UNION ALL
  SELECT "id", 0, "storeId", "productId", "optionCode", "stockBefore" - coalesce("lastStock", 0), "stockBefore",
    CASE WHEN "lastStock" IS NULL THEN 'initial' ELSE 'set' END, NULL, 'upgrade',
    CASE WHEN "lastStock" IS NULL THEN least("createdAt", "productCreatedAt") ELSE "createdAt" END
  FROM known WHERE "stockBefore" <> coalesce("lastStock", 0)
  UNION ALL
  SELECT "id", 2, i."storeId", i."productId", i."optionCode", i."stock" - coalesce("stockAfter", 0), i."stock",
    CASE WHEN "id" IS NULL THEN 'initial' ELSE 'set' END, NULL, 'upgrade',
    CASE WHEN "id" IS NULL THEN i."createdAt" ELSE now() END
  FROM "incomplete" i LEFT JOIN known
    ON known."storeId" = i."storeId" AND known."productId" = i."productId"
      AND known."optionCode" IS NOT DISTINCT FROM i."optionCode" AND known."isLast"
  WHERE i."stock" <> coalesce("stockAfter", 0);

  -- A ledger is read in the order of its ids, so that all of its movements get new ones.
  DELETE FROM "StockMovement" m USING "completed" c WHERE m."id" = c."id" AND c."place" = 1;
  INSERT INTO "StockMovement" ("storeId", "productId", "optionCode", "quantity", "stockAfter", "cause", "orderId", "actor", "createdAt")
  SELECT "storeId", "productId", "optionCode", "quantity", "stockAfter", "cause", "orderId", "actor", "createdAt"
  FROM "completed" ORDER BY "storeId", "productId", "id" NULLS FIRST, "place";
END $$;
