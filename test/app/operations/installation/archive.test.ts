import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { oldEntries } from '../../../../src/access/audit/old-entries.ts'
import { queryRows } from '../../../../src/foundation/database/client.ts'
import { sql } from '../../../../src/foundation/database/sql.ts'
import type { ArchivedTable } from '../../../../src/foundation/database/sweeper.ts'
import { archivedSweep } from '../../../../src/operations/installation/archive.ts'
import { createErasures } from '../../../../src/operations/installation/erasures.ts'
import { placeOrder } from '../../../../src/shop/resources/orders/place-order.ts'
import { oldMovements } from '../../../../src/shop/resources/products/carry-forward.ts'
import { stocksAndMovements } from '../../../../src/shop/resources/products/stock.ts'
import { openClient } from '../../../support/client.ts'
import { hold, untilItWaits } from '../../../support/held.ts'
import { temporaryFolder } from '../../../support/run-server.ts'
import { merchantIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'
import { exportOf, importInto, openTwin } from '../../engine/transfer/fixture.ts'
import { addShirt, openShop, type Shop } from '../../http/pages/shop/product-fixture.ts'

// Stock movements and entries of the audit log, which are archived before they go.

const DAY_MS = 86_400_000
const DAYS = 30

let open: Shop
const dir = join(temporaryFolder(), 'archive')

const server = await sharedServer({ ARCHIVE_DIR: dir })
beforeEach(async () => {
  mkdirSync(dir, { recursive: true })
  // Exports have times to the second.
  server.clock.ms = Math.ceil(server.clock.ms / 1_000) * 1_000
  await server.database.db.$executeRaw`TRUNCATE "StockMovement", "AuditEntry"`
  open = await openShop(server)
})
afterEach(() => rmSync(dirname(dir), { recursive: true }))

function sweep(table: ArchivedTable = oldMovements, isStopping = () => false): Promise<void> {
  const { services, database } = server
  return archivedSweep({ ...services, url: database.url, dir }, DAYS, table)(isStopping)
}

/** A product with one movement a day, each of one piece. */
async function addProduct(stock: number, days: number): Promise<number> {
  const id = await open.add('/Products', { SKUInfo: { SKU: `P-${stock}-${days}`, Name: 'Lamp', Stock: stock } })
  for (let day = 0; day < days; day++) {
    server.clock.ms += DAY_MS
    await setStock(id, ++stock)
  }
  return id
}

const setStock = (id: number, Stock: number) =>
  open.shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Stock } } })
const rowsOf = (productId: number) =>
  server.database.db.stockMovement.findMany({
    where: { storeId: open.shop.store.id, productId },
    orderBy: { id: 'asc' },
  })
const shown = async (productId: number) =>
  (await rowsOf(productId)).map(({ optionCode, quantity, stockAfter, cause }) => [
    optionCode,
    Number(quantity),
    Number(stockAfter),
    cause,
  ])

/** Stocks that are not the sum of their movements. */
function wrongStocks(): Promise<unknown[]> {
  return queryRows(server.database.db)`
    SELECT * FROM (${stocksAndMovements(sql`"storeId" = ${open.shop.store.id}`)}) s JOIN "Product" p ON p."storeId" = s."storeId" AND p."id" = s."productId"
      WHERE s."stock" <> s."moved"`
}

const files = () => readdirSync(dir).sort()
/** The rows of a file. */
function linesOf(file: string): Record<string, unknown>[] {
  const text = gunzipSync(readFileSync(join(dir, file))).toString()
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}
const archived = () => files().flatMap(linesOf)

test('old movements are archived and carried forward, in their place and at their time; newer ones stay', async () => {
  const id = await addProduct(10, 3)
  const old = await rowsOf(id)
  server.clock.ms += (DAYS - 1) * DAY_MS
  await sweep()

  expect(await shown(id)).toEqual([
    [null, 11, 11, 'carried-forward'],
    [null, 1, 12, 'set'],
    [null, 1, 13, 'set'],
  ])
  const [opening] = await rowsOf(id)
  expect(opening).toMatchObject({ id: old[1]?.id, createdAt: old[1]?.createdAt, orderId: null, actor: '', note: '' })
  expect(files()).toEqual([`StockMovement-${stamp()}-${old[0]?.id}.ndjson.gz`])
  expect(statSync(join(dir, files()[0] ?? '')).mode & 0o777).toBe(0o600)
  expect(archived()).toMatchObject([
    { id: Number(old[0]?.id), quantity: 10, stockAfter: 10, cause: 'initial', actor: open.shop.application.name },
    { id: Number(old[1]?.id), quantity: 1, stockAfter: 11, cause: 'set' },
  ])
  const merchant = await merchantIn(server, open.shop.store)
  expect((await merchant.open(`/admin/products/${id}/stock`)).body).toContain('Balance carried forward')
  expect(await wrongStocks()).toEqual([])
})

const stamp = () => new Date(server.clock.ms).toISOString().replace(/[-:]|\.\d+/g, '')

