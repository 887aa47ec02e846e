-- AlterTable
ALTER TABLE "Identity" ADD COLUMN "locale" TEXT;
