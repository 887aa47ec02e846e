-- Servers from 0.2.0 on may run on it.
-- Each kind tells of an order, a parcel, a refund or a return once; what people write themselves comes as often as they like.
CREATE UNIQUE INDEX CONCURRENTLY "Mail_orderId_key" ON "Mail"("storeId", "orderId", "kind", "aboutId") WHERE "orderId" IS NOT NULL AND "kind" <> 'order-message';
