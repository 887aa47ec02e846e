import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, inTransaction } from '../../../../src/foundation/database/client.ts'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { databaseError, outageOf } from '../../../../src/foundation/database/outage.ts'
import { importInto, operator } from '../../../app/engine/transfer/fixture.ts'
import type { TestDatabase } from '../../../support/database.ts'
import { hasFrench15, type Postgres15, startPostgres15 } from '../../../support/postgres-15.ts'
import { newDeveloper } from '../../../support/signed-in.ts'
import { openServer, type TestServer, type TestStore } from '../../../support/store.ts'

describe.skipIf(!hasFrench15)('on a PostgreSQL that speaks French (needs postgresql-15 with its translations)', () => {
  let postgres: Postgres15
  let server: TestServer
  let shop: TestStore

  beforeAll(async () => {
    postgres = await startPostgres15('fr')
    server = await openServer({ DEVELOPER_SIGNUP: 'open' }, openDatabase)
    shop = await server.openStore()
  })

  afterAll(async () => {
    await server?.close()
    await postgres?.stop()
  })

  async function openDatabase(): Promise<TestDatabase> {
    await migrate(postgres.url)
    const db = connect(postgres.url)
    return { url: postgres.url, db, drop: () => db.$disconnect() }
  }

  const db = () => server.services.db
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: unknown) => error as Error,
    )
  const product = (id: number, sku: string, others = {}) => ({
    SKUInfo: { CatalogID: id, SKU: sku, Name: `Product ${sku}` },
    ...others,
  })

  async function answerOf(path: string, body?: object) {
    const { statusCode, json } = await shop.call(body ? 'POST' : 'DELETE', path, body && { body })
    return [statusCode, ...json().map(({ Value, Message }: Record<string, string>) => `${Value}: ${Message}`)]
  }

  test('its errors are in French', async () => {
    expect((await failure(db().$queryRaw`SELECT 1 / 0`))?.message).toContain('division par zéro')
  })

  test('a taken SKU and an unknown reference are refused, and the answer names the field', async () => {
    expect((await shop.call('POST', '/Products', { body: product(0, 'ONE') })).statusCode).toBe(201)

    expect(await answerOf('/Products', product(0, 'one'))).toEqual([
      400,
      'SKUInfo.SKU: SKUInfo.SKU is already used by another Product',
    ])
    expect(await answerOf('/Products', product(0, 'TWO', { ManufacturerID: 77 }))).toEqual([
      400,
      'ManufacturerID: ManufacturerID refers to a record that does not exist',
    ])
    expect(await answerOf('/Products', product(0, 'TWO', { CategoryList: [{ CategoryID: 77 }] }))).toEqual([
      400,
      'CategoryList.CategoryID: CategoryList.CategoryID refers to a record that does not exist',
    ])
  })

  test('a record that something the definitions do not know of still refers to is not deleted', async () => {
    await importInto(server, shop, [{ service: 'Category', record: { CategoryID: 5, CategoryName: 'Five' } }])
    for (const rule of ['NO ACTION', 'RESTRICT']) {
      await db().$executeRawUnsafe(`
        CREATE TABLE "Extra" ("storeId" int, "categoryId" int, CONSTRAINT "Extra_storeId_categoryId_fkey"
          FOREIGN KEY ("storeId", "categoryId") REFERENCES "Category" ("storeId", "id") ON DELETE ${rule})`)
      await db().$executeRawUnsafe(`INSERT INTO "Extra" VALUES (${shop.store.id}, 5)`)

      expect(await answerOf('/Category/5')).toEqual([
        400,
        'CategoryID: This Category cannot be deleted: Extra records refer to it',
      ])
      await db().$executeRawUnsafe('DROP TABLE "Extra"')
    }
  })

  test('taken addresses of developers, merchants and stores are a conflict', async () => {
    const { Email } = await newDeveloper(server)
    const { id, secureUrl } = shop.store
    const account = { Email: Email.toUpperCase(), Password: 'correct horse battery' }
    const post = async (url: string, payload: object) =>
      (await server.app.inject({ method: 'POST', url, headers: operator(server), payload })).statusCode

    expect(await post('/developers/sign-up', account)).toBe(409)
    expect(await post('/admin/developers', account)).toBe(409)
    expect(await post(`/admin/stores/${id}/users`, account)).toBe(201)
    expect(await post(`/admin/stores/${id}/users`, account)).toBe(409)
    const store = { ...account, Name: 'Another', SecureURL: secureUrl, Currency: 'USD' }
    expect(await post('/admin/stores', store)).toBe(409)
  })

  test('an import says what is wrong with each line', async () => {
    const line = (record: object) => ({ service: 'Products', record })
    const { refused } = await importInto(server, shop, [
      line(product(101, 'IMPORTED')),
      line(product(102, 'imported')),
      line(product(103, 'THREE', { ManufacturerID: 77 })),
    ])
    expect(refused.map(({ id, message }) => `${id}: ${message}`).sort()).toEqual([
      '102: SKUInfo.SKU is already used by another Product',
      '103: ManufacturerID 77 refers to a record that does not exist',
    ])
  })

  test('a deadlock is tried again, a lost connection is an outage, and both are told by code', async () => {
    let runs = 0
    await inTransaction(db(), async (tx) => {
      if (++runs === 1) await tx.$executeRawUnsafe(`DO $$ BEGIN RAISE deadlock_detected; END $$`)
    })
    expect(runs).toBe(2)

    const lost = await failure(db().$queryRaw`SELECT pg_terminate_backend(pg_backend_pid())`)
    expect(databaseError(lost)?.code).toBe('57P01')
    expect(outageOf(lost)?.status).toBe(503)
  })
})
