-- Servers from 0.2.0 on may run on it.
-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "wantsErasures" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "RemovalNotice" ADD COLUMN     "action" TEXT NOT NULL DEFAULT 'REMOVE';

-- AlterTable
ALTER TABLE "Store" ADD COLUMN     "bookkeepingYears" INTEGER NOT NULL DEFAULT 10,
ADD COLUMN     "closedAt" TIMESTAMPTZ(3),
ADD COLUMN     "keepsInvoiceAddresses" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "Erasure" (
    "storeId" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "actorKind" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "customerId" INTEGER,
    "counts" JSON NOT NULL DEFAULT '{}',
    "erasedAt" TIMESTAMPTZ(3),
    "wordsSealed" TEXT,
    "claim" INTEGER NOT NULL DEFAULT 0,
    "leasedUntil" TIMESTAMPTZ(3),
    "process" INTEGER,

CONSTRAINT "Erasure_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "ErasedRecord" (
    "storeId" INTEGER NOT NULL,
    "service" TEXT NOT NULL,
    "recordId" INTEGER NOT NULL,
    "erasureId" INTEGER NOT NULL,

CONSTRAINT "ErasedRecord_pkey" PRIMARY KEY ("storeId","service","recordId")
);

-- CreateTable
CREATE TABLE "InvoiceAddress" (
    "storeId" INTEGER NOT NULL,
    "orderId" INTEGER NOT NULL,
    "address" JSON NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "InvoiceAddress_pkey" PRIMARY KEY ("storeId","orderId")
);

-- CreateIndex
CREATE INDEX "Erasure_storeId_customerId_idx" ON "Erasure"("storeId", "customerId");

-- CreateIndex
CREATE INDEX "ErasedRecord_storeId_erasureId_idx" ON "ErasedRecord"("storeId", "erasureId");

-- CreateIndex
CREATE INDEX "InvoiceAddress_until_idx" ON "InvoiceAddress"("until");

-- AddForeignKey
ALTER TABLE "Erasure" ADD CONSTRAINT "Erasure_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ErasedRecord" ADD CONSTRAINT "ErasedRecord_storeId_erasureId_fkey" FOREIGN KEY ("storeId", "erasureId") REFERENCES "Erasure"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "InvoiceAddress" ADD CONSTRAINT "InvoiceAddress_storeId_orderId_fkey" FOREIGN KEY ("storeId", "orderId") REFERENCES "Order"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
