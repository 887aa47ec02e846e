-- AlterTable
ALTER TABLE "Store" ADD COLUMN     "documentSeller" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "documentTaxNumbers" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "documentFooter" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "documentLocale" TEXT;
