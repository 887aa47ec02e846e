-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "bodyBytes" INTEGER,
ADD COLUMN     "templateId" BIGINT;

-- CreateTable
CREATE TABLE "EventTemplate" (
    "id" BIGINT NOT NULL,
    "text" TEXT NOT NULL,

CONSTRAINT "EventTemplate_pkey" PRIMARY KEY ("id")
);
