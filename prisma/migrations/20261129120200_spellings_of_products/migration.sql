-- Servers from 0.2.0 on may run on it.
CREATE OR REPLACE FUNCTION "keepProductWords"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "keepWords"(NEW."storeId", 'Products', NEW."id", 0, 0, "spelledWords"(NEW."sku", NEW."name", NEW."gtin", NEW."mfgId"));
  RETURN NULL;
END $$;
