-- Servers from 0.2.0 on may run on it.
CREATE OR REPLACE FUNCTION "wordsOfRegistrant"("details" json) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT "spelledWords"("FirstName", "LastName", "Company", "digitsOf"("PhoneNumber"))
  FROM json_to_record(coalesce($1 -> 'CustomerAddressBook', '{}')) AS d("FirstName" text, "LastName" text, "Company" text,
    "PhoneNumber" text)
$$;

CREATE OR REPLACE FUNCTION "keepRegistryWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "keepWords"(NEW."storeId", 'GiftRegistries', NEW."id", 0, 0, "wordsOfRegistrant"(NEW."details"));
  PERFORM "keepWords"(NEW."storeId", 'GiftRegistries', NEW."id", 4, 0, "spelledWords"(NEW."name"));
  RETURN NULL;
END $$;

CREATE OR REPLACE VIEW "WordsOfRecords" AS
  SELECT * FROM (
    SELECT "storeId", 'Orders' AS "service", "id" AS "recordId", 0::smallint AS "source", 0 AS "sourceId",
      "wordsOfOrder"("details", "billingEmail") AS "words" FROM "Order"
    UNION ALL SELECT "storeId", 'Orders', "orderId", 1, "id", "wordsOfRecipient"("details") FROM "OrderShipment"
    UNION ALL SELECT "storeId", 'Orders', "orderId", 2, "id", "wordsOf"("trackingCode") FROM "OrderShipment"
    UNION ALL SELECT "storeId", 'Orders', "orderId", 3, "id", "wordsOfTransaction"("details") FROM "OrderTransaction"
    UNION ALL SELECT "storeId", 'Orders', "id", 4, 0, "wordsOf"("details" ->> 'AlternateOrderID') FROM "Order"
    UNION ALL SELECT "storeId", 'Customers', "id", 0, 0,
      "wordsOfCustomer"("firstName", "lastName", "email", "phone", "altContactId", "city", "details") FROM "Customer"
    UNION ALL SELECT "storeId", 'Products', "id", 0, 0, "spelledWords"("sku", "name", "gtin", "mfgId") FROM "Product"
    UNION ALL SELECT "storeId", 'GiftRegistries', "id", 0, 0, "wordsOfRegistrant"("details") FROM "GiftRegistry"
    UNION ALL SELECT "storeId", 'GiftRegistries', "id", 4, 0, "spelledWords"("name") FROM "GiftRegistry"
  ) each WHERE "words" <> '';
DROP FUNCTION "wordsOfCustomer"(text, text, text, text, text, json);
