-- CreateTable
CREATE TABLE "SearchText" (
    "storeId" INTEGER NOT NULL,
    "service" TEXT NOT NULL,
    "recordId" INTEGER NOT NULL,
    "source" SMALLINT NOT NULL,
    "sourceId" INTEGER NOT NULL,
    "words" TEXT NOT NULL,

CONSTRAINT "SearchText_pkey" PRIMARY KEY ("storeId","service","recordId","source","sourceId")
);

-- Text as people look for it: without case, accents and signs. Texts that look alike are equal, however they are written.
CREATE FUNCTION "folded"(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT regexp_replace(
    CASE WHEN octet_length($1) = char_length($1) THEN lower(replace($1, '''', ''))
      ELSE translate(
        replace(replace(replace(lower(regexp_replace(normalize($1, NFKD), '[\u0300-\u036f''’ʼ]+', '', 'g')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
        'øđłħı', 'odlhi')
    END,
    '[\x01-/:-@\[-`{-\x7f\u0080-\u00bf\u2000-\u206f\u3000-\u3002]+', ' ', 'g')
$$;

-- The words of texts, of which the longest name and address fit. Empty: there are none.
CREATE FUNCTION "wordsOf"(VARIADIC text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN "words" = '' THEN '' ELSE ' ' || "words" || ' ' END
  FROM (SELECT left(btrim("folded"(array_to_string($1, ' '))), 2000) AS "words") each
$$;

-- A telephone number is one word: its digits.
CREATE FUNCTION "digitsOf"(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT regexp_replace($1, '[^0-9]+', '', 'g')
$$;

CREATE FUNCTION "keepWords"("store" int, "name" text, "record" int, "part" int, "partId" int, "said" text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF "said" = '' THEN
    DELETE FROM "SearchText" WHERE "storeId" = "store" AND "service" = "name" AND "recordId" = "record" AND "source" = "part"
      AND "sourceId" = "partId";
  ELSE
    INSERT INTO "SearchText" AS kept ("storeId", "service", "recordId", "source", "sourceId", "words")
    VALUES ("store", "name", "record", "part", "partId", "said")
    ON CONFLICT ("storeId", "service", "recordId", "source", "sourceId") DO UPDATE SET "words" = excluded."words"
      WHERE kept."words" <> excluded."words";
  END IF;
END $$;

CREATE FUNCTION "wordsOfOrder"("details" json, "email" text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT "wordsOf"("BillingFirstName", "BillingLastName", "BillingCompany", $2, "digitsOf"("BillingPhoneNumber"))
  FROM json_to_record($1) AS d("BillingFirstName" text, "BillingLastName" text, "BillingCompany" text, "BillingPhoneNumber" text)
$$;

CREATE FUNCTION "wordsOfRecipient"("details" json) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT "wordsOf"("ShipmentFirstName", "ShipmentLastName", "ShipmentCompany", "ShipmentEmail", "digitsOf"("ShipmentPhone"))
  FROM json_to_record($1) AS d("ShipmentFirstName" text, "ShipmentLastName" text, "ShipmentCompany" text, "ShipmentEmail" text,
    "ShipmentPhone" text)
$$;

CREATE FUNCTION "wordsOfTransaction"("details" json) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT "wordsOf"("TransactionID", "TransactionReference")
  FROM json_to_record($1) AS d("TransactionID" text, "TransactionReference" text)
$$;

CREATE FUNCTION "wordsOfCustomer"("firstName" text, "lastName" text, "email" text, "phone" text, "other" text, "details" json)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT "wordsOf"($1, $2, "BillingCompany", $3, $5, "ShippingFirstName", "ShippingLastName", "ShippingCompany", "digitsOf"($4),
    "digitsOf"("ShippingPhoneNumber"))
  FROM json_to_record($6) AS d("BillingCompany" text, "ShippingFirstName" text, "ShippingLastName" text, "ShippingCompany" text,
    "ShippingPhoneNumber" text)
$$;

CREATE FUNCTION "wordsOfRegistrant"("details" json) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT "wordsOf"("FirstName", "LastName", "Company", "digitsOf"("PhoneNumber"))
  FROM json_to_record(coalesce($1 -> 'CustomerAddressBook', '{}')) AS d("FirstName" text, "LastName" text, "Company" text,
    "PhoneNumber" text)
$$;

CREATE FUNCTION "keepOrderWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "keepWords"(NEW."storeId", 'Orders', NEW."id", 0, 0, "wordsOfOrder"(NEW."details", NEW."billingEmail"));
  PERFORM "keepWords"(NEW."storeId", 'Orders', NEW."id", 4, 0, "wordsOf"(NEW."details" ->> 'AlternateOrderID'));
  RETURN NULL;
END $$;

CREATE FUNCTION "keepShipmentWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "keepWords"(NEW."storeId", 'Orders', NEW."orderId", 1, NEW."id", "wordsOfRecipient"(NEW."details"));
  PERFORM "keepWords"(NEW."storeId", 'Orders', NEW."orderId", 2, NEW."id", "wordsOf"(NEW."trackingCode"));
  RETURN NULL;
END $$;

CREATE FUNCTION "keepTransactionWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "keepWords"(NEW."storeId", 'Orders', NEW."orderId", 3, NEW."id", "wordsOfTransaction"(NEW."details"));
  RETURN NULL;
END $$;

CREATE FUNCTION "keepCustomerWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "keepWords"(NEW."storeId", 'Customers', NEW."id", 0, 0,
    "wordsOfCustomer"(NEW."firstName", NEW."lastName", NEW."email", NEW."phone", NEW."altContactId", NEW."details"));
  RETURN NULL;
END $$;

CREATE FUNCTION "keepProductWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "keepWords"(NEW."storeId", 'Products', NEW."id", 0, 0, "wordsOf"(NEW."sku", NEW."name", NEW."gtin", NEW."mfgId"));
  RETURN NULL;
END $$;

CREATE FUNCTION "keepRegistryWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "keepWords"(NEW."storeId", 'GiftRegistries', NEW."id", 0, 0, "wordsOfRegistrant"(NEW."details"));
  PERFORM "keepWords"(NEW."storeId", 'GiftRegistries', NEW."id", 4, 0, "wordsOf"(NEW."name"));
  RETURN NULL;
END $$;

-- The words of records that are gone, whichever statement took them.
CREATE FUNCTION "dropWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "SearchText" USING "gone" WHERE "SearchText"."storeId" = "gone"."storeId" AND "service" = TG_ARGV[0]
    AND "recordId" = "gone"."id";
  RETURN NULL;
END $$;

CREATE FUNCTION "dropPartWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "SearchText" USING "gone" WHERE "SearchText"."storeId" = "gone"."storeId" AND "service" = 'Orders'
    AND "recordId" = "gone"."orderId" AND "source" = ANY (TG_ARGV[0]::smallint[]) AND "sourceId" = "gone"."id";
  RETURN NULL;
END $$;

-- What changes nothing of these costs a comparison.
CREATE TRIGGER "Order_words" AFTER INSERT ON "Order" FOR EACH ROW EXECUTE FUNCTION "keepOrderWords"();
CREATE TRIGGER "Order_words_changed" AFTER UPDATE ON "Order" FOR EACH ROW
  WHEN (OLD."billingEmail" <> NEW."billingEmail" OR OLD."details"::text <> NEW."details"::text)
  EXECUTE FUNCTION "keepOrderWords"();
CREATE TRIGGER "OrderShipment_words" AFTER INSERT ON "OrderShipment" FOR EACH ROW EXECUTE FUNCTION "keepShipmentWords"();
CREATE TRIGGER "OrderShipment_words_changed" AFTER UPDATE ON "OrderShipment" FOR EACH ROW
  WHEN (OLD."trackingCode" <> NEW."trackingCode" OR OLD."details"::text <> NEW."details"::text)
  EXECUTE FUNCTION "keepShipmentWords"();
CREATE TRIGGER "OrderTransaction_words" AFTER INSERT ON "OrderTransaction" FOR EACH ROW EXECUTE FUNCTION "keepTransactionWords"();
CREATE TRIGGER "OrderTransaction_words_changed" AFTER UPDATE ON "OrderTransaction" FOR EACH ROW
  WHEN (OLD."details"::text <> NEW."details"::text)
  EXECUTE FUNCTION "keepTransactionWords"();
CREATE TRIGGER "Customer_words" AFTER INSERT ON "Customer" FOR EACH ROW EXECUTE FUNCTION "keepCustomerWords"();
CREATE TRIGGER "Customer_words_changed" AFTER UPDATE ON "Customer" FOR EACH ROW
  WHEN ((OLD."firstName", OLD."lastName", OLD."email", OLD."phone", OLD."altContactId", OLD."details"::text)
    IS DISTINCT FROM (NEW."firstName", NEW."lastName", NEW."email", NEW."phone", NEW."altContactId", NEW."details"::text))
  EXECUTE FUNCTION "keepCustomerWords"();
CREATE TRIGGER "Product_words" AFTER INSERT ON "Product" FOR EACH ROW EXECUTE FUNCTION "keepProductWords"();
CREATE TRIGGER "Product_words_changed" AFTER UPDATE ON "Product" FOR EACH ROW
  WHEN (OLD."name" <> NEW."name" OR OLD."sku" <> NEW."sku" OR OLD."gtin" <> NEW."gtin" OR OLD."mfgId" <> NEW."mfgId")
  EXECUTE FUNCTION "keepProductWords"();
CREATE TRIGGER "GiftRegistry_words" AFTER INSERT ON "GiftRegistry" FOR EACH ROW EXECUTE FUNCTION "keepRegistryWords"();
CREATE TRIGGER "GiftRegistry_words_changed" AFTER UPDATE ON "GiftRegistry" FOR EACH ROW
  WHEN (OLD."name" <> NEW."name" OR OLD."details"::text <> NEW."details"::text)
  EXECUTE FUNCTION "keepRegistryWords"();

CREATE TRIGGER "Order_words_gone" AFTER DELETE ON "Order" REFERENCING OLD TABLE AS "gone"
  FOR EACH STATEMENT EXECUTE FUNCTION "dropWords"('Orders');
CREATE TRIGGER "OrderShipment_words_gone" AFTER DELETE ON "OrderShipment" REFERENCING OLD TABLE AS "gone"
  FOR EACH STATEMENT EXECUTE FUNCTION "dropPartWords"('{1,2}');
CREATE TRIGGER "OrderTransaction_words_gone" AFTER DELETE ON "OrderTransaction" REFERENCING OLD TABLE AS "gone"
  FOR EACH STATEMENT EXECUTE FUNCTION "dropPartWords"('{3}');
CREATE TRIGGER "Customer_words_gone" AFTER DELETE ON "Customer" REFERENCING OLD TABLE AS "gone"
  FOR EACH STATEMENT EXECUTE FUNCTION "dropWords"('Customers');
CREATE TRIGGER "Product_words_gone" AFTER DELETE ON "Product" REFERENCING OLD TABLE AS "gone"
  FOR EACH STATEMENT EXECUTE FUNCTION "dropWords"('Products');
CREATE TRIGGER "GiftRegistry_words_gone" AFTER DELETE ON "GiftRegistry" REFERENCING OLD TABLE AS "gone"
  FOR EACH STATEMENT EXECUTE FUNCTION "dropWords"('GiftRegistries');

-- What all records should have, for the rows of now and for the check of a database.
CREATE VIEW "WordsOfRecords" AS
  SELECT * FROM (
    SELECT "storeId", 'Orders' AS "service", "id" AS "recordId", 0::smallint AS "source", 0 AS "sourceId",
      "wordsOfOrder"("details", "billingEmail") AS "words" FROM "Order"
    UNION ALL SELECT "storeId", 'Orders', "orderId", 1, "id", "wordsOfRecipient"("details") FROM "OrderShipment"
    UNION ALL SELECT "storeId", 'Orders', "orderId", 2, "id", "wordsOf"("trackingCode") FROM "OrderShipment"
    UNION ALL SELECT "storeId", 'Orders', "orderId", 3, "id", "wordsOfTransaction"("details") FROM "OrderTransaction"
    UNION ALL SELECT "storeId", 'Orders', "id", 4, 0, "wordsOf"("details" ->> 'AlternateOrderID') FROM "Order"
    UNION ALL SELECT "storeId", 'Customers', "id", 0, 0,
      "wordsOfCustomer"("firstName", "lastName", "email", "phone", "altContactId", "details") FROM "Customer"
    UNION ALL SELECT "storeId", 'Products', "id", 0, 0, "wordsOf"("sku", "name", "gtin", "mfgId") FROM "Product"
    UNION ALL SELECT "storeId", 'GiftRegistries', "id", 0, 0, "wordsOfRegistrant"("details") FROM "GiftRegistry"
    UNION ALL SELECT "storeId", 'GiftRegistries', "id", 4, 0, "wordsOf"("name") FROM "GiftRegistry"
  ) each WHERE "words" <> '';

INSERT INTO "SearchText" ("storeId", "service", "recordId", "source", "sourceId", "words")
  SELECT "storeId", "service", "recordId", "source", "sourceId", "words" FROM "WordsOfRecords";
-- Made last: an index of trigrams is made of all rows much sooner than of one after the other.
CREATE INDEX "SearchText_words_trgm" ON "SearchText" USING gin ("storeId", "service", lower("words") gin_trgm_ops);
-- Orders by what was sold.
CREATE INDEX "OrderItem_sku_lower" ON "OrderItem" ("storeId", lower("sku"), "orderId");
ANALYZE "SearchText";
