import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { slicedMigrations } from '../../../src/foundation/database/migration.ts'
import { migrate } from '../../../src/foundation/database/migrations.ts'
import { openSnapshot } from '../../../src/foundation/database/snapshot.ts'
import { startEmbedded } from '../../../src/foundation/embedded/embedded.ts'
import { checkDatabase, type Finding } from '../../../src/operations/installation/check-database.ts'
import { checks } from '../../../src/operations/installation/checks.ts'
import { openClient } from '../../support/client.ts'
import { createDatabase } from '../../support/database.ts'
import { folderOfTest } from '../../support/folders.ts'
import { programEnv, runProgram, serverKeys } from '../../support/run-server.ts'
import { shared } from '../../support/shared.ts'
import { fillDatabase } from './filled-database.ts'

type Database = Awaited<ReturnType<typeof createDatabase>>

/** A sandbox store, in which orders were placed and changed, options came and went, and events go to a webhook. */
const filled = await shared(createDatabase())
/** One of the filled database's stores, and an order that was placed in it and that nobody has changed. */
let storeId: number
let orderId: number
/** A copy of the filled one, for one test to damage. */
let database: Database

beforeAll(async () => {
  const { shop, orderId: placed, server } = await fillDatabase(filled.url)
  storeId = shop.store.id
  orderId = placed
  await server.close()
  const client = await openClient(filled.url)
  for (const { name } of slicedMigrations()) {
    await client.query(
      'INSERT INTO "Upgrade" ("name", "doneAt") VALUES ($1, now()) ON CONFLICT ("name") DO UPDATE SET "doneAt" = now()',
      [name],
    )
  }
  await client.end()
})

beforeEach(async () => {
  database = await createDatabase(`TEMPLATE "${new URL(filled.url).pathname.slice(1)}"`)
})
afterEach(() => database.drop())

async function damage(...statements: string[]): Promise<void> {
  const client = await openClient(database.url)
  for (const sql of statements) await client.query(sql)
  await client.end()
}

/** By the name of the check. */
async function findings(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for await (const { check, count, findings } of checkDatabase(database.url, 5)) {
    if (count > 0) found[check.name] = findings.map(say)
    expect(findings).toHaveLength(Math.min(count, 5))
  }
  return found
}

function say({ storeId: store, record, found }: Finding): string {
  return `${store} ${record}: ${found}`.replaceAll(String(orderId), 'N')
}

test('nothing is found in what the platform itself wrote', async () => {
  expect(await findings()).toEqual({})
})

test('there is a damage for every check', () => {
  // How a database was made cannot be changed by its owner: test/release/foundation/database/new-database.test.ts has others.
  expect(['database', ...Object.keys(damages)]).toEqual(checks.map(({ name }) => name))
})

