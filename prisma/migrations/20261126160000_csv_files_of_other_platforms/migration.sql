-- AlterTable
ALTER TABLE "CsvImport" ADD COLUMN     "headings" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "isWindows" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "mapping" JSON,
ADD COLUMN     "source" TEXT NOT NULL DEFAULT 'own';

-- CreateTable
CREATE TABLE "CsvImportPart" (
    "storeId" INTEGER NOT NULL,
    "importId" INTEGER NOT NULL,
    "part" INTEGER NOT NULL,
    "rows" TEXT,
    "sealed" TEXT,

CONSTRAINT "CsvImportPart_pkey" PRIMARY KEY ("storeId","importId","part")
);

-- CreateTable
CREATE TABLE "CsvImportName" (
    "storeId" INTEGER NOT NULL,
    "importId" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "service" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "parent" INTEGER,
    "parentId" INTEGER,
    "recordId" INTEGER,

CONSTRAINT "CsvImportName_pkey" PRIMARY KEY ("storeId","importId","number")
);

-- CreateTable
CREATE TABLE "CsvMapping" (
    "storeId" INTEGER NOT NULL,
    "service" TEXT NOT NULL,
    "headings" TEXT NOT NULL,
    "columns" JSON NOT NULL,
    "usedAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "CsvMapping_pkey" PRIMARY KEY ("storeId","service","headings")
);

-- AddForeignKey
ALTER TABLE "CsvImportPart" ADD CONSTRAINT "CsvImportPart_storeId_importId_fkey" FOREIGN KEY ("storeId", "importId") REFERENCES "CsvImport"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "CsvImportName" ADD CONSTRAINT "CsvImportName_storeId_importId_fkey" FOREIGN KEY ("storeId", "importId") REFERENCES "CsvImport"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
