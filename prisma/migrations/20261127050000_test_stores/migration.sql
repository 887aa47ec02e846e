-- CreateTable
CREATE TABLE "Switch" (
    "name" TEXT NOT NULL,
    "isOn" BOOLEAN NOT NULL,
    "changedAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "Switch_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "TestStore" (
    "storeId" INTEGER NOT NULL,
    "developerId" INTEGER,
    "state" TEXT NOT NULL,
    "problem" TEXT NOT NULL DEFAULT '',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3),
    "perMinute" INTEGER NOT NULL DEFAULT 0,
    "busyUntil" TIMESTAMPTZ(3),
    "nextAt" TIMESTAMPTZ(3),
    "claim" INTEGER NOT NULL DEFAULT 0,
    "leasedUntil" TIMESTAMPTZ(3),
    "process" INTEGER,

CONSTRAINT "TestStore_pkey" PRIMARY KEY ("storeId")
);

-- CreateTable
CREATE TABLE "TestChange" (
    "storeId" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "words" TEXT NOT NULL,
    "isDone" BOOLEAN NOT NULL,
    "page" TEXT NOT NULL,

CONSTRAINT "TestChange_pkey" PRIMARY KEY ("storeId","id")
);

-- CreateTable
CREATE TABLE "Inbox" (
    "id" SERIAL NOT NULL,
    "developerId" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "answer" TEXT NOT NULL DEFAULT 'ok',
    "postBackUrl" TEXT NOT NULL DEFAULT '',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

CONSTRAINT "Inbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "InboxMessage" (
    "id" BIGSERIAL NOT NULL,
    "inboxId" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "method" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "bytes" INTEGER NOT NULL,
    "signature" TEXT NOT NULL,
    "signer" TEXT NOT NULL,
    "status" SMALLINT NOT NULL,

CONSTRAINT "InboxMessage_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "TestStore_developerId_idx" ON "TestStore"("developerId");

-- CreateIndex
CREATE UNIQUE INDEX "Inbox_name_key" ON "Inbox"("name");

-- CreateIndex
CREATE INDEX "Inbox_developerId_idx" ON "Inbox"("developerId");

-- CreateIndex
CREATE INDEX "InboxMessage_inboxId_id_idx" ON "InboxMessage"("inboxId", "id");

-- CreateIndex
CREATE INDEX "InboxMessage_at_idx" ON "InboxMessage"("at");

-- AddForeignKey
ALTER TABLE "TestStore" ADD CONSTRAINT "TestStore_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "Store"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TestStore" ADD CONSTRAINT "TestStore_developerId_fkey" FOREIGN KEY ("developerId") REFERENCES "Developer"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TestChange" ADD CONSTRAINT "TestChange_storeId_fkey" FOREIGN KEY ("storeId") REFERENCES "TestStore"("storeId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Inbox" ADD CONSTRAINT "Inbox_developerId_fkey" FOREIGN KEY ("developerId") REFERENCES "Developer"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "InboxMessage" ADD CONSTRAINT "InboxMessage_inboxId_fkey" FOREIGN KEY ("inboxId") REFERENCES "Inbox"("id") ON DELETE CASCADE ON UPDATE CASCADE;
