-- CreateTable
CREATE TABLE "CsvImport" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "service" TEXT NOT NULL,
    "fileName" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "ignored" TEXT[],
    "same" INTEGER NOT NULL DEFAULT 0,
    "changes" INTEGER NOT NULL DEFAULT 0,
    "creates" INTEGER NOT NULL DEFAULT 0,
    "refused" INTEGER NOT NULL DEFAULT 0,
    "changed" INTEGER NOT NULL DEFAULT 0,
    "added" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "actor" TEXT NOT NULL,
    "appliedBy" TEXT NOT NULL DEFAULT '',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "startedAt" TIMESTAMPTZ(3),
    "endedAt" TIMESTAMPTZ(3),
    "claim" INTEGER NOT NULL DEFAULT 0,
    "leasedUntil" TIMESTAMPTZ(3),
    "process" INTEGER,

CONSTRAINT "CsvImport_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "CsvImportLine" (
    "storeId" INTEGER NOT NULL,
    "importId" INTEGER NOT NULL,
    "line" INTEGER NOT NULL,
    "outcome" TEXT NOT NULL,
    "recordId" INTEGER,
    "name" TEXT NOT NULL,
    "body" JSON NOT NULL,
    "sealed" TEXT,
    "changes" JSON NOT NULL,
    "problems" JSON NOT NULL,

CONSTRAINT "CsvImportLine_pkey" PRIMARY KEY ("storeId","importId","line")
);

-- CreateIndex
CREATE INDEX "CsvImport_createdAt_idx" ON "CsvImport"("createdAt");

-- CreateIndex
CREATE INDEX "CsvImportLine_storeId_importId_outcome_line_idx" ON "CsvImportLine"("storeId", "importId", "outcome", "line");

-- AddForeignKey
ALTER TABLE "CsvImportLine" ADD CONSTRAINT "CsvImportLine_storeId_importId_fkey" FOREIGN KEY ("storeId", "importId") REFERENCES "CsvImport"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- What the schema language cannot say: imports that a process has to go on with.
CREATE INDEX "CsvImport_startedAt_applying_idx" ON "CsvImport" ("startedAt") WHERE "state" = 'applying';
