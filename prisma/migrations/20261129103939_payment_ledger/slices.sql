-- Slices of "OrderTransaction" by "storeId", "id".
SELECT "bookPayments"("storeId", "ids") FROM (
  SELECT r."storeId", array_agg(r."id") AS "ids" FROM "OrderTransaction" r WHERE $slice GROUP BY 1 OFFSET 0) each
