import type { LightMyRequestResponse } from 'fastify'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { registerApplication } from '../../../../src/access/applications/applications.ts'
import { subscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import { createStore } from '../../../../src/access/people/create-store.ts'
import { serviceOf } from '../../../../src/http/pages/records/services.ts'
import { sweepsByAge } from '../../../../src/parts/retention.ts'
import { columnsOf } from '../../../../src/shop/csv/lines/columns.ts'
import { products } from '../../../../src/shop/resources/products/products.ts'
import { storeInput } from '../../../support/access.ts'
import { operator } from '../../../support/actors.ts'
import { holdIn } from '../../../support/held.ts'
import { otherProcess } from '../../../support/other-process.ts'
import { type CallOptions, type Method, sharedServer, type TestStore } from '../../../support/store.ts'
import { importInto } from '../../engine/transfer/fixture.ts'
import { productBody, type Result, refusalOf } from './fixture.ts'

// Idempotency-Key: whatever happens between a request and its answer, sending it again changes nothing twice.

const HOUR_MS = 3_600_000

let shop: TestStore
const server = await sharedServer({ REST_PREFIXES: '/StoreWebAPI,/api' })
beforeEach(async () => {
  shop = await server.openStore()
  await shop.call('POST', '/Products', { body: ['A-1', 'B-2', 'C-3'].map((sku) => productBody(sku)) })
})

function send(method: Method, path: string, key: string, { headers, ...options }: CallOptions = {}) {
  return shop.call(method, path, { ...options, headers: { 'idempotency-key': key, ...headers } })
}

const setStock = (stock: number) => ({ SKUInfo: { Stock: stock } })
const statusesOf = (answer: LightMyRequestResponse) => answer.json<Result[]>().map(({ Status }) => Status)
const isReplay = ({ headers }: LightMyRequestResponse) => headers['idempotency-replayed'] === 'true'

async function query<T extends object>(sql: string): Promise<T[]> {
  return server.database.db.$queryRawUnsafe<T[]>(sql)
}
const execute = (sql: string) => server.database.db.$executeRawUnsafe(sql)

/** Every row of the store but the keys' own, counters and times of change too; a subscription's last use is noted at its own time. */
async function everything(): Promise<Record<string, string>> {
  const tables = await query<{ name: string }>(
    `SELECT "table_name" AS "name" FROM information_schema.columns
     WHERE "table_schema" = current_schema() AND "column_name" = 'storeId' AND "table_name" NOT LIKE 'Idempotency%'
       AND "table_name" <> 'Subscription'`,
  )
  const texts = tables.map(async ({ name }) => {
    const [row] = await query<{ rows: string }>(
      `SELECT coalesce(json_agg(t ORDER BY t::text), '[]')::text AS "rows" FROM "${name}" t
       WHERE t."storeId" = ${shop.store.id}`,
    )
    return [name, row?.rows ?? ''] as const
  })
  return Object.fromEntries(await Promise.all(texts))
}

/** What moved the stock of a product, in order. */
async function movements(productId: number): Promise<number[]> {
  const rows = await query<{ quantity: number }>(
    `SELECT "quantity"::float8 FROM "StockMovement"
     WHERE "storeId" = ${shop.store.id} AND "productId" = ${productId} ORDER BY "id"`,
  )
  return rows.map(({ quantity }) => quantity)
}

async function manufacturers(): Promise<string[]> {
  const rows = await query<{ name: string }>(
    `SELECT "name" FROM "Manufacturer" WHERE "storeId" = ${shop.store.id} ORDER BY "id"`,
  )
  return rows.map(({ name }) => name)
}

async function keysStored(): Promise<number> {
  const [row] = await query<{ count: number }>('SELECT count(*)::int AS "count" FROM "IdempotencyKey"')
  return row?.count ?? 0
}

/** Runs `work` while another transaction holds what `sql` locks, until `release` is called. */
async function whileLocked(sql: string, work: (release: () => Promise<void>) => Promise<void>): Promise<void> {
  const release = await holdIn(server.database.db, (tx) => tx.$executeRawUnsafe(sql))
  await work(release).finally(release)
}

const lockProduct = (id: number) =>
  `SELECT FROM "Product" WHERE "storeId" = ${shop.store.id} AND "id" = ${id} FOR UPDATE`

/** Until so many statements with this text wait for a lock. */
async function untilWaiting(count: number, text: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const [row] = await query<{ count: number }>(
        `SELECT count(*)::int AS "count" FROM pg_stat_activity
         WHERE "datname" = current_database() AND "wait_event_type" = 'Lock' AND strpos("query", '${text}') > 0`,
      )
      expect(row?.count).toBe(count)
    },
    { timeout: 20_000 },
  )
}
const productLock = 'FOR NO KEY UPDATE'
const keyStore = 'INSERT INTO "IdempotencyAnswer"'
const keyTakeOver = 'UPDATE "IdempotencyKey" SET "claim"'

