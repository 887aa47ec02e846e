-- A webhook refers to a subscription of its own store.
CREATE UNIQUE INDEX "Subscription_storeId_id_key" ON "Subscription"("storeId", "id");
ALTER TABLE "Webhook" DROP CONSTRAINT "Webhook_subscriptionId_fkey";
ALTER TABLE "Webhook" ADD CONSTRAINT "Webhook_storeId_subscriptionId_fkey" FOREIGN KEY ("storeId", "subscriptionId")
  REFERENCES "Subscription"("storeId", "id") ON DELETE CASCADE;
