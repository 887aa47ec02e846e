import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { connect } from '../../../../src/foundation/database/client.ts'
import { DatabaseHealth } from '../../../../src/foundation/database/health.ts'
import { migrate } from '../../../../src/foundation/database/migrations.ts'
import { createSecrets } from '../../../../src/foundation/values/secrets.ts'
import { cancelMove, type MoveOptions, move } from '../../../../src/operations/installation/move/move.ts'
import { placeOf } from '../../../../src/operations/installation/move/place.ts'
import { openClient } from '../../../support/client.ts'
import { contentsOf, schemaOf } from '../../../support/contents.ts'
import { cloneDatabase, createDatabase } from '../../../support/database.ts'
import { ofTest } from '../../../support/shared.ts'
import { merchantIn } from '../../../support/signed-in.ts'
import { openServer, type TestServer, type TestStore } from '../../../support/store.ts'
import { productBody } from '../../http/rest/fixture.ts'
import { newWebhook } from '../../http/rest/webhooks-fixture.ts'
import { envelope, post, request } from '../../http/soap/support.ts'

let server: TestServer
let store: TestStore
let health: DatabaseHealth
let source: MoveOptions['source']
const warnings: object[] = []

beforeAll(async () => {
  server = await openServer({}, async () => {
    const database = await cloneDatabase()
    health = new DatabaseHealth(database.url, { warn: (details) => warnings.push(details), error: () => {} })
    const db = connect(database.url, { health })
    const drop = async () => {
      await Promise.all([health.stop(), db.$disconnect()])
      await database.drop()
    }
    return { ...database, db, drop }
  })
  source = { url: server.database.url, name: placeOf(server.database.url) }
  store = await server.openStore()
  await store.call('POST', '/Products', {
    body: ['ONE', 'TWO'].map((sku) => productBody(sku, { SKUInfo: { Stock: 100 } })),
  })
  await newWebhook(store.call)
  expect((await placeOrder()).statusCode).toBe(201)
})
afterAll(() => server.close())

function placeOrder() {
  const payload = { BillingEmail: 'guest@mail.example', OrderItemList: [{ CatalogID: 1, ItemQuantity: 1 }] }
  return server.operate('POST', `/admin/stores/${store.store.id}/orders`, payload)
}

/** A database that ends with the test. */
async function newTarget(options = ''): Promise<MoveOptions['target']> {
  const { url } = await ofTest(createDatabase(options))
  return { url, name: placeOf(url) }
}

function options(target: MoveOptions['target']): MoveOptions {
  return { source, target, secrets: server.services.secrets, say: () => {} }
}

/** A move that is killed while rows are stored. */
async function killedMove(target: MoveOptions['target'], from = source): Promise<void> {
  const onRows = (rows: number) => {
    if (rows >= 12) throw new Error('killed')
  }
  await expect(move({ ...options(target), source: from, onRows })).rejects.toThrow('killed')
}

/** Whether a server may start on the database and take changes. */
async function takesChanges(url: string): Promise<boolean> {
  const client = await openClient(url)
  try {
    await migrate(url)
    await client.query(`UPDATE "Store" SET "name" = "name"`)
    return true
  } catch (error) {
    expect((error as Error).message).toMatch(/is being moved|has been moved/)
    return false
  } finally {
    await client.end()
  }
}

async function takingChanges(target: MoveOptions['target']) {
  return { source: await takesChanges(source.url), target: await takesChanges(target.url) }
}

async function inDatabase(url: string, sql: string): Promise<void> {
  const client = await openClient(url)
  await client.query(sql)
  await client.end()
}

const again = { 'retry-after': '1' }

