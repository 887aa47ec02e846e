import { describe, expect, test } from 'vitest'
import { newPrice } from '../../../../../src/http/pages/shop/products/bulk.ts'
import { createCsvImports } from '../../../../../src/shop/csv/apply/runner.ts'
import { hold, untilItWaits } from '../../../../support/held.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { memberIn, merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { csvPages, wordsOf } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson
const { takeIn, assign, apply, linesAt, countsAt } = csvPages(() => ({ server, merchant }))

withMerchant((scene) => ({ server, shop, merchant } = scene))

const read = async (id: number) => (await shop.call('GET', `/Products/${id}`)).json()[0]

async function addLamps(count: number, others: (n: number) => object = () => ({})): Promise<number[]> {
  const ids = []
  for (let n = 1; n <= count; n++) {
    const SKUInfo = { SKU: `P-${n}`, Name: `Lamp ${n}`, Price: n, Stock: n }
    ids.push(await shop.add('/Products', { SKUInfo, ...others(n) }))
  }
  return ids
}

/** Where a form that must be taken leads. */
async function leadsTo(sent: ReturnType<TestPerson['submit']>): Promise<string> {
  const { statusCode, headers, body } = await sent
  expect(statusCode, wordsOf(body)).toBe(303)
  return String(headers.location)
}

/** Chooses products of the list, and returns the address of the page that asks what shall be changed. */
function choose(fields: Record<string, string | string[]>, query = '', by = merchant): Promise<string> {
  const action = `/admin/products/bulk${query === '' ? '?' : query}`
  return leadsTo(by.submit(`/admin/products${query}`, fields, { action }))
}

/** Says what shall be changed, and returns the address of the preview. */
const say = (asking: string, fields: Record<string, string>) => leadsTo(merchant.submit(asking, fields))

const price = (others: Record<string, string> = {}) => ({
  Kind: 'price',
  Field: 'Price',
  How: 'raise-percent',
  Value: '10',
  Round: 'unit',
  OnSale: 'same',
  ...others,
})

const wordsAt = async (address: string) => wordsOf((await merchant.open(address)).body)

