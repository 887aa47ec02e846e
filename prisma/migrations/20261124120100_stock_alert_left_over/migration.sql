-- StockAlert is a column, and the document of a product that had it before still holds it. The other members keep their order and
-- their text, which a cast to jsonb would change.
UPDATE "Product" SET "details" = coalesce(
  (SELECT json_object_agg(m."key", m."value" ORDER BY m."ordinality")
    FROM json_each("details") WITH ORDINALITY m ("key", "value", "ordinality") WHERE m."key" <> 'StockAlert'), '{}')
WHERE "details" -> 'StockAlert' IS NOT NULL;