/** Runs `work` while every change of a manufacturer called Broken ends as `failure` says, when it is written or committed. */
async function whileBroken(failure: string, work: () => Promise<void>, when = 'write'): Promise<void> {
  await execute(`CREATE FUNCTION break() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${failure}; RETURN NEW; END $$`)
  const kind = { write: ['', ''], commit: ['CONSTRAINT', 'DEFERRABLE INITIALLY DEFERRED'] }[when] ?? []
  await execute(`CREATE ${kind[0]} TRIGGER break AFTER INSERT OR UPDATE ON "Manufacturer" ${kind[1]} FOR EACH ROW
    WHEN (NEW."name" = 'Broken') EXECUTE FUNCTION break()`)
  await work().finally(() => execute('DROP FUNCTION break CASCADE'))
}

describe('a request that is sent again is answered as it was, and changes nothing', () => {
  beforeEach(async () => {
    await shop.call('POST', '/Products/1/Features', { body: [{ FeatureTitle: 'one' }, { FeatureTitle: 'two' }] })
  })

  const unknown = { SKUInfo: { SKU: 'none', Stock: 1 } }
  test.each<[string, Method, string, number, unknown]>([
    ['POST of a list of which some fail', 'POST', '/Products', 206, [productBody('X'), productBody('a-1'), {}]],
    ['POST of a list of which all fail', 'POST', '/Products', 400, [{}, productBody('A-1')]],
    [
      'PUT of a list of which some fail',
      'PUT',
      '/Products',
      206,
      [unknown, { SKUInfo: { CatalogID: 1, Stock: 2 } }, 7],
    ],
    ['PUT of an unknown record', 'PUT', '/Products/99', 404, setStock(5)],
    ['PUT that is refused', 'PUT', '/Products/1', 400, setStock(Number.MAX_VALUE)],
    ['DELETE', 'DELETE', '/Products/2', 200, undefined],
    ['PUT of a list below a record', 'PUT', '/Products/1/Features', 206, [{ FeatureID: 1, FeatureTitle: 'uno' }, {}]],
  ])('%s', async (_name, method, path, status, body) => {
    const first = await send(method, path, 'key', { body })
    expect([first.statusCode, isReplay(first)]).toEqual([status, false])
    const before = await everything()
    server.clock.ms += HOUR_MS

    const again = await send(method, path, 'key', { body })
    expect([again.statusCode, again.body]).toEqual([first.statusCode, first.body])
    expect(again.headers).toMatchObject({ 'idempotency-replayed': 'true' })
    expect(again.headers['content-type']).toBe(first.headers['content-type'])
    expect(await everything()).toEqual(before)
  })

  test('in XML, and in the format that is accepted now', async () => {
    const contentType = 'application/xml'
    const body =
      '<ArrayOfProduct><Product><SKUInfo><SKU>XML-1</SKU><Name>n</Name></SKUInfo></Product><Product/></ArrayOfProduct>'
    const first = await send('POST', '/Products', 'key', { body, contentType, accept: contentType })
    expect(first.statusCode).toBe(206)
    const before = await everything()

    const again = await send('POST', '/Products', 'key', { body, contentType, accept: contentType })
    expect([again.statusCode, again.body, isReplay(again)]).toEqual([206, first.body, true])
    const inJson = await send('POST', '/Products', 'key', { body, contentType })
    expect([inJson.statusCode, isReplay(inJson)]).toEqual([206, true])
    for (const { Key, Value, Message } of inJson.json<Result[]>()) {
      for (const text of [Key, Value, Message]) expect(first.body).toContain(`>${text}<`)
    }
    expect(await everything()).toEqual(before)
  })

  test('as problem details where those are accepted', async () => {
    const refused = { body: {}, accept: 'application/problem+json' }
    await send('POST', '/Products', 'key', refused)
    const again = await send('POST', '/Products', 'key', refused)
    expect([again.statusCode, isReplay(again)]).toEqual([400, true])
    expect(again.headers['content-type']).toMatch('application/problem+json')
    expect(again.json()).toMatchObject({ status: 400, errors: [{ index: 0 }] })
    const unknown = { accept: 'application/problem+json' }
    await send('DELETE', '/Products/99', 'key', unknown)
    expect(isReplay(await send('DELETE', '/Products/99', 'key', unknown))).toBe(true)
  })

  test('also when another client changed the record meanwhile, twenty times over', async () => {
    expect((await send('PUT', '/Products/1', 'key', { body: setStock(5) })).statusCode).toBe(200)
    expect((await shop.call('PUT', '/Products/1', { body: setStock(7) })).statusCode).toBe(200)
    for (let retry = 0; retry < 20; retry++) {
      expect((await send('PUT', '/Products/1', 'key', { body: setStock(5) })).statusCode).toBe(200)
    }
    expect(await movements(1)).toEqual([5, 2])
  })

  test('also with an If-Match that holds no more', async () => {
    const etag = String((await shop.call('GET', '/Products/1')).headers.etag)
    const options = { body: setStock(5), headers: { 'if-match': etag } }
    expect((await send('PUT', '/Products/1', 'key', options)).statusCode).toBe(200)
    const again = await send('PUT', '/Products/1', 'key', options)
    expect([again.statusCode, isReplay(again)]).toEqual([200, true])
    expect((await send('PUT', '/Products/1', 'other', options)).statusCode).toBe(412)
  })
})

