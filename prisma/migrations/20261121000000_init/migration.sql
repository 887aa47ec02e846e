-- Substring filters are served by trigram indexes with the store id in front.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- CreateTable
CREATE TABLE "Store" (
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "secureUrl" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "timeZone" TEXT NOT NULL,
    "userKeyHash" TEXT NOT NULL,
    "userKeySealed" TEXT NOT NULL,
    "throttleCapacity" INTEGER,
    "throttleLeakPerSecond" DECIMAL(8,3),
    "invoicePrefix" TEXT NOT NULL DEFAULT 'AB-',
    "nextInvoiceNumber" INTEGER NOT NULL DEFAULT 1000,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Store_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "StoreUser" (
    "id" SERIAL NOT NULL,
    "storeId" INTEGER NOT NULL,
    "email" TEXT NOT NULL,
    "passwordHash" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "StoreUser_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Developer" (
    "id" SERIAL NOT NULL,
    "email" TEXT NOT NULL,
    "passwordHash" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Developer_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Application" (
    "id" SERIAL NOT NULL,
    "developerId" INTEGER,
    "name" TEXT NOT NULL,
    "publicKey" TEXT NOT NULL,
    "privateKeyHash" TEXT NOT NULL,
    "privateKeySealed" TEXT NOT NULL,
    "privileges" JSONB,
    "throttleCapacity" INTEGER,
    "throttleLeakPerSecond" DECIMAL(8,3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Application_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Subscription" (
    "id" SERIAL NOT NULL,
    "storeId" INTEGER NOT NULL,
    "applicationId" INTEGER NOT NULL,
    "tokenHash" TEXT NOT NULL,
    "tokenSealed" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Subscription_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Counter" (
    "storeId" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "value" INTEGER NOT NULL,

    CONSTRAINT "Counter_pkey" PRIMARY KEY ("storeId","name")
);

-- CreateTable
CREATE TABLE "Manufacturer" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedBy" TEXT NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "Manufacturer_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "Distributor" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "company" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "country" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "city" TEXT NOT NULL,
    "phone" TEXT NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedBy" TEXT NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "Distributor_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "Category" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "parentId" INTEGER,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedBy" TEXT NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "Category_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "CustomerGroup" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "priceLevel" INTEGER NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "CustomerGroup_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "Product" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "sku" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "cost" DECIMAL(15,4) NOT NULL,
    "price" DECIMAL(15,4) NOT NULL,
    "retailPrice" DECIMAL(15,4) NOT NULL,
    "salePrice" DECIMAL(15,4) NOT NULL,
    "onSale" BOOLEAN NOT NULL,
    "stock" DECIMAL(15,4) NOT NULL,
    "manufacturerId" INTEGER,
    "accessGroupId" INTEGER,
    "nonTaxable" BOOLEAN NOT NULL,
    "notForSale" BOOLEAN NOT NULL,
    "hide" BOOLEAN NOT NULL,
    "giftCertificate" BOOLEAN NOT NULL,
    "homeSpecial" BOOLEAN NOT NULL,
    "categorySpecial" BOOLEAN NOT NULL,
    "nonSearchable" BOOLEAN NOT NULL,
    "selfShip" BOOLEAN NOT NULL,
    "freeShipping" BOOLEAN NOT NULL,
    "disableRewards" BOOLEAN NOT NULL,
    "inventoryControl" INTEGER NOT NULL,
    "fileName" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedBy" TEXT NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "Product_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "ProductCategory" (
    "storeId" INTEGER NOT NULL,
    "productId" INTEGER NOT NULL,
    "categoryId" INTEGER NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "ProductCategory_pkey" PRIMARY KEY ("storeId","productId","categoryId")
);

-- CreateTable
CREATE TABLE "ProductDistributor" (
    "storeId" INTEGER NOT NULL,
    "productId" INTEGER NOT NULL,
    "distributorId" INTEGER NOT NULL,
    "position" INTEGER NOT NULL,
    "itemCost" DECIMAL(15,4) NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "ProductDistributor_pkey" PRIMARY KEY ("storeId","productId","distributorId")
);

-- CreateTable
CREATE TABLE "AdvancedOption" (
    "storeId" INTEGER NOT NULL,
    "productId" INTEGER NOT NULL,
    "code" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "suffix" TEXT NOT NULL,
    "stock" DECIMAL(15,4) NOT NULL,
    "price" DECIMAL(15,4) NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "AdvancedOption_pkey" PRIMARY KEY ("storeId","productId","code")
);

-- CreateTable
CREATE TABLE "StockMovement" (
    "id" BIGSERIAL NOT NULL,
    "storeId" INTEGER NOT NULL,
    "productId" INTEGER NOT NULL,
    "optionCode" TEXT,
    "quantity" DECIMAL(15,4) NOT NULL,
    "stockAfter" DECIMAL(15,4) NOT NULL,
    "cause" TEXT NOT NULL,
    "orderId" INTEGER,
    "actor" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "StockMovement_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Customer" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "email" TEXT,
    "passwordHash" TEXT,
    "firstName" TEXT NOT NULL,
    "lastName" TEXT NOT NULL,
    "city" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "country" TEXT NOT NULL,
    "phone" TEXT NOT NULL,
    "groupId" INTEGER,
    "enabled" BOOLEAN NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedBy" TEXT NOT NULL,
    "storeCredit" DECIMAL(15,4) NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "Customer_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "OrderStatus" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "sorting" INTEGER NOT NULL,
    "definition" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "visible" BOOLEAN NOT NULL,

    CONSTRAINT "OrderStatus_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "Order" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "invoicePrefix" TEXT NOT NULL,
    "invoiceNumber" INTEGER NOT NULL,
    "customerId" INTEGER,
    "orderDate" TIMESTAMPTZ(3) NOT NULL,
    "statusId" INTEGER NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedBy" TEXT NOT NULL,
    "billingEmail" TEXT NOT NULL,
    "orderAmount" DECIMAL(15,4) NOT NULL,
    "salesTax" DECIMAL(15,4) NOT NULL,
    "salesTax2" DECIMAL(15,4) NOT NULL,
    "salesTax3" DECIMAL(15,4) NOT NULL,
    "discountCoupon" DECIMAL(15,4) NOT NULL,
    "discountPromotion" DECIMAL(15,4) NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "Order_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "OrderShipment" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "orderId" INTEGER NOT NULL,
    "statusId" INTEGER NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedBy" TEXT NOT NULL,
    "cost" DECIMAL(15,4) NOT NULL,
    "weight" DECIMAL(15,4) NOT NULL,
    "shippedDate" TEXT NOT NULL,
    "trackingCode" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "OrderShipment_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "OrderItem" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "orderId" INTEGER NOT NULL,
    "productId" INTEGER,
    "optionCode" TEXT,
    "sku" TEXT NOT NULL,
    "shipmentId" INTEGER NOT NULL,
    "quantity" DECIMAL(15,4) NOT NULL,
    "unitPrice" DECIMAL(15,4) NOT NULL,
    "optionPrice" DECIMAL(15,4) NOT NULL,
    "unitCost" DECIMAL(15,4) NOT NULL,
    "weight" DECIMAL(15,4) NOT NULL,
    "unitStock" DECIMAL(15,4) NOT NULL,
    "addedAt" TIMESTAMPTZ(3) NOT NULL,
    "description" TEXT NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "OrderItem_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "OrderTransaction" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "orderId" INTEGER NOT NULL,
    "occurredAt" TIMESTAMPTZ(3),
    "type" TEXT NOT NULL,
    "amount" DECIMAL(15,4) NOT NULL,
    "captured" INTEGER NOT NULL,
    "details" JSON NOT NULL,

    CONSTRAINT "OrderTransaction_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "Store_host_key" ON "Store"("host");

-- CreateIndex
CREATE UNIQUE INDEX "Store_userKeyHash_key" ON "Store"("userKeyHash");

-- CreateIndex
CREATE INDEX "StoreUser_storeId_idx" ON "StoreUser"("storeId");

-- CreateIndex
CREATE UNIQUE INDEX "Application_publicKey_key" ON "Application"("publicKey");

-- CreateIndex
CREATE UNIQUE INDEX "Application_privateKeyHash_key" ON "Application"("privateKeyHash");

-- CreateIndex
CREATE INDEX "Application_developerId_idx" ON "Application"("developerId");

-- CreateIndex
CREATE UNIQUE INDEX "Subscription_tokenHash_key" ON "Subscription"("tokenHash");

-- CreateIndex
CREATE INDEX "Subscription_applicationId_idx" ON "Subscription"("applicationId");

-- CreateIndex
CREATE UNIQUE INDEX "Subscription_storeId_applicationId_key" ON "Subscription"("storeId", "applicationId");

-- CreateIndex
CREATE INDEX "Category_storeId_parentId_idx" ON "Category"("storeId", "parentId");

-- CreateIndex
CREATE INDEX "Product_storeId_manufacturerId_id_idx" ON "Product"("storeId", "manufacturerId", "id");

-- CreateIndex
CREATE INDEX "Product_storeId_cost_id_idx" ON "Product"("storeId", "cost", "id");

-- CreateIndex
CREATE INDEX "Product_storeId_price_id_idx" ON "Product"("storeId", "price", "id");

-- CreateIndex
CREATE INDEX "Product_storeId_stock_id_idx" ON "Product"("storeId", "stock", "id");

-- CreateIndex
CREATE INDEX "Product_storeId_updatedAt_id_idx" ON "Product"("storeId", "updatedAt", "id");

-- CreateIndex
CREATE INDEX "ProductCategory_storeId_categoryId_productId_idx" ON "ProductCategory"("storeId", "categoryId", "productId");

-- CreateIndex
CREATE INDEX "ProductDistributor_storeId_distributorId_productId_idx" ON "ProductDistributor"("storeId", "distributorId", "productId");

-- CreateIndex
CREATE INDEX "StockMovement_storeId_productId_id_idx" ON "StockMovement"("storeId", "productId", "id");

-- CreateIndex
CREATE INDEX "Customer_storeId_groupId_id_idx" ON "Customer"("storeId", "groupId", "id");

-- CreateIndex
CREATE INDEX "Customer_storeId_updatedAt_id_idx" ON "Customer"("storeId", "updatedAt", "id");

-- CreateIndex
CREATE INDEX "Order_storeId_invoiceNumber_id_idx" ON "Order"("storeId", "invoiceNumber", "id");

-- CreateIndex
CREATE INDEX "Order_storeId_statusId_id_idx" ON "Order"("storeId", "statusId", "id");

-- CreateIndex
CREATE INDEX "Order_storeId_orderDate_id_idx" ON "Order"("storeId", "orderDate", "id");

-- CreateIndex
CREATE INDEX "Order_storeId_updatedAt_id_idx" ON "Order"("storeId", "updatedAt", "id");

-- CreateIndex
CREATE INDEX "Order_storeId_customerId_id_idx" ON "Order"("storeId", "customerId", "id");

-- CreateIndex
CREATE INDEX "OrderShipment_storeId_orderId_id_idx" ON "OrderShipment"("storeId", "orderId", "id");

-- CreateIndex
CREATE INDEX "OrderItem_storeId_orderId_id_idx" ON "OrderItem"("storeId", "orderId", "id");

-- CreateIndex
CREATE INDEX "OrderItem_storeId_productId_idx" ON "OrderItem"("storeId", "productId");

-- CreateIndex
CREATE INDEX "OrderTransaction_storeId_orderId_id_idx" ON "OrderTransaction"("storeId", "orderId", "id");

-- AddForeignKey
ALTER TABLE "StoreUser" ADD CONSTRAINT "StoreUser_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Application" ADD CONSTRAINT "Application_developerId_fkey" FOREIGN KEY ("developerId") REFERENCES "Developer"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Subscription" ADD CONSTRAINT "Subscription_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Subscription" ADD CONSTRAINT "Subscription_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Category" ADD CONSTRAINT "Category_storeId_parentId_fkey" FOREIGN KEY ("storeId", "parentId") REFERENCES "Category"("storeId", "id") ON DELETE SET NULL ("parentId") ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Product" ADD CONSTRAINT "Product_storeId_manufacturerId_fkey" FOREIGN KEY ("storeId", "manufacturerId") REFERENCES "Manufacturer"("storeId", "id") ON DELETE SET NULL ("manufacturerId") ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Product" ADD CONSTRAINT "Product_storeId_accessGroupId_fkey" FOREIGN KEY ("storeId", "accessGroupId") REFERENCES "CustomerGroup"("storeId", "id") ON DELETE SET NULL ("accessGroupId") ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ProductCategory" ADD CONSTRAINT "ProductCategory_storeId_productId_fkey" FOREIGN KEY ("storeId", "productId") REFERENCES "Product"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ProductCategory" ADD CONSTRAINT "ProductCategory_storeId_categoryId_fkey" FOREIGN KEY ("storeId", "categoryId") REFERENCES "Category"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ProductDistributor" ADD CONSTRAINT "ProductDistributor_storeId_productId_fkey" FOREIGN KEY ("storeId", "productId") REFERENCES "Product"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "ProductDistributor" ADD CONSTRAINT "ProductDistributor_storeId_distributorId_fkey" FOREIGN KEY ("storeId", "distributorId") REFERENCES "Distributor"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "AdvancedOption" ADD CONSTRAINT "AdvancedOption_storeId_productId_fkey" FOREIGN KEY ("storeId", "productId") REFERENCES "Product"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Customer" ADD CONSTRAINT "Customer_storeId_groupId_fkey" FOREIGN KEY ("storeId", "groupId") REFERENCES "CustomerGroup"("storeId", "id") ON DELETE SET NULL ("groupId") ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Order" ADD CONSTRAINT "Order_storeId_customerId_fkey" FOREIGN KEY ("storeId", "customerId") REFERENCES "Customer"("storeId", "id") ON DELETE SET NULL ("customerId") ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "OrderShipment" ADD CONSTRAINT "OrderShipment_storeId_orderId_fkey" FOREIGN KEY ("storeId", "orderId") REFERENCES "Order"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "OrderItem" ADD CONSTRAINT "OrderItem_storeId_orderId_fkey" FOREIGN KEY ("storeId", "orderId") REFERENCES "Order"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "OrderTransaction" ADD CONSTRAINT "OrderTransaction_storeId_orderId_fkey" FOREIGN KEY ("storeId", "orderId") REFERENCES "Order"("storeId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- What the schema language cannot say.

-- An order's line outlives its product.
ALTER TABLE "OrderItem" ADD CONSTRAINT "OrderItem_storeId_productId_fkey" FOREIGN KEY ("storeId", "productId") REFERENCES "Product"("storeId", "id") ON DELETE SET NULL ("productId") ON UPDATE NO ACTION;

-- Unique without regard to case.
CREATE UNIQUE INDEX "Product_sku_key" ON "Product" ("storeId", lower("sku"));
CREATE UNIQUE INDEX "Customer_email_key" ON "Customer" ("storeId", lower("email"));
CREATE UNIQUE INDEX "StoreUser_email_key" ON "StoreUser" ("storeId", lower("email"));
CREATE UNIQUE INDEX "Developer_email_key" ON "Developer" (lower("email"));

-- Filters on a part of a text.
CREATE INDEX "Product_name_trgm" ON "Product" USING gin ("storeId", lower("name") gin_trgm_ops);
CREATE INDEX "Customer_firstName_trgm" ON "Customer" USING gin ("storeId", lower("firstName") gin_trgm_ops);
CREATE INDEX "Customer_lastName_trgm" ON "Customer" USING gin ("storeId", lower("lastName") gin_trgm_ops);
CREATE INDEX "Customer_city_trgm" ON "Customer" USING gin ("storeId", lower("city") gin_trgm_ops);
CREATE INDEX "Manufacturer_name_trgm" ON "Manufacturer" USING gin ("storeId", lower("name") gin_trgm_ops);
CREATE INDEX "Category_name_trgm" ON "Category" USING gin ("storeId", lower("name") gin_trgm_ops);
CREATE INDEX "Distributor_company_trgm" ON "Distributor" USING gin ("storeId", lower("company") gin_trgm_ops);
CREATE INDEX "Distributor_city_trgm" ON "Distributor" USING gin ("storeId", lower("city") gin_trgm_ops);

-- Filters on a whole text without regard to case.
CREATE INDEX "Customer_country_lower" ON "Customer" ("storeId", lower("country"), "id");
CREATE INDEX "Customer_state_lower" ON "Customer" ("storeId", lower("state"), "id");
CREATE INDEX "Customer_phone_lower" ON "Customer" ("storeId", lower("phone"), "id");
CREATE INDEX "Distributor_email_lower" ON "Distributor" ("storeId", lower("email"), "id");
CREATE INDEX "Distributor_country_lower" ON "Distributor" ("storeId", lower("country"), "id");
CREATE INDEX "Distributor_state_lower" ON "Distributor" ("storeId", lower("state"), "id");
CREATE INDEX "Distributor_phone_lower" ON "Distributor" ("storeId", lower("phone"), "id");
CREATE INDEX "Order_billingEmail_lower" ON "Order" ("storeId", lower("billingEmail"), "id");
CREATE INDEX "Order_invoicePrefix_lower" ON "Order" ("storeId", lower("invoicePrefix"), "id");

-- Flags: an index of the rare value (the other one is found on the way through the primary key).
CREATE INDEX "Product_onSale_set" ON "Product" ("storeId", "id") WHERE "onSale";
CREATE INDEX "Product_nonTaxable_set" ON "Product" ("storeId", "id") WHERE "nonTaxable";
CREATE INDEX "Product_notForSale_set" ON "Product" ("storeId", "id") WHERE "notForSale";
CREATE INDEX "Product_hide_set" ON "Product" ("storeId", "id") WHERE "hide";
CREATE INDEX "Product_giftCertificate_set" ON "Product" ("storeId", "id") WHERE "giftCertificate";
CREATE INDEX "Product_homeSpecial_set" ON "Product" ("storeId", "id") WHERE "homeSpecial";
CREATE INDEX "Product_categorySpecial_set" ON "Product" ("storeId", "id") WHERE "categorySpecial";
CREATE INDEX "Product_nonSearchable_set" ON "Product" ("storeId", "id") WHERE "nonSearchable";
CREATE INDEX "Product_selfShip_set" ON "Product" ("storeId", "id") WHERE "selfShip";
CREATE INDEX "Product_freeShipping_set" ON "Product" ("storeId", "id") WHERE "freeShipping";
CREATE INDEX "Product_disableRewards_set" ON "Product" ("storeId", "id") WHERE "disableRewards";

-- A bucket of one's own has both its figures.
ALTER TABLE "Store" ADD CONSTRAINT "Store_throttle_check" CHECK (("throttleCapacity" IS NULL) = ("throttleLeakPerSecond" IS NULL) AND "throttleCapacity" > 0 AND "throttleLeakPerSecond" > 0);
ALTER TABLE "Application" ADD CONSTRAINT "Application_throttle_check" CHECK (("throttleCapacity" IS NULL) = ("throttleLeakPerSecond" IS NULL) AND "throttleCapacity" > 0 AND "throttleLeakPerSecond" > 0);
