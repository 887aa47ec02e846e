-- The reason that a person gives for correcting a stock.
-- AlterTable
ALTER TABLE "StockMovement" ADD COLUMN     "note" TEXT NOT NULL DEFAULT '';

-- The newest orders with a product, however many there are.
-- DropIndex
DROP INDEX "OrderItem_storeId_productId_idx";

-- CreateIndex
CREATE INDEX "OrderItem_storeId_productId_orderId_idx" ON "OrderItem"("storeId", "productId", "orderId");