describe('SKUInfo.StockAdjust adds to the stock that there is', () => {
  const adjust = (by: unknown, others: object = {}) => ({ SKUInfo: { StockAdjust: by, ...others } })

  async function ledger(productId: number) {
    return query<object>(
      `SELECT "optionCode", "quantity"::float8, "stockAfter"::float8, "cause" FROM "StockMovement"
       WHERE "storeId" = ${shop.store.id} AND "productId" = ${productId} ORDER BY "id"`,
    )
  }

  async function eventsOf(productId: number): Promise<number[]> {
    const rows = await query<{ eventType: number }>(
      `SELECT "eventType" FROM "Event" WHERE "storeId" = ${shop.store.id} AND "recordId" = ${productId} ORDER BY "id"`,
    )
    return rows.map(({ eventType }) => eventType)
  }

  const stockOf = async (id: number) => (await shop.call('GET', `/Products/${id}`)).json()[0].SKUInfo.Stock

  test('once for a key, with one row of the ledger and one event, and stands in no answer', async () => {
    const before = (await shop.call('GET', '/Products/1')).json()[0]
    const answer = await send('PUT', '/Products/1', 'add', { body: adjust(3) })
    expect([answer.statusCode, answer.json()[0].Message]).toEqual([200, 'updated successfully'])
    expect(isReplay(await send('PUT', '/Products/1', 'add', { body: adjust(3) }))).toBe(true)
    await send('PUT', '/Products/1', 'take', { body: adjust('-2'), tolerated: true })
    await send('PUT', '/Products/1', 'take-below', { body: adjust(-2) })
    // A client that is generated sends 0 of itself.
    for (const body of [adjust(0), adjust(0, { Stock: -1 })]) {
      expect((await shop.call('PUT', '/Products/1', { body })).statusCode).toBe(200)
    }

    const after = (await shop.call('GET', '/Products/1')).json()[0]
    expect(after).toEqual({ ...before, SKUInfo: { ...before.SKUInfo, Stock: -1 } })
    expect(Object.keys(after.SKUInfo)).toEqual(Object.keys(before.SKUInfo))
    const cause = 'adjust'
    expect(await ledger(1)).toEqual([
      { optionCode: null, quantity: 3, stockAfter: 3, cause },
      { optionCode: null, quantity: -2, stockAfter: 1, cause },
      { optionCode: null, quantity: -2, stockAfter: -1, cause },
    ])
    expect(await eventsOf(1)).toEqual([4, 7, 7, 7])
    expect((await shop.call('GET', '/Products?$select=SKUInfo/StockAdjust', { tolerated: true })).statusCode).toBe(400)
    expect((await shop.call('GET', '/Products/skuinfo?limit=1')).json()).toEqual([after.SKUInfo])
    await shop.call('PUT', '/Products/1', { body: adjust(0, { Stock: 0 }) })
    expect((await ledger(1)).at(-1)).toMatchObject({ quantity: 1, cause: 'set' })
  })

  test('of requests at once, each', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((by) => send('PUT', '/Products/1', `add-${by}`, { body: adjust(by) })),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 200])
    expect(await stockOf(1)).toBe(21)
    expect((await movements(1)).toSorted()).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('in a list too, where a product is named twice as well, and in XML', async () => {
    const body = [
      adjust(2, { CatalogID: 1 }),
      adjust(-1, { SKU: 'B-2' }),
      adjust(5, { CatalogID: 1 }),
      adjust(1, { SKU: '?' }),
    ]
    const answer = await send('PUT', '/Products', 'list', { body })
    expect([answer.statusCode, statusesOf(answer)]).toEqual([206, ['200', '200', '200', '404']])
    const xml = '<Product><SKUInfo><StockAdjust>4</StockAdjust></SKUInfo></Product>'
    await send('PUT', '/Products/2', 'xml', { body: xml, contentType: 'application/xml' })
    await send('PUT', '/Products', 'list', { body })
    expect([await stockOf(1), await stockOf(2)]).toEqual([7, 3])
  })

  test('of advanced options by AdvancedOptionStockAdjust', async () => {
    const sets = [{ OptionSetName: 'Size', OptionList: [{ OptionName: 'L' }, { OptionName: 'M' }] }]
    const option = { AdvancedOptionCode: '1', AdvancedOptionStock: 4.5 }
    const id = await shop.add('/Products', {
      ...productBody('D-4', { SKUInfo: { Stock: 10 } }),
      OptionSetList: sets,
      AdvancedOptionList: [option, { AdvancedOptionCode: '2' }],
    })
    const path = `/Products/${id}/AdvancedOptions`
    const before = (await shop.call('GET', path)).json()
    await send('PUT', `${path}/1`, 'one', { body: { AdvancedOptionStockAdjust: 3 } })
    await send('PUT', path, 'both', {
      body: ['1', '2'].map((code) => ({ AdvancedOptionCode: code, AdvancedOptionStockAdjust: -1 })),
    })
    const stocks = (await shop.call('GET', path)).json()
    expect(stocks).toEqual([
      { ...before[0], AdvancedOptionStock: 6.5 },
      { ...before[1], AdvancedOptionStock: -1 },
    ])
    expect((await ledger(id)).slice(2)).toEqual([
      { optionCode: '1', quantity: 3, stockAfter: 7.5, cause: 'adjust' },
      { optionCode: '1', quantity: -1, stockAfter: 6.5, cause: 'adjust' },
      { optionCode: '2', quantity: -1, stockAfter: -1, cause: 'adjust' },
    ])
    expect((await shop.call('PUT', `${path}/2`, { body: { AdvancedOptionStockAdjust: 0 } })).statusCode).toBe(200)
    const refusal = refusalOf(await shop.call('PUT', `${path}/2`, { body: { AdvancedOptionStockAdjust: 1 } }))
    expect(refusal).toMatchObject({ statusCode: 400, field: 'AdvancedOptionList[1].AdvancedOptionStockAdjust' })
    expect(await stockOf(id)).toBe(10)
  })

  test.each([
    ['without a key', {}, { StockAdjust: 3 }, 'needs the header Idempotency-Key'],
    ['beside Stock', { 'idempotency-key': 'a' }, { StockAdjust: 3, Stock: 5 }, 'send one of them'],
    ['with a fraction', { 'idempotency-key': 'a' }, { StockAdjust: 0.5 }, 'must be a whole number from -2147483648'],
    [
      'above 32 bits',
      { 'idempotency-key': 'a' },
      { StockAdjust: 2_147_483_648 },
      'must be a whole number from -2147483648',
    ],
    [
      'where no stock can be stored',
      { 'idempotency-key': 'a' },
      { StockAdjust: 100 },
      'would make the stock 100000000000',
    ],
  ])('is refused %s, and changes nothing', async (_name, headers, SKUInfo, problem) => {
    await shop.call('PUT', '/Products/1', { body: setStock(99_999_999_900) })
    const before = await everything()
    const answer = await shop.call('PUT', '/Products/1', {
      headers,
      body: { SKUInfo, MFGID: 'changed' },
      tolerated: true,
    })
    const { statusCode, field, message } = refusalOf(answer)
    expect({ statusCode, field }).toEqual({ statusCode: 400, field: 'SKUInfo.StockAdjust' })
    expect(message).toContain(problem)
    expect(await everything()).toEqual(before)
  })

  test('is no column of files, no field of forms, and not imported', async () => {
    const record = { SKUInfo: { CatalogID: 9, SKU: 'X', Name: 'X', StockAdjust: 3 } }
    const { warned, refused } = await importInto(server, shop, [{ service: 'Products', record }])
    expect(JSON.stringify([warned, refused])).toContain('StockAdjust cannot be imported: leave it out')
    expect(columnsOf(products).map(({ name }) => name)).not.toContain('SKUInfo.StockAdjust')
    expect(serviceOf(products).values.map(({ path }) => path.join('.'))).not.toContain('SKUInfo.StockAdjust')
  })
})

