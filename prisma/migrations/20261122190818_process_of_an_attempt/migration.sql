-- AlterTable
ALTER TABLE "IdempotencyKey" ADD COLUMN     "process" INTEGER;
