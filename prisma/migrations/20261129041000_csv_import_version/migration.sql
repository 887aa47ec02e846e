-- Servers from 0.2.0 on may run on it.

ALTER TABLE "CsvImport" ADD COLUMN "version" TEXT NOT NULL DEFAULT '0.2.0';
