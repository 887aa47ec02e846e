-- CreateTable
CREATE TABLE "Rma" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "orderId" INTEGER,
    "rmaDate" TIMESTAMPTZ(3) NOT NULL,
    "reasonId" INTEGER NOT NULL,
    "methodId" INTEGER NOT NULL,
    "statusId" INTEGER NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedBy" TEXT NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "Rma_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "RmaItem" (
    "storeId" INTEGER NOT NULL,
    "rmaId" INTEGER NOT NULL,
    "position" INTEGER NOT NULL,
    "productId" INTEGER,
    "optionCode" TEXT,
    "sku" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "returnQuantity" DECIMAL(15,4) NOT NULL,
    "receivedQuantity" DECIMAL(15,4) NOT NULL,
    "restockQuantity" DECIMAL(15,4) NOT NULL,

    CONSTRAINT "RmaItem_pkey" PRIMARY KEY ("storeId","rmaId","position")
);

-- CreateTable
CREATE TABLE "GiftRegistry" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedBy" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),
    "eventAt" TIMESTAMPTZ(3),
    "details" JSON NOT NULL,

    CONSTRAINT "GiftRegistry_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "GiftRegistryItem" (
    "storeId" INTEGER NOT NULL,
    "registryId" INTEGER NOT NULL,
    "position" INTEGER NOT NULL,
    "productId" INTEGER,
    "sku" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "listed" INTEGER NOT NULL,
    "price" DECIMAL(15,4) NOT NULL,
    "sold" INTEGER NOT NULL,
    "soldOffline" INTEGER NOT NULL,

    CONSTRAINT "GiftRegistryItem_pkey" PRIMARY KEY ("storeId","registryId","position")
);

-- CreateTable
CREATE TABLE "IdempotencyKey" (
    "storeId" INTEGER NOT NULL,
    "scope" TEXT NOT NULL,
    "bodyHash" TEXT NOT NULL,
    "claimedAt" TIMESTAMPTZ(3) NOT NULL,
    "claim" TEXT NOT NULL,
    "leasedUntil" TIMESTAMPTZ(3) NOT NULL,
    "answered" BOOLEAN NOT NULL,

    CONSTRAINT "IdempotencyKey_pkey" PRIMARY KEY ("storeId","scope")
);

-- CreateTable
CREATE TABLE "IdempotencyAnswer" (
    "storeId" INTEGER NOT NULL,
    "scope" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "item" JSON NOT NULL,

    CONSTRAINT "IdempotencyAnswer_pkey" PRIMARY KEY ("storeId","scope","place")
);

-- CreateIndex
CREATE INDEX "Rma_storeId_orderId_id_idx" ON "Rma"("storeId", "orderId", "id");

-- CreateIndex
CREATE INDEX "Rma_storeId_statusId_id_idx" ON "Rma"("storeId", "statusId", "id");

-- CreateIndex
CREATE INDEX "Rma_storeId_reasonId_id_idx" ON "Rma"("storeId", "reasonId", "id");

-- CreateIndex
CREATE INDEX "Rma_storeId_methodId_id_idx" ON "Rma"("storeId", "methodId", "id");

-- CreateIndex
CREATE INDEX "Rma_storeId_rmaDate_id_idx" ON "Rma"("storeId", "rmaDate", "id");

-- CreateIndex
CREATE INDEX "RmaItem_storeId_productId_rmaId_idx" ON "RmaItem"("storeId", "productId", "rmaId");

