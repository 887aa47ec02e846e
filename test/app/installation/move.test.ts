import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../../../src/database/client.ts'
import { createHealth, type DatabaseHealth } from '../../../src/database/health.ts'
import { migrate } from '../../../src/database/migrations.ts'
import { cancelMove, type MoveOptions, move } from '../../../src/installation/move/move.ts'
import { placeOf } from '../../../src/installation/move/state.ts'
import { createSecrets } from '../../../src/values/secrets.ts'
import { openClient } from '../../support/client.ts'
import { contentsOf, schemaOf } from '../../support/contents.ts'
import { cloneDatabase, createDatabase } from '../../support/database.ts'
import { merchantIn } from '../../support/signed-in.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'
import { operator } from '../engine/transfer/fixture.ts'
import { productBody } from '../rest/fixture.ts'
import { newWebhook } from '../rest/webhooks-fixture.ts'
import { envelope, post, request } from '../soap/support.ts'

let server: TestServer
let store: TestStore
let health: DatabaseHealth
let source: MoveOptions['source']
const warnings: string[] = []

beforeAll(async () => {
  server = await openServer({}, async () => {
    const database = await cloneDatabase()
    health = createHealth(database.url, { warn: (_details, message) => warnings.push(message), error: () => {} })
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
  return server.app.inject({
    method: 'POST',
    url: `/admin/stores/${store.store.id}/orders`,
    headers: operator(server),
    payload,
  })
}

/** A database that ends with the test. */
async function newTarget(options = ''): Promise<MoveOptions['target']> {
  const { url, drop } = await createDatabase(options)
  onTestFinished(drop)
  return { url, name: placeOf(url) }
}

/** Where a kill breaks a move off. */
const breaks = {
  'between two tables': { rows: 12 },
  'behind the comparison': { rows: Number.POSITIVE_INFINITY },
}

interface Break {
  /** Copied rows. */
  readonly rows: number
}

function options(target: MoveOptions['target'], { rows }: Partial<Break> = {}): MoveOptions {
  const breakAt = (done: number) => {
    if (rows !== undefined && done >= rows) throw new Error('killed')
  }
  return {
    source,
    target,
    secrets: server.services.secrets,
    report: { say: () => {}, rows: () => ({ advanceTo: breakAt, done: () => {} }) },
    onSame: async () => breakAt(Number.POSITIVE_INFINITY),
  }
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
    await expect(move(options(target, breaks['between two tables']))).rejects.toThrow('killed')
    server.log.length = 0
    server.clock.ms += 120_000

    const read = await store.call('GET', '/Products')
    const page = await merchant.open('/admin/products')
    const soap = await post(server, envelope(request(store, 'getProductCount')))
    expect([read.statusCode, page.statusCode, soap.statusCode]).toEqual([200, 200, 200])

    const message =
      'The store is being moved to another database, and takes no changes until then; try again in a moment'
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
    await vi.waitUntil(() => warnings.length > 0)
    await cancelMove({ ...options(target), target })
    await vi.waitUntil(() => warnings.length > 1)
    expect(warnings).toEqual([
      'the store is being moved: changes are refused, and reads go on',
      'the move of the store was given up: changes are taken again',
    ])
    expect((await placeOrder()).statusCode).toBe(201)
    // What refused changes prove holds for a second.
    await vi.waitUntil(async () => (await health.fault('changes')) === null)
  })

  test('a change that is under way ends first, and what it has changed is moved', async () => {
    const target = await newTarget()
    const client = await openClient(source.url)
    await client.query(`BEGIN; UPDATE "Store" SET "name" = 'Late'`)
    const waiting = Promise.withResolvers<void>()
    const report = {
      ...options(target).report,
      say: (line: string) => void (/^Waiting/.test(line) && waiting.resolve()),
    }
    const moving = move({ ...options(target, breaks['behind the comparison']), report })
    await Promise.race([waiting.promise, moving])
    expect((await store.call('GET', '/Products')).statusCode).toBe(200)
    await client.query('COMMIT')
    await client.end()
    await expect(moving).rejects.toThrow('killed')
    expect((await contentsOf(target.url)).Store).toBe((await contentsOf(source.url)).Store)
    await cancelMove({ ...options(target), target })
  })
})

describe('a move that is broken off', () => {
  test.each(Object.entries(breaks))('%s goes on, and copies no table again', async (_where, at) => {
    const target = await newTarget()
    await expect(move(options(target, at))).rejects.toThrow('killed')
    expect(await takingChanges(target)).toEqual({ source: false, target: false })
    const first = await rowVersionsOf(target.url)
    let same = { rows: 0, tables: 0 }
    const onSame = async (moved: typeof same) => {
      same = moved
      throw new Error('killed')
    }
    await expect(move({ ...options(target), onSame })).rejects.toThrow('killed')
    expect(await contentsOf(target.url)).toEqual(await contentsOf(source.url))
    expect(same.rows).toBeGreaterThan(50)
    for (const [table, count] of Object.entries(first)) expect((await rowVersionsOf(target.url))[table]).toBe(count)
    await cancelMove({ ...options(target), target })
  })

  test('without its target takes changes again by --cancel alone, and its target can be emptied later', async () => {
    const target = await newTarget()
    await expect(move(options(target, breaks['between two tables']))).rejects.toThrow('killed')
    await cancelMove({ ...options(target), target: null })
    expect(await takingChanges(target)).toEqual({ source: true, target: false })
    await expect(move(options(target))).rejects.toThrow(/holds another move.*--cancel --to/)
    await cancelMove({ ...options(target), target })
    expect(await schemaOf(target.url)).toEqual(await newSchema())
    await expect(cancelMove({ ...options(target), target })).rejects.toThrow('There is no unfinished move')
    await expect(cancelMove({ ...options(target), target: null })).rejects.toThrow('There is no unfinished move')
  })

  test('before the target was released is finished, or given up with the target alone', async () => {
    const target = await newTarget()
    await expect(move(options(target, breaks['behind the comparison']))).rejects.toThrow('killed')
    await inDatabase(source.url, `UPDATE "_move" SET "step" = 'releasing'`)
    expect(await takingChanges(target)).toEqual({ source: false, target: false })
    await expect(cancelMove({ ...options(target), target: null })).rejects.toThrow('may have taken changes already')
    await expect(move(options(await newTarget()))).rejects.toThrow('is being moved to')
    await cancelMove({ ...options(target), target })
    expect(await takesChanges(source.url)).toBe(true)
    expect((await contentsOf(target.url)).Store).toMatch(/^0 /)
  })
})