describe('many products', () => {
  test('are chosen by what matches, shown one by one, and changed in the background', async () => {
    const ids = await addLamps(30, (n) => ({ Hide: n > 28 }))
    expect(await wordsAt('/admin/products?hide=0')).toContain('Choose all 28 that match')
    const asking = await choose({ all: 'true' }, '?hide=0')
    expect(await wordsAt(asking)).toContain('28 products are chosen')
    // What comes later was not chosen.
    await shop.add('/Products', { SKUInfo: { SKU: 'LATE', Name: 'Late', Price: 5 } })
    const preview = await say(asking, price({ Value: '12.5' }))
    expect(await wordsAt(preview)).toContain('Raise the price by 12.5 %')
    expect(await countsAt(preview)).toEqual(['Changes (28)'])
    expect((await linesAt(preview, 'changes')).at(0)).toEqual(['Lamp 28 (P-28)', 'Price: $28.00 → $31.50'])
    expect((await read(ids[0] ?? 0)).SKUInfo.Price).toBe(1)
    await apply(preview)
    expect(await wordsAt(preview)).toContain('28 changed.')
    const prices = await Promise.all([0, 2, 28].map(async (at) => (await read(ids[at] ?? 0)).SKUInfo.Price))
    expect(prices).toEqual([1.13, 3.38, 29])
    expect((await read(ids[0] ?? 0)).UserID).toBe('merchant@shop.example')
    expect(await wordsAt('/admin/csv')).toContain('Raise the price by 12.5 %')
  })

  test('can be shown or hidden, put into a category and taken out of it', async () => {
    const [one, two] = await addLamps(2)
    const desk = await shop.add('/Category', { CategoryName: 'Desk' })
    const oak = await shop.add('/Category', { CategoryName: 'Oak' })
    await shop.call('PUT', `/Products/${one}`, { body: { CategoryList: [{ CategoryID: oak }] } })
    const ids = [String(one), String(two)]
    const hidden = await say(await choose({ ids }), { Kind: 'visibility', Hide: 'true' })
    expect(await linesAt(hidden, 'changes')).toContainEqual(['Lamp 1 (P-1)', 'Hidden: No → Yes'])
    await apply(hidden)
    const added = await say(await choose({ ids }), { Kind: 'category', CategoryHow: 'add', CategoryID: 'Desk' })
    expect(await linesAt(added, 'changes')).toEqual([
      ['Lamp 1 (P-1)', 'Categories: Oak → Oak, Desk'],
      ['Lamp 2 (P-2)', 'Categories: none → Desk'],
    ])
    await apply(added)
    const placesOf = async (id = 0) =>
      (await read(id)).CategoryList.map(({ CategoryID }: { CategoryID: number }) => CategoryID)
    expect([(await read(two ?? 0)).Hide, await placesOf(one), await placesOf(two)]).toEqual([true, [oak, desk], [desk]])
    const out = await say(await choose({ ids }), { Kind: 'category', CategoryHow: 'remove', CategoryID: String(oak) })
    expect(await countsAt(out)).toEqual(['Changes (1)', 'Unchanged (1)'])
    await apply(out)
    expect(await placesOf(one)).toEqual([desk])
  })

  test('get a stock, or pieces added to what is there by then', async () => {
    const [one, two] = await addLamps(2)
    const ids = [String(one), String(two)]
    const add = await say(await choose({ ids }), { Kind: 'stock', StockHow: 'add', Quantity: '2.5' })
    expect(await linesAt(add, 'changes')).toContainEqual(['Lamp 2 (P-2)', 'Stock: 2 → 4.5'])
    await shop.call('PUT', `/Products/${two}`, { body: { SKUInfo: { Stock: 10 } } })
    await apply(add)
    expect([(await read(one ?? 0)).SKUInfo.Stock, (await read(two ?? 0)).SKUInfo.Stock]).toEqual([3.5, 12.5])
    const set = await say(await choose({ ids }), { Kind: 'stock', StockHow: 'set', Quantity: '7' })
    await shop.call('PUT', `/Products/${two}`, { body: { SKUInfo: { Stock: 6 } } })
    await apply(set)
    expect(await linesAt(set, 'errors')).toEqual([['Lamp 2 (P-2)', 'has been changed since it was shown']])
    expect([(await read(one ?? 0)).SKUInfo.Stock, (await read(two ?? 0)).SKUInfo.Stock]).toEqual([7, 6])
    const moves = await server.database.db.stockMovement.findMany({
      where: { storeId: shop.store.id, productId: one ?? 0 },
      orderBy: { id: 'asc' },
    })
    expect(moves.map(({ cause, quantity }) => [cause, Number(quantity)])).toEqual([
      ['initial', 1],
      ['adjust', 2.5],
      ['set', 3.5],
    ])
  })

  test('keep what somebody else has changed meanwhile, and are named with the reason', async () => {
    const ids = await addLamps(4)
    const preview = await say(await choose({ ids: ids.map(String) }), price({ How: 'lower-amount', Value: '2' }))
    expect(await linesAt(preview, 'errors')).toEqual([['Lamp 1 (P-1)', 'Price “-$1.00” would be below 0']])
    await shop.call('PUT', `/Products/${ids[1]}`, { body: { SKUInfo: { Price: 9 } } })
    // A sale in between concerns no price.
    await shop.call('PUT', `/Products/${ids[2]}`, { body: { SKUInfo: { Stock: 1 } } })
    await shop.call('DELETE', `/Products/${ids[3]}`)
    await apply(preview)
    expect(await linesAt(preview, 'errors')).toEqual([
      ['Lamp 1 (P-1)', 'Price “-$1.00” would be below 0'],
      ['Lamp 2 (P-2)', 'has been changed since it was shown'],
      ['Lamp 4 (P-4)', `There is no Product ${ids[3]}`],
    ])
    expect([(await read(ids[1] ?? 0)).SKUInfo.Price, (await read(ids[2] ?? 0)).SKUInfo.Price]).toEqual([9, 1])
  })

  test('are each changed once where a process was killed between them', async () => {
    const ids = await addLamps(130)
    const { db } = server.database
    const preview = await say(await choose({ all: 'true' }), { Kind: 'stock', StockHow: 'add', Quantity: '5' })
    const id = Number(preview.split('/').at(-1))
    const inImport = () => db.csvImport.findUniqueOrThrow({ where: { storeId_id: { storeId: shop.store.id, id } } })
    // The list has the newest first, so that this one is of the second batch.
    const held = await hold(
      server,
      shop,
      (tx) =>
        tx.db.$queryRaw`SELECT 1 FROM "Product" WHERE "storeId" = ${shop.store.id} AND "id" = ${ids[5]} FOR UPDATE`,
    )
    const killed = createCsvImports({ ...server.services, db })
    const appliedBy = 'merchant@shop.example'
    await db.csvImport.updateMany({
      where: { storeId: shop.store.id, id },
      data: { state: 'applying', startedAt: new Date(server.clock.ms), appliedBy },
    })
    const run = killed.settle()
    while ((await inImport()).changed < 129) await untilItWaits({ db }, Promise.resolve())
    await db.$executeRaw`SELECT pg_terminate_backend("pid") FROM pg_stat_activity
      WHERE "datname" = current_database() AND "wait_event_type" = 'Lock'`
    await killed.stop()
    await run
    await held.commit()
    server.clock.ms += 61_000
    await Promise.all(
      [createCsvImports({ ...server.services, db }), server.services.csvImports].map((one) => one.settle()),
    )
    // The first was of what worked out the changes.
    expect(await inImport()).toMatchObject({ state: 'done', changed: 130, failed: 0, claim: 3 })
    const moves = await db.stockMovement.count({ where: { storeId: shop.store.id, cause: 'adjust' } })
    const [sum] = await db.$queryRaw<{ sum: number }[]>`
      SELECT sum("stock")::int AS "sum" FROM "Product" WHERE "storeId" = ${shop.store.id}`
    expect([moves, sum?.sum]).toEqual([130, (130 * 131) / 2 + 130 * 5])
  })

  test('are rounded to amounts of the currency, the smallest first', async () => {
    const [id] = await addLamps(1)
    const asking = await choose({ ids: String(id) })
    const steps = async () => {
      const { body } = await merchant.open(asking)
      const [select = ''] = /<select id="Round"[\s\S]*?<\/select>/.exec(body) ?? []
      return [...select.matchAll(/<option[^>]*>([^<]*)/g)].map(([, text]) => text)
    }
    const inCurrency = (currency: string) =>
      server.services.db.store.update({ where: { id: shop.store.id }, data: { currency } })
    expect(await steps()).toEqual(['$0.01', '$0.05', '$0.10', '$1.00', 'Prices that end in .99'])
    await inCurrency('JPY')
    expect(await steps()).toEqual(['¥1'])
    await inCurrency('KWD')
    expect((await steps()).map((text) => text?.replace(/\s/, ' '))).toEqual(['KWD 0.001', 'KWD 1.000'])
    await inCurrency('USD')
  })

  test.each([
    [price({ Value: '0' }), 'Percent or amount must be above 0'],
    [price({ Value: '1,5' }), 'Percent or amount must be a number'],
    [price({ How: 'lower-percent', Value: '101' }), 'Percent or amount must be from 0 to 100'],
    [price({ How: 'below-price' }), 'is for the sale price alone'],
    [{ Kind: 'category', CategoryHow: 'add', CategoryID: 'No such' }, 'Category names no record that exists'],
    [{ Kind: 'category', CategoryHow: 'add', CategoryID: '77' }, 'Category has to be one of the store'],
    [{ Kind: 'stock', StockHow: 'add', Quantity: '0' }, 'Pieces must not be 0'],
    [{ Kind: 'other' }, 'has to be one of the page'],
  ])('%j is refused on its page', async (fields, problem) => {
    const [id] = await addLamps(1)
    const asking = await choose({ ids: String(id) })
    const { statusCode, body } = await merchant.submit(asking, fields)
    expect([statusCode, wordsOf(body).includes(problem)], wordsOf(body)).toEqual([400, true])
  })

  test('are not changed by those who may not, nor by another store', async () => {
    const [id] = await addLamps(1)
    const asking = await choose({ ids: String(id) })
    const preview = await say(asking, price())
    const reader = await memberIn(server, shop, 'reader')
    expect((await reader.open('/admin/products')).body).not.toContain('name="ids"')
    for (const address of [asking, preview]) expect((await reader.open(address)).statusCode).toBe(403)
    const stranger = await merchantIn(server, (await server.openStore()).store)
    for (const address of [asking, preview]) expect((await stranger.open(address)).statusCode).toBe(404)
    expect((await merchant.submit('/admin/products', {}, { action: '/admin/products/bulk?' })).statusCode).toBe(400)
  })
})

