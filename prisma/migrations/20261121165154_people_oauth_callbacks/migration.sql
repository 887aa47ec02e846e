-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "callbackSecretRotatedAt" TIMESTAMPTZ(3),
ADD COLUMN     "callbackSecretVersion" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "callbackUrl" TEXT,
ADD COLUMN     "previousPrivateKeyHash" TEXT,
ADD COLUMN     "previousPrivateKeyUntil" TIMESTAMPTZ(3),
ADD COLUMN     "redirectUris" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "Subscription" ADD COLUMN     "lastUsedAt" TIMESTAMPTZ(3),
ADD COLUMN     "postBackUrl" TEXT,
ADD COLUMN     "privileges" JSONB;

-- CreateTable
CREATE TABLE "Handshake" (
    "storeId" INTEGER NOT NULL,
    "applicationId" INTEGER NOT NULL,
    "action" TEXT NOT NULL,
    "tokenSealed" TEXT NOT NULL,
    "messageId" TEXT NOT NULL,
    "claim" TEXT NOT NULL,
    "claimedUntil" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "Handshake_pkey" PRIMARY KEY ("storeId","applicationId")
);

-- CreateTable
CREATE TABLE "RemovalNotice" (
    "id" SERIAL NOT NULL,
    "applicationId" INTEGER NOT NULL,
    "storeId" INTEGER NOT NULL,
    "url" TEXT NOT NULL,
    "bodySealed" TEXT NOT NULL,
    "messageId" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL,
    "nextAttemptAt" TIMESTAMPTZ(3) NOT NULL,
    "reason" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "RemovalNotice_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ApiCall" (
    "id" BIGSERIAL NOT NULL,
    "subscriptionId" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "message" TEXT NOT NULL,

CONSTRAINT "ApiCall_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "AuthorizationCode" (
    "codeHash" TEXT NOT NULL,
    "applicationId" INTEGER NOT NULL,
    "subscriptionId" INTEGER NOT NULL,
    "storeUserId" INTEGER NOT NULL,
    "redirectUri" TEXT NOT NULL,
    "codeChallenge" TEXT,
    "codeChallengeMethod" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "usedAt" TIMESTAMPTZ(3),

CONSTRAINT "AuthorizationCode_pkey" PRIMARY KEY ("codeHash")
);

-- CreateTable
CREATE TABLE "AccessToken" (
    "id" SERIAL NOT NULL,
    "tokenHash" TEXT NOT NULL,
    "subscriptionId" INTEGER NOT NULL,
    "codeHash" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "AccessToken_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Session" (
    "id" SERIAL NOT NULL,
    "tokenHash" TEXT NOT NULL,
    "developerId" INTEGER,
    "storeUserId" INTEGER,
    "storeId" INTEGER,
    "customerId" INTEGER,
    "otherUserIds" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "seenAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "address" TEXT NOT NULL,
    "userAgent" TEXT NOT NULL,

CONSTRAINT "Session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SignInDelay" (
    "key" TEXT NOT NULL,
    "failures" INTEGER NOT NULL,
    "allowedAt" TIMESTAMPTZ(3) NOT NULL,
    "failedAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "SignInDelay_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "CustomerLoginToken" (
    "tokenHash" TEXT NOT NULL,
    "storeId" INTEGER NOT NULL,
    "customerId" INTEGER NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "CustomerLoginToken_pkey" PRIMARY KEY ("tokenHash")
);

-- CreateTable
CREATE TABLE "AuditEntry" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "actorKind" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "storeId" INTEGER,
    "applicationId" INTEGER,
    "developerId" INTEGER,
    "details" JSON NOT NULL,
    "address" TEXT NOT NULL,

CONSTRAINT "AuditEntry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Handshake_applicationId_idx" ON "Handshake"("applicationId");

-- CreateIndex
CREATE INDEX "RemovalNotice_nextAttemptAt_idx" ON "RemovalNotice"("nextAttemptAt");

-- CreateIndex
CREATE INDEX "RemovalNotice_applicationId_idx" ON "RemovalNotice"("applicationId");

-- CreateIndex
CREATE INDEX "ApiCall_subscriptionId_id_idx" ON "ApiCall"("subscriptionId", "id");

-- CreateIndex
CREATE INDEX "AuthorizationCode_applicationId_idx" ON "AuthorizationCode"("applicationId");

-- CreateIndex
CREATE INDEX "AuthorizationCode_subscriptionId_idx" ON "AuthorizationCode"("subscriptionId");

-- CreateIndex
CREATE INDEX "AuthorizationCode_storeUserId_idx" ON "AuthorizationCode"("storeUserId");

-- CreateIndex
CREATE INDEX "AuthorizationCode_expiresAt_idx" ON "AuthorizationCode"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "AccessToken_tokenHash_key" ON "AccessToken"("tokenHash");

-- CreateIndex
CREATE UNIQUE INDEX "AccessToken_codeHash_key" ON "AccessToken"("codeHash");

-- CreateIndex
CREATE INDEX "AccessToken_subscriptionId_id_idx" ON "AccessToken"("subscriptionId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Session_tokenHash_key" ON "Session"("tokenHash");

-- CreateIndex
CREATE INDEX "Session_developerId_idx" ON "Session"("developerId");

-- CreateIndex
CREATE INDEX "Session_storeUserId_idx" ON "Session"("storeUserId");

-- CreateIndex
CREATE INDEX "Session_storeId_customerId_idx" ON "Session"("storeId", "customerId");

-- CreateIndex
CREATE INDEX "Session_expiresAt_idx" ON "Session"("expiresAt");

-- CreateIndex
CREATE INDEX "SignInDelay_failedAt_idx" ON "SignInDelay"("failedAt");

-- CreateIndex
CREATE INDEX "CustomerLoginToken_storeId_customerId_idx" ON "CustomerLoginToken"("storeId", "customerId");

-- CreateIndex
CREATE INDEX "CustomerLoginToken_expiresAt_idx" ON "CustomerLoginToken"("expiresAt");

-- CreateIndex
CREATE INDEX "AuditEntry_storeId_id_idx" ON "AuditEntry"("storeId", "id");

-- CreateIndex
CREATE INDEX "AuditEntry_developerId_id_idx" ON "AuditEntry"("developerId", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Application_previousPrivateKeyHash_key" ON "Application"("previousPrivateKeyHash");

-- AddForeignKey
ALTER TABLE "Handshake" ADD CONSTRAINT "Handshake_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Handshake" ADD CONSTRAINT "Handshake_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "RemovalNotice" ADD CONSTRAINT "RemovalNotice_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApiCall" ADD CONSTRAINT "ApiCall_subscriptionId_fkey" FOREIGN KEY ("subscriptionId") REFERENCES "Subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AuthorizationCode" ADD CONSTRAINT "AuthorizationCode_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AuthorizationCode" ADD CONSTRAINT "AuthorizationCode_subscriptionId_fkey" FOREIGN KEY ("subscriptionId") REFERENCES "Subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AuthorizationCode" ADD CONSTRAINT "AuthorizationCode_storeUserId_fkey" FOREIGN KEY ("storeUserId") REFERENCES "StoreUser"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AccessToken" ADD CONSTRAINT "AccessToken_subscriptionId_fkey" FOREIGN KEY ("subscriptionId") REFERENCES "Subscription"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_developerId_fkey" FOREIGN KEY ("developerId") REFERENCES "Developer"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_storeUserId_fkey" FOREIGN KEY ("storeUserId") REFERENCES "StoreUser"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_storeId_customerId_fkey" FOREIGN KEY ("storeId", "customerId") REFERENCES "Customer"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "CustomerLoginToken" ADD CONSTRAINT "CustomerLoginToken_storeId_customerId_fkey" FOREIGN KEY ("storeId", "customerId") REFERENCES "Customer"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- What merchants let in before this is what they agreed to.
UPDATE "Subscription" SET "privileges" = "Application"."privileges"
FROM "Application" WHERE "Application"."id" = "Subscription"."applicationId";

-- A merchant is looked for in all stores.
CREATE INDEX "StoreUser_email_lower" ON "StoreUser" (lower("email"));
