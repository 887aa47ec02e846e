-- Servers from 0.2.0 on may run on it.

ALTER TABLE "Developer" ADD COLUMN "deprecationsTold" TEXT[] DEFAULT ARRAY[]::TEXT[];
