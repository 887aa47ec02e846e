-- Servers from 0.2.0 on may run on it.
-- CreateTable
CREATE TABLE "PaymentEntry" (
    "storeId" INTEGER NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "orderId" INTEGER NOT NULL,
    "transactionId" INTEGER NOT NULL,
    "occurredAt" TIMESTAMPTZ(3) NOT NULL,
    "bookedAt" TIMESTAMPTZ(3) NOT NULL,
    "isLate" BOOLEAN NOT NULL,
    "amount" DECIMAL(15,4) NOT NULL,
    "method" TEXT NOT NULL,
    "reference" TEXT NOT NULL,
    "tax" DECIMAL(15,4),
    "invoice" TEXT,
    "customer" TEXT,
    "creditNote" TEXT,
    "hasChanged" BOOLEAN NOT NULL DEFAULT false,

CONSTRAINT "PaymentEntry_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "PaymentSum" (
    "storeId" INTEGER NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "day" DATE NOT NULL,
    "method" TEXT NOT NULL,
    "isOut" BOOLEAN NOT NULL,
    "count" INTEGER NOT NULL,
    "amount" DECIMAL(19,4) NOT NULL,

CONSTRAINT "PaymentSum_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "ClosedPeriod" (
    "storeId" INTEGER NOT NULL,
    "month" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "closedAt" TIMESTAMPTZ(3) NOT NULL,
    "closedBy" TEXT NOT NULL,

CONSTRAINT "ClosedPeriod_pkey" PRIMARY KEY ("storeId","month")
);

-- CreateIndex
CREATE INDEX "PaymentEntry_storeId_bookedAt_id_idx" ON "PaymentEntry"("storeId", "bookedAt", "id");

-- CreateIndex
CREATE INDEX "PaymentEntry_storeId_method_bookedAt_id_idx" ON "PaymentEntry"("storeId", "method", "bookedAt", "id");

-- CreateIndex
CREATE INDEX "PaymentEntry_storeId_transactionId_idx" ON "PaymentEntry"("storeId", "transactionId");

-- CreateIndex
CREATE INDEX "PaymentEntry_storeId_orderId_idx" ON "PaymentEntry"("storeId", "orderId");

-- CreateIndex
CREATE INDEX "PaymentSum_storeId_day_idx" ON "PaymentSum"("storeId", "day");

-- AddForeignKey
ALTER TABLE "ClosedPeriod" ADD CONSTRAINT "ClosedPeriod_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Contains, without regard to case.
CREATE INDEX "PaymentEntry_reference_trgm" ON "PaymentEntry" USING gin ("storeId", lower("reference") gin_trgm_ops);
-- Few refunds say their tax.
CREATE INDEX "PaymentEntry_tax" ON "PaymentEntry" ("storeId", "bookedAt") WHERE "tax" IS NOT NULL;

-- What changes when a month is opened again.
CREATE INDEX "PaymentEntry_reopened" ON "PaymentEntry" ("storeId", "bookedAt") WHERE "isLate" OR "hasChanged";

CREATE FUNCTION "buyerName"("details" json) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(nullif(btrim(concat_ws(' ', "BillingFirstName", "BillingLastName")), ''), "BillingCompany", '')
  FROM json_to_record($1) AS d("BillingFirstName" text, "BillingLastName" text, "BillingCompany" text)
$$;
CREATE FUNCTION "shownInvoice"("prefix" text, "number" int) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN "number" > 0 THEN "prefix" || "number" ELSE '' END;

-- What each transaction has brought in or paid out. One without a date counts at that of its order.
CREATE VIEW "PaymentOfTransaction" AS
  SELECT x."storeId", x."id" AS "transactionId", x."orderId", coalesce(x."occurredAt", o."orderDate") AS "occurredAt",
    CASE "effect" WHEN 'paid' THEN abs(x."amount") ELSE -abs(x."amount") END AS "amount",
    coalesce(x."details" ->> 'TransactionMethod', '') AS "method", coalesce(x."details" ->> 'TransactionReference', '') AS "reference",
    CASE "effect" WHEN 'refunded' THEN (x."details" ->> 'RefundTaxAmount')::numeric END AS "tax"
  FROM "OrderTransaction" x JOIN "Order" o ON o."storeId" = x."storeId" AND o."id" = x."orderId"
  CROSS JOIN LATERAL (SELECT "paymentEffect"(x."type", x."amount", x."captured") AS "effect") e
  WHERE "effect" IS NOT NULL AND x."amount" <> 0;