const damages: Record<string, { does: () => string[]; found: () => string[] }> = {
  'stock-ledger': {
    does: () => [
      `UPDATE "Product" SET "stock" = "stock" + 1 WHERE "id" = 12`,
      `UPDATE "AdvancedOption" SET "stock" = 1001 WHERE ("productId", "code") = (SELECT min("productId"), min("code") FROM "AdvancedOption" WHERE "productId" = (SELECT min("productId") FROM "AdvancedOption"))`,
    ],
    found: () => [
      expect.stringMatching(/^\d+ Product 12: stock \d+, movements \d+$/),
      expect.stringMatching(/^\d+ Product \d+, option \S+: stock 1001, movements \d+$/),
    ],
  },
  'order-amounts': {
    does: () => [`UPDATE "Order" SET "orderAmount" = 1 WHERE "id" = ${orderId}`],
    found: () => [`${storeId} Order N: OrderAmount 1, sum 26.72`],
  },
  'id-counters': {
    does: () => [`UPDATE "Counter" SET "value" = 2 WHERE "name" IN ('Manufacturer', 'row')`],
    found: () => [
      expect.stringMatching(/ row: highest \d+, counter 2$/),
      expect.stringMatching(/ Manufacturer: highest \d+, counter 2$/),
    ],
  },
  'record-counts': {
    does: () => [`UPDATE "RecordCount" SET "count" = "count" + 1 WHERE "table" = 'Customer'`],
    found: () => [expect.stringMatching(/^\d+ Customer: count \d+, records \d+$/)],
  },
  'sales-sums': {
    does: () => [`UPDATE "SalesSum" SET "count" = "count" + 1 WHERE "id" = (SELECT min("id") FROM "SalesSum")`],
    found: () => [expect.stringMatching(/^\d+ Sales since [-\d: ]+: sums \d+ and [\d.]+, orders \d+ and [\d.]+$/)],
  },
  'order-states': {
    does: () => [
      `UPDATE "Order" SET "paid" = "orderAmount" + 3, "refunded" = 1 WHERE "id" = 1`,
      `UPDATE "Order" SET "fulfilment" = 'none' WHERE "id" = 2`,
    ],
    found: () => [
      expect.stringMatching(
        / Order 1: [\d.]+, 1, overpaid, \w+; its lists say (none|[\d.]+), (none|[\d.]+), [a-z-]+, \w+$/,
      ),
      expect.stringMatching(/ Order 2: .*, none; its lists say .*, (waiting|part|left)$/),
    ],
  },
  'payment-ledger': {
    does: () => [
      `INSERT INTO "PaymentEntry" ("storeId", "orderId", "transactionId", "occurredAt", "bookedAt", "isLate", "amount", "method", "reference")
       VALUES (${storeId}, ${orderId}, 999999, now(), now(), false, 5, 'Lost', '')`,
      `UPDATE "PaymentSum" SET "count" = 2 WHERE "method" = 'Lost'`,
    ],
    found: () => [
      expect.stringMatching(/Payments of [-\d]+: sum 2 and 5, entries 1 and 5$/),
      `${storeId} Order N, transaction 999999: entries 5, transaction 0`,
    ],
  },
  'search-words': {
    does: () => [`UPDATE "SearchText" SET "words" = ' other ' WHERE "service" = 'Customers' AND "recordId" = 1`],
    found: () => [expect.stringMatching(/^\d+ Customers 1, source 0: kept {2}other , of the record {2}\w.+$/)],
  },
  'invoice-counter': {
    does: () => [`UPDATE "Store" SET "nextInvoiceNumber" = "nextInvoiceNumber" - 1`],
    found: () => [expect.stringMatching(/ Order \d+: invoice number (\d+), next \1$/)],
  },
  'invoice-numbers': {
    does: () => [
      `UPDATE "Order" SET "invoiceNumber" = (SELECT "invoiceNumber" FROM "Order" WHERE "id" = 2) WHERE "id" = 1`,
    ],
    found: () => [expect.stringMatching(/ Order 1: AB-\d+ is the number of 2 orders, up to Order 2$/)],
  },
  'credit-note-numbers': {
    does: () => [
      `UPDATE "Store" SET "nextCreditNoteNumber" = 6`,
      `INSERT INTO "OrderTransaction" ("storeId", "orderId", "id", "type", "amount", "captured", "details", "creditNotePrefix", "creditNoteNumber")
       SELECT ${storeId}, ${orderId}, -"at", 'Void', 1, 1, '{}', 'CN-', "number" FROM unnest('{1,3,3}'::int[]) WITH ORDINALITY n ("number", "at")`,
    ],
    found: () => [
      `${storeId} The next credit note: none from 4 to 5`,
      `${storeId} Order N, transaction -2: none from 2 to 2`,
      `${storeId} Order N, transaction -3: 3 is there twice`,
    ],
  },
  'foreign-keys': {
    // As a restore without triggers leaves them: the key is there, and has looked at no row.
    does: () => [
      `ALTER TABLE "Order" DROP CONSTRAINT "Order_storeId_customerId_fkey"`,
      `UPDATE "Order" SET "customerId" = 88888 WHERE "id" = 4`,
      `ALTER TABLE "Order" ADD CONSTRAINT "Order_storeId_customerId_fkey" FOREIGN KEY ("storeId", "customerId")
         REFERENCES "Customer" ("storeId", "id") NOT VALID`,
      `ALTER TABLE "Store" ADD COLUMN "developerId" int`,
      `UPDATE "Store" SET "developerId" = 77`,
      `ALTER TABLE "Store" ADD FOREIGN KEY ("developerId") REFERENCES "Developer" ("id") NOT VALID`,
    ],
    found: () => [
      `${storeId} Order 4: customerId 88888 is no Customer`,
      `null Store ${storeId}: developerId 77 is no Developer`,
    ],
  },
  stores: {
    does: () => [
      `INSERT INTO "Manufacturer" ("storeId", "id", "name", "updatedAt", "updatedBy", "details") VALUES (99, 1, '', now(), '', '{}')`,
      `INSERT INTO "Counter" VALUES (99, 'Manufacturer', 1)`,
    ],
    found: () => ['99 Manufacturer 1: there is no such store'],
  },
  'order-statuses': {
    does: () => [
      `UPDATE "Order" SET "statusId" = 77 WHERE "id" = 1`,
      `UPDATE "OrderShipment" SET "statusId" = 78 WHERE "orderId" = 2`,
    ],
    found: () => [`${storeId} Order 1: Order has status 77`, `${storeId} Order 2: OrderShipment has status 78`],
  },
  'line-shipments': {
    does: () => [`UPDATE "OrderItem" SET "shipmentId" = 123456789 WHERE "orderId" = ${orderId}`],
    found: () => [expect.stringMatching(/ Order N: line \d+ has shipment 123456789$/)],
  },
  'linked-products': {
    does: () => [
      `UPDATE "Product" SET "details" = '{"RelatedProductList": [{"RelatedIndexID": 1, "RelatedProductID": 987654}]}' WHERE "id" = 12`,
    ],
    found: () => [`${storeId} Product 12: names Product 987654`],
  },
  'category-circles': {
    does: () => [
      `UPDATE "Category" SET "parentId" = 2 WHERE "id" = 1`,
      `UPDATE "Category" SET "parentId" = 1 WHERE "id" = 2`,
    ],
    found: () => expect.arrayContaining([`${storeId} Category 1: lies below Category 2 in a circle`]),
  },
  'event-numbers': {
    does: () => [
      `DELETE FROM "Delivery"`,
      `DELETE FROM "Event" WHERE "sequence" IN (2, 3)`,
      `INSERT INTO "Event" ("storeId", "sequence", "eventType", "recordId", "body", "createdAt")
       SELECT "storeId", "sequence", "eventType", "recordId", "body", "createdAt" FROM "Event" WHERE "sequence" = 1`,
    ],
    found: () => [`${storeId} Event 1: 1 is there twice`, `${storeId} Event 4: none from 2 to 3`],
  },
  'event-feeds': {
    does: () => [`UPDATE "EventFeed" SET "lastSequence" = 1000`],
    found: () => [expect.stringMatching(/ Events: last event \d+, feed up to 1000$/)],
  },
  deliveries: {
    does: () => [
      `INSERT INTO "Delivery" ("storeId", "webhookId", "eventId", "state", "dueAt", "createdAt")
       SELECT "storeId", 555, min("id"), 'pending', now(), now() FROM "Event" GROUP BY "storeId"`,
    ],
    found: () => [expect.stringMatching(/ Delivery \d+: there is no Webhook 555$/)],
  },
  'secret-key': {
    does: () => [
      `INSERT INTO "SecretKey" ("id", "since") VALUES ('0123abcd', now())`,
      ...['Application', 'Subscription', 'Webhook'].map((table) => `DELETE FROM "${table}"`),
      `UPDATE "Store" SET "userKeySealed" = 'v2.0123abcd.x' WHERE "id" <> ${storeId}`,
    ],
    found: () => [`null Store ${storeId}: userKeySealed is sealed under another key`],
  },
  'sku-blanks': {
    does: () => [
      `UPDATE "Product" SET "sku" = ' ' || (SELECT "sku" FROM "Product" WHERE "id" = 3) WHERE "id" = 2`,
      `UPDATE "Product" SET "sku" = E'own\\t' WHERE "id" = 4`,
      `UPDATE "Product" SET "sku" = U&'own too\\FEFF' WHERE "id" = 5`,
    ],
    found: () => [
      expect.stringMatching(/ Product 2: SKU " \S+"; without the blanks it is that of Product 3$/),
      `${storeId} Product 4: SKU "own\\t"`,
      `${storeId} Product 5: SKU "own too\u{feff}"`,
    ],
  },
}

