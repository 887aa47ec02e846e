-- A statement takes one request. What the buckets hold stays.
UPDATE "RateBucket" SET "most" = 0,
  "before" = "before" + LEAST("asked", GREATEST(0, ("most" - "before") / 1000000)) * 1000000::bigint;
ALTER TABLE "RateBucket" DROP COLUMN "asked", DROP COLUMN "added";

-- A process that looks for others renews its row behind that, by the time of the look.
DELETE FROM "ServerProcess";
ALTER TABLE "ServerProcess" DROP COLUMN "countsAlone", ALTER COLUMN "seenAt" SET DATA TYPE TIMESTAMPTZ(6);
