-- Slices of "Customer" by "storeId", "id".
SELECT "keepWords"(r."storeId", 'Customers', r."id", 0, 0,
  "wordsOfCustomer"(r."firstName", r."lastName", r."email", r."phone", r."altContactId", r."city", r."details"))
FROM "Customer" r WHERE $slice;
