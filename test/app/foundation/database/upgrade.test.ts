import type pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { openClient } from '../../../support/client.ts'
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts'
import { ofTest } from '../../../support/shared.ts'
import { dropVersionGuards } from '../../../support/version-guard.ts'

// What migrations make of records that an earlier version has stored.

let database: TestDatabase
let client: pg.Client
beforeEach(async () => {
  database = await ofTest(cloneDatabase())
  await dropVersionGuards(database.url)
  client = await ofTest(openClient(database.url))
  for (const id of [1, 2]) {
    await database.db.store.create({
      data: {
        ...{ id, name: 'Shop', secureUrl: `https://shop-${id}.example`, currency: 'USD' },
        ...{ timeZone: 'UTC', userKeyHash: `hash ${id}`, userKeySealed: '', createdAt: then },
      },
    })
  }
})

const then = new Date('2020-01-01T00:00:00Z')

/** Applies a migration anew, whose changes of the schema the caller has undone, and returns its warnings. */
async function applyAgain(name: string): Promise<string[]> {
  await client.query(`DELETE FROM "_prisma_migrations" WHERE "migration_name" LIKE '%' || $1`, [name])
  const warnings: string[] = []
  const applied = await migrate(database.url, (message) => warnings.push(message))
  expect(applied).toEqual([expect.stringMatching(`^\\d{14}_${name}$`)])
  return warnings
}

describe('the migration that makes bodies of events whole', () => {
  const template = Array.from({ length: 5_000 }, (_, index) => String.fromCharCode(32 + (index % 95))).join('')
  /** How a body names a slice of its template. */
  const slice = (position: number, length: number) =>
    String.fromCharCode(
      31,
      ...[position >> 12, position >> 6, position, length >> 6, length].map((digit) => 48 + (digit & 63)),
    )

  test('puts slices of the template in their place, and leaves bodies without a template alone', async () => {
    await client.query('CREATE TABLE "EventTemplate" ("id" BIGINT PRIMARY KEY, "text" TEXT NOT NULL)')
    await client.query('ALTER TABLE "Event" ADD COLUMN "templateId" BIGINT, ADD COLUMN "bodyBytes" INTEGER')
    await client.query('INSERT INTO "EventTemplate" VALUES (-5, $1), (7, $2)', [template, '{"Name":""}'])
    const bodies: [body: string, templateId: number | null, whole: string][] = [
      [slice(0, 904) + slice(4_095, 905), -5, template.slice(0, 904) + template.slice(4_095)],
      [`ä${slice(4_096, 64)}0😀${slice(63, 9)}`, -5, `ä${template.slice(4_096, 4_160)}0😀${template.slice(63, 72)}`],
      [`${slice(0, 9)}Mug"}`, 7, '{"Name":"Mug"}'],
      ['no slice', 7, 'no slice'],
      ['{"Name":"000000"}', null, '{"Name":"000000"}'],
    ]
    for (const [body, templateId] of bodies) {
      await client.query(
        `INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "templateId", "createdAt") VALUES (1, 1, 1, $1, $2, now())`,
        [body, templateId],
      )
    }
    expect(await applyAgain('whole_event_bodies')).toEqual([])
    const events = await database.db.event.findMany({ orderBy: { id: 'asc' } })
    expect(events.map(({ body }) => body)).toEqual(bodies.map(([, , whole]) => whole))
  })
})

describe('the migration that takes control characters out of addresses', () => {
  test('leaves the address that was called', async () => {
    const urls = ['https://one.example/a\tb\r\n', 'https://ön.example/a%09b ü?c=d', '\u0001https://one.example\u009f']
    for (const [at, url] of urls.entries()) {
      await client.query(
        `INSERT INTO "Webhook" ("storeId", "id", "name", "url", "eventType", "format", "enabled", "createdAt", "updatedAt", "updatedBy", "secretSealed")
         VALUES (1, $1, '', $2, 1, 'JSON', true, now(), now(), '', '')`,
        [at + 1, url],
      )
    }
    expect(await applyAgain('plain_addresses')).toEqual([])
    const webhooks = await database.db.webhook.findMany({ orderBy: { id: 'asc' } })
    expect(webhooks.map(({ url }) => url)).toEqual(['https://one.example/ab', urls[1], 'https://one.example'])
  })
})