describe('a key stands for one request', () => {
  test('422 for another body; the first answer stands', async () => {
    await send('PUT', '/Products/1', 'key', { body: '{}', contentType: 'application/json' })
    const others: CallOptions[] = [
      { body: '{ }', contentType: 'application/json' },
      { body: setStock(5) },
      { body: '<Product/>', contentType: 'application/xml' },
    ]
    for (const options of others) {
      expect(refusalOf(await send('PUT', '/Products/1', 'key', options))).toEqual({
        statusCode: 422,
        status: '422',
        field: 'Idempotency-Key',
        message: 'This Idempotency-Key was sent with another body; a new request needs a new key',
      })
    }
    const again = await send('PUT', '/Products/1', 'key', { body: '{}', contentType: 'text/json' })
    expect([again.statusCode, isReplay(again)]).toEqual([200, true])
    expect(await movements(1)).toEqual([])
  })

  test('per method and address; v1 and v2 are two', async () => {
    const body = { SKUInfo: { CatalogID: 1, Name: 'changed' } }
    const answers = [
      await send('PUT', '/Products/1', 'key', { body }),
      await send('PUT', '/Products/2', 'key', { body }),
      await send('PUT', '/Products', 'key', { body }),
      await send('POST', '/Products', 'key', { body }),
      await send('PUT', '/Products/1', 'key', { body, version: 'v2' }),
      await send('DELETE', '/Products/1', 'key', { body }),
    ]
    expect(answers.map(isReplay)).toEqual(answers.map(() => false))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 400, 200, 200])
  })

  test('however the address is written, and the key with or without quotes', async () => {
    await shop.call('POST', '/Category', { body: { CategoryName: 'old' } })
    const request = (url: string, key: string) =>
      server.app.inject({
        method: 'PUT',
        url,
        headers: { ...shop.credentials, 'idempotency-key': key },
        payload: { CategoryName: 'new' },
      })
    expect(isReplay(await request('/StoreWebAPI/v1/Category/1', 'key'))).toBe(false)
    for (const url of ['/StoreWebAPI/v1/Categories/1', '/api/V1/category//1/', '/StoreWebAPI/v1/Category/1?x=1']) {
      expect([url, isReplay(await request(url, '"key"'))]).toEqual([url, true])
    }
  })

  test('per store and application', async () => {
    const { services } = server
    const other = await createStore(services, storeInput())
    const application = await registerApplication(services, { Name: 'Other' })
    const ids = [
      [shop.store, shop.application],
      [other, shop.application],
      [shop.store, application],
      [other, application],
    ] as const
    for (const isAgain of [false, true]) {
      for (const [store, { publicKey, privateKey }] of ids) {
        const isFirst = store === shop.store && publicKey === shop.application.publicKey
        const token = isFirst
          ? shop.token
          : (await subscribe(services, { storeId: store.id, publicKey, actor: operator })).token
        const answer = await server.app.inject({
          method: 'POST',
          url: '/StoreWebAPI/v1/Manufacturers',
          headers: { secureurl: store.secureUrl, privatekey: privateKey, token, 'idempotency-key': 'key' },
          payload: { ManufacturerName: 'one' },
        })
        expect([answer.statusCode, isReplay(answer)]).toEqual([201, isAgain])
      }
    }
    expect(await manufacturers()).toEqual(['one', 'one'])
  })

  test('for 24 hours', async () => {
    const post = () => send('POST', '/Manufacturers', 'key', { body: { ManufacturerName: 'one' } })
    await post()
    server.clock.ms += 24 * HOUR_MS - 1
    expect(isReplay(await post())).toBe(true)
    expect(await manufacturers()).toHaveLength(1)
    server.clock.ms += 1
    expect(isReplay(await post())).toBe(false)
    expect(await manufacturers()).toHaveLength(2)
    expect(isReplay(await post())).toBe(true)
    server.clock.ms += 24 * HOUR_MS
    expect((await send('POST', '/Manufacturers', 'key', { body: { ManufacturerName: 'two' } })).statusCode).toBe(201)
  })
})

