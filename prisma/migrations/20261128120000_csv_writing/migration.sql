-- AlterTable
ALTER TABLE "CsvImport" ADD COLUMN "decimal" TEXT, ADD COLUMN "locale" TEXT;
