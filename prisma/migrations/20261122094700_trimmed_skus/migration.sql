-- SKUs lose the white space around them. White space is what String.prototype.trim() takes off, because that is what trims
-- a SKU when it is given. No event is recorded; LastUpdate says that the product was changed.
DO $$
DECLARE
    blanks CONSTANT text := U&'\0009\000A\000B\000C\000D\0020\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000\FEFF';
    warnings_max CONSTANT int := 100;
    kept record;
    kept_count int := 0;
BEGIN
    -- Of several products that would have the same SKU, the one with the lowest id gets it, unless another has it already.
    UPDATE "Product" p SET "sku" = t."sku", "updatedAt" = greatest(p."updatedAt", now())
    FROM (
        SELECT DISTINCT ON ("storeId", lower(btrim("sku", blanks))) "storeId", "id", btrim("sku", blanks) AS "sku"
        FROM "Product" WHERE "sku" <> btrim("sku", blanks)
        ORDER BY "storeId", lower(btrim("sku", blanks)), "id") t
    WHERE p."storeId" = t."storeId" AND p."id" = t."id" AND t."sku" <> ''
        AND NOT EXISTS (SELECT 1 FROM "Product" o WHERE o."storeId" = t."storeId" AND lower(o."sku") = lower(t."sku"));

    FOR kept IN
        SELECT p."storeId", p."id", o."id" AS "other", o."sku"
        FROM "Product" p JOIN "Product" o ON o."storeId" = p."storeId" AND lower(o."sku") = lower(btrim(p."sku", blanks))
        WHERE p."sku" <> btrim(p."sku", blanks)
        ORDER BY p."storeId", p."id"
    LOOP
        kept_count := kept_count + 1;
        IF kept_count <= warnings_max THEN
            RAISE WARNING 'Store %: product % keeps the white space around its SKU, because product % has the SKU % without it. Give one of them another SKU.',
                kept."storeId", kept."id", kept."other", kept."sku";
        END IF;
    END LOOP;
    IF kept_count > warnings_max THEN
        RAISE WARNING '% more products keep the white space around their SKUs for the same reason.', kept_count - warnings_max;
    END IF;

    -- Nothing is unique here. A suffix may begin with a blank that separates it from the product's SKU.
    UPDATE "AdvancedOption" SET "suffix" = rtrim("suffix", blanks) WHERE "suffix" <> rtrim("suffix", blanks);
    UPDATE "RmaItem" SET "sku" = btrim("sku", blanks) WHERE "sku" <> btrim("sku", blanks);
    UPDATE "GiftRegistryItem" SET "sku" = btrim("sku", blanks) WHERE "sku" <> btrim("sku", blanks);
END
$$;
