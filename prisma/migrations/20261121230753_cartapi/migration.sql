-- AlterTable
ALTER TABLE "Customer" ADD COLUMN     "altContactId" TEXT,
ADD COLUMN     "lastLoginAt" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "Store" ADD COLUMN     "cartApiAddresses" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "cartApiEnabled" BOOLEAN NOT NULL DEFAULT true;

-- CreateIndex
CREATE UNIQUE INDEX "Customer_altContactId_key" ON "Customer"("storeId", "altContactId");
