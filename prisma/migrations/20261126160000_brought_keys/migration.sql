-- CreateTable
CREATE TABLE "StoreHost" (
    "host" TEXT NOT NULL,
    "storeId" INTEGER NOT NULL,

CONSTRAINT "StoreHost_pkey" PRIMARY KEY ("host")
);

INSERT INTO "StoreHost" ("host", "storeId") SELECT "host", "id" FROM "Store";

-- DropIndex
DROP INDEX "Store_host_key";

-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "openToMerchants" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "privateKeyBroughtAt" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "Store" DROP COLUMN "host",
ADD COLUMN     "furtherUrls" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "userKeyBroughtAt" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "Subscription" ADD COLUMN     "tokenBroughtAt" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "StoreHost_storeId_idx" ON "StoreHost"("storeId");

-- AddForeignKey
ALTER TABLE "StoreHost" ADD CONSTRAINT "StoreHost_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;
