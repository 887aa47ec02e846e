-- Servers from 0.2.0 on may run on it.

-- CreateTable
CREATE TABLE "PersonToken" (
    "id" SERIAL NOT NULL,
    "digest" TEXT NOT NULL,
    "beginning" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "developerId" INTEGER,
    "storeUserId" INTEGER,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "lastUsedAt" TIMESTAMPTZ(3),

CONSTRAINT "PersonToken_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "PersonToken_digest_key" ON "PersonToken"("digest");

-- CreateIndex
CREATE INDEX "PersonToken_developerId_idx" ON "PersonToken"("developerId");

-- CreateIndex
CREATE INDEX "PersonToken_storeUserId_idx" ON "PersonToken"("storeUserId");

-- CreateIndex
CREATE INDEX "PersonToken_expiresAt_idx" ON "PersonToken"("expiresAt");

-- AddForeignKey
ALTER TABLE "PersonToken" ADD CONSTRAINT "PersonToken_developerId_fkey" FOREIGN KEY ("developerId") REFERENCES "Developer"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PersonToken" ADD CONSTRAINT "PersonToken_storeUserId_fkey" FOREIGN KEY ("storeUserId") REFERENCES "StoreUser"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- By hand: of exactly one account.
ALTER TABLE "PersonToken" ADD CONSTRAINT "PersonToken_account_check" CHECK (num_nonnulls("developerId", "storeUserId") = 1);
