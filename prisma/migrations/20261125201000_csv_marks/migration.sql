-- AlterTable
ALTER TABLE "CsvImport" ADD COLUMN     "marked" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "CsvImportLine" ADD COLUMN     "marked" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "together" INTEGER;

-- A few of a file's lines, which nothing else leads to.
CREATE INDEX "CsvImportLine_marked" ON "CsvImportLine" ("storeId", "importId", "line") WHERE "marked";
CREATE INDEX "CsvImportLine_together" ON "CsvImportLine" ("storeId", "importId", "together", "line") WHERE "together" IS NOT NULL;