-- Entries with what their order and transaction are called.
CREATE VIEW "PaymentShown" AS
  SELECT e."storeId", e."id", e."orderId", e."transactionId", e."occurredAt", e."bookedAt", e."isLate", e."amount", e."method", e."reference", e."tax",
    coalesce(e."invoice", "shownInvoice"(o."invoicePrefix", o."invoiceNumber"), '') AS "invoice",
    coalesce(e."customer", "buyerName"(o."details"), '') AS "customer",
    CASE WHEN e."amount" < 0 THEN coalesce(e."creditNote", x."creditNotePrefix" || x."creditNoteNumber", '') ELSE '' END AS "creditNote", o."id" IS NOT NULL AS "hasOrder"
  FROM "PaymentEntry" e
  LEFT JOIN "Order" o ON o."storeId" = e."storeId" AND o."id" = e."orderId"
  LEFT JOIN "OrderTransaction" x ON x."storeId" = e."storeId" AND x."id" = e."transactionId";

CREATE FUNCTION "closedUntil"("ofStore" int) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT coalesce(max("until"), '-infinity') FROM "ClosedPeriod" WHERE "storeId" = "ofStore"
$$;

-- Makes the entries of these transactions what the transactions say. Those of a closed time stay, and what is missing to them is booked now.
-- Whoever closes a time takes the lock alone (advisory-locks.ts), so that nothing is written into it meanwhile.
CREATE FUNCTION "bookPayments"("ofStore" int, "ids" int[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "end" timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(7301423, "ofStore");
  "end" := "closedUntil"("ofStore");
  UPDATE "PaymentEntry" SET "hasChanged" = true
  WHERE "storeId" = "ofStore" AND "transactionId" = ANY ("ids") AND "bookedAt" < "end" AND NOT "hasChanged";
  WITH "gone" AS (
      DELETE FROM "PaymentEntry" WHERE "storeId" = "ofStore" AND "transactionId" = ANY ("ids") AND "bookedAt" >= "end"
      RETURNING "transactionId", "bookedAt", "isLate"),
    -- What was recorded late keeps the day on which that was.
    "late" AS (SELECT "transactionId", min("bookedAt") AS "bookedAt" FROM "gone" WHERE "isLate" GROUP BY 1),
    "wanted" AS (SELECT * FROM "PaymentOfTransaction" WHERE "storeId" = "ofStore" AND "transactionId" = ANY ("ids")),
    "kept" AS (
      SELECT "transactionId", min("orderId") AS "orderId", min("occurredAt") AS "occurredAt", sum("amount") AS "amount", max("method") AS "method",
        max("reference") AS "reference", sum("tax") AS "tax", max("invoice") AS "invoice", max("customer") AS "customer",
        max("creditNote") AS "creditNote"
      FROM "PaymentEntry" WHERE "storeId" = "ofStore" AND "transactionId" = ANY ("ids") AND "bookedAt" < "end" GROUP BY 1)
  INSERT INTO "PaymentEntry" ("storeId", "orderId", "transactionId", "occurredAt", "bookedAt", "isLate", "amount", "method", "reference", "tax",
    "invoice", "customer", "creditNote")
  SELECT "ofStore", coalesce(w."orderId", k."orderId"), "transactionId", coalesce(k."occurredAt", w."occurredAt"),
    CASE WHEN "isLate" THEN coalesce(l."bookedAt", greatest(now(), "end")) ELSE w."occurredAt" END, "isLate",
    "missing", coalesce(w."method", k."method"), coalesce(w."reference", k."reference"), "missingTax",
    k."invoice", k."customer", k."creditNote"
  FROM "wanted" w FULL JOIN "kept" k USING ("transactionId") LEFT JOIN "late" l USING ("transactionId")
  CROSS JOIN LATERAL (
    SELECT k."orderId" IS NOT NULL OR w."occurredAt" < "end" AS "isLate", coalesce(w."amount", 0) - coalesce(k."amount", 0) AS "missing",
      CASE WHEN k."orderId" IS NULL THEN w."tax" ELSE nullif(coalesce(w."tax", 0) - coalesce(k."tax", 0), 0) END AS "missingTax") each
  WHERE "missing" <> 0 OR "missingTax" IS NOT NULL
  ORDER BY "transactionId";
END $$;

CREATE FUNCTION "bookTransactions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "bookPayments"("storeId", "ids") FROM (
    SELECT "storeId", array_agg("id") AS "ids" FROM "changed" GROUP BY 1 ORDER BY 1 OFFSET 0) each;
  RETURN NULL;
END $$;
CREATE FUNCTION "rebookTransaction"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "bookPayments"(NEW."storeId", ARRAY[NEW."id"]);
  RETURN NULL;
END $$;
CREATE FUNCTION "rebookUndated"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "bookPayments"(NEW."storeId", "ids") FROM (
    SELECT array_agg("id") AS "ids" FROM "OrderTransaction"
    WHERE "storeId" = NEW."storeId" AND "orderId" = NEW."id" AND "occurredAt" IS NULL OFFSET 0) each WHERE "ids" IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER "OrderTransaction_booked" AFTER INSERT ON "OrderTransaction" REFERENCING NEW TABLE AS "changed"
  FOR EACH STATEMENT EXECUTE FUNCTION "bookTransactions"();
CREATE TRIGGER "OrderTransaction_unbooked" AFTER DELETE ON "OrderTransaction" REFERENCING OLD TABLE AS "changed"
  FOR EACH STATEMENT EXECUTE FUNCTION "bookTransactions"();
-- Most changes of a transaction, such as of its note, move no money.
CREATE TRIGGER "OrderTransaction_updated_booked" AFTER UPDATE ON "OrderTransaction" FOR EACH ROW
  WHEN ((OLD."orderId", OLD."type", OLD."amount", OLD."captured", OLD."occurredAt", OLD."details" ->> 'TransactionMethod',
      OLD."details" ->> 'TransactionReference', OLD."details" ->> 'RefundTaxAmount')
    IS DISTINCT FROM (NEW."orderId", NEW."type", NEW."amount", NEW."captured", NEW."occurredAt", NEW."details" ->> 'TransactionMethod',
      NEW."details" ->> 'TransactionReference', NEW."details" ->> 'RefundTaxAmount'))
  EXECUTE FUNCTION "rebookTransaction"();
CREATE TRIGGER "Order_redated" AFTER UPDATE ON "Order" FOR EACH ROW WHEN (OLD."orderDate" <> NEW."orderDate")
  EXECUTE FUNCTION "rebookUndated"();

-- As "addSales", by the days of the store.
ALTER TABLE "PaymentSum" SET (fillfactor = 50);
CREATE FUNCTION "addPayments"("ofStore" int, "on" date, "by" text, "out" boolean, "entries" int, "total" numeric) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "PaymentSum" SET "count" = "count" + "entries", "amount" = "amount" + "total" WHERE "storeId" = "ofStore" AND "id" = (
    SELECT "id" FROM "PaymentSum" WHERE "storeId" = "ofStore" AND "day" = "on" AND "method" = "by" AND "isOut" = "out"
    LIMIT 1 FOR UPDATE SKIP LOCKED);
  IF NOT FOUND THEN
    INSERT INTO "PaymentSum" ("storeId", "day", "method", "isOut", "count", "amount")
    VALUES ("ofStore", "on", "by", "out", "entries", "total");
  END IF;
END $$;
CREATE FUNCTION "dayIn"("zone" text, "at" timestamptz) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ("at" AT TIME ZONE coalesce("zone", 'UTC'))::date;
CREATE FUNCTION "sumPayments"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "addPayments"("storeId", "day", "method", "isOut", TG_ARGV[0]::int * "entries", TG_ARGV[0]::int * "total") FROM (
    SELECT c."storeId", "dayIn"(s."timeZone", c."bookedAt") AS "day", c."method", c."amount" < 0 AS "isOut", count(*)::int AS "entries",
      sum(c."amount") AS "total"
    FROM "changed" c LEFT JOIN "Store" s ON s."id" = c."storeId" GROUP BY 1, 2, 3, 4 OFFSET 0) each;
  RETURN NULL;
END $$;
CREATE TRIGGER "PaymentEntry_summed" AFTER INSERT ON "PaymentEntry" REFERENCING NEW TABLE AS "changed"
  FOR EACH STATEMENT EXECUTE FUNCTION "sumPayments"('1');
CREATE TRIGGER "PaymentEntry_unsummed" AFTER DELETE ON "PaymentEntry" REFERENCING OLD TABLE AS "changed"
  FOR EACH STATEMENT EXECUTE FUNCTION "sumPayments"('-1');
-- Another zone has other days.
CREATE FUNCTION "resumPayments"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7301423, NEW."id");
  DELETE FROM "PaymentSum" WHERE "storeId" = NEW."id";
  INSERT INTO "PaymentSum" ("storeId", "day", "method", "isOut", "count", "amount")
    SELECT NEW."id", "dayIn"(NEW."timeZone", "bookedAt"), "method", "amount" < 0, count(*), sum("amount")
    FROM "PaymentEntry" WHERE "storeId" = NEW."id" GROUP BY 2, 3, 4;
  RETURN NULL;