test('a balance is carried on into the next, and no file has it', async () => {
  const id = await addProduct(10, 3)
  const old = await rowsOf(id)
  for (const days of [DAYS - 2, 1, 1, 1]) {
    server.clock.ms += days * DAY_MS
    await sweep()
    expect(await wrongStocks()).toEqual([])
  }
  server.clock.ms += DAY_MS
  await sweep()
  expect(await shown(id)).toEqual([[null, 13, 13, 'carried-forward']])
  expect(archived().map((row) => row.id)).toEqual(old.map((row) => Number(row.id)))
  expect(archived().map((row) => row.cause)).toEqual(['initial', 'set', 'set', 'set'])
})

test('each stock has a balance of its own, and one of zero none', async () => {
  const { id, codes } = await addShirt(open)
  const [code = ''] = codes
  const gone = await open.add('/Products', { SKUInfo: { SKU: 'GONE', Name: 'Gone', Stock: 4 } })
  const empty = await addProduct(2, 0)
  await setStock(empty, 0)
  await open.shop.call('DELETE', `/Products/${gone}`)
  server.clock.ms += DAYS * DAY_MS + 1
  await placeOrder(open.shop.caller, {
    OrderItemList: [{ CatalogID: id, ItemQuantity: 2 }],
    BillingEmail: 'ada@customers.example',
  })
  await sweep()
  expect(await shown(id)).toEqual([
    [null, 5, 5, 'carried-forward'],
    [code, 7, 7, 'carried-forward'],
    [null, -2, 3, 'order'],
  ])
  expect(await shown(empty)).toEqual([])
  // Its number may come back with an import, which completes what its movements add up to.
  expect(await shown(gone)).toEqual([[null, 4, 4, 'carried-forward']])
  expect(await wrongStocks()).toEqual([])
})

test('an export has the balance, and an import makes the same ledger of it', async () => {
  const id = await addProduct(10, 2)
  server.clock.ms += DAYS * DAY_MS - 1
  await sweep()
  const file = await exportOf(server, open.shop)
  const twin = await openTwin(server, {
    ...open.shop,
    store: { ...open.shop.store, secureUrl: 'https://twin.example' },
  })
  expect((await importInto(server, twin, file)).refused).toEqual([])
  const rows = await server.database.db.stockMovement.findMany({
    where: { storeId: twin.store.id, productId: id },
    orderBy: { id: 'asc' },
  })
  const essence = (movements: typeof rows) =>
    movements.map(({ id: _, storeId: __, ...movement }) => ({
      ...movement,
      quantity: Number(movement.quantity),
      stockAfter: Number(movement.stockAfter),
    }))
  expect(essence(rows)).toEqual(essence(await rowsOf(id)))
  expect(rows.map(({ cause }) => cause)).toEqual(['carried-forward', 'set'])
  server.clock.ms += DAY_MS
  await sweep()
  expect(await wrongStocks()).toEqual([])
})

test('what fails between file and deletion loses nothing: a row is in two files then, equal in both', async () => {
  const id = await addProduct(10, 3)
  const old = await rowsOf(id)
  server.clock.ms += DAYS * DAY_MS + 1
  const { db } = server.database
  await db.$executeRaw`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`
  await db.$executeRaw`CREATE TRIGGER "refuse" BEFORE DELETE ON "StockMovement" EXECUTE FUNCTION refuse()`
  await sweep().catch(() => undefined)
  expect(await rowsOf(id)).toEqual(old)
  await db.$executeRaw`DROP FUNCTION refuse CASCADE`
  server.clock.ms += 1_000
  await sweep()
  const [first, second] = files()
  expect(linesOf(first ?? '')).toEqual(linesOf(second ?? ''))
  expect(linesOf(first ?? '').map((row) => row.id)).toEqual(old.map((row) => Number(row.id)))
  expect(await shown(id)).toEqual([[null, 13, 13, 'carried-forward']])
})

test('where no file can be written, nothing is deleted', async () => {
  const id = await addProduct(10, 3)
  server.clock.ms += DAYS * DAY_MS + 1
  const path = join(dir, `StockMovement-${stamp()}-${(await rowsOf(id))[0]?.id}.ndjson.gz.part`)
  rmSync(dir, { recursive: true })
  writeFileSync(dir, 'not a folder')
  await expect(sweep()).rejects.toThrow()
  rmSync(dir)
  mkdirSync(dir)
  expect(await rowsOf(id)).toHaveLength(4)
  writeFileSync(path, 'left by a kill')
  writeFileSync(join(dir, 'mine.part'), '')
  chmodSync(path, 0o400)
  await sweep()
  expect(await rowsOf(id)).toHaveLength(1)
  expect(files()).toEqual([expect.stringMatching(/^StockMovement-.*\.gz$/), 'mine.part'])
})

test('one process at a time archives, and the others do nothing', async () => {
  const id = await addProduct(10, 3)
  server.clock.ms += DAYS * DAY_MS + 1
  const client = await openClient(server.database.url)
  await client.query('BEGIN; SELECT pg_advisory_xact_lock(7301421, 0)')
  await sweep()
  expect(await rowsOf(id)).toHaveLength(4)
  await client.end()
  await Promise.all([sweep(), sweep(), sweep()])
  expect(files()).toHaveLength(1)
  expect(await rowsOf(id)).toHaveLength(1)
})

