-- Servers from 0.3.0 on may run on it.

ALTER TABLE "Developer" ADD COLUMN "deprecationsTold" TEXT[] DEFAULT ARRAY[]::TEXT[];
