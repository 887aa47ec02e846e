-- AlterTable
ALTER TABLE "CsvImport" ADD COLUMN     "change" JSON;

-- AlterTable
ALTER TABLE "CsvImportLine" ADD COLUMN     "before" JSON,
ADD COLUMN     "etag" TEXT;

-- AlterTable
ALTER TABLE "HistoryEntry" ADD COLUMN     "importId" INTEGER;

-- What an import or a bulk change made. Other changes, which are most, have no entry in it.
CREATE INDEX "HistoryEntry_importId" ON "HistoryEntry" ("storeId", "importId", "id") INCLUDE ("recordType", "kind")
  WHERE "importId" IS NOT NULL;
