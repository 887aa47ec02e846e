-- Slices of "Order" by "storeId", "id".
SELECT "keepWords"("storeId", 'Orders', "orderId", "source", "sourceId", "words") FROM (
  SELECT r."storeId", r."id" AS "orderId", 0 AS "source", 0 AS "sourceId", "wordsOfOrder"(r."details", r."billingEmail") AS "words"
  FROM "Order" r WHERE $slice
  UNION ALL SELECT r."storeId", r."id", 1, h."id", "wordsOfRecipient"(h."details")
  FROM "Order" r JOIN "OrderShipment" h ON h."storeId" = r."storeId" AND h."orderId" = r."id" WHERE $slice) each;
