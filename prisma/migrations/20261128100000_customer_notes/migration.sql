-- CreateTable
CREATE TABLE "CustomerNote" (
    "storeId" INTEGER NOT NULL,
    "customerId" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "text" TEXT NOT NULL,
    "writtenBy" TEXT NOT NULL,
    "writtenAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "CustomerNote_pkey" PRIMARY KEY ("storeId","customerId","id")
);

-- AddForeignKey
ALTER TABLE "CustomerNote" ADD CONSTRAINT "CustomerNote_storeId_customerId_fkey" FOREIGN KEY ("storeId", "customerId") REFERENCES "Customer"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;
