-- Servers from 0.2.0 on may run on it.
CREATE INDEX CONCURRENTLY "Product_pictures" ON "Product" USING gin ("storeId", "pictureNames"("details")) WHERE "details"::text LIKE '%/files/%';
