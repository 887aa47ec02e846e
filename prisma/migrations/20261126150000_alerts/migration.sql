-- CreateTable
CREATE TABLE "Alert" (
    "id" SERIAL NOT NULL,
    "storeUserId" INTEGER,
    "operatorId" INTEGER,
    "kind" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "lookedAt" TIMESTAMPTZ(3) NOT NULL,
    "toldAt" TIMESTAMPTZ(3),

CONSTRAINT "Alert_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Alert_lookedAt_idx" ON "Alert"("lookedAt");

-- CreateIndex
CREATE UNIQUE INDEX "Alert_storeUserId_kind_key" ON "Alert"("storeUserId", "kind");

-- CreateIndex
CREATE UNIQUE INDEX "Alert_operatorId_kind_key" ON "Alert"("operatorId", "kind");

-- AddForeignKey
ALTER TABLE "Alert" ADD CONSTRAINT "Alert_storeUserId_fkey" FOREIGN KEY ("storeUserId") REFERENCES "StoreUser"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Alert" ADD CONSTRAINT "Alert_operatorId_fkey" FOREIGN KEY ("operatorId") REFERENCES "Operator"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- It is of one of the two.
ALTER TABLE "Alert" ADD CONSTRAINT "Alert_owner_check" CHECK (("storeUserId" IS NULL) <> ("operatorId" IS NULL));
