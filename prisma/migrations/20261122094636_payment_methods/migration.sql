-- CreateTable
CREATE TABLE "PaymentMethod" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "visible" BOOLEAN NOT NULL,

    CONSTRAINT "PaymentMethod_pkey" PRIMARY KEY ("storeId","id")
);

-- The methods of stores that are there. An id that orders have used keeps the meaning that it had: its name is the one that
-- most of these orders say, and where none says any it gets no name.
CREATE TEMPORARY TABLE "usedMethod" ON COMMIT DROP AS
SELECT o."storeId", (o."details" ->> 'BillingPaymentMethodID')::int AS "id",
    btrim(coalesce(o."details" ->> 'BillingPaymentMethod', '')) AS "name", count(*) AS "orders"
FROM "Order" o
WHERE o."details" ->> 'BillingPaymentMethodID' ~ '^[1-9][0-9]{0,8}$'
GROUP BY 1, 2, 3;

-- A name once, and at most 94, so that the usual ones do not make them more than 100.
INSERT INTO "PaymentMethod" ("storeId", "id", "name", "visible")
SELECT "storeId", "id", "name", true FROM (
    SELECT n.*, row_number() OVER (PARTITION BY "storeId" ORDER BY "id") AS "place" FROM (
        SELECT DISTINCT ON ("storeId", lower("name")) "storeId", "id", "name" FROM (
            SELECT DISTINCT ON ("storeId", "id") "storeId", "id", "name" FROM "usedMethod"
            WHERE "name" <> '' AND length("name") <= 50 AND "name" !~ '[[:cntrl:]]'
            ORDER BY "storeId", "id", "orders" DESC, "name") m
        ORDER BY "storeId", lower("name"), "id") n) p
WHERE "place" <= 94;

-- Those of a new store.
INSERT INTO "PaymentMethod" ("storeId", "id", "name", "visible")
SELECT s."id", m."id", m."name", true
FROM "Store" s CROSS JOIN (VALUES
    (1, 'Online Credit Card'), (2, 'PayPal Express Checkout'), (3, 'Check or Money Order'),
    (4, 'Purchase Order'), (5, 'Bank Transfer'), (6, 'Cash on Delivery')) m ("id", "name")
WHERE NOT EXISTS (SELECT 1 FROM "usedMethod" u WHERE u."storeId" = s."id" AND u."id" = m."id")
  AND NOT EXISTS (SELECT 1 FROM "PaymentMethod" o WHERE o."storeId" = s."id" AND lower(o."name") = lower(m."name"));
