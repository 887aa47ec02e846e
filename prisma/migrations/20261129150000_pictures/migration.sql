-- Servers from 0.2.0 on may run on it.
-- CreateTable
CREATE TABLE "Picture" (
    "storeId" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "width" INTEGER NOT NULL,
    "height" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "isWhole" BOOLEAN NOT NULL DEFAULT false,
    "seenAt" TIMESTAMPTZ(3) NOT NULL,
    "unusedSince" TIMESTAMPTZ(3),

CONSTRAINT "Picture_pkey" PRIMARY KEY ("storeId","name")
);

-- CreateTable
CREATE TABLE "PicturePath" (
    "storeId" INTEGER NOT NULL,
    "path" TEXT NOT NULL,
    "name" TEXT NOT NULL,

CONSTRAINT "PicturePath_pkey" PRIMARY KEY ("storeId","path")
);

-- CreateIndex
CREATE INDEX "Picture_seenAt_idx" ON "Picture"("seenAt");

-- CreateIndex
CREATE INDEX "PicturePath_storeId_name_idx" ON "PicturePath"("storeId", "name");

-- AddForeignKey
ALTER TABLE "Picture" ADD CONSTRAINT "Picture_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PicturePath" ADD CONSTRAINT "PicturePath_storeId_name_fkey" FOREIGN KEY ("storeId", "name") REFERENCES "Picture"("storeId", "name") ON DELETE CASCADE ON UPDATE CASCADE;

-- The pictures whose addresses a document says.
CREATE FUNCTION "pictureNames"("details" json) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT each[1]), '{}') FROM regexp_matches($1::text, '/files/\d+/([\w-]{22})/', 'g') each
$$;

-- Whether a text of the store says the address of the picture, or a path stands for it.
CREATE FUNCTION "isPictureUsed"("ofStore" int, "called" text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM "PicturePath" WHERE "storeId" = $1 AND "name" = $2)
    OR EXISTS (SELECT FROM "Product" WHERE "storeId" = $1 AND "pictureNames"("details") @> ARRAY[$2] AND "details"::text LIKE '%/files/%')
    OR EXISTS (SELECT FROM "Category" WHERE "storeId" = $1 AND "details"::text LIKE '%/files/%/' || $2 || '/%')
    OR EXISTS (SELECT FROM "Manufacturer" WHERE "storeId" = $1 AND "details"::text LIKE '%/files/%/' || $2 || '/%')
    OR EXISTS (SELECT FROM "OrderItem" WHERE "storeId" = $1 AND "pictureNames"("details") @> ARRAY[$2] AND "details"::text LIKE '%/files/%')
$$;
