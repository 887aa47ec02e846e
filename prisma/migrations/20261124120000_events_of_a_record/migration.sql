-- The page of a record shows the events that told of it.
-- CreateIndex
CREATE INDEX "Event_storeId_recordId_eventType_id_idx" ON "Event"("storeId", "recordId", "eventType", "id");
