-- AlterTable
ALTER TABLE "OrderStatus" ADD COLUMN     "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- AlterTable
ALTER TABLE "Product" ADD COLUMN     "gtin" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "mfgId" TEXT NOT NULL DEFAULT '';

-- CreateIndex
CREATE INDEX "Category_storeId_updatedAt_id_idx" ON "Category"("storeId", "updatedAt", "id");

-- CreateIndex
CREATE INDEX "CustomerGroup_storeId_updatedAt_id_idx" ON "CustomerGroup"("storeId", "updatedAt", "id");

-- CreateIndex
CREATE INDEX "Distributor_storeId_updatedAt_id_idx" ON "Distributor"("storeId", "updatedAt", "id");

-- CreateIndex
CREATE INDEX "GiftRegistry_storeId_updatedAt_id_idx" ON "GiftRegistry"("storeId", "updatedAt", "id");

-- CreateIndex
CREATE INDEX "Manufacturer_storeId_updatedAt_id_idx" ON "Manufacturer"("storeId", "updatedAt", "id");

-- CreateIndex
CREATE INDEX "OrderStatus_storeId_updatedAt_id_idx" ON "OrderStatus"("storeId", "updatedAt", "id");

-- CreateIndex
CREATE INDEX "Rma_storeId_updatedAt_id_idx" ON "Rma"("storeId", "updatedAt", "id");

-- GTIN and MFGID lay in the document, of which the other members keep their order and their text.
UPDATE "Product" SET
  "gtin" = coalesce("details" ->> 'GTIN', ''),
  "mfgId" = coalesce("details" ->> 'MFGID', ''),
  "details" = coalesce(
    (SELECT json_object_agg(m."key", m."value" ORDER BY m."ordinality")
      FROM json_each("details") WITH ORDINALITY m ("key", "value", "ordinality") WHERE m."key" NOT IN ('GTIN', 'MFGID')), '{}')
WHERE "details" -> 'GTIN' IS NOT NULL OR "details" -> 'MFGID' IS NOT NULL;

CREATE INDEX "Product_gtin_lower" ON "Product" ("storeId", lower("gtin"), "id") INCLUDE ("gtin");
CREATE INDEX "Product_mfgId_lower" ON "Product" ("storeId", lower("mfgId"), "id") INCLUDE ("mfgId");

-- When a status was changed last was not kept. That of its store is the same in every migration of the same rows.
UPDATE "OrderStatus" SET "updatedAt" = "Store"."createdAt" FROM "Store" WHERE "Store"."id" = "OrderStatus"."storeId";
