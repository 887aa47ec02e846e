-- The orders of which something is still to be paid, without those that are cancelled (5) or not completed (7): a list and a count of them.
CREATE INDEX "Order_owed" ON "Order" ("storeId", "id") WHERE "payment" IN ('unpaid', 'part-paid') AND "statusId" NOT IN (5, 7);
