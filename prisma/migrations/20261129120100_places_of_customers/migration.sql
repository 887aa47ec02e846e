-- Servers from 0.2.0 on may run on it.
CREATE FUNCTION "wordsOfCustomer"("firstName" text, "lastName" text, "email" text, "phone" text, "other" text, "city" text, "details" json)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT "spelledWords"($1, $2, "BillingCompany", $3, $5, "ShippingFirstName", "ShippingLastName", "ShippingCompany", "digitsOf"($4),
    "digitsOf"("ShippingPhoneNumber"), "BillingAddress1", "BillingAddress2", "BillingZipCode", $6, "ShippingAddress1", "ShippingAddress2",
    "ShippingZipCode", "ShippingCity")
  FROM json_to_record($7) AS d("BillingCompany" text, "ShippingFirstName" text, "ShippingLastName" text, "ShippingCompany" text,
    "ShippingPhoneNumber" text, "BillingAddress1" text, "BillingAddress2" text, "BillingZipCode" text, "ShippingAddress1" text,
    "ShippingAddress2" text, "ShippingZipCode" text, "ShippingCity" text)
$$;

CREATE OR REPLACE FUNCTION "keepCustomerWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "keepWords"(NEW."storeId", 'Customers', NEW."id", 0, 0,
    "wordsOfCustomer"(NEW."firstName", NEW."lastName", NEW."email", NEW."phone", NEW."altContactId", NEW."city", NEW."details"));
  RETURN NULL;
END $$;

DROP TRIGGER "Customer_words_changed" ON "Customer";
CREATE TRIGGER "Customer_words_changed" AFTER UPDATE ON "Customer" FOR EACH ROW
  WHEN ((OLD."firstName", OLD."lastName", OLD."email", OLD."phone", OLD."altContactId", OLD."city", OLD."details"::text)
    IS DISTINCT FROM (NEW."firstName", NEW."lastName", NEW."email", NEW."phone", NEW."altContactId", NEW."city", NEW."details"::text))
  EXECUTE FUNCTION "keepCustomerWords"();
