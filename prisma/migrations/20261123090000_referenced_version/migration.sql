-- CreateTable
CREATE TABLE "ReferencedVersion" (
    "id" BIGSERIAL NOT NULL,
    "storeId" INTEGER NOT NULL,
    "version" BIGINT NOT NULL,

    CONSTRAINT "ReferencedVersion_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "ReferencedVersion_storeId_idx" ON "ReferencedVersion"("storeId");

-- Room for the next version of a row beside it, which spares the index.
ALTER TABLE "ReferencedVersion" SET (fillfactor = 50);

-- As with "RecordCount", nobody waits: a change takes any row that nobody else is changing, or makes another. Only the sum says
-- something, and every commit raises it.
CREATE FUNCTION "raiseReferencedVersion"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "row" jsonb := to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END);
  "store" int := coalesce("row" -> 'storeId', "row" -> 'id')::int;
BEGIN
  UPDATE "ReferencedVersion" SET "version" = "version" + 1 WHERE "id" = (
    SELECT "id" FROM "ReferencedVersion" WHERE "storeId" = "store" LIMIT 1 FOR UPDATE SKIP LOCKED);
  IF NOT FOUND THEN
    INSERT INTO "ReferencedVersion" ("storeId", "version") VALUES ("store", 1);
  END IF;
  RETURN NULL;
END $$;

-- The store's row changes with every order, whose number it gives.
CREATE TRIGGER "Store_referenced" AFTER UPDATE OF "secureUrl", "currency", "timeZone" ON "Store"
FOR EACH ROW EXECUTE FUNCTION "raiseReferencedVersion"();

-- Foreign keys see to it that nothing refers to a row before it is there, and whoever deletes it changes what refers to it.
DO $$
DECLARE
  "each" text;
BEGIN
  FOREACH "each" IN ARRAY ARRAY['Category', 'Manufacturer', 'Distributor', 'CustomerGroup', 'PaymentMethod'] LOOP
    EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I FOR EACH ROW
      WHEN (to_jsonb(OLD) - ARRAY[''updatedAt'', ''updatedBy''] <> to_jsonb(NEW) - ARRAY[''updatedAt'', ''updatedBy''])
      EXECUTE FUNCTION "raiseReferencedVersion"()', "each" || '_referenced', "each");
  END LOOP;
END $$;

-- Orders name a payment method by a text.
CREATE TRIGGER "PaymentMethod_added_or_removed" AFTER INSERT OR DELETE ON "PaymentMethod"
FOR EACH ROW EXECUTE FUNCTION "raiseReferencedVersion"();