describe('what is stored', () => {
  const sweep = () => sweepsByAge(server.services, { historyDays: null })['old idempotency keys'](() => false)

  test('goes: keys of more than 24 hours ago are swept with their answers, by whichever process; no request does so', async () => {
    await execute('DELETE FROM "IdempotencyKey"')
    const put = (key: string) => send('PUT', '/Products', key, { body: [{ SKUInfo: { CatalogID: 1 } }, {}] })
    for (let number = 0; number < 5; number++) await put(`old-${number}`)
    server.clock.ms += 24 * HOUR_MS
    await put('new')
    expect(await keysStored()).toBe(6)
    await Promise.all([sweep(), sweep()])
    expect(await keysStored()).toBe(1)
    const [answers] = await query<{ count: number }>('SELECT count(*)::int AS "count" FROM "IdempotencyAnswer"')
    expect(answers?.count).toBe(2)
    expect(isReplay(await put('new'))).toBe(true)
  })

  test('holds neither the key nor the body', async () => {
    const body = { ManufacturerName: 'name-of-it' }
    await send('POST', '/Manufacturers', 'key-of-the-caller', { body })
    const [rows] = await query<{ text: string }>('SELECT json_agg(k)::text AS "text" FROM "IdempotencyKey" k')
    expect(rows?.text).not.toMatch(/key-of-the-caller|name-of-it/)
  })

  test('is nothing without a key, for a read, and for a key that cannot be one', async () => {
    await execute('DELETE FROM "IdempotencyKey"')
    await shop.call('PUT', '/Products/1', { body: setStock(5) })
    for (const key of ['', 'a b', 'ä', 'x'.repeat(256), '""', 'a, b']) {
      expect((await send('GET', '/Products/1', key)).statusCode).toBe(200)
      expect(refusalOf(await send('PUT', '/Products/1', key, { body: setStock(6) }))).toEqual({
        statusCode: 400,
        status: '400',
        field: 'Idempotency-Key',
        message: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
      })
    }
    expect([await keysStored(), await movements(1)]).toEqual([0, [5]])
    expect((await send('PUT', '/Products/1', `"${'x'.repeat(255)}"`, { body: setStock(6) })).statusCode).toBe(200)
  })

  test('is nothing of a request that did not come to a record: the key is free for it', async () => {
    const bare = await server.openStore({ throttle: { capacity: 5, leakPerSecond: 1 } })
    const post = (options: CallOptions) =>
      bare.call('POST', '/Manufacturers', { ...options, headers: { 'idempotency-key': 'key', ...options.headers } })
    const good = { body: { ManufacturerName: 'one' } }
    expect((await post({ body: '{"Manufac', contentType: 'application/json' })).statusCode).toBe(400)
    expect((await post({ body: [] })).statusCode).toBe(400)
    expect((await post({ ...good, headers: { token: 'wrong' } })).statusCode).toBe(401)
    for (const _ of [1, 2, 3]) await bare.call('GET', '/Manufacturers')
    expect((await post(good)).statusCode).toBe(429)
    server.clock.ms += 10_000
    const answer = await post(good)
    expect([answer.statusCode, isReplay(answer)]).toEqual([201, false])
  })
})

