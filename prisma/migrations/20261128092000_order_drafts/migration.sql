-- CreateTable
CREATE TABLE "OrderDraft" (
    "storeId" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "identityId" INTEGER NOT NULL,
    "page" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "lines" INTEGER NOT NULL,
    "fields" TEXT NOT NULL,
    "keptAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "OrderDraft_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateIndex
CREATE INDEX "OrderDraft_keptAt_idx" ON "OrderDraft"("keptAt");

-- CreateIndex
CREATE UNIQUE INDEX "OrderDraft_storeId_identityId_page_key" ON "OrderDraft"("storeId", "identityId", "page");

-- AddForeignKey
ALTER TABLE "OrderDraft" ADD CONSTRAINT "OrderDraft_storeId_identityId_fkey" FOREIGN KEY ("storeId", "identityId") REFERENCES "StoreUser"("storeId", "identityId") ON DELETE CASCADE ON UPDATE CASCADE;
