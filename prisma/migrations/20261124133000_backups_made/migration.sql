-- CreateTable
CREATE TABLE "Backup" (
    "by" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "bytes" BIGINT NOT NULL,
    "seconds" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "Backup_pkey" PRIMARY KEY ("by")
);

