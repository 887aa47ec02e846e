import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { schemaDiff } from '../../../prisma/schema-engine.ts'
import { openClient } from '../../support/client.ts'
import { cloneDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await cloneDatabase()
  client = await openClient(database.url)
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

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
    OrderItem_storeId_productId_fkey: '"productId"',
    Order_storeId_customerId_fkey: '"customerId"',
    Product_storeId_accessGroupId_fkey: null,
    Product_storeId_manufacturerId_fkey: '"manufacturerId"',
    RmaItem_storeId_productId_fkey: '"productId"',
    Rma_storeId_orderId_fkey: null,
  })
})

test('a record whose reference goes stays in its store', async () => {
  const maker = (id: number) => `INSERT INTO "CustomerGroup" VALUES (7, ${id}, 'Dealers', 1, now(), '{}')`
  await client.query(`${maker(1)}; ${maker(2)}`)
  await client.query(customer({ id: 1, email: null, groupId: 1 }))

  await client.query('DELETE FROM "CustomerGroup" WHERE "storeId" = 7 AND "id" = 1')

  const { rows } = await client.query('SELECT "storeId", "id", "groupId" FROM "Customer" WHERE "storeId" = 7')
  expect(rows).toEqual([{ storeId: 7, id: 1, groupId: null }])
})

test('an e-mail address is unique in its store without regard to case, absent ones aside', async () => {
  await client.query(customer({ id: 11, email: 'Ärger@Shop.example' }))
  await client.query(customer({ id: 12, email: null }))
  await client.query(customer({ id: 13, email: null }))
  await client.query(customer({ storeId: 8, id: 11, email: 'ärger@shop.example' }))

  const again = client.query(customer({ id: 14, email: 'äRGER@shop.EXAMPLE' }))

  await expect(again).rejects.toMatchObject({ code: '23505', constraint: 'Customer_email_key' })
})

test.each([
  { filter: `lower("name") LIKE '%lamp%'`, table: 'Product', index: 'Product_name_trgm' },
  { filter: `lower("city") LIKE '%münch%'`, table: 'Customer', index: 'Customer_city_trgm' },
  { filter: `lower("country") = 'de'`, table: 'Customer', index: 'Customer_country_lower' },
  { filter: `lower("billingEmail") = 'a@b.example'`, table: 'Order', index: 'Order_billingEmail_lower' },
  { filter: '"onSale"', table: 'Product', index: 'Product_onSale_set' },
])('$filter of $table is served by $index, with the store in it', async ({ filter, table, index }) => {
  await client.query('BEGIN')
  try {
    // On an empty table any way is cheap; what counts is that the index can serve the filter at all.
    await client.query('SET LOCAL enable_seqscan = off')
    const others = `SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid
      WHERE indrelid = '"${table}"'::regclass AND relname <> $1 AND NOT indisprimary`
    const { rows: names } = await client.query<{ relname: string }>(others, [index])
    for (const { relname } of names) await client.query(`DROP INDEX "${relname}"`)
    await client.query(`ALTER TABLE "${table}" DROP CONSTRAINT "${table}_pkey" CASCADE`)

    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT "id" FROM "${table}" WHERE "storeId" = 1 AND ${filter}`,
    )

    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toContain(index)
    expect(plan).toMatch(/Index Cond: .*"storeId" = 1/)
  } finally {
    await client.query('ROLLBACK')
  }
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
  const other = await cloneDatabase()
  const otherClient = await openClient(other.url)
  try {
    await work(other.url, otherClient)
  } finally {
    await otherClient.end()
    await other.drop()
  }
}

interface CustomerKeys {
  storeId?: number
  id: number
  email: string | null
  groupId?: number
}

function customer({ storeId = 7, id, email, groupId }: CustomerKeys): pg.QueryConfig {
  const text = `INSERT INTO "Customer" ("storeId", "id", "email", "groupId", "firstName", "lastName", "city", "state", "country",
    "phone", "enabled", "createdAt", "updatedAt", "updatedBy", "storeCredit", "details")
    VALUES ($1, $2, $3, $4, '', '', '', '', '', '', true, now(), now(), '', 0, '{}')`
  return { text, values: [storeId, id, email, groupId ?? null] }
}
