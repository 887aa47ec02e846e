-- CreateTable
CREATE TABLE "ListView" (
    "userId" INTEGER NOT NULL,
    "service" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "query" TEXT NOT NULL,

CONSTRAINT "ListView_pkey" PRIMARY KEY ("userId","service","name")
);

-- AddForeignKey
ALTER TABLE "ListView" ADD CONSTRAINT "ListView_userId_fkey" FOREIGN KEY ("userId") REFERENCES "StoreUser"("id") ON DELETE CASCADE ON UPDATE CASCADE;