describe('a 5xx is not stored', () => {
  const named = (ManufacturerID: number, ManufacturerName: string) => ({ ManufacturerID, ManufacturerName })
  const body = [named(1, 'uno'), named(9, 'none'), named(2, 'Broken'), named(3, 'tre')]
  beforeEach(async () => {
    const names = ['one', 'two', 'three'].map((ManufacturerName) => ({ ManufacturerName }))
    await shop.call('POST', '/Manufacturers', { body: names })
  })

  test.each([
    ['a defect', `RAISE 'broken'`, '500', 'write'],
    ['a defect at the commit', `RAISE 'broken'`, '500', 'commit'],
    ['an outage', 'PERFORM pg_terminate_backend(pg_backend_pid())', '503', 'write'],
  ])('%s: the retry changes only the records that are missing', async (_name, failure, status, when) => {
    await whileBroken(
      failure,
      async () => {
        for (const _ of [1, 2]) {
          const answer = await send('PUT', '/Manufacturers', 'key', { body })
          expect([answer.statusCode, isReplay(answer)]).toEqual([206, false])
          expect(statusesOf(answer)).toEqual(['200', '404', status, '200'])
          await shop.call('PUT', '/Manufacturers', { body: [named(1, 'by another'), named(3, 'by another')] })
        }
      },
      when,
    )
    await shop.call('DELETE', '/Manufacturers/3')
    const done = await send('PUT', '/Manufacturers', 'key', { body })
    expect([done.statusCode, isReplay(done)]).toEqual([206, false])
    expect(statusesOf(done)).toEqual(['200', '404', '200', '200'])
    expect(await manufacturers()).toEqual(['by another', 'Broken'])
    const again = await send('PUT', '/Manufacturers', 'key', { body })
    expect([again.statusCode, again.body, isReplay(again)]).toEqual([206, done.body, true])
  })

  test('an outage at the commit is one too: 503, and when to come back', async () => {
    const post = () => send('POST', '/Manufacturers', 'key', { body: { ManufacturerName: 'Broken' } })
    await whileBroken(
      'PERFORM pg_terminate_backend(pg_backend_pid())',
      async () => {
        const answer = await post()
        expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
      },
      'commit',
    )
    expect((await post()).statusCode).toBe(201)
  })

  test('of a request of one record either', async () => {
    const post = () => send('POST', '/Manufacturers', 'key', { body: { ManufacturerName: 'Broken' } })
    await whileBroken(`RAISE 'broken'`, async () => {
      for (const _ of [1, 2]) {
        const answer = await post()
        expect([answer.statusCode, isReplay(answer)]).toEqual([500, false])
      }
    })
    expect((await post()).statusCode).toBe(201)
    expect(isReplay(await post())).toBe(true)
    expect(await manufacturers()).toHaveLength(4)
  })

  test.each([
    ['of one', ['lost'], 503, ['503']],
    ['of two', ['lost', 'lost too'], 503, ['503', '503']],
  ])(
    'where a change was made but the word of it lost, %s, the retry tells of it and makes no other',
    async (_name, names, status, statuses) => {
      const { app, cutAfterCommit, close } = await otherProcess(server)
      onTestFinished(close)
      const post = () =>
        app.inject({
          method: 'POST',
          url: '/StoreWebAPI/v1/Manufacturers',
          headers: { ...shop.credentials, 'idempotency-key': 'key' },
          payload: names.map((ManufacturerName) => ({ ManufacturerName })),
        })
      cutAfterCommit()
      const lost = await post()
      expect([lost.statusCode, isReplay(lost), statusesOf(lost)]).toEqual([status, false, statuses])
      expect(await manufacturers()).toEqual(['one', 'two', 'three', ...names])
      for (const _ of [1, 2]) {
        const again = await post()
        expect([again.statusCode, isReplay(again), statusesOf(again)]).toEqual([201, true, names.map(() => '201')])
      }
      expect(await manufacturers()).toHaveLength(3 + names.length)
    },
  )

  test('and where the end of the attempt cannot be written, the next begins 60 s after the last record', async () => {
    const post = () => send('POST', '/Manufacturers', 'key', { body: { ManufacturerName: 'Broken' } })
    await execute(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`)
    await execute(`CREATE TRIGGER refuse BEFORE UPDATE ON "IdempotencyKey" FOR EACH ROW
      WHEN (NEW."leasedUntil" = NEW."claimedAt") EXECUTE FUNCTION refuse()`)
    try {
      await whileBroken(`RAISE 'broken'`, async () => expect((await post()).statusCode).toBe(500))
      expect(server.log.join('')).toContain('an attempt could not be ended')
    } finally {
      await execute('DROP FUNCTION refuse CASCADE')
    }
    server.clock.ms += 59_999
    expect((await post()).statusCode).toBe(409)
    server.clock.ms += 1
    expect((await post()).statusCode).toBe(201)
  })
})

describe('while a request is in progress', () => {
  test('every other one with its key gets 409 and when to come back; with another body 422', async () => {
    await whileLocked(lockProduct(1), async (release) => {
      const first = send('PUT', '/Products/1', 'key', { body: setStock(5) })
      await untilWaiting(1, productLock)
      server.clock.ms += 59_999
      const others = await Promise.all(
        Array.from({ length: 19 }, () => send('PUT', '/Products/1', 'key', { body: setStock(5) })),
      )
      for (const answer of others) {
        expect(answer.headers['retry-after']).toBe('1')
        expect(refusalOf(answer)).toEqual({
          statusCode: 409,
          status: '409',
          field: 'Idempotency-Key',
          message: 'Another request with this Idempotency-Key is in progress; try again in a moment',
        })
      }
      expect((await send('PUT', '/Products/1', 'key', { body: setStock(6) })).statusCode).toBe(422)
      await release()
      expect([(await first).statusCode, isReplay(await first)]).toEqual([200, false])
    })
    expect(isReplay(await send('PUT', '/Products/1', 'key', { body: setStock(5) }))).toBe(true)
    expect(await movements(1)).toEqual([5])
  })

  test.each([
    ['one stock change moves the stock once', 'PUT', '/Products/1', setStock(5), 200],
    ['one POST creates one record', 'POST', '/Manufacturers', { ManufacturerName: 'one' }, 201],
    [
      'a list changes each record once',
      'PUT',
      '/Products',
      [1, 2, 3].map((id) => ({ SKUInfo: { CatalogID: id, Stock: id } })),
      200,
    ],
  ] as const)('twenty retries at once: %s', async (_name, method, path, body, status) => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(method, path, 'key', { body })))
    const made = answers.filter((answer) => answer.statusCode === status)
    expect(made.filter((answer) => !isReplay(answer))).toHaveLength(1)
    expect(new Set(made.map((answer) => answer.body)).size).toBe(1)
    expect(answers.filter((answer) => answer.statusCode === 409)).toHaveLength(20 - made.length)

    const again = await send(method, path, 'key', { body })
    expect([again.body, isReplay(again)]).toEqual([made[0]?.body, true])
    const stocks = { PUT: path === '/Products' ? [[1], [2], [3]] : [[5], [], []], POST: [[], [], []] }[method]
    expect(await Promise.all([1, 2, 3].map(movements))).toEqual(stocks)
    expect(await manufacturers()).toEqual(method === 'POST' ? ['one'] : [])
  })

  test('an attempt that stored nothing for 60 s loses the request, and its change is undone', async () => {
    const body = [2, 1, 3].map((id) => ({ SKUInfo: { CatalogID: id, Stock: 5 } }))
    await whileLocked(lockProduct(1), async (release) => {
      const slow = send('PUT', '/Products', 'key', { body })
      // The others do not wait for the locked one.
      await vi.waitFor(async () => expect(await movements(2)).toEqual([5]), { timeout: 20_000 })
      await untilWaiting(1, productLock)
      await shop.call('PUT', '/Products/2', { body: setStock(7) })
      server.clock.ms += 60_000
      const next = send('PUT', '/Products', 'key', { body })
      await untilWaiting(2, productLock)
      await release()
      expect(refusalOf(await slow)).toMatchObject({ statusCode: 409, field: 'Idempotency-Key' })
      expect([(await next).statusCode, statusesOf(await next)]).toEqual([200, ['200', '200', '200']])
      expect(isReplay(await next)).toBe(false)
    })
    expect(await Promise.all([1, 2, 3].map(movements))).toEqual([[5], [5, 2], [5]])
    expect(isReplay(await send('PUT', '/Products', 'key', { body }))).toBe(true)
  })

  test('a record that is stored while the next attempt begins is not changed again', async () => {
    const body = [1, 2].map((id) => ({ SKUInfo: { CatalogID: id, Stock: 5 } }))
    const requests: Promise<LightMyRequestResponse>[] = []
    const lockKey = `SELECT FROM "IdempotencyKey" WHERE "storeId" = ${shop.store.id} FOR UPDATE`
    await whileLocked(lockProduct(2), async (release) => {
      await whileLocked(lockProduct(1), async (releaseFirst) => {
        requests.push(send('PUT', '/Products', 'key', { body }))
        await untilWaiting(1, productLock)
        await whileLocked(lockKey, async (releaseKey) => {
          await releaseFirst()
          await untilWaiting(1, keyStore)
          server.clock.ms += 60_000
          requests.push(send('PUT', '/Products', 'key', { body }))
          await untilWaiting(1, keyTakeOver)
          await releaseKey()
        })
      })
      await untilWaiting(2, productLock)
      await release()
      const [slow, next] = await Promise.all(requests)
      expect([slow?.statusCode, next?.statusCode]).toEqual([409, 200])
    })
    const times = await query<{ at: Date }>(
      `SELECT "updatedAt" AS "at" FROM "Product" WHERE "storeId" = ${shop.store.id} ORDER BY "id" LIMIT 2`,
    )
    expect(times.map(({ at }) => server.clock.ms - at.getTime())).toEqual([60_000, 0])
  })

  test('what a lost attempt was refused is not stored either', async () => {
    await whileLocked(lockProduct(1), async (release) => {
      const slow = send('PUT', '/Products/1', 'key', { body: { SKUInfo: { SKU: 'B-2' } } })
      await untilWaiting(1, productLock)
      server.clock.ms += 60_000
      const next = send('PUT', '/Products/1', 'key', { body: { SKUInfo: { SKU: 'B-2' } } })
      await untilWaiting(2, productLock)
      await release()
      expect(refusalOf(await slow)).toMatchObject({ statusCode: 409 })
      expect(refusalOf(await next)).toMatchObject({ statusCode: 400, field: 'SKUInfo.SKU' })
    })
  })

  test('each record stored is a sign of life: the 60 s begin anew', async () => {
    const body = [1, 2].map((id) => ({ SKUInfo: { CatalogID: id, Stock: 5 } }))
    await whileLocked(lockProduct(2), async (release) => {
      await whileLocked(lockProduct(1), async (releaseFirst) => {
        const slow = send('PUT', '/Products', 'key', { body })
        await untilWaiting(1, productLock)
        server.clock.ms += 59_000
        await releaseFirst()
        await vi.waitFor(async () => expect(await movements(1)).toEqual([5]), { timeout: 20_000 })
        await untilWaiting(1, productLock)
        server.clock.ms += 59_000
        expect((await send('PUT', '/Products', 'key', { body })).statusCode).toBe(409)
        await release()
        expect((await slow).statusCode).toBe(200)
      })
    })
  })
})
