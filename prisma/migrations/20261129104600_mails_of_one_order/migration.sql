-- Servers from 0.2.0 on may run on it.
-- The mails of an order, with those that people wrote: for its page, and for the foreign key.
CREATE INDEX CONCURRENTLY "Mail_of_order" ON "Mail"("storeId", "orderId") WHERE "orderId" IS NOT NULL;
