-- CreateTable
CREATE TABLE "SalesSum" (
    "id" BIGSERIAL NOT NULL,
    "storeId" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,
    "amount" DECIMAL(19,4) NOT NULL,

    CONSTRAINT "SalesSum_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "SalesSum_storeId_since_idx" ON "SalesSum"("storeId", "since");

-- Room for the next version of a row beside it, which spares the indexes.
ALTER TABLE "SalesSum" SET (fillfactor = 50);

-- 5: cancelled, 7: not completed.
CREATE FUNCTION "isSale"("statusId" int) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN "statusId" NOT IN (5, 7);

CREATE FUNCTION "quarterOf"("at" timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_bin('15 minutes', "at", 'epoch'::timestamptz);

-- As with "RecordCount", a change takes any row of the quarter that no other transaction is changing, or adds one.
CREATE FUNCTION "addSales"("ofStore" int, "quarter" timestamptz, "orders" int, "total" numeric) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "SalesSum" SET "count" = "count" + "orders", "amount" = "amount" + "total" WHERE "id" = (
    SELECT "id" FROM "SalesSum" WHERE "storeId" = "ofStore" AND "since" = "quarter" LIMIT 1 FOR UPDATE SKIP LOCKED);
  IF NOT FOUND THEN
    INSERT INTO "SalesSum" ("storeId", "since", "count", "amount") VALUES ("ofStore", "quarter", "orders", "total");
  END IF;
END $$;

CREATE FUNCTION "sumSales"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "addSales"("storeId", "quarter", TG_ARGV[0]::int * "orders", TG_ARGV[0]::int * "total") FROM (
    SELECT "storeId", "quarterOf"("orderDate") AS "quarter", count(*)::int AS "orders", sum("orderAmount") AS "total"
    FROM "changed" WHERE "isSale"("statusId") GROUP BY 1, 2 OFFSET 0
  ) "sums";
  RETURN NULL;
END $$;

CREATE FUNCTION "moveSale"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF "isSale"(OLD."statusId") THEN
    PERFORM "addSales"(OLD."storeId", "quarterOf"(OLD."orderDate"), -1, -OLD."orderAmount");
  END IF;
  IF "isSale"(NEW."statusId") THEN
    PERFORM "addSales"(NEW."storeId", "quarterOf"(NEW."orderDate"), 1, NEW."orderAmount");
  END IF;
  RETURN NULL;
END $$;

-- The triggers keep others from changing orders until the sums are there.
CREATE TRIGGER "Order_sold" AFTER INSERT ON "Order" REFERENCING NEW TABLE AS "changed"
  FOR EACH STATEMENT EXECUTE FUNCTION "sumSales"('1');
CREATE TRIGGER "Order_unsold" AFTER DELETE ON "Order" REFERENCING OLD TABLE AS "changed"
  FOR EACH STATEMENT EXECUTE FUNCTION "sumSales"('-1');
-- Most changes of an order, such as from New to Shipped, leave its sale as it was.
CREATE TRIGGER "Order_sale_changed" AFTER UPDATE ON "Order" FOR EACH ROW
  WHEN ((OLD."orderDate", OLD."orderAmount", "isSale"(OLD."statusId"))
    IS DISTINCT FROM (NEW."orderDate", NEW."orderAmount", "isSale"(NEW."statusId")))
  EXECUTE FUNCTION "moveSale"();
INSERT INTO "SalesSum" ("storeId", "since", "count", "amount")
  SELECT "storeId", "quarterOf"("orderDate"), count(*), sum("orderAmount") FROM "Order" WHERE "isSale"("statusId") GROUP BY 1, 2;
