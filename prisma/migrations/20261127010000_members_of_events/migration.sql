-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "changed" TEXT;

-- AlterTable
ALTER TABLE "Webhook" ADD COLUMN     "members" TEXT;
