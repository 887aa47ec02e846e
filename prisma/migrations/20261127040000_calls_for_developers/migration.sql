-- AlterTable
ALTER TABLE "ApiCall" ADD COLUMN     "ignored" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "requestId" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "Subscription" ADD COLUMN     "keepsBodies" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "RefusedBody" (
    "callId" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "body" TEXT NOT NULL,

CONSTRAINT "RefusedBody_pkey" PRIMARY KEY ("callId")
);

-- CreateIndex
CREATE INDEX "RefusedBody_at_idx" ON "RefusedBody"("at");

-- AddForeignKey
ALTER TABLE "RefusedBody" ADD CONSTRAINT "RefusedBody_callId_fkey" FOREIGN KEY ("callId") REFERENCES "ApiCall"("id") ON DELETE CASCADE ON UPDATE CASCADE;