/** That of a database that was migrated. The source has triggers of the tests besides. */
async function newSchema() {
  const fresh = await newTarget()
  await migrate(fresh.url)
  return schemaOf(fresh.url)
}

/** The versions of the rows of each copied table: one that is copied again has others. */
async function rowVersionsOf(url: string): Promise<Record<string, string>> {
  const client = await openClient(url)
  const { rows } = await client.query(`SELECT unnest("copied") AS "name" FROM "_move"`)
  const found: Record<string, string> = {}
  for (const { name } of rows) {
    found[name] = (
      await client.query(`SELECT string_agg(xmin::text || ctid::text, ' ' ORDER BY ctid) AS "rows" FROM "${name}"`)
    ).rows[0].rows
  }
  await client.end()
  return found
}

describe('a move refuses', () => {
  test('the same database, by whatever address', async () => {
    const other = new URL(source.url)
    other.searchParams.set('application_name', 'x')
    await expect(move(options({ url: other.href, name: 'another' }))).rejects.toThrow('are the same database')
  })

  test('a target with rows, another encoding, and one that does not answer, without its password', async () => {
    const filled = await newTarget()
    await migrate(filled.url)
    await inDatabase(
      filled.url,
      `INSERT INTO "SignInDelay" ("key", "failures", "allowedAt", "failedAt") VALUES ('a', 1, now(), now())`,
    )
    await expect(move(options(filled))).rejects.toThrow('The target is not empty (it has rows of SignInDelay)')
    const foreign = await newTarget()
    await inDatabase(foreign.url, `CREATE TABLE "Own" AS SELECT 1 AS "a"`)
    await expect(move(options(foreign))).rejects.toThrow('The target is not empty (it has rows of Own)')
    await inDatabase(foreign.url, `CREATE TABLE "_prisma_migrations" ()`)
    const latin = await newTarget(`TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc`)
    await expect(move(options(latin))).rejects.toThrow('its encoding is LATIN1, and UTF8 is needed')
    const silent = 'postgresql://someone:hunter2@127.0.0.1:1/shop'
    const refused = await move(options({ url: silent, name: placeOf(silent) })).catch((error) => error.message)
    expect(refused).toMatch(/^The database at 127\.0\.0\.1:1\/shop cannot be used/)
    expect(refused).not.toContain('hunter2')
    expect(await takesChanges(source.url)).toBe(true)
  })

  test('to release a target in which a row is missing or another one, or whose secrets the key does not open', async () => {
    const target = await newTarget()
    await expect(move(options(target, breaks['behind the comparison']))).rejects.toThrow('killed')
    const secrets = createSecrets('another-key-of-the-tests-another-key')
    await expect(move({ ...options(target), secrets })).rejects.toThrow(/^SECRET_KEY/)
    await inDatabase(target.url, `UPDATE "Product" SET "name" = "name" || '.' WHERE "sku" = 'ONE'`)
    await expect(move(options(target))).rejects.toThrow(
      'The table Product is not the same in both databases (2 and 2 rows)',
    )
    expect(await takingChanges(target)).toEqual({ source: false, target: false })
    await cancelMove({ ...options(target), target })
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
    await expect(migrate(source.url)).rejects.toThrow(`The store has been moved to ${target.name}. Set DATABASE_URL`)
    const placed = await placeOrder()
    expect([placed.statusCode, placed.json()[0].Message]).toEqual([
      503,
      'The store has been moved to another database, and takes changes there; try again in a moment',
    ])
    expect(await health.fault('reads')).toBe('the store has been moved to another database')
    await expect(move(options(target))).rejects.toThrow('has been moved already')

    // A kill before the source was told.
    await inDatabase(source.url, `UPDATE "_move" SET "step" = 'releasing'`)
    expect(await takingChanges(target)).toEqual({ source: false, target: true })
    await expect(cancelMove({ ...options(target), target })).rejects.toThrow('The move is finished')
    await move(options(target))
    expect(await takingChanges(target)).toEqual({ source: false, target: true })

    await inDatabase(target.url, `UPDATE "Store" SET "name" = 'Renamed'`)
    const back = { ...options(source), source: target }
    await expect(
      move({ ...back, ...{ onSame: options(target, breaks['behind the comparison']).onSame } }),
    ).rejects.toThrow('killed')
    expect(await takingChanges(target)).toEqual({ source: false, target: false })
    await cancelMove({ ...back })
    expect(await takingChanges(target)).toEqual({ source: false, target: true })
    await move(back)
    expect(await takingChanges(target)).toEqual({ source: true, target: false })
    expect((await contentsOf(source.url)).Store).toBe((await contentsOf(target.url)).Store)
    expect(await schemaOf(source.url)).toEqual(schema)
    expect((await placeOrder()).statusCode).toBe(201)
  })
})
