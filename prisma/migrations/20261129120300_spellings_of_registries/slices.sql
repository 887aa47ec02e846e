-- Slices of "GiftRegistry" by "storeId", "id".
SELECT "keepWords"("storeId", 'GiftRegistries', "id", "source", 0, "words") FROM (
  SELECT r."storeId", r."id", 0 AS "source", "wordsOfRegistrant"(r."details") AS "words" FROM "GiftRegistry" r WHERE $slice
  UNION ALL SELECT r."storeId", r."id", 4, "spelledWords"(r."name") FROM "GiftRegistry" r WHERE $slice) each;
