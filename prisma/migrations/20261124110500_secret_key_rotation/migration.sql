-- Every secret that somebody must see again is sealed, so that a new secret key can take it over.

-- CreateTable
CREATE TABLE "SecretKey" (
    "id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "finishedAt" TIMESTAMPTZ(3),

    CONSTRAINT "SecretKey_pkey" PRIMARY KEY ("id")
);

-- The seeds of secrets that were derived until now stay: only the server has the key, and stores the secrets at its next start.
ALTER TABLE "Webhook" RENAME COLUMN "secretSeed" TO "secretSealed";
ALTER TABLE "Webhook" RENAME COLUMN "formerSecretSeed" TO "formerSecretSealed";

-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "callbackSecretSealed" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "formerCallbackSecretSealed" TEXT;

-- AlterTable
ALTER TABLE "AccessToken" ADD COLUMN     "tokenSealed" TEXT;
