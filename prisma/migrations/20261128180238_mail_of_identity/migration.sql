-- Mails that were written before belong to nobody: of an address alone nobody knows whose it was. They are deleted within 30 days.

-- AlterTable
ALTER TABLE "Mail" ADD COLUMN     "identityId" INTEGER;

-- CreateIndex
CREATE INDEX "Mail_identityId_id_idx" ON "Mail"("identityId", "id");

-- AddForeignKey
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_identityId_fkey" FOREIGN KEY ("identityId") REFERENCES "Identity"("id") ON DELETE SET NULL ON UPDATE CASCADE;
