import { Readable } from 'node:stream'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { describe, expect, test } from 'vitest'
import { productStockChanged } from '../../../../../src/engine/definition/event-kinds.ts'
import { canImport, services } from '../../../../../src/http/pages/records/services.ts'
import { sweepsByAge } from '../../../../../src/parts/retention.ts'
import { createCsvImports } from '../../../../../src/shop/csv/apply/runner.ts'
import { takeIn as takeInFile } from '../../../../../src/shop/csv/take-in/take-in.ts'
import { manufacturers } from '../../../../../src/shop/resources/manufacturers/manufacturers.ts'
import { hold, untilItWaits } from '../../../../support/held.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { csvPages, wordsOf } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson
const { takeIn, refusalOf, apply, linesAt, countsAt } = csvPages(() => ({ server, merchant }))

withMerchant((scene) => ({ server, shop, merchant } = scene))

const unsaid = { name: 'logos.csv', decimal: null, sender: { locale: 'en-US', decimalSign: '.' } } as const
const add = (service: string, body: object) => shop.add(`/${service}`, body)

const read = async (service: string, id: number) => (await shop.call('GET', `/${service}/${id}`)).json()[0]

const lamp = (n: number, others: object = {}) =>
  add('Products', { SKUInfo: { SKU: `P-${n}`, Name: `Lamp ${n}`, Price: n, Stock: n }, ...others })

describe('an export that is taken in', () => {
  test('changes nothing as it is, and what was changed in it otherwise', async () => {
    const ids = []
    for (let n = 1; n <= 3; n++) {
      ids.push(await lamp(n, { ShortDescription: `"one", two\r\n=three ${n}`, Weight: 1.25, Hide: n === 2 }))
    }
    await shop.call('PUT', `/Products/${ids[0]}`, { body: { SKUInfo: { Name: `'=SUM(A1)` }, ExtraField1: '-5' } })
    const file = (await merchant.open('/admin/products/export?format=csv')).body
    const unchanged = await takeIn('products', file)
    expect(await countsAt(unchanged)).toEqual(['Unchanged (3)'])
    expect((await merchant.open(unchanged)).body).toContain('Nothing would change.')

    const rows = parse(file, { bom: true, columns: true }) as Record<string, string>[]
    const before = await Promise.all(ids.map((id) => read('Products', id)))
    const priced = rows.map((row) => (row['SKUInfo.SKU'] === 'P-2' ? { ...row, 'SKUInfo.Price': '2.5' } : row))
    const address = await takeIn('products', stringify(priced, { header: true, bom: true }))
    expect(await countsAt(address)).toEqual(['Changes (1)', 'Unchanged (2)'])
    expect(await linesAt(address, 'changes')).toEqual([['4', 'P-2', 'SKUInfo.Price 2 → 2.5']])
    expect(await read('Products', ids[1] ?? 0)).toEqual(before[1])
    server.clock.ms += 1_000
    await apply(address)
    const after = await Promise.all(ids.map((id) => read('Products', id)))
    expect([after[0], after[2]]).toEqual([before[0], before[2]])
    expect(after[1]).toEqual({
      ...before[1],
      SKUInfo: { ...before[1].SKUInfo, Price: 2.5 },
      LastUpdate: after[1].LastUpdate,
      UserID: 'merchant@shop.example',
    })
    expect(after[1].LastUpdate).not.toBe(before[1].LastUpdate)
    expect(wordsOf((await merchant.open(address)).body)).toContain('1 changed, 0 added.')
  })

  test.each(services.filter(canImport).map(({ path }) => path))(
    'of %s has columns that a file may have',
    async (path) => {
      const file = (await merchant.open(`${path}/export?format=csv`)).body
      const { statusCode, body } = await merchant.upload(`${path}/csv`, file)
      expect(statusCode).toBe(400)
      expect(body).toContain('The file has only a header line.')
      expect((await merchant.open(`${path}/csv/template?columns=all+columns`)).body).toMatch(/^\uFEFF\w/)
      expect((await merchant.open(path)).body).toContain(`href="${path}/csv"`)
    },
  )
})

