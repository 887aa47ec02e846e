-- CreateTable
CREATE TABLE "ReturnReason" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "visible" BOOLEAN NOT NULL,

    CONSTRAINT "ReturnReason_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "ReturnMethod" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "visible" BOOLEAN NOT NULL,

    CONSTRAINT "ReturnMethod_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "ReturnStatus" (
    "storeId" INTEGER NOT NULL,
    "id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "visible" BOOLEAN NOT NULL,

    CONSTRAINT "ReturnStatus_pkey" PRIMARY KEY ("storeId","id")
);

-- The names of stores that are there: those of a new store, but for numbers that returns have already, because they mean what the
-- merchant wanted them to. A new return has had status 1 from the beginning, and the returns of a test store are the sandbox's.
INSERT INTO "ReturnReason" ("storeId", "id", "name", "visible")
SELECT s."id", m."id", m."name", true
FROM "Store" s CROSS JOIN (VALUES (1, 'Damaged item'), (2, 'Wrong item'), (3, 'No longer wanted'), (4, 'Other')) m ("id", "name")
WHERE EXISTS (SELECT 1 FROM "TestStore" t WHERE t."storeId" = s."id")
  OR NOT EXISTS (SELECT 1 FROM "Rma" r WHERE r."storeId" = s."id" AND r."reasonId" = m."id");

INSERT INTO "ReturnMethod" ("storeId", "id", "name", "visible")
SELECT s."id", m."id", m."name", true
FROM "Store" s CROSS JOIN (VALUES (1, 'Money back'), (2, 'Exchange for the same product'), (3, 'Exchange for a different product')) m ("id", "name")
WHERE EXISTS (SELECT 1 FROM "TestStore" t WHERE t."storeId" = s."id")
  OR NOT EXISTS (SELECT 1 FROM "Rma" r WHERE r."storeId" = s."id" AND r."methodId" = m."id");

INSERT INTO "ReturnStatus" ("storeId", "id", "name", "visible")
SELECT s."id", m."id", m."name", true
FROM "Store" s CROSS JOIN (VALUES (1, 'New'), (2, 'Approved'), (3, 'Received'), (4, 'Completed'), (5, 'Denied')) m ("id", "name")
WHERE m."id" = 1 OR EXISTS (SELECT 1 FROM "TestStore" t WHERE t."storeId" = s."id")
  OR NOT EXISTS (SELECT 1 FROM "Rma" r WHERE r."storeId" = s."id" AND r."statusId" = m."id");
