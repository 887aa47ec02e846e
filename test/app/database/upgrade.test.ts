import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../../src/database/migrations.ts'
import { openClient } from '../../support/client.ts'
import { cloneDatabase, type TestDatabase } from '../../support/database.ts'
import { dropVersionGuards } from '../../support/version-guard.ts'

// What migrations make of records that an earlier version has stored.

let database: TestDatabase
let client: pg.Client
beforeEach(async () => {
  database = await cloneDatabase()
  await dropVersionGuards(database.url)
  client = await openClient(database.url)
  for (const id of [1, 2]) {
    await database.db.store.create({
      data: {
        ...{ id, name: 'Shop', secureUrl: `https://shop-${id}.example`, host: `shop-${id}.example`, currency: 'USD' },
        ...{ timeZone: 'UTC', userKeyHash: `hash ${id}`, userKeySealed: '', createdAt: then },
      },
    })
  }
})
afterEach(async () => {
  await client.end()
  await database.drop()
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

/** Inserts a product of the first store, whatever columns there are. */
async function insertProduct(id: number, details: string): Promise<void> {
  await client.query(
    `
    INSERT INTO "Product" ("storeId", "id", "sku", "name", "cost", "price", "retailPrice", "salePrice", "onSale", "stock",
      "nonTaxable", "notForSale", "hide", "giftCertificate", "homeSpecial", "categorySpecial", "nonSearchable", "selfShip",
      "freeShipping", "disableRewards", "inventoryControl", "fileName", "createdAt", "updatedAt", "updatedBy", "details")
    VALUES (1, $1::int, $1::int::text, '', 0, 0, 0, 0, false, 5, false, false, false, false, false, false, false, false, false, false, 0,
      '', now(), now(), '', $2::json)`,
    [id, details],
  )
}

describe('the migration that trims SKUs', () => {
  const product = (id: number, sku: string, storeId = 1) =>
    database.db.product.create({
      data: {
        ...{ storeId, id, sku, name: 'Mug', cost: 0, price: 0, retailPrice: 0, salePrice: 0, stock: 5, fileName: '' },
        ...{ onSale: false, nonTaxable: false, notForSale: false, hide: false, giftCertificate: false },
        ...{ homeSpecial: false, categorySpecial: false, nonSearchable: false, selfShip: false, freeShipping: false },
        ...{
          disableRewards: false,
          inventoryControl: -1,
          createdAt: then,
          updatedAt: then,
          updatedBy: '',
          details: {},
        },
      },
    })
  const products = () =>
    database.db.product.findMany({
      select: { storeId: true, id: true, sku: true, updatedAt: true },
      orderBy: [{ storeId: 'asc' }, { id: 'asc' }],
    })
  const skus = async () => (await products()).map(({ sku }) => sku)

  test('takes off exactly what String.prototype.trim() takes off', async () => {
    const all = Array.from({ length: 0xd800 }, (_, code) => String.fromCharCode(code))
    const blank = [...all, '\ufeff'].filter((character) => character.trim() === '')
    expect(blank).toHaveLength(25)
    // Characters that do not show either, and belong to the SKU.
    const characters = [...blank, '\u0001', '\u001f', '\u0085', '\u00ad', '\u180e', '\u200b', '\u2060', '\uffa0']
    for (const [index, character] of characters.entries())
      await product(index + 1, `${character}${index} x${character}`)
    expect(await applyAgain('trimmed_skus')).toEqual([])
    expect(await skus()).toEqual(characters.map((character, index) => `${character}${index} x${character}`.trim()))
  })

  test('leaves what is trimmed untouched, stamps what it changes, and records no event', async () => {
    await product(1, 'MUG')
    await product(2, ' CUP ')
    await applyAgain('trimmed_skus')
    const [mug, cup] = await products()
    expect(mug).toEqual({ storeId: 1, id: 1, sku: 'MUG', updatedAt: then })
    expect(cup).toMatchObject({ sku: 'CUP' })
    expect(cup?.updatedAt.getTime()).toBeGreaterThan(then.getTime())
    expect(await database.db.event.count()).toBe(0)
    expect(await database.db.stockMovement.count()).toBe(0)
  })

  test('leaves a SKU whose trimmed text another product of the store has, and tells which', async () => {
    await product(1, ' MUG')
    await product(2, 'mug')
    await product(3, 'Cup ')
    await product(4, '\tCUP')
    await product(5, ' MUG', 2)
    const warnings = await applyAgain('trimmed_skus')
    expect(await skus()).toEqual([' MUG', 'mug', 'Cup', '\tCUP', 'MUG'])
    const advice = 'Give one of them another SKU.'
    expect(warnings).toEqual([
      `Store 1: product 1 keeps the white space around its SKU, because product 2 has the SKU mug without it. ${advice}`,
      `Store 1: product 4 keeps the white space around its SKU, because product 3 has the SKU Cup without it. ${advice}`,
    ])
    expect(await applyAgain('trimmed_skus')).toEqual(warnings)
  })

  test('tells of at most a hundred, and how many more there are', async () => {
    await product(1, 'MUG')
    for (let id = 2; id <= 103; id++) await product(id, `MUG${' '.repeat(id)}`)
    const warnings = await applyAgain('trimmed_skus')
    expect(warnings).toHaveLength(101)
    expect(warnings.at(-1)).toBe('2 more products keep the white space around their SKUs for the same reason.')
  })

  test('takes white space off the end of suffixes, and off items of gift registries', async () => {
    await product(1, 'MUG')
    const option = { storeId: 1, productId: 1, code: '4', position: 0, suffix: ' L\u00a0', stock: 0, price: 0 }
    await database.db.advancedOption.create({ data: { ...option, details: {} } })
    const times = { createdAt: then, updatedAt: then }
    await database.db.giftRegistry.create({
      data: { storeId: 1, id: 1, name: '', ...times, updatedBy: '', details: {} },
    })
    const item = { storeId: 1, registryId: 1, position: 0, sku: ' MUG ', name: '', listed: 0, price: 0 }
    await database.db.giftRegistryItem.create({ data: { ...item, sold: 0, soldOffline: 0 } })
    await applyAgain('trimmed_skus')
    expect(await database.db.advancedOption.findMany()).toMatchObject([{ suffix: ' L' }])
    expect(await database.db.giftRegistryItem.findMany()).toMatchObject([{ sku: 'MUG' }])
  })
})

describe('the migration that brings payment methods', () => {
  const order = (id: number, method: string, name = '', storeId = 1) =>
    database.db.order.create({
      data: {
        ...{ storeId, id, invoicePrefix: '', invoiceNumber: id, orderDate: then, statusId: 1, updatedAt: then },
        ...{ updatedBy: '', billingEmail: '', orderAmount: 0, salesTax: 0, salesTax2: 0, salesTax3: 0 },
        ...{ discountCoupon: 0, discountPromotion: 0 },
        details: { BillingPaymentMethodID: method, ...(name && { BillingPaymentMethod: name }) },
      },
    })
  const methods = async (storeId: number) => {
    const rows = await database.db.paymentMethod.findMany({ where: { storeId }, orderBy: { id: 'asc' } })
    return Object.fromEntries(rows.map(({ id, name, visible }) => [id, visible ? name : null]))
  }
  const apply = async () => {
    await client.query('DROP TABLE "PaymentMethod"')
    expect(await applyAgain('payment_methods')).toEqual([])
  }

  test('gives a store without orders what a new store has', async () => {
    await apply()
    expect(await methods(2)).toEqual({
      1: 'Online Credit Card',
      2: 'PayPal Express Checkout',
      3: 'Check or Money Order',
      4: 'Purchase Order',
      5: 'Bank Transfer',
      6: 'Cash on Delivery',
    })
  })

  test('keeps the meaning that ids have in orders: the name that most of them say, or none', async () => {
    await order(1, '1')
    await order(2, '2', 'Wallet')
    await order(3, '2', 'Wallet')
    await order(4, '2', 'Purse')
    await order(5, '2')
    await order(6, '7', 'bank transfer')
    await order(7, '8', 'x'.repeat(51))
    await order(8, 'cash', 'Cash')
    await order(9, '00', 'Cash')
    await order(10, '12345678901', 'Cash')
    await order(11, '9', 'WALLET')
    await order(1, '3', 'Other', 2)
    await apply()
    expect(await methods(1)).toEqual({
      2: 'Wallet',
      3: 'Check or Money Order',
      4: 'Purchase Order',
      6: 'Cash on Delivery',
      7: 'bank transfer',
    })
    expect(await methods(2)).toMatchObject({ 1: 'Online Credit Card', 3: 'Other' })
  })

  test('makes at most 100 of them', async () => {
    for (let id = 1; id <= 120; id++) await order(id, String(id + 6), `Method ${id}`)
    await apply()
    expect(Object.keys(await methods(1))).toHaveLength(100)
  })
})

describe('the migration that makes StockAlert a column', () => {
  test('takes it from the document', async () => {
    await client.query('ALTER TABLE "Product" DROP COLUMN "stockAlert"')
    for (const [at, details] of ['{"StockAlert": 7}', '{"StockAlert": -1}', '{}'].entries())
      await insertProduct(at + 1, details)
    expect(await applyAgain('stock_alert')).toEqual([])
    const products = await database.db.product.findMany({ select: { stockAlert: true }, orderBy: { id: 'asc' } })
    expect(products.map(({ stockAlert }) => stockAlert)).toEqual([7, -1, 0])
  })
})

describe('the migration that takes what StockAlert left behind', () => {
  test('leaves the other members as they were, in their order, and products without it alone', async () => {
    const documents = ['{"Zeta": 1.50, "StockAlert": 7, "Alpha": "a\\u00e9"}', '{"StockAlert": 7}', '{ "b":2, "a" :1 }']
    for (const [at, details] of documents.entries()) await insertProduct(at + 1, details)
    const versions = () => client.query('SELECT "xmin"::text, "updatedAt" FROM "Product" ORDER BY "id"')
    const before = (await versions()).rows
    expect(await applyAgain('stock_alert_left_over')).toEqual([])
    const { rows } = await client.query('SELECT "details"::text AS "details" FROM "Product" ORDER BY "id"')
    expect(rows.map(({ details }) => details)).toEqual([
      '{ "Zeta" : 1.50, "Alpha" : "a\\u00e9" }',
      '{}',
      '{ "b":2, "a" :1 }',
    ])
    const after = (await versions()).rows
    expect(after.map(({ updatedAt }) => updatedAt)).toEqual(before.map(({ updatedAt }) => updatedAt))
    expect(after[2]).toEqual(before[2])
  })
})

describe('the migration that sums sales', () => {
  test('begins with the orders that there are, without cancelled and incomplete ones', async () => {
    await client.query(`DROP TABLE "SalesSum"; DROP FUNCTION "sumSales" CASCADE; DROP FUNCTION "moveSale" CASCADE;
      DROP FUNCTION "addSales"; DROP FUNCTION "isSale" CASCADE; DROP FUNCTION "quarterOf"`)
    await client.query(`
      INSERT INTO "Order" ("storeId", "id", "invoicePrefix", "invoiceNumber", "orderDate", "statusId", "updatedAt", "updatedBy",
        "billingEmail", "orderAmount", "salesTax", "salesTax2", "salesTax3", "discountCoupon", "discountPromotion", "details")
      SELECT 1 + n / 8, n, '', n, timestamptz '2026-03-10 12:00Z' + n * interval '5 minutes', n, now(), '', '', n, 0, 0, 0, 0, 0, '{}'
      FROM generate_series(1, 8) n`)
    expect(await applyAgain('sales_sums')).toEqual([])
    const sums = await database.db.salesSum.findMany({ orderBy: [{ storeId: 'asc' }, { since: 'asc' }] })
    expect(
      sums.map(({ storeId, since, count, amount }) => [storeId, since.toISOString(), count, Number(amount)]),
    ).toEqual([
      [1, '2026-03-10T12:00:00.000Z', 2, 3],
      [1, '2026-03-10T12:15:00.000Z', 2, 7],
      [1, '2026-03-10T12:30:00.000Z', 1, 6],
      [2, '2026-03-10T12:30:00.000Z', 1, 8],
    ])
  })
})

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
