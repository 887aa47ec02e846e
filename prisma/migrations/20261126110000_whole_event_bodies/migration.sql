-- Bodies of events were stored as slices of a template: chr(31), the position in three digits, the length in two, each
-- digit of 6 bits and written as the character behind '0'. A template is in ASCII, so bytes are characters.
-- A million events take two to three minutes.
WITH "template" AS MATERIALIZED (SELECT "id", convert_to("text", 'UTF8') AS "text" FROM "EventTemplate")
UPDATE "Event" SET "body" = (
  SELECT string_agg(
    CASE WHEN "place" = 1 THEN "piece" ELSE
      convert_from(substring("template"."text",
        ((ascii("piece") - 48) << 12) + ((ascii(substr("piece", 2)) - 48) << 6) + ascii(substr("piece", 3)) - 48 + 1,
        ((ascii(substr("piece", 4)) - 48) << 6) + ascii(substr("piece", 5)) - 48), 'UTF8') || substr("piece", 6)
    END, '' ORDER BY "place")
  FROM string_to_table("body", chr(31)) WITH ORDINALITY AS "pieces" ("piece", "place"))
FROM "template" WHERE "template"."id" = "Event"."templateId";

-- AlterTable
ALTER TABLE "Event" DROP COLUMN "bodyBytes",
DROP COLUMN "templateId";

-- DropTable
DROP TABLE "EventTemplate";