describe('a file', () => {
  const stockOf = async (id: number) => (await read('Products', id)).SKUInfo.Stock

  test('names products by SKU, adds those that there are not, and leaves the others alone', async () => {
    const [one, two] = [await lamp(1), await lamp(2)]
    const address = await takeIn('products', 'skuinfo.sku,SKUINFO.STOCK,SKUInfo.Name\np-1,7,Lamp 1\nNEW,3,New lamp\n')
    expect(await linesAt(address, 'changes')).toEqual([['2', 'p-1', 'SKUInfo.Stock 1 → 7']])
    expect(await linesAt(address, 'new')).toEqual([
      ['3', 'NEW', 'SKUInfo.SKU NEW | SKUInfo.Stock 3 | SKUInfo.Name New lamp'],
    ])
    await apply(address)
    expect([await stockOf(one), await stockOf(two)]).toEqual([7, 2])
    expect((await read('Products', one)).SKUInfo.SKU).toBe('P-1')
    const added = (await shop.call('GET', '/Products?sku=NEW')).json()[0]
    expect(added.SKUInfo).toMatchObject({ Name: 'New lamp', Stock: 3 })
    // As every change does, it writes the ledger and tells the webhooks.
    const moves = await server.database.db.stockMovement.findMany({
      where: {
        storeId: shop.store.id,
        productId: { in: [one, added.SKUInfo.CatalogID] },
        actor: 'merchant@shop.example',
      },
    })
    expect(moves.map(({ quantity }) => Number(quantity)).toSorted()).toEqual([3, 6])
  })

  test('names customers by e-mail address, adds one with its password, and keeps no password', async () => {
    const ada = await add('Customers', { Email: 'ada@shop.example', Password: 'secret' })
    const address = await takeIn(
      'customers',
      'Email;Password;BillingCity\nADA@shop.example;;Rome\nbob@shop.example;secret-of-bob;Oslo\nchris@shop.example;;Bonn\n',
    )
    expect(await linesAt(address, 'changes')).toEqual([['2', 'ADA@shop.example', 'BillingCity Rome']])
    expect(await linesAt(address, 'errors')).toEqual([
      ['4', 'chris@shop.example', 'Password is required and must not be empty'],
    ])
    const stored = async () =>
      JSON.stringify(await server.database.db.csvImportLine.findMany({ where: { storeId: shop.store.id } }))
    expect(await stored()).not.toContain('secret-of-bob')
    await apply(address)
    expect((await read('Customers', ada)).BillingCity).toBe('Rome')
    const bob = await server.database.db.customer.findFirst({
      where: { storeId: shop.store.id, email: 'bob@shop.example' },
    })
    expect(bob?.passwordHash).toMatch(/^\$argon2id/)
    expect(JSON.parse(await stored()).map(({ sealed }: { sealed: unknown }) => sealed)).toEqual([null, null, null])
  })

  test('names categories by id alone, and adds those without', async () => {
    const id = await add('Category', { CategoryName: 'Lamps' })
    const address = await takeIn('category', `CategoryID\tCategoryName\r\n${id}\tLights\r\n\tChairs\r\n99\tNone\r\n`)
    expect(await countsAt(address)).toEqual(['Changes (1)', 'New (1)', 'Errors (1)'])
    await apply(address)
    expect(
      (await shop.call('GET', '/Category')).json().map((one: { CategoryName: string }) => one.CategoryName),
    ).toEqual(['Lights', 'Chairs'])
  })

  test('empties texts by an empty cell, and leaves numbers, dates and flags', async () => {
    const id = await lamp(1, { Hide: true, Weight: 2, ShortDescription: 'Short' })
    const address = await takeIn('products', 'SKUInfo.SKU,Hide,Weight,ShortDescription,SKUInfo.Price\nP-1,,,,\n')
    expect(await linesAt(address, 'changes')).toEqual([['2', 'P-1', 'ShortDescription Short → empty']])
    await apply(address)
    expect(await read('Products', id)).toMatchObject({
      Hide: true,
      Weight: 2,
      ShortDescription: '',
      SKUInfo: { Price: 1 },
    })
  })

  test('is read in UTF-8 and UTF-16, with cells of several lines', async () => {
    await lamp(1)
    const text = 'SKUInfo.SKU\tSKUInfo.Name\tShortDescription\nP-1\tLämp €\t"one\ntwo"\n'
    for (const bytes of [
      Buffer.from(`\uFEFF${text}`),
      Buffer.from(`\uFEFF${text}`, 'utf16le'),
      Buffer.from(text.replaceAll('\n', '\r')),
    ]) {
      expect(await linesAt(await takeIn('products', bytes), 'changes')).toEqual([
        ['2', 'P-1', 'SKUInfo.Name Lamp 1 → Lämp € | ShortDescription one two'],
      ])
    }
  })

  test('has its errors by line and column, all of them, as a file too', async () => {
    await lamp(1)
    const text = [
      'SKUInfo.SKU,SKUInfo.Price,Hide,SKUInfo.Name,LastUpdate',
      'P-1,"much","perhaps","two\nlines",',
      'P-1,2,true,Lamp,',
      'p-1,3,true,Lamp,',
      'P-9,4,true,,',
      'P-8,4,true,Lamp,,6',
      '=P-7,4,true,Name,',
    ].join('\n')
    const address = await takeIn('products', text)
    expect((await merchant.open(address)).body).toContain('<code>LastUpdate</code>')
    const price = 'must be a number in digits: it has "much"'
    expect(await linesAt(address, 'errors')).toEqual([
      ['2', 'P-1', `SKUInfo.Price “much” ${price} | Hide “perhaps” must be true or false (or 1 or 0)`],
      ['5', 'p-1', 'SKUInfo.SKU “p-1” names the same record as line 4'],
      ['6', 'P-9', 'SKUInfo.Name is required and must not be empty'],
      ['7', 'P-8', 'has 6 cells, and the first line has 5'],
    ])
    const problems = parse((await merchant.open(`${address}/problems`)).body, { bom: true }) as string[][]
    expect(problems[1]).toEqual(['2', 'SKUInfo.Price', 'much', price])
    expect(problems).toHaveLength(6)
    expect((await merchant.open(address)).body).toContain('Change 1 product and add 1')
  })

  test.each([
    ['a heading twice', 'SKUInfo.SKU,Hide,hide\nP-1,1,1\n', 'The heading "hide" appears twice.'],
    [
      'no heading that names records',
      'Hide\n1\n',
      'No heading names the records. Add SKUInfo.SKU or SKUInfo.CatalogID.',
    ],
    [
      'nothing that can be changed',
      'SKUInfo.CatalogID,LastUpdate\n1,\n',
      'The file has no column that can be changed.',
    ],
    ['no lines', 'SKUInfo.SKU,Hide\n', 'The file has only a header line.'],
    ['nothing', '', 'The file is empty.'],
    [
      'other characters',
      Buffer.from('SKUInfo.SKU,SKUInfo.Name\nP-1,Lamp\nP-2,L\u00e4mp\n', 'latin1'),
      'Line 3 has characters that are not UTF-8. Save the file as "CSV UTF-8", and import that file.',
    ],
    [
      'a workbook',
      Buffer.from('PK\x03\x04…'),
      'This is a spreadsheet, not a CSV file. Save it as "CSV UTF-8", and import that file.',
    ],
    [
      'a quotation mark that nothing closes',
      'SKUInfo.SKU,Hide\nP-1,1\n"P-2,1\nP-3,1\n',
      'The record at line 3 has a quotation mark that is never closed.',
    ],
  ])('with %s is refused, and nothing of it is stored', async (_what, file, refusal) => {
    expect(await refusalOf('products', file)).toBe(refusal)
    expect(await server.database.db.csvImport.count({ where: { storeId: shop.store.id } })).toBe(0)
  })

  test('of too many lines is refused with the number that is allowed', async () => {
    const { statusCode, body } = await merchant.upload(
      '/admin/manufacturers/csv',
      `ManufacturerID,Logo\n${'1,x\n'.repeat(100_001)}`,
    )
    expect(statusCode).toBe(413)
    expect(body).toContain('The file has more than 100,000 records.')
    expect(await server.database.db.csvImport.count({ where: { storeId: shop.store.id } })).toBe(0)
  })

  test('of 20,000 lines is read as it is stored, never much ahead, so that memory does not grow with it', async () => {
    const { db } = server.database
    const stored = async () => {
      const [found] = await db.csvImport.findMany({ where: { storeId: shop.store.id } })
      return found ? found.refused : 0
    }
    const lines = 20_000
    let sent = 0
    let most = 0
    async function* bytes() {
      yield Buffer.from('ManufacturerID,Logo\n')
      while (sent < lines) {
        most = Math.max(most, sent - (await stored()))
        yield Buffer.from(Array.from({ length: 500 }, (_, at) => `${sent + at + 1},logo.png\n`).join(''))
        sent += 500
      }
    }
    await takeInFile(shop.caller, manufacturers, { ...unsaid, bytes: bytes() })
    expect(await stored()).toBe(lines)
    expect(most).toBeLessThan(5_000)
  })

  test('is not taken for given up while it arrives, however slowly', async () => {
    const { db } = server.database
    let asked = 0
    async function* bytes() {
      yield Buffer.from(`ManufacturerID,Logo\n1,${'x'.repeat(100_000)}\n`)
      while (asked < 20) {
        yield Buffer.from('2')
        const found = await db.csvImport.findFirst({ where: { storeId: shop.store.id } })
        // The file is read on while its import is added, which is no slow arrival.
        if (found === null) continue
        expect(found.leasedUntil?.getTime()).toBeGreaterThan(server.clock.ms)
        server.clock.ms += 25_000
        asked++
      }
      yield Buffer.from(',logo.png\n')
    }
    const file = { ...unsaid, bytes: bytes() }
    await takeInFile(shop.caller, manufacturers, file)
    expect(asked).toBe(20)
  })

  test('is refused without the token of its form, before it is read', async () => {
    const headers = { cookie: [...merchant.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
    const payload =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nSKUInfo.SKU,Hide\nP,1\n\r\n--b--\r\n'
    const send = (contentType: string, url = '/admin/products/csv') =>
      server.app.inject({ method: 'POST', url, headers: { ...headers, 'content-type': contentType }, payload })
    expect((await send('multipart/form-data; boundary=b')).statusCode).toBe(403)
    expect((await send('multipart/form-data; boundary=b', '/admin/products')).statusCode).toBe(403)
    expect((await send('multipart/form-data')).statusCode).toBe(400)
  })

  test('that was cut off changes nothing', async () => {
    const cut = Readable.from(
      (async function* () {
        yield Buffer.from('SKUInfo.SKU,Hide\nP-1,1\n')
        throw new Error('the connection is gone')
      })(),
    )
    await merchant.upload('/admin/products/csv', cut).catch(() => {})
    expect(await server.database.db.csvImport.count({ where: { storeId: shop.store.id } })).toBe(0)
  })
})

describe('applying', () => {
  const prices = (count: number, price: number) =>
    `SKUInfo.SKU,SKUInfo.Stock,SKUInfo.Price\n${Array.from({ length: count }, (_, at) => `P-${at + 1},${price},${price}\n`).join('')}`
  const addLamps = async (count: number) => {
    for (let from = 1; from <= count; from += 100) {
      const body = Array.from({ length: Math.min(100, count - from + 1) }, (_, at) => ({
        SKUInfo: { SKU: `P-${from + at}`, Name: `Lamp ${from + at}` },
      }))
      expect((await shop.call('POST', '/Products', { body })).statusCode).toBe(201)
    }
  }

  /** How often each product's stock moved to `stock`, and how many events tell of it. */
  const tracesOf = async (stock: number) => {
    const { db } = server.database
    const storeId = shop.store.id
    const moves = await db.stockMovement.groupBy({
      by: ['productId'],
      where: { storeId, stockAfter: stock },
      _count: true,
    })
    const events = await db.event.count({ where: { storeId, eventType: productStockChanged.type } })
    const products = await db.product.count({ where: { storeId, stock, price: stock } })
    return { moves: moves.map(({ _count }) => _count), events, products }
  }

  test('sent twice makes each change once', async () => {
    await addLamps(3)
    const address = await takeIn('products', prices(3, 7))
    // By a form that stays on the page.
    const post = () => merchant.submit(address, {}, { action: '/admin/sign-out', to: `${address}/apply` })
    const answers = await Promise.all([post(), post()])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303])
    await server.services.csvImports.settle()
    await merchant.submit(address, {}, { action: `${address}/cancel` }).catch(() => {})
    expect((await tracesOf(7)).moves).toEqual([1, 1, 1])
    expect(await countsAt(address)).toEqual(['Changed (3)'])
  })

  test('goes on in another process where one was killed, and makes each line once', async () => {
    await addLamps(250)
    const address = await takeIn('products', prices(250, 9))
    const { db } = server.database
    const id = Number(address.split('/').at(-1))
    const inImport = () => db.csvImport.findUniqueOrThrow({ where: { storeId_id: { storeId: shop.store.id, id } } })
    // A product of the second batch is locked by somebody else, so that the process stands in the middle of it.
    const product = await db.product.findFirstOrThrow({ where: { storeId: shop.store.id, sku: 'P-150' } })
    const held = await hold(
      server,
      shop,
      (tx) =>
        tx.db.$queryRaw`SELECT 1 FROM "Product" WHERE "storeId" = ${shop.store.id} AND "id" = ${product.id} FOR UPDATE`,
    )
    const killed = createCsvImports({ ...server.services, db })
    await db.csvImport.updateMany({
      where: { storeId: shop.store.id, id },
      data: { state: 'applying', startedAt: new Date(server.clock.ms), appliedBy: 'merchant@shop.example' },
    })
    const run = killed.settle()
    while ((await inImport()).changed < 199) await untilItWaits({ db }, Promise.resolve())
    // It dies: its statement ends with an error, and it stores nothing more.
    await db.$executeRaw`SELECT pg_terminate_backend("pid") FROM pg_stat_activity
      WHERE "datname" = current_database() AND "wait_event_type" = 'Lock'`
    await killed.stop()
    await run
    await held.commit()
    const left = await inImport()
    expect(left).toMatchObject({ state: 'applying', failed: 0 })
    expect(left.changed).toBeLessThan(250)
    const other = createCsvImports({ ...server.services, db })
    server.clock.ms += 61_000
    await other.settle()
    expect(await inImport()).toMatchObject({ state: 'done', changed: 250, failed: 0, claim: 2 })
    expect(await tracesOf(9)).toEqual({ moves: Array(250).fill(1), events: 250, products: 250 })
  })

  test('is left to a later version that has read it, and to its process while the lease runs, and lost by it afterwards', async () => {
    await addLamps(2)
    const address = await takeIn('products', prices(2, 5))
    const { db } = server.database
    const where = { storeId: shop.store.id, state: { in: ['ready', 'applying'] } }
    const leasedUntil = new Date(server.clock.ms + 60_000)
    const applying = { state: 'applying', startedAt: new Date(server.clock.ms), appliedBy: 'merchant@shop.example' }
    await db.csvImport.updateMany({ where, data: { ...applying, version: '9.0.0' } })
    await server.services.csvImports.settle()
    expect(await countsAt(address)).toEqual(['To do (2)'])
    await db.csvImport.updateMany({ where, data: { claim: 1, leasedUntil, version: '0.2.0' } })
    await server.services.csvImports.settle()
    expect(await countsAt(address)).toEqual(['To do (2)'])
    server.clock.ms += 60_000
    await server.services.csvImports.settle()
    expect(await countsAt(address)).toEqual(['Changed (2)'])
  })

  test('tells which lines are refused now, and makes the others', async () => {
    const [one] = [await lamp(1), await lamp(2), await lamp(3)]
    const maker = await add('Manufacturers', { ManufacturerName: 'Acme' })
    const address = await takeIn(
      'products',
      `SKUInfo.CatalogID,SKUInfo.SKU,ManufacturerID,Hide\n${one},P-9,,1\n,P-2,${maker},0\n,P-3,,1\n,P-3 ,,\n`,
    )
    expect(await countsAt(address)).toEqual(['Changes (3)', 'Errors (1)'])
    // What the preview could not know.
    await add('Products', { SKUInfo: { SKU: 'P-9', Name: 'Another' } })
    expect((await shop.call('DELETE', `/Manufacturers/${maker}`)).statusCode).toBe(200)
    await apply(address)
    expect(await countsAt(address)).toEqual(['Changed (1)', 'Errors (3)'])
    expect(await linesAt(address, 'errors')).toEqual([
      ['2', 'P-9', 'SKUInfo.SKU is already used by another Product'],
      ['3', 'P-2', 'ManufacturerID refers to a record that does not exist'],
      ['5', 'P-3', 'SKUInfo.SKU “P-3” names the same record as line 4'],
    ])
    expect((await read('Products', one)).Hide).toBe(false)
  })

  test('of a service whose changes are made one by one', async () => {
    await add('Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 5, Stock: 5 } })
    const placed = await merchant.submit(
      '/admin/orders/new',
      { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1', BillingEmail: 'ada@shop.example' },
      { action: '/admin/orders' },
    )
    expect(placed.statusCode, placed.body).toBe(303)
    const address = await takeIn('orders', 'OrderID,OrderDiscountCoupon,InternalComments\n1,999,Call her\n')
    await apply(address)
    expect(await linesAt(address, 'errors')).toHaveLength(1)
    const right = await takeIn('orders', 'OrderID,InternalComments\n1,Call her\n2,No\n,No\n')
    expect(await countsAt(right)).toEqual(['Changes (1)', 'Errors (2)'])
    await apply(right)
    expect((await read('Orders', 1)).InternalComments).toBe('Call her')
  })

  test('is stopped where it stands, and what was made stays', async () => {
    await addLamps(2)
    const address = await takeIn('products', prices(2, 5))
    await merchant.submit(address, {}, { action: `${address}/cancel` })
    await server.services.csvImports.settle()
    expect(await countsAt(address)).toEqual(['Not made (2)'])
    expect((await tracesOf(5)).products).toBe(0)
    expect((await merchant.open(address)).body).not.toContain(`action="${address}/apply"`)
  })

  test('leaves alone what the file left as it was when it was read', async () => {
    const id = await lamp(1)
    const address = await takeIn('products', 'SKUInfo.SKU,SKUInfo.Stock,SKUInfo.Price\nP-1,1,5\n')
    await shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Stock: 4 } } })
    await apply(address)
    expect((await read('Products', id)).SKUInfo).toMatchObject({ Price: 5, Stock: 4 })
  })
})