-- CreateIndex
CREATE INDEX "GiftRegistry_storeId_createdAt_id_idx" ON "GiftRegistry"("storeId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "GiftRegistry_storeId_eventAt_id_idx" ON "GiftRegistry"("storeId", "eventAt", "id");

-- CreateIndex
CREATE INDEX "GiftRegistry_storeId_expiresAt_id_idx" ON "GiftRegistry"("storeId", "expiresAt", "id");

-- CreateIndex
CREATE INDEX "GiftRegistryItem_storeId_productId_registryId_idx" ON "GiftRegistryItem"("storeId", "productId", "registryId");

-- CreateIndex
CREATE INDEX "IdempotencyKey_claimedAt_idx" ON "IdempotencyKey"("claimedAt");

-- AddForeignKey
ALTER TABLE "Rma" ADD CONSTRAINT "Rma_storeId_orderId_fkey" FOREIGN KEY ("storeId", "orderId") REFERENCES "Order"("storeId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "RmaItem" ADD CONSTRAINT "RmaItem_storeId_rmaId_fkey" FOREIGN KEY ("storeId", "rmaId") REFERENCES "Rma"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "RmaItem" ADD CONSTRAINT "RmaItem_storeId_productId_fkey" FOREIGN KEY ("storeId", "productId") REFERENCES "Product"("storeId", "id") ON DELETE SET NULL ("productId") ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "GiftRegistryItem" ADD CONSTRAINT "GiftRegistryItem_storeId_registryId_fkey" FOREIGN KEY ("storeId", "registryId") REFERENCES "GiftRegistry"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "GiftRegistryItem" ADD CONSTRAINT "GiftRegistryItem_storeId_productId_fkey" FOREIGN KEY ("storeId", "productId") REFERENCES "Product"("storeId", "id") ON DELETE SET NULL ("productId") ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "IdempotencyAnswer" ADD CONSTRAINT "IdempotencyAnswer_storeId_scope_fkey" FOREIGN KEY ("storeId", "scope") REFERENCES "IdempotencyKey"("storeId", "scope") ON DELETE CASCADE ON UPDATE NO ACTION;

-- What the schema language cannot say.

-- A category with subcategories, and a group that products are open to, are not deleted: clearing would lose the tree,
-- and open to everybody what is for some.
ALTER TABLE "Category" DROP CONSTRAINT "Category_storeId_parentId_fkey";
ALTER TABLE "Category" ADD CONSTRAINT "Category_storeId_parentId_fkey" FOREIGN KEY ("storeId", "parentId") REFERENCES "Category"("storeId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;
ALTER TABLE "Product" DROP CONSTRAINT "Product_storeId_accessGroupId_fkey";
ALTER TABLE "Product" ADD CONSTRAINT "Product_storeId_accessGroupId_fkey" FOREIGN KEY ("storeId", "accessGroupId") REFERENCES "CustomerGroup"("storeId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

CREATE INDEX "RmaItem_sku_idx" ON "RmaItem" ("storeId", lower("sku"), "rmaId");
CREATE INDEX "GiftRegistryItem_sku_idx" ON "GiftRegistryItem" ("storeId", lower("sku"), "registryId");

-- The products that a document of a product or a category names: related products, up-selling items, bundled options.
CREATE FUNCTION "linkedProducts"(details json) RETURNS int[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT linked."id"), '{}') FROM (
    SELECT (related ->> 'RelatedProductID')::int
    FROM json_array_elements(details -> 'RelatedProductList') related
    UNION ALL
    SELECT (upselling ->> 'UpSellingItemID')::int
    FROM json_array_elements(details -> 'UpSellingItemList') upselling
    UNION ALL
    SELECT (option ->> 'OptionBundleCatalogId')::int
    FROM json_array_elements(details -> 'OptionSetList') set, json_array_elements(set -> 'OptionList') option
  ) linked ("id") WHERE linked."id" IS NOT NULL
$$;
CREATE INDEX "Product_linkedProducts_idx" ON "Product" USING gin ("storeId", "linkedProducts"("details"));
CREATE INDEX "Category_linkedProducts_idx" ON "Category" USING gin ("storeId", "linkedProducts"("details"));
CREATE INDEX "Product_accessGroupId_idx" ON "Product" ("storeId", "accessGroupId", "id") WHERE "accessGroupId" IS NOT NULL;