/** Those that are done to the same rows as others. */
const apart = ['secret-key']

test.each([
  { of: 'most checks', chosen: Object.entries(damages).filter(([name]) => !apart.includes(name)) },
  { of: apart.join(' and '), chosen: Object.entries(damages).filter(([name]) => apart.includes(name)) },
])('each damage is found by its own check, and by no other: $of', async ({ chosen }) => {
  for (const [, { does }] of chosen) await damage(...does())
  expect(await findings()).toEqual(Object.fromEntries(chosen.map(([name, { found }]) => [name, found()])))
})

test('events that were deleted because of their age are not missed', async () => {
  await damage(
    `DELETE FROM "Delivery"`,
    `DELETE FROM "Event" WHERE "sequence" < 4`,
    `INSERT INTO "EventCut" ("storeId", "eventType", "deletedThrough") VALUES (${storeId}, 1, 3)`,
  )
  expect(await findings()).toEqual({})
})

test('it reads one moment of the database, and cannot change it', async () => {
  const snapshot = await openSnapshot(database.url)
  const count = () => snapshot.query('SELECT count(*) AS "count" FROM "Category"')
  const before = await count()
  await damage(
    `INSERT INTO "Category" ("storeId", "id", "name", "updatedAt", "updatedBy", "details") VALUES (1, 9999, '', now(), '', '{}')`,
  )

  expect(await count()).toEqual(before)
  await expect(snapshot.query('DELETE FROM "Category"')).rejects.toMatchObject({ code: '25006' })
  await snapshot.close()
})

