-- StockAlert lay in the document. The store's overview compares it with the stock.
-- AlterTable
ALTER TABLE "Product" ADD COLUMN     "stockAlert" INTEGER NOT NULL DEFAULT 0;

UPDATE "Product" SET "stockAlert" = ("details" ->> 'StockAlert')::int
WHERE ("details" ->> 'StockAlert')::int <> 0;

-- What runs out. Few products do, and the others stay out of the index.
CREATE INDEX "Product_stock_low" ON "Product" ("storeId", "stock", "id") WHERE "stock" <= greatest("stockAlert", 0);
