-- CreateTable
CREATE TABLE "Event" (
    "id" BIGSERIAL NOT NULL,
    "storeId" INTEGER NOT NULL,
    "sequence" BIGINT,
    "messageId" UUID NOT NULL DEFAULT gen_random_uuid(),
    "eventType" SMALLINT NOT NULL,
    "recordId" INTEGER NOT NULL,
    "body" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "Event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "EventFeed" (
    "storeId" INTEGER NOT NULL,
    "lastSequence" BIGINT NOT NULL,

CONSTRAINT "EventFeed_pkey" PRIMARY KEY ("storeId")
);

-- CreateTable
CREATE TABLE "EventCut" (
    "storeId" INTEGER NOT NULL,
    "eventType" SMALLINT NOT NULL,
    "deletedThrough" BIGINT NOT NULL,

CONSTRAINT "EventCut_pkey" PRIMARY KEY ("storeId","eventType")
);

-- CreateTable
CREATE TABLE "Webhook" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "subscriptionId" INTEGER,
    "name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "eventType" SMALLINT NOT NULL,
    "format" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedBy" TEXT NOT NULL,
    "secretSeed" TEXT NOT NULL,
    "formerSecretSeed" TEXT,
    "secretRotatedAt" TIMESTAMPTZ(3),
    "failingSince" TIMESTAMPTZ(3),
    "lastFailedAt" TIMESTAMPTZ(3),
    "disabledAt" TIMESTAMPTZ(3),
    "disabledAtSequence" BIGINT,
    "pauseReason" TEXT,

CONSTRAINT "Webhook_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "Delivery" (
    "id" BIGSERIAL NOT NULL,
    "storeId" INTEGER NOT NULL,
    "webhookId" INTEGER NOT NULL,
    "eventId" BIGINT NOT NULL,
    "state" TEXT NOT NULL,
    "dueAt" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "triesBefore" INTEGER NOT NULL DEFAULT 0,
    "reason" TEXT NOT NULL DEFAULT '',
    "status" SMALLINT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3),

CONSTRAINT "Delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "DeliveryAttempt" (
    "id" BIGSERIAL NOT NULL,
    "deliveryId" BIGINT NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "status" SMALLINT,
    "reason" TEXT NOT NULL,
    "durationMs" INTEGER NOT NULL,
    "answer" TEXT NOT NULL,

CONSTRAINT "DeliveryAttempt_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Event_storeId_eventType_sequence_idx" ON "Event"("storeId", "eventType", "sequence");

-- CreateIndex
CREATE INDEX "Webhook_storeId_eventType_idx" ON "Webhook"("storeId", "eventType");

-- CreateIndex
CREATE INDEX "Webhook_subscriptionId_idx" ON "Webhook"("subscriptionId");

-- CreateIndex
CREATE INDEX "Delivery_storeId_webhookId_id_idx" ON "Delivery"("storeId", "webhookId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Delivery_eventId_storeId_webhookId_key" ON "Delivery"("eventId", "storeId", "webhookId");

-- CreateIndex
CREATE INDEX "DeliveryAttempt_deliveryId_idx" ON "DeliveryAttempt"("deliveryId");

-- AddForeignKey
ALTER TABLE "Webhook" ADD CONSTRAINT "Webhook_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Webhook" ADD CONSTRAINT "Webhook_subscriptionId_fkey" FOREIGN KEY ("subscriptionId") REFERENCES "Subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_eventId_fkey" FOREIGN KEY ("eventId") REFERENCES "Event"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DeliveryAttempt" ADD CONSTRAINT "DeliveryAttempt_deliveryId_fkey" FOREIGN KEY ("deliveryId") REFERENCES "Delivery"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What waits for its number, what waits for an attempt, and what was given up: small however much was delivered already.
CREATE INDEX "Event_unnumbered_idx" ON "Event"("id") WHERE "sequence" IS NULL;
CREATE INDEX "Delivery_pending_idx" ON "Delivery"("storeId", "webhookId", "dueAt") WHERE "state" = 'pending';
CREATE INDEX "Delivery_failed_idx" ON "Delivery"("storeId", "webhookId", "id") WHERE "state" = 'failed';

ALTER TABLE "Webhook" ADD CONSTRAINT "Webhook_format_check" CHECK ("format" IN ('JSON', 'XML'));
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_state_check" CHECK ("state" IN ('pending', 'delivered', 'failed'));
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_due_check" CHECK (("state" = 'pending') = ("dueAt" IS NOT NULL));

-- In the transaction that deletes the webhook, whoever does it: nothing more is sent to it.
CREATE FUNCTION "deletePendingDeliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "Delivery"
  WHERE "storeId" = OLD."storeId" AND "webhookId" = OLD."id" AND "state" = 'pending';
  RETURN NULL;
END $$;

CREATE TRIGGER "Webhook_pending" AFTER DELETE ON "Webhook"
FOR EACH ROW EXECUTE FUNCTION "deletePendingDeliveries"();
