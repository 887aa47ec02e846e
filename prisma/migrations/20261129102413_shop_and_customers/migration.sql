-- Servers from 0.2.0 on may run on it.
-- AlterTable
ALTER TABLE "Identity" ADD COLUMN     "name" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "Mail" ADD COLUMN     "aboutId" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "orderId" INTEGER;

-- AlterTable
ALTER TABLE "Order" ADD COLUMN     "locale" TEXT,
ADD COLUMN     "taxIncluded" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "taxRate" DECIMAL(7,4);

-- Servers of the version before send NULL for columns that they do not know.
CREATE OR REPLACE FUNCTION "settlePaymentState"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."payment" := "paymentState"(NEW."orderAmount", NEW."paid", NEW."refunded", NEW."paidOnline");
  NEW."taxIncluded" := coalesce(NEW."taxIncluded", false);
  RETURN NEW;
END $$;

-- AlterTable
ALTER TABLE "OrderTransaction" ADD COLUMN     "creditNoteNumber" INTEGER,
ADD COLUMN     "creditNotePrefix" TEXT;

-- AlterTable
ALTER TABLE "Store" ADD COLUMN     "country" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "creditNotePrefix" TEXT NOT NULL DEFAULT 'CN-',
ADD COLUMN     "documentPhone" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "mailReplyTo" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "nextCreditNoteNumber" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "orderMails" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "StoreLogo" (
    "storeId" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "StoreLogo_pkey" PRIMARY KEY ("storeId")
);

-- CreateTable
CREATE TABLE "Carrier" (
    "storeId" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "trackingUrl" TEXT NOT NULL DEFAULT '',

CONSTRAINT "Carrier_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "TaxRule" (
    "storeId" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "country" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT '',
    "rate" DECIMAL(7,4) NOT NULL,
    "isIncluded" BOOLEAN NOT NULL,

CONSTRAINT "TaxRule_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "ShippingRate" (
    "storeId" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "method" TEXT NOT NULL,
    "country" TEXT NOT NULL DEFAULT '',
    "basis" TEXT NOT NULL,
    "from" DECIMAL(15,4) NOT NULL,
    "price" DECIMAL(15,4) NOT NULL,

CONSTRAINT "ShippingRate_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "MailText" (
    "storeId" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "locale" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "body" TEXT NOT NULL,

CONSTRAINT "MailText_pkey" PRIMARY KEY ("storeId","kind","locale")
);

-- CreateIndex
CREATE UNIQUE INDEX "TaxRule_storeId_country_state_key" ON "TaxRule"("storeId", "country", "state");

-- CreateIndex
CREATE UNIQUE INDEX "ShippingRate_storeId_method_country_from_key" ON "ShippingRate"("storeId", "method", "country", "from");

-- AddForeignKey
ALTER TABLE "StoreLogo" ADD CONSTRAINT "StoreLogo_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Carrier" ADD CONSTRAINT "Carrier_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TaxRule" ADD CONSTRAINT "TaxRule_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ShippingRate" ADD CONSTRAINT "ShippingRate_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MailText" ADD CONSTRAINT "MailText_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Mail" ADD CONSTRAINT "Mail_storeId_orderId_fkey" FOREIGN KEY ("storeId", "orderId") REFERENCES "Order"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