END $$;
CREATE TRIGGER "Store_zone_changed" AFTER UPDATE ON "Store" FOR EACH ROW WHEN (OLD."timeZone" <> NEW."timeZone")
  EXECUTE FUNCTION "resumPayments"();

-- Entries of a closed time keep what their order and transaction were called, as soon as that changes.
CREATE FUNCTION "keepPaymentNames"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(7301423, OLD."storeId");
  UPDATE "PaymentEntry" SET "invoice" = "shownInvoice"(OLD."invoicePrefix", OLD."invoiceNumber"), "customer" = "buyerName"(OLD."details"),
    "hasChanged" = true
  WHERE "storeId" = OLD."storeId" AND "orderId" = OLD."id" AND "bookedAt" < "closedUntil"(OLD."storeId") AND "invoice" IS NULL;
  RETURN OLD;
END $$;
CREATE FUNCTION "keepCreditNote"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "PaymentEntry" SET "creditNote" = OLD."creditNotePrefix" || OLD."creditNoteNumber"
  WHERE "storeId" = OLD."storeId" AND "transactionId" = OLD."id" AND "creditNote" IS NULL;
  RETURN OLD;
END $$;
-- An order that is placed gets its number last.
CREATE TRIGGER "Order_renamed" AFTER UPDATE ON "Order" FOR EACH ROW
  WHEN (OLD."invoiceNumber" > 0 AND (OLD."invoiceNumber" <> NEW."invoiceNumber" OR OLD."invoicePrefix" <> NEW."invoicePrefix"
    OR (OLD."details"::text <> NEW."details"::text AND "buyerName"(OLD."details") <> "buyerName"(NEW."details"))))
  EXECUTE FUNCTION "keepPaymentNames"();