test('the end of the process leaves no half file, and no row that is in none goes', async () => {
  const id = await addProduct(10, 3)
  server.clock.ms += DAYS * DAY_MS + 1
  let looks = 0
  await sweep(oldMovements, () => ++looks > 1)
  expect(files()).toEqual([])
  expect(await rowsOf(id)).toHaveLength(4)
})

test('changes of stock neither wait nor are lost', async () => {
  const ids = [await addProduct(1_000, 2), await addProduct(2_000, 2)]
  server.clock.ms += DAYS * DAY_MS + 1
  const commit = await hold(server, open.shop, async (tx) => {
    await placeOrder(tx, {
      OrderItemList: ids.map((CatalogID) => ({ CatalogID, ItemQuantity: 2 })),
      BillingEmail: 'ada@customers.example',
    })
  })
  // The order has locked its products and moved their stocks, and is not committed yet.
  await sweep()
  await commit.commit()
  for (const [index, id] of ids.entries()) {
    const stock = [1_002, 2_002][index] ?? 0
    expect(await shown(id)).toEqual([
      [null, stock, stock, 'carried-forward'],
      [null, -2, stock - 2, 'order'],
    ])
  }
  expect(await wrongStocks()).toEqual([])
})

test('an import that replaces movements and the sweep wait for one another', async () => {
  const id = await addProduct(10, 2)
  const line = (await exportOf(server, open.shop)).split('\n').find((text) => text.includes('"Products"')) ?? ''
  server.clock.ms += DAYS * DAY_MS + 1
  const { db } = server.database
  const client = await openClient(server.database.url)
  await client.query('BEGIN; SELECT pg_advisory_xact_lock(7301422, 0)')
  const importing = importInto(server, open.shop, [line])
  await untilItWaits({ db }, importing)
  expect(await rowsOf(id)).toHaveLength(3)
  await client.query('COMMIT; BEGIN; SELECT pg_advisory_xact_lock_shared(7301422, 0)')
  expect((await importing).refused).toEqual([])
  const sweeping = sweep()
  await untilItWaits({ db }, sweeping)
  expect(await rowsOf(id)).toHaveLength(3)
  await client.end()
  await sweeping
  expect(await shown(id)).toEqual([[null, 12, 12, 'carried-forward']])
})

test('old entries of the audit log are archived and deleted', async () => {
  const { db } = server.database
  const at = (days: number) => new Date(server.clock.ms - days * DAY_MS)
  const entry = { actorKind: 'merchant', actor: 'ada@shop.example', target: 'Lamp', details: { a: 1 }, address: '::1' }
  await db.auditEntry.deleteMany()
  for (const days of [90, 31, 30, 1])
    await db.auditEntry.create({ data: { ...entry, action: `d-${days}`, at: at(days) } })
  await sweep(oldEntries)
  expect(files()).toEqual([expect.stringMatching(/^AuditEntry-\d{8}T\d{6}Z-\d+\.ndjson\.gz$/)])
  expect(archived()).toMatchObject([
    { action: 'd-90', actor: 'ada@shop.example', details: { a: 1 } },
    { action: 'd-31' },
  ])
  expect((await db.auditEntry.findMany({ orderBy: { id: 'asc' } })).map(({ action }) => action)).toEqual([
    'd-30',
    'd-1',
  ])
  await sweep(oldEntries)
  expect(files()).toHaveLength(1)
})

test('a person who is erased is erased in the files of the archive too, and nobody else', async () => {
  const body = { BillingFirstName: 'Ada', BillingLastName: 'Quint', Email: 'ada@quint.example', Password: 'secret-1' }
  const customerId = await open.add('/Customers', body)
  const product = await addProduct(1, 2)
  const note = async (text: string) =>
    server.database.db.stockMovement.updateMany({ where: { productId: product, stockAfter: 2 }, data: { note: text } })
  await note('Sent back by Ada Quint, who is at ada@quint.example')
  server.clock.ms += 40 * DAY_MS
  await sweep()
  const rows = () => readdirSync(dir).flatMap(linesOf)
  const before = rows()
  expect(JSON.stringify(before)).toContain('Ada Quint')
  const path = `/admin/stores/${open.shop.store.id}/customers/${customerId}/erase`
  const { Confirm } = (await server.operate('POST', `${path}?dry=true`)).json()
  expect((await server.operate('POST', path, { Confirm })).statusCode).toBe(200)
  const worker = createErasures({ ...server.services, url: server.database.url })
  await worker.runDue()
  const erased = JSON.stringify(before).replace('Ada Quint', '[erased]').replace('ada@quint.example', '[erased]')
  expect(JSON.stringify(rows())).toBe(erased)
  const { wordsSealed } = await server.database.db.erasure.findFirstOrThrow({ where: { customerId } })
  expect(wordsSealed).toBeNull()
})
