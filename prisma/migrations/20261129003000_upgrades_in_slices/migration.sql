-- Servers from 0.2.0 on may run on it.

-- AlterTable
ALTER TABLE "Upgrade" ADD COLUMN     "position" JSONB,
ADD COLUMN     "rows" BIGINT NOT NULL DEFAULT 0,
ALTER COLUMN "doneAt" DROP NOT NULL;
