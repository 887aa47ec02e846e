import { beforeAll, describe, expect, test } from 'vitest'
import { openClient } from '../../../support/client.ts'
import { shared } from '../../../support/shared.ts'
import { sharedServer } from '../../../support/store.ts'
import { listTables } from '../../../support/version-guard.ts'
import { productBody } from '../../http/rest/fixture.ts'

// The tests' own watch over the rule that makes a record's row its version (docs/decisions/representations.md).

const server = await sharedServer()
const shop = await server.openStore()
const client = await shared(openClient(server.database.url))

beforeAll(async () => {
  const AdvancedOptionList = ['1', '2'].map((AdvancedOptionCode) => ({ AdvancedOptionCode }))
  for (const sku of ['one', 'two']) {
    await shop.call('POST', '/Products', { body: productBody(sku, { AdvancedOptionList }) })
  }
})

test('covers every list that has a table', () => {
  expect(listTables.map(({ table, recordTable }) => `${recordTable}: ${table}`).toSorted()).toEqual([
    'GiftRegistry: GiftRegistryItem',
    'Order: OrderItem',
    'Order: OrderShipment',
    'Order: OrderTransaction',
    'Product: AdvancedOption',
    'Product: ProductCategory',
    'Product: ProductDistributor',
    'Rma: RmaItem',
  ])
})

const option = `"AdvancedOption" WHERE "storeId" = $store AND "productId" = 1 AND "code" = '1'`
const touch = `UPDATE "Product" SET "updatedBy" = '' WHERE "storeId" = $store AND "id" = `
const changed = `UPDATE "AdvancedOption" SET "stock" = "stock" + 1 WHERE "storeId" = $store AND "productId" = 1 AND "code" = '1'`
const added = `INSERT INTO "AdvancedOption" ("storeId", "productId", "code", "position", "suffix", "stock", "price", "details")
  VALUES ($store, 1, 'new', 5, '', 0, 0, '{}')`
const moved = changed.replace('"stock" = "stock" + 1', '"productId" = 2, "code" = \'moved\'')

/** Runs statements in a transaction that is committed, or fails so; nothing is left of it. */
async function committing(...statements: string[]): Promise<void> {
  await client.query('BEGIN')
  try {
    for (const sql of statements) await client.query(sql.replaceAll('$store', String(shop.store.id)))
    // What COMMIT would do.
    await client.query('SET CONSTRAINTS ALL IMMEDIATE')
  } finally {
    await client.query('ROLLBACK')
  }
}

describe('refuses a transaction that leaves the record’s row as it is', () => {
  test.each([
    ['and changes a row of its list', [changed]],
    ['and adds one', [added]],
    ['and deletes one', [`DELETE FROM ${option}`]],
    ['and moves one from a record that it changes', [`${touch} 1`, moved]],
    ['and moves one to a record that it changes', [`${touch} 2`, moved]],
    ['since that change of it was undone', ['SAVEPOINT one', `${touch} 1`, 'ROLLBACK TO one', changed]],
  ])('%s', async (_name, statements) => {
    await expect(committing(...statements)).rejects.toThrow('without a change of its row of Product')
  })
})

describe('lets through', () => {
  test.each([
    ['a change after that of the record', [`${touch} 1`, changed, added]],
    ['a change before that of the record', [changed, `DELETE FROM ${option}`, `${touch} 1`]],
    [
      'changes of either in parts of the transaction',
      ['SAVEPOINT one', `${touch} 1`, 'RELEASE one', 'SAVEPOINT two', changed],
    ],
    ['a row that moves between two changed records', [`${touch} 1`, moved, `${touch} 2`]],
    ['the deletion of the record', [`DELETE FROM "Product" WHERE "storeId" = $store AND "id" = 1`]],
  ])('%s', async (_name, statements) => {
    await committing(...statements)
  })
})
