-- AlterTable
ALTER TABLE "Challenge" ADD COLUMN     "passwords" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "Identity" ADD COLUMN     "passkeySince" TIMESTAMPTZ(3);
