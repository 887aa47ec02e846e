-- CreateTable
CREATE TABLE "Upgrade" (
    "name" TEXT NOT NULL,
    "doneAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "Upgrade_pkey" PRIMARY KEY ("name")
);
