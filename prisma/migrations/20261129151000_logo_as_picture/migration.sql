-- Servers from 0.2.0 on may run on it.
-- AlterTable
ALTER TABLE "Store" ADD COLUMN "logo" TEXT;

-- Whether a text of the store says the address of the picture, its logo is it, or a path stands for it.
CREATE OR REPLACE FUNCTION "isPictureUsed"("ofStore" int, "called" text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM "PicturePath" WHERE "storeId" = $1 AND "name" = $2)
    OR EXISTS (SELECT FROM "Product" WHERE "storeId" = $1 AND "pictureNames"("details") @> ARRAY[$2] AND "details"::text LIKE '%/files/%')
    OR EXISTS (SELECT FROM "Category" WHERE "storeId" = $1 AND "details"::text LIKE '%/files/%/' || $2 || '/%')
    OR EXISTS (SELECT FROM "Manufacturer" WHERE "storeId" = $1 AND "details"::text LIKE '%/files/%/' || $2 || '/%')
    OR EXISTS (SELECT FROM "OrderItem" WHERE "storeId" = $1 AND "pictureNames"("details") @> ARRAY[$2] AND "details"::text LIKE '%/files/%')
    OR EXISTS (SELECT FROM "Store" WHERE "id" = $1 AND starts_with("logo", '/files/' || $1 || '/' || $2 || '/'))
$$;
