-- AlterTable
ALTER TABLE "Order" ADD COLUMN     "fulfilment" TEXT NOT NULL DEFAULT 'none',
ADD COLUMN     "paid" DECIMAL(15,4),
ADD COLUMN     "paidOnline" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "payment" TEXT NOT NULL DEFAULT 'unpaid',
ADD COLUMN     "refunded" DECIMAL(15,4);

-- AlterTable
ALTER TABLE "OrderTransaction" ADD COLUMN     "voidedAt" TIMESTAMPTZ(3),
ADD COLUMN     "voidedBy" TEXT,
ADD COLUMN     "voidedType" TEXT;

-- What a transaction does to what is paid of its order; NULL: nothing. Types are free text, applications write refunds with either
-- sign, and a payment below 0 is a refund too. An authorization is paid once it is captured.
CREATE FUNCTION "paymentEffect"("type" text, "amount" numeric, "captured" int) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE lower(btrim("type", E' \t\r\n'))
  WHEN 'refund' THEN 'refunded'
  WHEN 'credit' THEN 'refunded'
  WHEN 'sale' THEN CASE WHEN "amount" < 0 THEN 'refunded' ELSE 'paid' END
  WHEN 'capture' THEN CASE WHEN "amount" < 0 THEN 'refunded' ELSE 'paid' END
  WHEN 'authorize' THEN CASE WHEN "captured" <> 1 THEN NULL WHEN "amount" < 0 THEN 'refunded' ELSE 'paid' END
  END;

