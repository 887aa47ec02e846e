-- Servers from 0.2.0 on may run on it.
-- CreateTable
CREATE TABLE "PictureFetch" (
    "storeId" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "service" TEXT NOT NULL,
    "recordId" INTEGER NOT NULL,
    "address" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "nextAt" TIMESTAMPTZ(3) NOT NULL,
    "process" INTEGER,
    "reason" TEXT NOT NULL DEFAULT '',
    "bytes" INTEGER NOT NULL DEFAULT 0,
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "PictureFetch_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateIndex
CREATE INDEX "PictureFetch_storeId_service_recordId_id_idx" ON "PictureFetch"("storeId", "service", "recordId", "id");

-- CreateIndex
CREATE INDEX "PictureFetch_storeId_endedAt_idx" ON "PictureFetch"("storeId", "endedAt");

-- CreateIndex
CREATE INDEX "PictureFetch_endedAt_idx" ON "PictureFetch"("endedAt");

-- AddForeignKey
ALTER TABLE "PictureFetch" ADD CONSTRAINT "PictureFetch_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE INDEX "PictureFetch_waiting" ON "PictureFetch" ("place") WHERE "endedAt" IS NULL;
