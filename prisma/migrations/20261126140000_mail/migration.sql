-- CreateTable
CREATE TABLE "Mail" (
    "id" SERIAL NOT NULL,
    "storeId" INTEGER,
    "kind" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "networkHash" TEXT,
    "messageId" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "contentSealed" TEXT,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "nextAttemptAt" TIMESTAMPTZ(3) NOT NULL,
    "process" INTEGER,
    "reason" TEXT NOT NULL DEFAULT '',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "sentAt" TIMESTAMPTZ(3),

CONSTRAINT "Mail_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "Mail_messageId_key" ON "Mail"("messageId");

-- CreateIndex
CREATE INDEX "Mail_storeId_id_idx" ON "Mail"("storeId", "id");

-- CreateIndex
CREATE INDEX "Mail_networkHash_id_idx" ON "Mail"("networkHash", "id");

-- CreateIndex
CREATE INDEX "Mail_createdAt_idx" ON "Mail"("createdAt");

-- AddForeignKey
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "Mail" ADD CONSTRAINT "Mail_state_check" CHECK ("state" IN ('waiting', 'sent', 'bounced', 'failed', 'shown', 'void'));

-- Counting the mails of an address.
CREATE INDEX "Mail_recipient_lower" ON "Mail" (lower("recipient"), "id");
-- Claiming what is due, and the age of the oldest that waits.
CREATE INDEX "Mail_due" ON "Mail" ("nextAttemptAt") WHERE "state" = 'waiting';
CREATE INDEX "Mail_waiting" ON "Mail" ("id") WHERE "state" = 'waiting';