test('a price is worked out in exact decimals, and rounded half up', () => {
  const of = (
    from: number,
    how: Parameters<typeof newPrice>[1]['how'],
    value: number,
    rounding = 'unit' as const,
    digits = 2,
  ) => newPrice(from, { how, value, rounding }, digits)
  expect(of(1.005, 'raise-amount', 0)).toBe(1.01)
  expect(of(19.99, 'raise-percent', 10)).toBe(21.99)
  expect(of(0.5, 'lower-percent', 1)).toBe(0.5)
  expect(of(1.45, 'lower-percent', 50)).toBe(0.73)
  expect(of(1.45, 'raise-percent', 33, 'unit', 0)).toBe(2)
  expect(of(99_999_999.99, 'raise-percent', 0.01)).toBe(100_009_999.99)
  expect(newPrice(10, { how: 'raise-percent', value: 7, rounding: '0.05' }, 2)).toBe(10.7)
  expect(newPrice(10.32, { how: 'set', value: 10.33, rounding: '0.1' }, 2)).toBe(10.3)
  expect(newPrice(10, { how: 'set', value: 10.49, rounding: '.99' }, 2)).toBe(10.99)
  expect(newPrice(10, { how: 'set', value: 10.48, rounding: '.99' }, 2)).toBe(9.99)
  expect(newPrice(10, { how: 'set', value: 0.1, rounding: '.99' }, 2)).toBe(0.99)
  expect(newPrice(3, { how: 'lower-amount', value: 5, rounding: 'unit' }, 2)).toBe(-2)
})