describe('the migration that gives GTIN and MFGID columns of their own', () => {
  test('moves them out of the document, whose other members stay as they were written', async () => {
    await client.query(`DROP VIEW "WordsOfRecords"; DROP TRIGGER "Product_words" ON "Product";
      DROP TRIGGER "Product_words_changed" ON "Product"; ALTER TABLE "Product" DROP COLUMN "gtin", DROP COLUMN "mfgId";
      ALTER TABLE "OrderStatus" DROP COLUMN "updatedAt"`)
    for (const table of ['Category', 'CustomerGroup', 'Distributor', 'GiftRegistry', 'Manufacturer', 'Rma']) {
      await client.query(`DROP INDEX "${table}_storeId_updatedAt_id_idx"`)
    }
    const { rows: columns } = await client.query<{ name: string; value: string }>(`
      SELECT column_name AS "name", CASE data_type WHEN 'boolean' THEN 'false' WHEN 'text' THEN ''''''
        WHEN 'timestamp with time zone' THEN 'now()' ELSE '0' END AS "value"
      FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'Product'
        AND is_nullable = 'NO' AND column_name NOT IN ('storeId', 'id', 'sku', 'details')`)
    const names = columns.map(({ name }) => `"${name}"`).join()
    const values = columns.map(({ value }) => value).join()
    const documents = ['{"Weight":1.50,"MFGID":"m/7","Title":"\u00e4"}', '{"GTIN":"400"}', '{"Title":"x"}']
    for (const [at, details] of documents.entries()) {
      await client.query(
        `INSERT INTO "Product" ("storeId", "id", "sku", "details", ${names}) VALUES (1, $1::int, $1::text, $2, ${values})`,
        [at + 1, details],
      )
    }
    expect(await applyAgain('wished_filters')).toEqual([])
    const { rows } = await client.query('SELECT "gtin", "mfgId", "details"::text FROM "Product" ORDER BY "id"')
    expect(rows).toEqual([
      { gtin: '', mfgId: 'm/7', details: '{ "Weight" : 1.50, "Title" : "\u00e4" }' },
      { gtin: '400', mfgId: '', details: '{}' },
      { gtin: '', mfgId: '', details: '{"Title":"x"}' },
    ])
  })
})

describe('the migration that works out what is paid of orders', () => {
  test('says what the lists of each say, and moves BillingOnLinePayment out of the document', async () => {
    await client.query(`
      DROP FUNCTION "settlePaymentState", "settlePayments", "settleFulfilment", "transactionsChanged", "transactionUpdated",
        "shipmentsChanged", "shipmentUpdated", "paymentState", "fulfilmentState", "hasLeft", "openAmount", "paymentEffect",
        "bookTransactions" CASCADE;
      ALTER TABLE "Order" DROP COLUMN "paid", DROP COLUMN "refunded", DROP COLUMN "payment", DROP COLUMN "fulfilment",
        DROP COLUMN "paidOnline";
      ALTER TABLE "OrderTransaction" DROP COLUMN "voidedAt", DROP COLUMN "voidedBy", DROP COLUMN "voidedType"`)
    const orders = [
      ['{"A":1.50,"BillingOnLinePayment":true,"B":"ä"}', 100],
      ['{"BillingOnLinePayment":true}', 100],
      ['{"B":"x"}', 100],
      ['{}', 0],
    ]
    for (const [at, [details, amount]] of orders.entries()) {
      await client.query(
        `INSERT INTO "Order" VALUES (1, $1, 'AB-', 7, NULL, now(), 1, now(), '', '', $2, 0, 0, 0, 0, 0, $3)`,
        [at + 1, amount, details],
      )
    }
    await client.query(`
      INSERT INTO "OrderTransaction" VALUES (1, 1, 2, now(), 'Authorize', 100, 0, '{}'), (1, 2, 3, now(), ' SALE', 100, 0, '{}'),
        (1, 3, 3, now(), 'Refund', -30, 0, '{}');
      INSERT INTO "OrderShipment" VALUES (1, 1, 1, 1, now(), '', 0, 0, '', '', 1, '{}'), (1, 2, 2, 1, now(), '', 0, 0, '', '', 1, '{}'),
        (1, 3, 2, 1, now(), '', 0, 0, '03/10/2026', '', 2, '{}'), (1, 4, 3, 1, now(), '', 0, 0, 'today', '', 1, '{}')`)

    expect(await applyAgain('payment_state')).toEqual([])
    const { rows } = await client.query({
      text: `SELECT "payment", "fulfilment", "paid"::float, "refunded"::float, "paidOnline", "details"::text FROM "Order" ORDER BY "id"`,
      rowMode: 'array',
    })
    expect(rows).toEqual([
      ['paid', 'waiting', null, null, true, '{ "A" : 1.50, "B" : "ä" }'],
      ['unpaid', 'part', 0, 0, true, '{}'],
      ['part-refunded', 'left', 100, 30, false, '{"B":"x"}'],
      ['paid', 'none', null, null, false, '{}'],
    ])
  })
})

describe('the migration that gives the numbers of returns names', () => {
  test('names those that no return has, and what a new return begins with', async () => {
    await client.query('DROP TABLE "ReturnReason", "ReturnMethod", "ReturnStatus"')
    await database.db.rma.create({
      data: {
        ...{ storeId: 1, id: 1, rmaDate: then, updatedAt: then, updatedBy: '', details: {} },
        ...{ reasonId: 2, methodId: 3, statusId: 1 },
      },
    })
    await applyAgain('return_lists')
    const { rows } = await client.query(`
      SELECT 'reason ' || "storeId" AS "list", string_agg("id"::text, ' ' ORDER BY "id") AS "ids" FROM "ReturnReason" GROUP BY "storeId"
      UNION ALL SELECT 'method ' || "storeId", string_agg("id"::text, ' ' ORDER BY "id") FROM "ReturnMethod" GROUP BY "storeId"
      UNION ALL SELECT 'status ' || "storeId", string_agg("id"::text, ' ' ORDER BY "id") FROM "ReturnStatus" GROUP BY "storeId"
      ORDER BY 1`)
    expect(rows.map(({ list, ids }) => `${list}: ${ids}`)).toEqual([
      'method 1: 1 2',
      'method 2: 1 2 3',
      'reason 1: 1 3 4',
      'reason 2: 1 2 3 4',
      'status 1: 1 2 3 4 5',
      'status 2: 1 2 3 4 5',
    ])
  })
})
