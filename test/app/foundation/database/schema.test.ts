import type pg from 'pg'
import { expect, test } from 'vitest'
import { schemaDiff } from '../../../../prisma/schema-engine.ts'
import { openClient } from '../../../support/client.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { ofTest, shared } from '../../../support/shared.ts'

const database = await shared(cloneDatabase())
const client = await shared(openClient(database.url))

test('schema.prisma and the migrations agree', async () => {
  expect(await schemaDiff(database.url)).toBe('')
})

test('the comparison sees a column, an index and a foreign key that differ', async () => {
  await inOtherDatabase(async (url, other) => {
    await other.query('ALTER TABLE "Product" ADD COLUMN "shelf" text')
    await other.query('DROP INDEX "Product_storeId_cost_id_idx"')
    await other.query('ALTER TABLE "OrderItem" DROP CONSTRAINT "OrderItem_storeId_orderId_fkey"')

    const sql = await schemaDiff(url)

    expect(sql).toContain('DROP COLUMN "shelf"')
    expect(sql).toContain('CREATE INDEX "Product_storeId_cost_id_idx"')
    expect(sql).toContain('ADD CONSTRAINT "OrderItem_storeId_orderId_fkey"')
  })
})

test('an optional reference to a record of the store clears its own column alone, or is refused', async () => {
  const { rows } = await client.query<{ name: string; clears: string }>(`
    SELECT conname AS "name", substring(pg_get_constraintdef(oid) FROM 'ON DELETE SET NULL \\((.*)\\)') AS "clears"
    FROM pg_constraint WHERE contype = 'f' AND confdeltype IN ('n', 'a') ORDER BY conname`)

  expect(Object.fromEntries(rows.map(({ name, clears }) => [name, clears]))).toEqual({
    Category_storeId_parentId_fkey: null,
    Customer_storeId_groupId_fkey: '"groupId"',
    Delivery_eventId_fkey: null,
    GiftRegistryItem_storeId_productId_fkey: '"productId"',
    Invitation_storeId_roleId_fkey: null,
    Mail_identityId_fkey: null,
    OrderItem_storeId_productId_fkey: '"productId"',
    Order_storeId_customerId_fkey: '"customerId"',
    Product_storeId_accessGroupId_fkey: null,
    Product_storeId_manufacturerId_fkey: '"manufacturerId"',
    RmaItem_storeId_productId_fkey: '"productId"',
    Rma_storeId_orderId_fkey: null,
    StoreUser_storeId_roleId_fkey: null,
    TestStore_developerId_fkey: null,
  })
})

test.each([
  { capacity: 50, leak: null },
  { capacity: null, leak: 2 },
  { capacity: 0, leak: 2 },
  { capacity: 50, leak: 0 },
])('a bucket of capacity $capacity and leak $leak is refused', async ({ capacity, leak }) => {
  const insert = `INSERT INTO "Application" ("name", "publicKey", "privateKeyHash", "privateKeySealed", "throttleCapacity",
    "throttleLeakPerSecond", "createdAt") VALUES ('', '', '', '', $1, $2, now())`

  const inserted = client.query(insert, [capacity, leak])

  await expect(inserted).rejects.toMatchObject({ constraint: 'Application_throttle_check' })
})

async function inOtherDatabase(work: (url: string, client: pg.Client) => Promise<void>): Promise<void> {
  const other = await ofTest(cloneDatabase())
  const otherClient = await ofTest(openClient(other.url))
  await work(other.url, otherClient)
}
