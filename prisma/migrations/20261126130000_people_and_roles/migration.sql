-- What people sign in with moves from the accounts to "Identity", one for each account: those of one address stay apart.
-- Everybody who has an account in a store may do everything there today, so everybody becomes an owner.

-- CreateTable
CREATE TABLE "Identity" (
    "id" SERIAL NOT NULL,
    "email" TEXT NOT NULL,
    "emailProvedAt" TIMESTAMPTZ(3),
    "passwordHash" TEXT NOT NULL,
    "totpSealed" TEXT,
    "totpSince" TIMESTAMPTZ(3),
    "totpUsed" INTEGER,
    "factorsEndAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "Identity_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "RecoveryCode" (
    "id" SERIAL NOT NULL,
    "identityId" INTEGER NOT NULL,
    "codeHash" TEXT NOT NULL,
    "codeSealed" TEXT NOT NULL,

CONSTRAINT "RecoveryCode_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Passkey" (
    "id" SERIAL NOT NULL,
    "identityId" INTEGER NOT NULL,
    "credentialId" TEXT NOT NULL,
    "publicKey" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL,
    "transports" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "name" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "usedAt" TIMESTAMPTZ(3),

CONSTRAINT "Passkey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Challenge" (
    "tokenHash" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "identityId" INTEGER,
    "accountKind" TEXT NOT NULL,
    "accountIds" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "challenge" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "Challenge_pkey" PRIMARY KEY ("tokenHash")
);

-- CreateTable
CREATE TABLE "ResetLink" (
    "tokenHash" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "accountKind" TEXT NOT NULL,
    "identityId" INTEGER,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "ResetLink_pkey" PRIMARY KEY ("tokenHash")
);

-- CreateTable
CREATE TABLE "AddressChange" (
    "tokenHash" TEXT NOT NULL,
    "identityId" INTEGER NOT NULL,
    "email" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "AddressChange_pkey" PRIMARY KEY ("tokenHash")
);

-- CreateTable
CREATE TABLE "StoreRole" (
    "storeId" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "privileges" JSONB NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "StoreRole_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "Invitation" (
    "storeId" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT,
    "roleId" INTEGER,
    "tokenHash" TEXT NOT NULL,
    "isMailed" BOOLEAN NOT NULL,
    "invitedBy" TEXT NOT NULL,
    "invitedById" INTEGER,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "Invitation_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "Operator" (
    "id" SERIAL NOT NULL,
    "identityId" INTEGER NOT NULL,
    "email" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "Operator_pkey" PRIMARY KEY ("id")
);

ALTER TABLE "Identity" ADD COLUMN "userId" INTEGER, ADD COLUMN "developerId" INTEGER;
INSERT INTO "Identity" ("email", "passwordHash", "createdAt", "userId")
  SELECT "email", "passwordHash", "createdAt", "id" FROM "StoreUser" ORDER BY "id";
INSERT INTO "Identity" ("email", "passwordHash", "createdAt", "developerId")
  SELECT "email", "passwordHash", "createdAt", "id" FROM "Developer" ORDER BY "id";

ALTER TABLE "StoreUser" ADD COLUMN "identityId" INTEGER, ADD COLUMN "role" TEXT, ADD COLUMN "roleId" INTEGER;
UPDATE "StoreUser" SET "identityId" = "Identity"."id", "role" = 'owner' FROM "Identity" WHERE "userId" = "StoreUser"."id";
ALTER TABLE "StoreUser" ALTER COLUMN "identityId" SET NOT NULL, DROP COLUMN "passwordHash",
  ADD CONSTRAINT "StoreUser_role_check" CHECK (("role" IS NULL) <> ("roleId" IS NULL));

ALTER TABLE "Developer" ADD COLUMN "identityId" INTEGER;
UPDATE "Developer" SET "identityId" = "Identity"."id" FROM "Identity" WHERE "developerId" = "Developer"."id";
ALTER TABLE "Developer" ALTER COLUMN "identityId" SET NOT NULL, DROP COLUMN "passwordHash";

ALTER TABLE "Identity" DROP COLUMN "userId", DROP COLUMN "developerId";

ALTER TABLE "Session" ADD COLUMN "operatorId" INTEGER, ADD COLUMN "provedAt" TIMESTAMPTZ(3);
UPDATE "Session" SET "provedAt" = "createdAt";
ALTER TABLE "Session" ALTER COLUMN "provedAt" SET NOT NULL;

ALTER TABLE "Store" ADD COLUMN "factorRequiredFrom" TIMESTAMPTZ(3);

-- DropIndex
DROP INDEX "StoreUser_storeId_idx";

-- CreateIndex
CREATE UNIQUE INDEX "Identity_id_email_key" ON "Identity"("id", "email");

-- CreateIndex
CREATE UNIQUE INDEX "RecoveryCode_codeHash_key" ON "RecoveryCode"("codeHash");

-- CreateIndex
CREATE INDEX "RecoveryCode_identityId_idx" ON "RecoveryCode"("identityId");

-- CreateIndex
CREATE UNIQUE INDEX "Passkey_credentialId_key" ON "Passkey"("credentialId");

-- CreateIndex
CREATE INDEX "Passkey_identityId_idx" ON "Passkey"("identityId");

-- CreateIndex
CREATE INDEX "Challenge_identityId_idx" ON "Challenge"("identityId");

-- CreateIndex
CREATE INDEX "Challenge_expiresAt_idx" ON "Challenge"("expiresAt");

-- CreateIndex
CREATE INDEX "ResetLink_identityId_idx" ON "ResetLink"("identityId");

-- CreateIndex
CREATE INDEX "ResetLink_expiresAt_idx" ON "ResetLink"("expiresAt");

-- CreateIndex
CREATE INDEX "AddressChange_identityId_idx" ON "AddressChange"("identityId");

-- CreateIndex
CREATE INDEX "AddressChange_expiresAt_idx" ON "AddressChange"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "StoreRole_storeId_name_key" ON "StoreRole"("storeId", "name");

-- CreateIndex
CREATE UNIQUE INDEX "Invitation_tokenHash_key" ON "Invitation"("tokenHash");

-- CreateIndex
CREATE INDEX "Invitation_storeId_roleId_idx" ON "Invitation"("storeId", "roleId");

-- CreateIndex
CREATE INDEX "Invitation_invitedById_idx" ON "Invitation"("invitedById");

-- CreateIndex
CREATE INDEX "Invitation_expiresAt_idx" ON "Invitation"("expiresAt");

-- CreateIndex
CREATE INDEX "Operator_identityId_idx" ON "Operator"("identityId");

-- CreateIndex
CREATE INDEX "Developer_identityId_idx" ON "Developer"("identityId");

-- CreateIndex
CREATE INDEX "Session_operatorId_idx" ON "Session"("operatorId");

-- CreateIndex
CREATE INDEX "StoreUser_identityId_idx" ON "StoreUser"("identityId");

-- CreateIndex
CREATE INDEX "StoreUser_storeId_roleId_idx" ON "StoreUser"("storeId", "roleId");

-- CreateIndex
CREATE UNIQUE INDEX "StoreUser_storeId_identityId_key" ON "StoreUser"("storeId", "identityId");

-- AddForeignKey
ALTER TABLE "RecoveryCode" ADD CONSTRAINT "RecoveryCode_identityId_fkey" FOREIGN KEY ("identityId") REFERENCES "Identity"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Passkey" ADD CONSTRAINT "Passkey_identityId_fkey" FOREIGN KEY ("identityId") REFERENCES "Identity"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Challenge" ADD CONSTRAINT "Challenge_identityId_fkey" FOREIGN KEY ("identityId") REFERENCES "Identity"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ResetLink" ADD CONSTRAINT "ResetLink_identityId_fkey" FOREIGN KEY ("identityId") REFERENCES "Identity"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AddressChange" ADD CONSTRAINT "AddressChange_identityId_fkey" FOREIGN KEY ("identityId") REFERENCES "Identity"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "StoreUser" ADD CONSTRAINT "StoreUser_identityId_email_fkey" FOREIGN KEY ("identityId", "email") REFERENCES "Identity"("id", "email") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "StoreUser" ADD CONSTRAINT "StoreUser_storeId_roleId_fkey" FOREIGN KEY ("storeId", "roleId") REFERENCES "StoreRole"("storeId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "StoreRole" ADD CONSTRAINT "StoreRole_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_invitedById_fkey" FOREIGN KEY ("invitedById") REFERENCES "StoreUser"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_storeId_roleId_fkey" FOREIGN KEY ("storeId", "roleId") REFERENCES "StoreRole"("storeId", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Developer" ADD CONSTRAINT "Developer_identityId_email_fkey" FOREIGN KEY ("identityId", "email") REFERENCES "Identity"("id", "email") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Operator" ADD CONSTRAINT "Operator_identityId_email_fkey" FOREIGN KEY ("identityId", "email") REFERENCES "Identity"("id", "email") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_operatorId_fkey" FOREIGN KEY ("operatorId") REFERENCES "Operator"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE UNIQUE INDEX "Operator_email_key" ON "Operator" (lower("email"));
CREATE INDEX "Identity_email_lower" ON "Identity" (lower("email"));
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_role_check" CHECK (("role" IS NULL) <> ("roleId" IS NULL));

-- Nobody signs in with an identity that no account is left of, whatever ended the accounts.
CREATE FUNCTION "endIdentities"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Waits for an account that is being added, which the next statement then sees.
  PERFORM FROM "Identity" WHERE "id" IN (SELECT "identityId" FROM "ended") ORDER BY "id" FOR UPDATE;
  DELETE FROM "Identity" WHERE "id" IN (SELECT "identityId" FROM "ended")
    AND NOT EXISTS (SELECT FROM "StoreUser" WHERE "identityId" = "Identity"."id")
    AND NOT EXISTS (SELECT FROM "Developer" WHERE "identityId" = "Identity"."id")
    AND NOT EXISTS (SELECT FROM "Operator" WHERE "identityId" = "Identity"."id");
  RETURN NULL;
END $$;

CREATE TRIGGER "StoreUser_ended" AFTER DELETE ON "StoreUser" REFERENCING OLD TABLE AS "ended"
  FOR EACH STATEMENT EXECUTE FUNCTION "endIdentities"();
CREATE TRIGGER "Developer_ended" AFTER DELETE ON "Developer" REFERENCING OLD TABLE AS "ended"
  FOR EACH STATEMENT EXECUTE FUNCTION "endIdentities"();
CREATE TRIGGER "Operator_ended" AFTER DELETE ON "Operator" REFERENCING OLD TABLE AS "ended"
  FOR EACH STATEMENT EXECUTE FUNCTION "endIdentities"();
