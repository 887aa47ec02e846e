-- The place among the shipments of its order in which one left; those of before are told apart by their last change.
ALTER TABLE "OrderShipment" ADD COLUMN "departure" INTEGER;
