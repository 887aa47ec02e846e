-- CreateTable
CREATE TABLE "RecordCount" (
    "id" BIGSERIAL NOT NULL,
    "storeId" INTEGER NOT NULL,
    "table" TEXT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "RecordCount_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "RecordCount_storeId_table_idx" ON "RecordCount"("storeId", "table");

-- Room for the next version of a row beside it, which spares the indexes.
ALTER TABLE "RecordCount" SET (fillfactor = 50);

-- Whoever adds or removes records takes any row of their kind that nobody else is changing, or makes another: nobody waits, and
-- there are as many rows as there were transactions at once.
CREATE FUNCTION "countRecords"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "own" record;
BEGIN
  FOR "own" IN SELECT "storeId", TG_ARGV[0]::int * count(*)::int AS "count" FROM "changed" GROUP BY "storeId" LOOP
    UPDATE "RecordCount" SET "count" = "count" + "own"."count" WHERE "id" = (
      SELECT "id" FROM "RecordCount" WHERE "storeId" = "own"."storeId" AND "table" = TG_TABLE_NAME
      LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
      INSERT INTO "RecordCount" ("storeId", "table", "count") VALUES ("own"."storeId", TG_TABLE_NAME, "own"."count");
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

DO $$
DECLARE
  "each" text;
BEGIN
  FOREACH "each" IN ARRAY ARRAY['Category', 'Manufacturer', 'Distributor', 'CustomerGroup', 'Product', 'Customer', 'OrderStatus',
    'Order', 'GiftRegistry', 'Rma', 'Webhook']
  LOOP
    -- A trigger keeps others from changing the table until it is there for all, so that none is missed between it and the count.
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I REFERENCING NEW TABLE AS "changed"
      FOR EACH STATEMENT EXECUTE FUNCTION "countRecords"(''1'')', "each" || '_added', "each");
    EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS "changed"
      FOR EACH STATEMENT EXECUTE FUNCTION "countRecords"(''-1'')', "each" || '_removed', "each");
    EXECUTE format('INSERT INTO "RecordCount" ("storeId", "table", "count")
      SELECT "storeId", %L, count(*) FROM %I GROUP BY "storeId"', "each", "each");
  END LOOP;
END $$;
