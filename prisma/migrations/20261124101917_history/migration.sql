-- CreateTable
CREATE TABLE "HistoryEntry" (
    "storeId" INTEGER NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "recordType" TEXT NOT NULL,
    "recordId" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "actorKind" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "changed" JSON NOT NULL,
    "more" INTEGER NOT NULL,

CONSTRAINT "HistoryEntry_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateIndex
CREATE INDEX "HistoryEntry_storeId_recordType_recordId_id_idx" ON "HistoryEntry"("storeId", "recordType", "recordId", "id");