-- What is still to be paid; below 0 where more was paid than the order comes to. An order that was paid in full owes nothing more when
-- some of it is refunded.
CREATE FUNCTION "openAmount"("amount" numeric, "paid" numeric, "refunded" numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN coalesce("paid", 0) < "amount" THEN "amount" - coalesce("paid", 0) + coalesce("refunded", 0)
  ELSE least("amount" - coalesce("paid", 0) + coalesce("refunded", 0), 0) END;

-- The payment state of an order: docs/decisions/orders.md. "paid" is NULL where it has no transactions.
CREATE FUNCTION "paymentState"("amount" numeric, "paid" numeric, "refunded" numeric, "paidOnline" boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN "paid" IS NULL AND "paidOnline" THEN 'paid'
  WHEN "openAmount"("amount", "paid", "refunded") > 0 THEN CASE WHEN "paid" > "refunded" THEN 'part-paid' ELSE 'unpaid' END
  WHEN "openAmount"("amount", "paid", "refunded") < 0 THEN 'overpaid'
  WHEN coalesce("refunded", 0) = 0 THEN 'paid'
  WHEN "paid" <= "refunded" THEN 'refunded'
  WHEN "paid" - "refunded" < "amount" THEN 'part-refunded'
  ELSE 'paid' END;

-- Whether a shipment has left: its day is known, or its status (Shipped) says so.
CREATE FUNCTION "hasLeft"("shippedDate" text, "statusId" int) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN "shippedDate" <> '' OR "statusId" = 4;

-- Of "total" shipments "gone" have left.
CREATE FUNCTION "fulfilmentState"("total" bigint, "gone" bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN "total" = 0 THEN 'none' WHEN "gone" = 0 THEN 'waiting' WHEN "gone" < "total" THEN 'part' ELSE 'left' END;

-- As the columns of an order say it, whatever else a statement gives.
CREATE FUNCTION "settlePaymentState"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."payment" := "paymentState"(NEW."orderAmount", NEW."paid", NEW."refunded", NEW."paidOnline");
  RETURN NEW;
END $$;
CREATE TRIGGER "Order_payment_placed" BEFORE INSERT ON "Order" FOR EACH ROW EXECUTE FUNCTION "settlePaymentState"();
-- Most changes of an order, such as of its status, have nothing to do with it.
CREATE TRIGGER "Order_payment_changed" BEFORE UPDATE ON "Order" FOR EACH ROW
  WHEN ((OLD."orderAmount", OLD."paid", OLD."refunded", OLD."paidOnline", OLD."payment")
    IS DISTINCT FROM (NEW."orderAmount", NEW."paid", NEW."refunded", NEW."paidOnline", NEW."payment"))
  EXECUTE FUNCTION "settlePaymentState"();

-- Both lock the order first: whoever else changes one of its lists waits, and counts what is there then.
CREATE FUNCTION "settlePayments"("ofStore" int, "ofOrder" int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Order" WHERE "storeId" = "ofStore" AND "id" = "ofOrder" FOR NO KEY UPDATE;
  UPDATE "Order" o SET "paid" = s."paid", "refunded" = s."refunded" FROM (
    SELECT CASE WHEN count(*) > 0 THEN coalesce(sum(abs("amount")) FILTER (WHERE "effect" = 'paid'), 0) END AS "paid",
      CASE WHEN count(*) > 0 THEN coalesce(sum(abs("amount")) FILTER (WHERE "effect" = 'refunded'), 0) END AS "refunded"
    FROM (SELECT "amount", "paymentEffect"("type", "amount", "captured") AS "effect" FROM "OrderTransaction"
      WHERE "storeId" = "ofStore" AND "orderId" = "ofOrder") each) s
  WHERE o."storeId" = "ofStore" AND o."id" = "ofOrder" AND (o."paid", o."refunded") IS DISTINCT FROM (s."paid", s."refunded");
END $$;

CREATE FUNCTION "settleFulfilment"("ofStore" int, "ofOrder" int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Order" WHERE "storeId" = "ofStore" AND "id" = "ofOrder" FOR NO KEY UPDATE;
  UPDATE "Order" o SET "fulfilment" = s."fulfilment" FROM (
    SELECT "fulfilmentState"(count(*), count(*) FILTER (WHERE "hasLeft"("shippedDate", "statusId"))) AS "fulfilment" FROM "OrderShipment"
    WHERE "storeId" = "ofStore" AND "orderId" = "ofOrder") s
  WHERE o."storeId" = "ofStore" AND o."id" = "ofOrder" AND o."fulfilment" <> s."fulfilment";
END $$;

CREATE FUNCTION "transactionsChanged"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "settlePayments"("storeId", "orderId") FROM (SELECT DISTINCT "storeId", "orderId" FROM "changed" ORDER BY 1, 2) each;
  RETURN NULL;
END $$;
CREATE FUNCTION "transactionUpdated"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "settlePayments"(NEW."storeId", NEW."orderId");
  IF OLD."orderId" <> NEW."orderId" THEN PERFORM "settlePayments"(OLD."storeId", OLD."orderId"); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "OrderTransaction_added" AFTER INSERT ON "OrderTransaction" REFERENCING NEW TABLE AS "changed"
  FOR EACH STATEMENT EXECUTE FUNCTION "transactionsChanged"();
CREATE TRIGGER "OrderTransaction_removed" AFTER DELETE ON "OrderTransaction" REFERENCING OLD TABLE AS "changed"
  FOR EACH STATEMENT EXECUTE FUNCTION "transactionsChanged"();
CREATE TRIGGER "OrderTransaction_updated" AFTER UPDATE ON "OrderTransaction" FOR EACH ROW
  WHEN ((OLD."orderId", OLD."type", OLD."amount", OLD."captured")
    IS DISTINCT FROM (NEW."orderId", NEW."type", NEW."amount", NEW."captured"))
  EXECUTE FUNCTION "transactionUpdated"();

CREATE FUNCTION "shipmentsChanged"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "settleFulfilment"("storeId", "orderId") FROM (SELECT DISTINCT "storeId", "orderId" FROM "changed" ORDER BY 1, 2) each;
  RETURN NULL;
END $$;
CREATE FUNCTION "shipmentUpdated"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "settleFulfilment"(NEW."storeId", NEW."orderId");
  IF OLD."orderId" <> NEW."orderId" THEN PERFORM "settleFulfilment"(OLD."storeId", OLD."orderId"); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "OrderShipment_added" AFTER INSERT ON "OrderShipment" REFERENCING NEW TABLE AS "changed"
  FOR EACH STATEMENT EXECUTE FUNCTION "shipmentsChanged"();
CREATE TRIGGER "OrderShipment_removed" AFTER DELETE ON "OrderShipment" REFERENCING OLD TABLE AS "changed"
  FOR EACH STATEMENT EXECUTE FUNCTION "shipmentsChanged"();
CREATE TRIGGER "OrderShipment_updated" AFTER UPDATE ON "OrderShipment" FOR EACH ROW
  WHEN ((OLD."orderId", "hasLeft"(OLD."shippedDate", OLD."statusId"))
    IS DISTINCT FROM (NEW."orderId", "hasLeft"(NEW."shippedDate", NEW."statusId")))
  EXECUTE FUNCTION "shipmentUpdated"();

-- None of this is a word that people look for.
ALTER TABLE "Order" DISABLE TRIGGER "Order_words_changed";

-- What there is so far. BillingOnLinePayment lay in the document, of which the other members keep their order and their text.
UPDATE "Order" o SET
  "paid" = x."paid", "refunded" = x."refunded", "fulfilment" = coalesce(h."fulfilment", 'none'),
  "paidOnline" = o."details" ->> 'BillingOnLinePayment' IS NOT DISTINCT FROM 'true',
  "details" = CASE WHEN o."details" -> 'BillingOnLinePayment' IS NULL THEN o."details" ELSE coalesce(
    (SELECT json_object_agg(m."key", m."value" ORDER BY m."ordinality")
      FROM json_each(o."details") WITH ORDINALITY m ("key", "value", "ordinality") WHERE m."key" <> 'BillingOnLinePayment'), '{}') END
FROM "Order" s
LEFT JOIN (
  SELECT "storeId", "orderId", coalesce(sum(abs("amount")) FILTER (WHERE "effect" = 'paid'), 0) AS "paid",
    coalesce(sum(abs("amount")) FILTER (WHERE "effect" = 'refunded'), 0) AS "refunded"
  FROM (SELECT "storeId", "orderId", "amount", "paymentEffect"("type", "amount", "captured") AS "effect" FROM "OrderTransaction") each
  GROUP BY 1, 2) x ON x."storeId" = s."storeId" AND x."orderId" = s."id"
LEFT JOIN (
  SELECT "storeId", "orderId", "fulfilmentState"(count(*), count(*) FILTER (WHERE "hasLeft"("shippedDate", "statusId"))) AS "fulfilment"
  FROM "OrderShipment" GROUP BY 1, 2) h ON h."storeId" = s."storeId" AND h."orderId" = s."id"
WHERE o."storeId" = s."storeId" AND o."id" = s."id";
-- The trigger has seen no order that has nothing of it.
UPDATE "Order" SET "payment" = "paymentState"("orderAmount", "paid", "refunded", "paidOnline")
WHERE "payment" <> "paymentState"("orderAmount", "paid", "refunded", "paidOnline");

ALTER TABLE "Order" ENABLE TRIGGER "Order_words_changed";

-- CreateIndex
CREATE INDEX "Order_storeId_payment_id_idx" ON "Order"("storeId", "payment", "id");

-- CreateIndex
CREATE INDEX "Order_storeId_fulfilment_id_idx" ON "Order"("storeId", "fulfilment", "id");
