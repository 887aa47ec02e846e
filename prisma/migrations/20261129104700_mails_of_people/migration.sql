-- Servers from 0.2.0 on may run on it.
-- Mails that are bounded by the hour and deleted by age, beside which a store may have a million of its orders.
CREATE INDEX CONCURRENTLY "Mail_of_people" ON "Mail"("createdAt") WHERE "orderId" IS NULL;
