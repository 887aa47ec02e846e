-- AlterTable
ALTER TABLE "AccessToken" ADD COLUMN     "expiresAt" TIMESTAMPTZ(3),
ADD COLUMN     "grantId" INTEGER,
ALTER COLUMN "codeHash" DROP NOT NULL;

-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "kind" TEXT NOT NULL DEFAULT 'existing';

-- CreateTable
CREATE TABLE "AccessGrant" (
    "id" SERIAL NOT NULL,
    "subscriptionId" INTEGER NOT NULL,
    "storeUserId" INTEGER NOT NULL,
    "codeHash" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "tokenHash" TEXT NOT NULL,
    "tokenSealed" TEXT NOT NULL,
    "formerTokenHash" TEXT,
    "refreshedAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "AccessGrant_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "AccessGrant_codeHash_key" ON "AccessGrant"("codeHash");

-- CreateIndex
CREATE UNIQUE INDEX "AccessGrant_name_key" ON "AccessGrant"("name");

-- CreateIndex
CREATE UNIQUE INDEX "AccessGrant_tokenHash_key" ON "AccessGrant"("tokenHash");

-- CreateIndex
CREATE INDEX "AccessGrant_subscriptionId_id_idx" ON "AccessGrant"("subscriptionId", "id");

-- CreateIndex
CREATE INDEX "AccessGrant_expiresAt_idx" ON "AccessGrant"("expiresAt");

-- CreateIndex
CREATE INDEX "AccessToken_grantId_id_idx" ON "AccessToken"("grantId", "id");

-- CreateIndex
CREATE INDEX "AccessToken_expiresAt_idx" ON "AccessToken"("expiresAt");

-- AddForeignKey
ALTER TABLE "AccessToken" ADD CONSTRAINT "AccessToken_grantId_fkey" FOREIGN KEY ("grantId") REFERENCES "AccessGrant"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AccessGrant" ADD CONSTRAINT "AccessGrant_subscriptionId_fkey" FOREIGN KEY ("subscriptionId") REFERENCES "Subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "Application" ADD CONSTRAINT "Application_kind_check" CHECK ("kind" IN ('existing', 'new'));

-- A token that has expired is not kept: one of every hour would make the table grow for ever.
CREATE OR REPLACE FUNCTION "endAccessToken"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "EndedToken" ("tokenHash", "storeId", "applicationId")
    SELECT OLD."tokenHash", "storeId", "applicationId" FROM "Subscription"
    WHERE "id" = OLD."subscriptionId" AND (OLD."expiresAt" IS NULL OR OLD."expiresAt" > now())
    ON CONFLICT DO NOTHING;
  RETURN OLD;
END $$;