describe('what was changed', () => {
  /** Presses the button of a change that puts it back, and returns the address of what that would do. */
  const back = (address: string) => leadsTo(merchant.submit(address, {}, { action: `${address}/back` }))
  const skuInfo = async (id = 0) => (await read(id)).SKUInfo

  test('by a bulk change is put back, but for what somebody has changed since, and that too', async () => {
    const ids = await addLamps(3)
    const raised = await say(await choose({ ids: ids.map(String) }), price({ How: 'raise-amount', Value: '5' }))
    await apply(raised)
    server.clock.ms += 60_000
    await shop.call('PUT', `/Products/${ids[1]}`, { body: { SKUInfo: { Price: 8.5 } } })
    await shop.call('DELETE', `/Products/${ids[2]}`)
    const putBack = await back(raised)
    expect(await wordsAt(putBack)).toContain('Put back: Raise the price by $5.00')
    expect(await linesAt(putBack, 'changes')).toEqual([['Lamp 1 (P-1)', 'Price: $6.00 → $1.00']])
    expect(await linesAt(putBack, 'errors')).toEqual([
      ['Lamp 2 (P-2)', expect.stringMatching(/^Price “\$8.50” has been changed since, by .+ on \w{3} \d+, \d{4}, /)],
      ['Lamp 3 (P-3)', 'has been deleted'],
    ])
    expect((await skuInfo(ids[0])).Price).toBe(6)
    await apply(putBack)
    expect([(await skuInfo(ids[0])).Price, (await skuInfo(ids[1])).Price]).toEqual([1, 8.5])
    const again = await back(putBack)
    await apply(again)
    expect((await skuInfo(ids[0])).Price).toBe(6)
    // A second time there is nothing left to do.
    expect(await countsAt(await back(putBack))).toEqual(['Unchanged (1)'])
  })

  test('in a stock is put back as a difference, with what was sold meanwhile', async () => {
    const [one, two] = await addLamps(2)
    const ids = [String(one), String(two)]
    const set = await say(await choose({ ids }), { Kind: 'stock', StockHow: 'set', Quantity: '10.5' })
    await apply(set)
    const added = await say(await choose({ ids }), { Kind: 'stock', StockHow: 'add', Quantity: '3' })
    await apply(added)
    await shop.call('PUT', `/Products/${one}`, { body: { SKUInfo: { Stock: 12.5 } } })
    const putBack = await back(set)
    expect(await linesAt(putBack, 'changes')).toEqual([
      ['Lamp 1 (P-1)', 'Stock: 12.5 → 3'],
      ['Lamp 2 (P-2)', 'Stock: 13.5 → 5'],
    ])
    await apply(putBack)
    await apply(await back(added))
    expect([(await skuInfo(one)).Stock, (await skuInfo(two)).Stock]).toEqual([0, 2])
  })

  test('by a file is put back, categories too, and what it has added stays', async () => {
    const [one] = await addLamps(1, () => ({ ShortDescription: 'Old', Hide: true }))
    const oak = await shop.add('/Category', { CategoryName: 'Oak' })
    await shop.call('PUT', `/Products/${one}`, { body: { CategoryList: [{ CategoryID: oak }] } })
    const file = await takeIn(
      'products',
      'SKUInfo.SKU,SKUInfo.Name,SKUInfo.Price,SKUInfo.Stock,Hide,ShortDescription\nP-1,Lamp,9.99,4,no,New\nP-2,Other,1,1,no,\n',
    )
    await apply(file)
    expect(await countsAt(file)).toEqual(['Changed (1)', 'Added (1)'])
    const putBack = await back(file)
    expect(await linesAt(putBack, 'changes')).toEqual([
      [
        'P-1',
        'Name: Lamp → Lamp 1 | Price: $9.99 → $1.00 | Short description: New → Old | Hidden: No → Yes | Stock: 4 → 1',
      ],
    ])
    await apply(putBack)
    expect(await read(one ?? 0)).toMatchObject({
      SKUInfo: { Name: 'Lamp 1', Price: 1, Stock: 1 },
      ShortDescription: 'Old',
      Hide: true,
    })
    const asking = await takeIn('products', 'Art,Ort\nP-1,Oak/Desk\n')
    const placed = await assign(asking, { Art: 'SKUInfo.SKU', Ort: 'CategoryList' })
    await apply(placed)
    const places = async () =>
      (await read(one ?? 0)).CategoryList.map((item: { CategoryName: string }) => item.CategoryName)
    expect(await places()).toEqual(['Desk'])
    const out = await back(placed)
    expect(await linesAt(out, 'changes')).toEqual([['P-1', 'Categories: Desk → Oak']])
    await apply(out)
    expect(await places()).toEqual(['Oak'])
  })

  test('in orders is not put back: mails, payments and stocks have followed', async () => {
    await addLamps(1)
    await merchant.submit(
      '/admin/orders/new',
      { 'ItemID.1': 'P-1', 'ItemQuantity.1': '1', BillingEmail: 'ada@shop.example' },
      { action: '/admin/orders' },
    )
    const { headers } = await merchant.submit(
      '/admin/orders',
      { ids: '1', OrderStatusID: '5' },
      { action: '/admin/orders/bulk/slips?', to: '/admin/orders/bulk/status' },
    )
    const changed = String(headers.location)
    await apply(changed)
    expect((await merchant.open(changed)).body).not.toContain('/back"')
    const sent = await merchant.submit(changed, {}, { action: '/admin/sign-out', to: `${changed}/back` })
    expect([sent.statusCode, sent.body.includes('cannot be put back')]).toEqual([409, true])
  })
})