test('another store sees nothing of an import, and neither of its records', async () => {
  await lamp(1)
  await takeIn('products', 'SKUInfo.SKU,SKUInfo.Name,Hide\nP-1,Lamp,1\n')
  const other = await merchantIn(server, (await server.openStore()).store)
  expect((await other.open('/admin/csv')).body).toContain('Nothing has been imported')
  const own = await other.upload('/admin/products/csv', 'SKUInfo.SKU,SKUInfo.Name,Hide\nP-1,Lamp,1\n')
  expect(wordsOf((await other.open(String(own.headers.location))).body)).toContain('Add 1 product')
})

test('imports are kept for 30 days, as long as those of a store have no more than two million lines', async () => {
  await lamp(1)
  const first = await takeIn('products', 'SKUInfo.SKU,SKUInfo.Price\nP-1,2\n')
  await takeIn('products', 'SKUInfo.SKU,SKUInfo.Price\nP-1,3\n')
  const { db } = server.database
  const count = () => db.csvImport.count({ where: { storeId: shop.store.id } })
  const id = Number(first.split('/').at(-1))
  await db.csvImport.update({ where: { storeId_id: { storeId: shop.store.id, id } }, data: { same: 1_999_999 } })
  await takeIn('products', 'SKUInfo.SKU,SKUInfo.Price\nP-1,4\n')
  expect([await count(), (await merchant.open(first)).statusCode]).toEqual([2, 404])
  server.clock.ms += 31 * 24 * 60 * 60 * 1_000
  await sweepsByAge(server.services, { historyDays: null })['old CSV imports'](() => false)
  expect([await count(), await db.csvImportLine.count({ where: { storeId: shop.store.id } })]).toEqual([0, 0])
})
