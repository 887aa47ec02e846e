-- Servers from 0.2.0 on may run on it.
-- How many mails of its orders a store has sent today.
CREATE INDEX CONCURRENTLY "Mail_sentAt" ON "Mail"("storeId", "sentAt") WHERE "orderId" IS NOT NULL;