describe('npm run check', () => {
  const file = new URL('../../../src/cli/check.ts', import.meta.url).pathname
  async function check(settings: Record<string, string>, ...args: string[]) {
    const run = runProgram(process.execPath, [file, ...args], { env: { ...programEnv, ...settings } })
    return { code: await run.exited, output: run.output() }
  }

  test('says what it looked at, and ends with 0 where nothing is wrong', async () => {
    const { code, output } = await check({ DATABASE_URL: database.url, ...serverKeys })
    expect({ code, output }).toEqual({
      code: 0,
      output: `${checks.map(({ name }) => `ok     ${name}\n`).join('')}All is well\n`,
    })
  })

  test('lists what it found, as many of each as asked for, and ends with 1', async () => {
    await damage(`UPDATE "Product" SET "stock" = -12345 WHERE "id" <= 40`)
    const { code, output } = await check({ DATABASE_URL: database.url, ...serverKeys }, '--show', '2')
    expect(code).toBe(1)
    expect(output).toContain('FOUND  stock-ledger: 40. This rule is broken: The movements of each stock add up to it\n')
    expect(output.match(/store \d+, Product \d+: stock -12345/g)).toHaveLength(2)
    expect(output).toContain('\n         and 38 more\n')
    expect(output.endsWith('40 findings\n')).toBe(true)
  })

  test.each([
    { name: 'an unknown argument', settings: {}, args: ['--fast'], says: /Unknown option '--fast'/ },
    { name: 'a bad number', settings: {}, args: ['--show', 'all'], says: /^Usage: npm run check/ },
    {
      name: 'no database in the folder',
      settings: { DATA_DIR: '/nowhere' },
      args: [],
      says: /^\/nowhere has no database/,
    },
    {
      name: 'an unreachable server',
      settings: { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none', ...serverKeys },
      args: [],
      says: /^The database at 127\.0\.0\.1:1\/none cannot be used/,
    },
  ])('ends with 2 and one line: $name', async ({ settings, args, says }) => {
    const { code, output } = await check(settings as Record<string, string>, ...args)
    expect({ code, lines: output.trim().split('\n').length }).toEqual({ code: 2, lines: 1 })
    expect(output).toMatch(says)
  })

  test('a database of an older version is left to the server', async () => {
    await damage(`DELETE FROM "_prisma_migrations" WHERE "migration_name" NOT LIKE '%\\_init'`)
    const { code, output } = await check({ DATABASE_URL: database.url, ...serverKeys })
    expect(code).toBe(2)
    expect(output).toMatch(/^The database is of an older version\./)
  })

  test('finds the embedded database, whether it runs or not, and leaves it as it was', async () => {
    const dataDir = folderOfTest()
    const running = await startEmbedded({ dataDir, durable: false })
    await migrate(running.url)
    expect(await check({ DATA_DIR: dataDir })).toMatchObject({ code: 0 })
    await (await openClient(running.url)).end()
    await running.stop()

    expect(await check({ DATA_DIR: dataDir })).toMatchObject({ code: 0 })
    await expect(openClient(running.url)).rejects.toThrow()
  })
})
