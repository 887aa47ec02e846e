-- Slices of "Product" by "storeId", "id".
SELECT "keepWords"(r."storeId", 'Products', r."id", 0, 0, "spelledWords"(r."sku", r."name", r."gtin", r."mfgId"))
FROM "Product" r WHERE $slice;
