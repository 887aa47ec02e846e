-- Few documents name products. The others stay out of the index, so that a change of a stock does not read its document for it.
CREATE FUNCTION "namesProducts"(details json) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (details -> 'RelatedProductList') IS NOT NULL OR (details -> 'UpSellingItemList') IS NOT NULL
    OR (details -> 'OptionSetList') IS NOT NULL
$$;
DROP INDEX "Product_linkedProducts_idx";
DROP INDEX "Category_linkedProducts_idx";
CREATE INDEX "Product_linkedProducts_idx" ON "Product" USING gin ("storeId", "linkedProducts"("details"))
  WHERE "namesProducts"("details");
CREATE INDEX "Category_linkedProducts_idx" ON "Category" USING gin ("storeId", "linkedProducts"("details"))
  WHERE "namesProducts"("details");
