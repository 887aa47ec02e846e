-- Servers from 0.2.0 on may run on it.
-- AlterTable
ALTER TABLE "Subscription" ADD COLUMN     "ordersHour" TIMESTAMPTZ(3),
ADD COLUMN     "ordersInHour" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "ordersPerHour" INTEGER NOT NULL DEFAULT 1000;

-- CreateTable
CREATE TABLE "CheckoutOrder" (
    "storeId" INTEGER NOT NULL,
    "orderId" INTEGER NOT NULL,
    "applicationId" INTEGER NOT NULL,
    "keyHash" TEXT NOT NULL,
    "bodyHash" TEXT NOT NULL,

CONSTRAINT "CheckoutOrder_pkey" PRIMARY KEY ("storeId","orderId")
);

-- CreateIndex
CREATE UNIQUE INDEX "CheckoutOrder_storeId_applicationId_keyHash_key" ON "CheckoutOrder"("storeId", "applicationId", "keyHash");

-- AddForeignKey
ALTER TABLE "CheckoutOrder" ADD CONSTRAINT "CheckoutOrder_storeId_orderId_fkey" FOREIGN KEY ("storeId", "orderId") REFERENCES "Order"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