CREATE TRIGGER "Order_names_kept" BEFORE DELETE ON "Order" FOR EACH ROW EXECUTE FUNCTION "keepPaymentNames"();
CREATE TRIGGER "OrderTransaction_note_kept" BEFORE DELETE ON "OrderTransaction" FOR EACH ROW
  WHEN (OLD."creditNoteNumber" IS NOT NULL) EXECUTE FUNCTION "keepCreditNote"();

-- For the check of a database: transactions whose entries are not what they moved, and days whose sums are not those of their entries.
CREATE VIEW "PaymentLedgerFaults" AS
  SELECT "storeId", concat('Order ', max("orderId"), ', transaction ', "transactionId") AS "record",
    concat('entries ', trim_scale(sum("kept")), ', transaction ', trim_scale(sum("there"))) AS "found"
  FROM (
    SELECT "storeId", "orderId", "transactionId", "amount" AS "kept", 0 AS "there" FROM "PaymentEntry"
    UNION ALL SELECT "storeId", "orderId", "transactionId", 0, "amount" FROM "PaymentOfTransaction"
  ) each GROUP BY "storeId", "transactionId" HAVING sum("kept") <> sum("there")
  UNION ALL
  SELECT "storeId", concat('Payments of ', "day"),
    concat('sum ', sum("keptCount"), ' and ', trim_scale(sum("kept")), ', entries ', sum("thereCount"), ' and ', trim_scale(sum("there")))
  FROM (
    SELECT "storeId", "day", "method", "isOut", "count" AS "keptCount", 0 AS "thereCount", "amount" AS "kept", 0 AS "there" FROM "PaymentSum"
    UNION ALL
    SELECT e."storeId", "dayIn"(s."timeZone", e."bookedAt"), e."method", e."amount" < 0, 0, 1, 0, e."amount"
    FROM "PaymentEntry" e LEFT JOIN "Store" s ON s."id" = e."storeId"
  ) each GROUP BY "storeId", "day", "method", "isOut"
  HAVING sum("keptCount") <> sum("thereCount") OR sum("kept") <> sum("there");
