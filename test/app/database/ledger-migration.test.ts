import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate } from '../../../src/database/migrations.ts'
import { openClient } from '../../support/client.ts'
import { createDatabase } from '../../support/database.ts'

// Stocks as the first versions left them: imported without movements, some of them moved since.

let database: Awaited<ReturnType<typeof createDatabase>>
let client: pg.Client
beforeEach(async () => {
  database = await createDatabase()
  client = await openClient(database.url)
  await migrate(database.url)
})
afterEach(async () => {
  await client.end()
  await database.drop()
})

test('an upgrade adds the missing movements of each stock, in their places, and changes no other', async () => {
  await product(1, { stock: 0 })
  await product(2, { stock: 145 })
  await product(3, { stock: 38 })
  await product(4, { stock: 77 })
  await product(5, { stock: 9, options: { red: 4, blue: 0 } })
  await product(6, { stock: 12 })
  await moved(3, null, [
    [-105, 40, 'set'],
    [-2, 38, 'order'],
  ])
  await moved(4, null, [
    [50, 50, 'initial'],
    [-1, 59, 'order'],
    [-2, 57, 'order'],
  ])
  await moved(5, 'red', [[-1, 4, 'order']])
  await moved(5, 'green', [[3, 3, 'set']])
  await moved(6, null, [[12, 12, 'initial']])
  await moved(7, null, [[5, 5, 'initial']])
  const [{ rows: untouched }] = [
    await client.query(`SELECT * FROM "StockMovement" WHERE "productId" > 5 ORDER BY "id"`),
  ]

  await upgrade()

  expect(await ledgers()).toEqual([
    '2: 145 → 145 initial upgrade 2026-03-01',
    '3: 145 → 145 initial upgrade 2026-02-01',
    '3: -105 → 40 set shop 2026-02-01',
    '3: -2 → 38 order shop 2026-02-02',
    '4: 50 → 50 initial shop 2026-02-01',
    '4: 10 → 60 set upgrade 2026-02-02',
    '4: -1 → 59 order shop 2026-02-02',
    '4: -2 → 57 order shop 2026-02-03',
    '4: 20 → 77 set upgrade now',
    '5: 9 → 9 initial upgrade 2026-03-01',
    '5 green: 3 → 3 set shop 2026-02-01',
    '5 green: -3 → 0 set upgrade now',
    '5 red: 5 → 5 initial upgrade 2026-02-01',
    '5 red: -1 → 4 order shop 2026-02-01',
    '6: 12 → 12 initial shop 2026-02-01',
    '7: 5 → 5 initial shop 2026-02-01',
  ])
  const { rows } = await client.query(`SELECT * FROM "StockMovement" WHERE "productId" > 5 ORDER BY "id"`)
  expect(rows).toEqual(untouched)

  const { rows: before } = await client.query(`SELECT * FROM "StockMovement" ORDER BY "id"`)
  await upgrade()
  expect((await client.query(`SELECT * FROM "StockMovement" ORDER BY "id"`)).rows).toEqual(before)
})

/** As if the database had all migrations but this one. */
async function upgrade(): Promise<void> {
  await client.query(`DELETE FROM "_prisma_migrations" WHERE "migration_name" LIKE '%\\_complete\\_ledger'`)
  expect(await migrate(database.url)).toEqual([expect.stringMatching(/_complete_ledger$/)])
}

async function product(id: number, { stock, options = {} }: { stock: number; options?: Record<string, number> }) {
  await client.query(
    `INSERT INTO "Product" ("storeId", "id", "sku", "name", "cost", "price", "retailPrice", "salePrice", "onSale", "stock",
       "nonTaxable", "notForSale", "hide", "giftCertificate", "homeSpecial", "categorySpecial", "nonSearchable", "selfShip",
       "freeShipping", "disableRewards", "inventoryControl", "fileName", "createdAt", "updatedAt", "updatedBy", "details")
     VALUES (1, $1::int, 'SKU-' || $1::int, '', 0, 0, 0, 0, false, $2, false, false, false, false, false, false, false, false,
       false, false, 0, '', '2026-03-01Z', now(), '', '{}')`,
    [id, stock],
  )
  for (const [code, own] of Object.entries(options)) {
    await client.query(
      `INSERT INTO "AdvancedOption" ("storeId", "productId", "code", "position", "suffix", "stock", "price", "details")
       VALUES (1, $1, $2, 0, '', $3, 0, '{}')`,
      [id, code, own],
    )
  }
}

/** One movement a day, from 1 February on. */
async function moved(productId: number, optionCode: string | null, movements: [number, number, string][]) {
  for (const [index, [quantity, stockAfter, cause]] of movements.entries()) {
    await client.query(
      `INSERT INTO "StockMovement" ("storeId", "productId", "optionCode", "quantity", "stockAfter", "cause", "actor", "createdAt")
       VALUES (1, $1, $2, $3, $4, $5, 'shop', $6)`,
      [productId, optionCode, quantity, stockAfter, cause, `2026-02-0${index + 1}Z`],
    )
  }
}

async function ledgers(): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `SELECT concat("productId", ' ' || "optionCode", ': ', trim_scale("quantity"), ' → ', trim_scale("stockAfter"), ' ', "cause",
       ' ', "actor", ' ', CASE WHEN "createdAt" > now() - interval '1 hour' THEN 'now' ELSE ("createdAt" AT TIME ZONE 'UTC')::date::text END) AS "line"
     FROM "StockMovement" ORDER BY "productId", "optionCode" COLLATE "C" NULLS FIRST, "id"`,
  )
  return rows.map(({ line }) => line)
}
