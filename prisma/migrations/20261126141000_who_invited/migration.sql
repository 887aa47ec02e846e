-- AlterTable
ALTER TABLE "Invitation" ADD COLUMN     "invitedById" INTEGER;

-- AlterTable
ALTER TABLE "ResetLink" DROP COLUMN "isMailed",
ADD COLUMN     "identityId" INTEGER;

-- CreateIndex
CREATE INDEX "Invitation_invitedById_idx" ON "Invitation"("invitedById");

-- CreateIndex
CREATE INDEX "ResetLink_identityId_idx" ON "ResetLink"("identityId");

-- AddForeignKey
ALTER TABLE "ResetLink" ADD CONSTRAINT "ResetLink_identityId_fkey" FOREIGN KEY ("identityId") REFERENCES "Identity"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_invitedById_fkey" FOREIGN KEY ("invitedById") REFERENCES "StoreUser"("id") ON DELETE CASCADE ON UPDATE CASCADE;
