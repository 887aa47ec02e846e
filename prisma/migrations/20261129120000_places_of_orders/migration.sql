-- Servers from 0.2.0 on may run on it.
-- The words of texts as wordsOf has them, and behind them those with ä, ö, ü, ø or å in the other spelling: Müller is Mueller too, and Mueller
-- Muller. Two letters are one as in finders.ts: neither behind a vowel or q nor at the end of a word. Most texts have neither, and cost a look.
CREATE FUNCTION "spelledWords"(VARIADIC text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN "text" !~ '[äöüøåÄÖÜØÅ\u0308\u030a]|[aouAOU][eE]|[aA]{2}' THEN "wordsOf"("text") ELSE "wordsOf"("text", (
    SELECT string_agg(DISTINCT "spelling", ' ') FROM (
      SELECT "word", "folded"("word") AS "plain" FROM regexp_split_to_table(lower(normalize("text", NFC)), '\s+') "word"
      WHERE "word" ~ '[äöüøå]|[aou]e|aa' OFFSET 0) each
    CROSS JOIN LATERAL (VALUES
      ("folded"(replace(replace(replace(replace(replace("word", 'ä', 'ae'), 'ö', 'oe'), 'ü', 'ue'), 'ø', 'oe'), 'å', 'aa'))),
      (regexp_replace("plain", '(?<![aeiouq])(?:([aou])e|(a)a)(?=[^ 0-9])', '\1\2', 'g'))) others("spelling")
    WHERE "spelling" <> "plain")) END
  FROM (SELECT array_to_string($1, ' ') AS "text") each
$$;

CREATE OR REPLACE FUNCTION "wordsOfOrder"("details" json, "email" text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT "spelledWords"("BillingFirstName", "BillingLastName", "BillingCompany", $2, "digitsOf"("BillingPhoneNumber"), "BillingAddress",
    "BillingAddress2", "BillingZipCode", "BillingCity")
  FROM json_to_record($1) AS d("BillingFirstName" text, "BillingLastName" text, "BillingCompany" text, "BillingPhoneNumber" text,
    "BillingAddress" text, "BillingAddress2" text, "BillingZipCode" text, "BillingCity" text)
$$;

CREATE OR REPLACE FUNCTION "wordsOfRecipient"("details" json) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT "spelledWords"("ShipmentFirstName", "ShipmentLastName", "ShipmentCompany", "ShipmentEmail", "digitsOf"("ShipmentPhone"),
    "ShipmentAddress", "ShipmentAddress2", "ShipmentZipCode", "ShipmentCity")
  FROM json_to_record($1) AS d("ShipmentFirstName" text, "ShipmentLastName" text, "ShipmentCompany" text, "ShipmentEmail" text,
    "ShipmentPhone" text, "ShipmentAddress" text, "ShipmentAddress2" text, "ShipmentZipCode" text, "ShipmentCity" text)
$$;