describe('while the store is being moved', () => {
  test('reads go on, every change is refused for a moment, and the log says so once', async () => {
    const merchant = await merchantIn(server, store.store)
    const target = await newTarget()
    await killedMove(target)
    server.log.length = 0
    server.clock.ms += 120_000

    const read = await store.call('GET', '/Products')
    const page = await merchant.open('/admin/products')
    const soap = await post(server, envelope(request(store, 'getProductCount')))
    expect([read.statusCode, page.statusCode, soap.statusCode]).toEqual([200, 200, 200])

    const message =
      'The store is being moved to another database, and accepts no changes until then; try again in a moment'
    const created = await store.call('POST', '/Products', { body: productBody('THREE') })
    expect([created.statusCode, created.headers, created.json()[0].Message]).toMatchObject([503, again, message])
    const several = await store.call('PUT', '/Products', {
      body: [{ SKUInfo: { SKU: 'ONE', Name: 'A' } }, { SKUInfo: { SKU: 'TWO', Name: 'B' } }],
    })
    expect([several.statusCode, several.headers]).toMatchObject([503, again])
    const placed = await placeOrder()
    expect([placed.statusCode, placed.headers, placed.json()[0].Message]).toMatchObject([503, again, message])
    const form = await merchant.submit(
      '/admin/manufacturers/new',
      { ManufacturerName: 'Acme' },
      { action: '/admin/manufacturers' },
    )
    expect([form.statusCode, form.headers, form.body]).toMatchObject([
      503,
      again,
      expect.stringContaining('is being moved'),
    ])
    const fault = await post(
      server,
      envelope(request(store, 'updateProductInventory', { productId: 'ONE', quantity: 3, replaceStock: true })),
    )
    // What cartAPI answers for every outage.
    expect([fault.statusCode, fault.headers, fault.body]).toMatchObject([
      500,
      again,
      expect.stringContaining('is being moved'),
    ])
    await server.services.callLog.flush()

    expect(await health.fault('reads')).toBe(null)
    expect(await health.fault('changes')).toBe('the store is being moved to another database')
    expect(server.log.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([])
    expect(warnings).toEqual([{ reason: `The store is being moved to ${target.name}` }])
    await cancelMove({ source, target })
    expect((await placeOrder()).statusCode).toBe(201)
    await vi.waitUntil(async () => (await health.fault('changes')) === null)
  })

  test('a change that is under way ends first, and what it has changed is moved', async () => {
    const target = await newTarget()
    const client = await openClient(source.url)
    await client.query(`BEGIN; UPDATE "Store" SET "name" = 'Late'`)
    const waiting = Promise.withResolvers<void>()
    const moving = move({ ...options(target), say: (line) => void (/^Waiting/.test(line) && waiting.resolve()) })
    await Promise.race([waiting.promise, moving])
    expect((await store.call('GET', '/Products')).statusCode).toBe(200)
    await client.query('COMMIT')
    await client.end()
    await moving
    expect((await contentsOf(target.url)).Store).toBe((await contentsOf(source.url)).Store)
    await moveBack(target)
  })
})

/** The source has the store again, as before the tests. */
async function moveBack(target: MoveOptions['target']): Promise<void> {
  await move({ ...options(source), source: target })
  await inDatabase(source.url, 'DROP TABLE "_move"')
}

describe('a move that is broken off', () => {
  test('while rows are stored leaves an empty target and a source that is read, and begins anew', async () => {
    const target = await newTarget()
    await killedMove(target)
    expect(await takingChanges(target)).toEqual({ source: false, target: false })
    expect((await contentsOf(target.url)).Store).toMatch(/^0 /)
    await expect(migrate(target.url)).rejects.toThrow(`A store is being moved into this database from ${source.name}`)
    expect(await move(options(target))).toEqual({ rows: expect.any(Number), tables: expect.any(Number) })
    expect(await takingChanges(target)).toEqual({ source: false, target: true })
    await moveBack(target)
  })

  test('may be begun anew with another target', async () => {
    const [lost, target] = [await newTarget(), await newTarget()]
    await killedMove(lost)
    await move(options(target))
    expect(await takingChanges(target)).toEqual({ source: false, target: true })
    expect(await takesChanges(lost.url)).toBe(false)
    await moveBack(target)
  })

  test('without its target takes changes again by --cancel alone, and its target can be freed later', async () => {
    const target = await newTarget()
    await killedMove(target)
    await cancelMove({ source, target: null })
    expect(await takingChanges(target)).toEqual({ source: true, target: false })
    await expect(move({ ...options(target), source: { ...source, name: 'another' } })).rejects.toThrow(
      /takes part in another move, with the database .*--cancel --to/,
    )
    await cancelMove({ source, target })
    expect(await schemaOf(target.url)).toEqual(await newSchema())
    await expect(cancelMove({ source, target })).rejects.toThrow('There is no unfinished move here')
    await expect(cancelMove({ source, target: null })).rejects.toThrow('There is no unfinished move here')
    expect(await takingChanges(target)).toEqual({ source: true, target: true })
  })

  test('before its target has committed can be finished, or given up with that target alone', async () => {
    const target = await newTarget()
    const killedBeforeCommit = async () => {
      await killedMove(target)
      await inDatabase(source.url, `UPDATE "_move" SET "step" = 'left'`)
    }
    await killedBeforeCommit()
    expect(await takingChanges(target)).toEqual({ source: false, target: false })
    await expect(cancelMove({ source, target: null })).rejects.toThrow('may have taken changes already')
    const other = await newTarget()
    await expect(cancelMove({ source, target: other })).rejects.toThrow('may have taken changes already')
    await expect(move(options(other))).rejects.toThrow('has been moved already')
    await cancelMove({ source, target })
    expect(await takingChanges(target)).toEqual({ source: true, target: true })

    await killedBeforeCommit()
    await move(options(target))
    expect(await takingChanges(target)).toEqual({ source: false, target: true })
    expect((await contentsOf(target.url)).Store).toBe((await contentsOf(source.url)).Store)
    await moveBack(target)
  })

  test('by --cancel of another command does not release its target', async () => {
    const target = await newTarget()
    await migrate(target.url)
    // The move waits for this.
    const client = await openClient(target.url)
    await client.query('BEGIN; SELECT FROM "Store"')
    const frozen = Promise.withResolvers<void>()
    const moving = move({ ...options(target), say: (line) => void (/refuses changes/.test(line) && frozen.resolve()) })
    moving.catch(() => {})
    await Promise.race([frozen.promise, moving])
    await cancelMove({ source, target: null })
    await client.query('COMMIT')
    await client.end()
    await expect(moving).rejects.toThrow('Another command has finished the move, given it up, or begun it anew')
    expect(await takingChanges(target)).toEqual({ source: true, target: false })
  })

  test('and given up beside a reader takes changes at once, and can be begun again', async () => {
    const target = await newTarget()
    await killedMove(target)
    // The triggers cannot be removed before this ends.
    const client = await openClient(source.url)
    await client.query('BEGIN; SELECT FROM "Store"')
    await cancelMove({ source, target })
    expect(await takesChanges(source.url)).toBe(true)
    await client.query('COMMIT')
    await client.end()
    await killedMove(target)
    expect(await takesChanges(source.url)).toBe(false)
    await cancelMove({ source, target })
    expect(await schemaOf(source.url)).not.toContainEqual(expect.objectContaining({ name: '_refuse_changes' }))
  })
})

/** That of a database that was migrated. The source has triggers of the tests besides. */
async function newSchema() {
  const fresh = await newTarget()
  await migrate(fresh.url)
  return schemaOf(fresh.url)
}

describe('a move refuses', () => {
  test('the same database, by whatever address', async () => {
    const other = new URL(source.url)
    other.searchParams.set('application_name', 'x')
    await expect(move(options({ url: other.href, name: 'another' }))).rejects.toThrow('The database is not empty')
    expect(await takesChanges(source.url)).toBe(true)
  })

  test('a target with rows, another encoding, and one that does not answer, without its password', async () => {
    const filled = await newTarget()
    await migrate(filled.url)
    await inDatabase(
      filled.url,
      `INSERT INTO "SignInDelay" ("key", "failures", "allowedAt", "failedAt") VALUES ('a', 1, now(), now())`,
    )
    await expect(move(options(filled))).rejects.toThrow('The database is not empty (it has rows of SignInDelay)')
    const foreign = await newTarget()
    await inDatabase(foreign.url, `CREATE TABLE "Own" AS SELECT 1 AS "a"`)
    await expect(move(options(foreign))).rejects.toThrow('The database is not empty (it has rows of Own)')
    await inDatabase(foreign.url, `CREATE TABLE "_prisma_migrations" ()`)
    const latin = await newTarget(`TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc`)
    await expect(move(options(latin))).rejects.toThrow('its encoding is LATIN1, and UTF8 is needed')
    const silent = 'postgresql://someone:hunter2@127.0.0.1:1/shop'
    const refused = await move(options({ url: silent, name: placeOf(silent) })).catch((error) => error.message)
    expect(refused).toMatch(/^The database at 127\.0\.0\.1:1\/shop cannot be used/)
    expect(refused).not.toContain('hunter2')
    expect(await takesChanges(source.url)).toBe(true)
  })

  test('to release a target in which a row is not the same, or whose secrets the key does not open', async () => {
    const target = await newTarget()
    const secrets = createSecrets('another-key-of-the-tests-another-key')
    await expect(move({ ...options(target), secrets })).rejects.toThrow(/^SECRET_KEY/)
    expect(await takesChanges(source.url)).toBe(true)
    await inDatabase(target.url, 'ALTER TABLE "Product" ALTER "cost" TYPE numeric(15,1)')
    await inDatabase(source.url, `UPDATE "Product" SET "cost" = 1.25 WHERE "sku" = 'ONE'`)
    await expect(move(options(target))).rejects.toThrow(
      /The table Product is not the same in both databases \(2 rows, .*; 2 rows, /,
    )
    expect(await takingChanges(target)).toEqual({ source: false, target: false })
    await cancelMove({ source, target })
    expect(await takingChanges(target)).toEqual({ source: true, target: true })
  })

  test('one of a former version that is not finished, and says what to do', async () => {
    const target = await newTarget()
    await migrate(target.url)
    const begun = (
      step: string,
    ) => `DROP TABLE IF EXISTS "_move"; CREATE TABLE "_move" ("only" boolean PRIMARY KEY DEFAULT true CHECK ("only"),
      "id" text NOT NULL, "step" text NOT NULL, "other" text NOT NULL, "copied" text[] NOT NULL DEFAULT '{}', "before" json,
      "since" timestamptz NOT NULL DEFAULT now()); INSERT INTO "_move" ("id", "step", "other") VALUES ('1', '${step}', 'there')`
    await inDatabase(target.url, begun('arriving'))
    const refusal = 'A former version of the server has begun a move with there. Finish it with that version'
    await expect(move(options(target))).rejects.toThrow(refusal)
    await inDatabase(source.url, begun('leaving'))
    const other = await newTarget()
    await expect(move(options(other))).rejects.toThrow(refusal)
    expect(await health.fault('changes')).toBe('the store is being moved to another database')
    await cancelMove({ source, target: null })
    expect(await takingChanges(target)).toEqual({ source: true, target: false })
    await move(options(other))
    await moveBack(other)
  })
})

describe('a finished move', () => {
  test('leaves the same rows and schema, a source that says where they are, and the way back', async () => {
    const target = await newTarget()
    const [before, schema] = [await contentsOf(source.url), await schemaOf(source.url)]
    await move(options(target))

    expect(await contentsOf(target.url)).toEqual(before)
    expect(await schemaOf(target.url)).toEqual(await newSchema())
    expect(await takingChanges(target)).toEqual({ source: false, target: true })
    await expect(migrate(source.url)).rejects.toThrow(
      `The store has been moved to ${target.name}. Start the server there`,
    )
    const placed = await placeOrder()
    expect([placed.statusCode, placed.json()[0].Message]).toEqual([
      503,
      'The store is being moved to another database, and accepts no changes until then; try again in a moment',
    ])
    expect(await health.fault('reads')).toBe('the store has been moved to another database')
    expect(await move(options(target))).toBe(null)
    await expect(move(options(await newTarget()))).rejects.toThrow('has been moved already')
    await expect(cancelMove({ source, target })).rejects.toThrow('may have taken changes already')
    expect(await takingChanges(target)).toEqual({ source: false, target: true })

    await inDatabase(target.url, `UPDATE "Store" SET "name" = 'Renamed'`)
    await killedMove(source, target)
    expect(await takingChanges(target)).toEqual({ source: false, target: false })
    const back = { ...options(source), source: target }
    await cancelMove(back)
    expect(await takingChanges(target)).toEqual({ source: false, target: true })
    await expect(migrate(source.url)).rejects.toThrow(`The store has been moved to ${target.name}`)
    await killedMove(source, target)
    await move(back)
    expect(await takingChanges(target)).toEqual({ source: true, target: false })
    expect((await contentsOf(source.url)).Store).toBe((await contentsOf(target.url)).Store)
    expect(await schemaOf(source.url)).toEqual(schema)
    expect((await placeOrder()).statusCode).toBe(201)
  })
})
