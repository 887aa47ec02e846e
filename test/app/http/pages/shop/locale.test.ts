import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { beforeEach, describe, expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import type { TestPerson } from '../../../../support/person.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { csvPages, wordsOf } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'
import { alertIn, opened } from './order-fixture.ts'

// Numbers and dates as people of a country write them: in the fields of forms, in the filters of lists and in CSV files.

let server: TestServer
let shop: TestStore
let merchant: TestPerson
withMerchant((scene) => {
  server = scene.server
  shop = scene.shop
  merchant = scene.merchant
})
const csv = csvPages(() => ({ server, merchant }))

async function speak(locale: string): Promise<void> {
  await server.database.db.identity.updateMany({ data: { locale } })
}

const read = async (address: string) => (await shop.call('GET', address)).json()[0]
const product = () => read('/Products/1')
const order = () => read('/Orders/1')
const events = () => server.database.db.event.count({ where: { storeId: shop.store.id } })

beforeEach(async () => {
  await shop.add('/Products', {
    SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5, Cost: 1.2345, Stock: 10 },
    Weight: 1.234,
    AllowFractionalQuantity: true,
    PriceLevel3: 39.9,
    DiscountList: [{ DiscountPriceLevel: 0, DiscountLowbound: 20, DiscountUpbound: 0, DiscountPrice: 12.25 }],
  })
  await speak('de-DE')
})

/** Places order 1: three lamps at 42.50, 6.50 for shipping and 1.25 of tax. */
async function placeLamps(): Promise<void> {
  await placeOrder(shop.caller, {
    BillingEmail: 'guest@shop.example',
    BillingPaymentMethodID: '1',
    SalesTax: 1.25,
    OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 3 }],
    ShipmentList: [{ ShipmentFirstName: 'Ada', ShipmentCity: 'Berlin', ShipmentCost: 6.5 }],
  })
}

describe('a form of somebody who writes decimals with a comma', () => {
  const prices = '/admin/products/1/prices'

  test('shows commas and reads them', async () => {
    const form = await opened(merchant, prices)
    expect(form.fields).toMatchObject({
      'SKUInfo.Price': '42,5',
      'SKUInfo.Cost': '1,2345',
      PriceLevel3: '39,9',
      'DiscountList.0.DiscountLowbound': '20',
      'DiscountList.0.DiscountPrice': '12,25',
    })
    const changes = { 'SKUInfo.Price': '12,34', PriceLevel1: ' ,5 ', 'DiscountList.0.DiscountPrice': '12' }
    expect((await form.send(changes)).headers.location).toBe('/admin/products/1?notice=record-saved')
    expect(await product()).toMatchObject({
      SKUInfo: { Price: 12.34, Cost: 1.2345 },
      PriceLevel1: 0.5,
      PriceLevel3: 39.9,
      DiscountList: [{ DiscountLowbound: 20, DiscountPrice: 12 }],
    })
    expect((await opened(merchant, prices)).fields['SKUInfo.Price']).toBe('12,34')
  })

  test.each([
    ['12.34', '1234,5'],
    ['1.234', 'lässt sich als 1,234 und als 1234 lesen'],
    ['1,234,5', '1234,5'],
  ])('refuses %s, and shows it again', async (text, problem) => {
    const before = await product()
    const answer = await (await opened(merchant, prices)).send({ 'SKUInfo.Price': text })
    expect(answer.statusCode).toBe(400)
    expect(alertIn(answer.body)).toContain(problem)
    expect(alertIn(answer.body)).not.toContain('1234.5')
    expect(answer.body).toContain(`value="${text}"`)
    expect(await product()).toEqual(before)
  })

  test('that is sent as it was shown changes nothing, whichever part of a record it is of', async () => {
    await placeLamps()
    const [before, ordered, count] = [await product(), await order(), await events()]
    const page = (await merchant.open('/admin/products/1')).body
    const parts = [...new Set(page.match(/\/admin\/products\/1\/edit\?section=[a-z-]+/g))]
    expect(parts.length).toBeGreaterThan(10)
    server.clock.ms += 5_000
    for (const address of [...parts, prices]) {
      const answer = await (await opened(merchant, address)).send({})
      expect([address, answer.statusCode, answer.headers.location]).toEqual([address, 303, '/admin/products/1'])
    }
    for (const address of ['/admin/orders/1/lines', '/admin/orders/1/addresses']) {
      const answer = await (await opened(merchant, address)).send({})
      expect([address, answer.statusCode, answer.headers.location]).toEqual([address, 303, '/admin/orders/1'])
    }
    expect([await product(), await order(), await events()]).toEqual([before, ordered, count])
  })

  test('shows what is stored now beside what was typed, as the person writes both', async () => {
    const form = await opened(merchant, prices)
    await shop.call('PUT', '/Products/1', { body: { SKUInfo: { Price: 50.25 } } })
    const answer = await form.send({ 'SKUInfo.Price': '12,34' })
    expect(answer.statusCode).toBe(412)
    expect(answer.body).toContain('value="12,34"')
    expect(wordsOf(answer.body)).toContain('50,25')
    // What is the same in both is not pointed out.
    expect(wordsOf(answer.body)).not.toContain('1,2345')
  })

  test('records payments, changes goods, ships and takes back', async () => {
    await placeLamps()
    const payment = await opened(merchant, '/admin/orders/1/payments')
    expect(payment.fields.TransactionAmount).toBe('135,25')
    expect((await payment.send({ TransactionAmount: '12.5' })).statusCode).toBe(400)
    expect((await payment.send({ TransactionAmount: '12,5' })).statusCode).toBe(303)
    expect((await order()).TransactionList).toMatchObject([{ TransactionAmount: 12.5 }])

    const line = (await order()).OrderItemList[0].ItemIndexID
    const goods = await opened(merchant, '/admin/orders/1/lines')
    expect(goods.fields).toMatchObject({ [`Line.${line}.ItemUnitPrice`]: '42,5', SalesTax: '1,25' })
    const changed = { [`Line.${line}.ItemUnitPrice`]: '40,25', 'Shipment.0.ShipmentCost': '4,99', SalesTax: '' }
    const added = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '0,5', 'ItemUnitPrice.1': '9,9' }
    expect((await goods.send({ ...changed, ...added })).statusCode).toBe(303)
    expect(await order()).toMatchObject({
      SalesTax: 0,
      OrderItemList: [
        { ItemUnitPrice: 40.25, ItemQuantity: 3 },
        { ItemUnitPrice: 9.9, ItemQuantity: 0.5 },
      ],
      ShipmentList: [{ ShipmentCost: 4.99 }],
    })

    const shipping = await opened(merchant, '/admin/orders/1/shipments/0')
    const half = (await order()).OrderItemList[1].ItemIndexID
    expect(shipping.fields[`Quantity.${half}`]).toBe('0,5')
    expect((await shipping.send({ [`Quantity.${line}`]: '2,5', ShipmentShippedDate: '2026-03-11' })).statusCode).toBe(
      303,
    )
    expect((await order()).OrderItemList.map((item: { ItemQuantity: number }) => item.ItemQuantity).sort()).toEqual([
      0.5, 0.5, 2.5,
    ])

    const returned = await opened(merchant, '/admin/orders/1/returns/new')
    const { ItemIndexID: most } = (await order()).OrderItemList.find(
      (item: { ItemQuantity: number }) => item.ItemQuantity > 1,
    )
    expect((await returned.send({ [`Item.${most}.ReturnQuantity`]: '1.5' })).statusCode).toBe(400)
    expect((await returned.send({ [`Item.${most}.ReturnQuantity`]: '1,5' })).statusCode).toBe(303)
    const receiving = await opened(merchant, '/admin/orders/1/returns/1')
    expect(
      (await receiving.send({ 'Item.0.ReceivedQuantity': '1,5', 'Item.0.RestockQuantity': '0,5' })).statusCode,
    ).toBe(303)
    expect((await opened(merchant, '/admin/orders/1/returns/1')).fields).toMatchObject({
      'Item.0.ReceivedQuantity': '1,5',
      'Item.0.RestockQuantity': '0,5',
    })
  })

  test('corrects stocks, and changes many prices', async () => {
    const stock = await opened(merchant, '/admin/products/1/stock')
    expect((await stock.send({ Quantity: '-2.5', Note: 'Broken' })).statusCode).toBe(400)
    expect((await stock.send({ Quantity: '−2,5', Note: 'Broken' })).statusCode).toBe(303)
    expect((await product()).SKUInfo.Stock).toBe(7.5)

    const chosen = await merchant.submit('/admin/products', { ids: '1' }, { action: '/admin/products/bulk?' })
    const address = String(chosen.headers.location)
    const change = { Kind: 'price', Field: 'Price', How: 'raise-amount', Round: 'unit', OnSale: 'same' }
    const wrong = await merchant.submit(address, { ...change, Value: '1.25' })
    expect([wrong.statusCode, alertIn(wrong.body)]).toEqual([400, expect.stringContaining('1234,5')])
    const right = await merchant.submit(address, { ...change, Value: '1,25' })
    await csv.apply(String(right.headers.location))
    expect((await product()).SKUInfo.Price).toBe(43.75)
  })

  test('keeps a draft, which is shown in whatever language it is opened', async () => {
    const typed = {
      'ItemID.1': 'LAMP',
      'ItemQuantity.1': '1,5',
      ShipmentCost: '4,99',
      SalesTax: '1.23',
      OrderDiscountPromotion: '12,5 %',
      BillingEmail: 'guest@shop.example',
    }
    const toPlace = { action: '/admin/orders' }
    const fields = await merchant.formOf('/admin/orders/new', toPlace.action)
    const sent = await merchant.submit(
      '/admin/orders/new',
      { ...fields, ...typed },
      { ...toPlace, to: '/admin/orders/new' },
    )
    const address = /\/admin\/orders\/new\?draft=\d+/.exec(sent.body)?.[0] ?? ''
    const shown = () => merchant.formOf(address, toPlace.action)
    expect(await shown()).toMatchObject({ 'ItemQuantity.1': '1,5', ShipmentCost: '4,99', SalesTax: '1.23' })
    await speak('en-US')
    // 1.23 was no number when it was typed, and must not become one.
    expect(await shown()).toMatchObject({
      'ItemQuantity.1': '1.5',
      ShipmentCost: '4.99',
      SalesTax: '',
      OrderDiscountPromotion: '12.5%',
    })
    await speak('de-DE')
    const place = async (changes: Record<string, string>) =>
      merchant.submit(address, { ...(await shown()), ...changes }, toPlace)
    const refused = await place({})
    expect([refused.statusCode, alertIn(refused.body)]).toEqual([400, expect.stringContaining('1234,5')])
    const placed = await place({ SalesTax: '0,75' })
    expect(placed.headers.location, alertIn(placed.body)).toBe('/admin/orders/1?notice=order-placed')
    expect(await order()).toMatchObject({
      SalesTax: 0.75,
      OrderDiscountPromotion: 7.97,
      OrderItemList: [{ ItemQuantity: 1.5, ItemUnitPrice: 42.5 }],
      ShipmentList: [{ ShipmentCost: 4.99 }],
    })
  })
})

test('somebody in Switzerland writes a point', async () => {
  await speak('de-CH')
  const form = await opened(merchant, '/admin/products/1/prices')
  expect(form.fields['SKUInfo.Price']).toBe('42.5')
  const refused = await form.send({ 'SKUInfo.Price': '12,34' })
  expect([refused.statusCode, alertIn(refused.body)]).toEqual([400, expect.stringContaining('1234.5')])
  expect((await form.send({ 'SKUInfo.Price': '12.34' })).statusCode).toBe(303)
  expect((await product()).SKUInfo.Price).toBe(12.34)
})

test('a program writes a point to the same address, whatever the language of its person', async () => {
  await placeLamps()
  const address = '/admin/orders/1/payments'
  const { etag, OneTimeKey } = await merchant.formOf(address)
  const day = { TransactionDateTime: '2026-03-09T10:00:00', TransactionType: 'Sale', etag, OneTimeKey }
  expect((await merchant.call('POST', address, { ...day, TransactionAmount: '12,5' })).statusCode).toBe(400)
  expect((await merchant.call('POST', address, { ...day, TransactionAmount: '12.5' })).statusCode).toBe(303)
  expect((await order()).TransactionList).toMatchObject([{ TransactionAmount: 12.5 }])
})

test('a form that was opened in another language misreads nothing', async () => {
  const form = await opened(merchant, '/admin/products/1/prices')
  const before = await product()
  await speak('en-US')
  expect((await form.send({})).statusCode).toBe(400)
  expect(await product()).toEqual(before)
})

describe('the filter of a list', () => {
  const skus = (page: string) => page.match(/\/admin\/products\/(\d+)"/g)?.length ?? 0
  const filtered = (query: string) => merchant.open(`/admin/products?${query}`)
  const fieldIn = (page: string) => /id="pricefrom"[^>]*value="([^"]*)"/.exec(page)?.[1]

  test('is typed as the person writes numbers, and an address means the same for everybody', async () => {
    const typed = (await merchant.open('/admin/products')).body
    expect(typed).toContain('<input type="hidden" name="typed" value="comma">')
    const shown = (await filtered('pricefrom=42,5&typed=comma')).body
    expect([fieldIn(shown), skus(shown) > 0]).toEqual(['42,5', true])
    expect(shown).toContain('pricefrom=42.5&amp;')
    expect(shown).not.toContain('pricefrom=42%2C5')
    expect(skus((await filtered('pricefrom=42,51&typed=comma')).body)).toBe(0)
    expect(fieldIn((await filtered('pricefrom=42.5')).body)).toBe('42,5')
    await speak('en-US')
    expect((await merchant.open('/admin/products')).body).not.toContain('name="typed"')
    expect(fieldIn((await filtered('pricefrom=42.5')).body)).toBe('42.5')
    expect(fieldIn((await filtered('pricefrom=42,5&typed=comma')).body)).toBe('42.5')
  })

  test('refuses what has two readings, where it was typed', async () => {
    const { body } = await filtered('pricefrom=1.234&typed=comma')
    expect([fieldIn(body), alertIn(body)]).toEqual(['1.234', expect.stringContaining('1,234 und als 1234')])
    expect(skus(body)).toBe(0)
    const file = await merchant.open('/admin/products/export?format=csv&pricefrom=1.234&typed=comma')
    expect(file.statusCode).toBe(400)
  })
})

describe('a CSV file', () => {
  const exported = (query = '') => merchant.open(`/admin/products/export?format=csv${query}`)
  const german = '&headings=words&separator=semicolon&decimal=comma'

  async function takeIn(file: string, fields: Record<string, string> = {}, service = 'products'): Promise<string> {
    const answer = await merchant.upload(`/admin/${service}/csv`, file, 'file.csv', { fields })
    expect(answer.statusCode, wordsOf(answer.body)).toBe(303)
    return String(answer.headers.location)
  }

  /** What becomes of the first line: what it changes, or what is wrong with it. */
  async function said(file: string, fields: Record<string, string> = {}, service = 'products') {
    const address = await takeIn(file, fields, service)
    const of = async (show: string) => (await merchant.open(address)).body.includes(`?show=${show}"`)
    const show = (await of('changes')) ? 'changes' : 'errors'
    return { show, text: (await csv.linesAt(address, show)).at(0)?.at(-1) ?? '' }
  }

  test('that was exported in words with decimal commas comes back equal, and with what was changed', async () => {
    await shop.call('PUT', '/Products/1', { body: { ExtraField1: '=1+1', ShortDescription: 'one; "two"' } })
    const before = await product()
    const file = (await exported(german)).body
    expect(file).toContain('42,5')
    const unchanged = await takeIn(file)
    expect(unchanged).toMatch(/\/columns$/)
    expect(Object.values(await csv.choicesAt(unchanged))).toContain('SKUInfo.Price')
    // What words alone do not say is answered by the names that programs have for the same columns.
    const [names = []] = parse((await exported()).body, { bom: true }) as string[][]
    const [headings = [], cells = []] = parse(file, { bom: true, delimiter: ';' }) as string[][]
    const choices = await csv.choicesAt(unchanged)
    const asked = headings.flatMap((heading, at) => (choices[heading] === '' ? [[heading, names[at] ?? '']] : []))
    const meanings = Object.fromEntries(asked)
    expect(await csv.linesAt(await csv.assign(unchanged, meanings), 'changes')).toEqual([['2', 'LAMP']])

    const price = cells.indexOf('42,5')
    const changed = [headings, cells.map((cell, at) => (at === price ? '1,234' : cell))]
    const address = await csv.assign(await takeIn(stringify(changed, { delimiter: ';', bom: true })), meanings)
    expect(await csv.linesAt(address, 'changes')).toEqual([['2', 'LAMP', 'Preis: 42,5 → 1,234']])
    expect((await merchant.open(address)).body).toContain('12,50')
    await csv.apply(address)
    const after = await product()
    expect(after).toEqual({
      ...before,
      SKUInfo: { ...before.SKUInfo, Price: 1.234 },
      LastUpdate: after.LastUpdate,
      UserID: after.UserID,
    })
  })

  test('of all columns, as programs name them, is read with a point', async () => {
    const address = await takeIn((await exported()).body)
    expect(await csv.linesAt(address, 'changes')).toEqual([['2', 'LAMP']])
    expect(await said('SKUInfo.SKU,SKUInfo.Price\nLAMP,1.234\n')).toEqual({
      show: 'changes',
      text: 'SKUInfo.Price 42,5 → 1,234',
    })
    expect(await said('SKUInfo.SKU,SKUInfo.Price\nLAMP,"12,5"\n')).toMatchObject({ show: 'errors' })
  })

  test('with one reading of a number, by the sign that its sender, its separator or its form says', async () => {
    const files = [
      ['de-DE', ';', {}, '1,234', '1,234'],
      ['de-DE', '\t', {}, '12,5', '12,5'],
      ['de-DE', ';', {}, '1.234,56', '1234,56'],
      ['de-DE', ';', { decimal: 'point' }, '1.234', '1,234'],
      ['de-DE', ',', { decimal: 'comma' }, '"1,234"', '1,234'],
      ['de-CH', ';', {}, '12,5', '12.5'],
      ['de-CH', ';', { decimal: 'comma' }, '1,234', '1.234'],
      ['en-US', ';', { decimal: 'point' }, '1.234', '1.234'],
      ['en-GB', '\t', { decimal: 'comma' }, '1,234', '1.234'],
    ] as const
    for (const [locale, separator, fields, text, shown] of files) {
      await speak(locale)
      const file = `SKUInfo.SKU${separator}SKUInfo.Price\nLAMP${separator}${text}\n`
      expect([locale, text, await said(file, fields)]).toEqual([
        locale,
        text,
        { show: 'changes', text: expect.stringMatching(new RegExp(` → ${shown.replace('.', '\\.')}$`)) },
      ])
    }
  })

  test('is refused where a number has two readings or the other sign', async () => {
    const files = [
      ['de-DE', ';', {}, '1.234', /1\.234.+1234.+1,234.+1234/],
      ['de-DE', ';', {}, '12.50', /12\.50/],
      ['de-DE', ';', {}, '1,234,567', /1,234,567/],
      ['de-DE', ';', { decimal: 'point' }, '12,5', /12,5/],
      ['de-CH', ';', {}, '1,234', /1\.234.+1234.+1\.2340.+1234/],
      ['en-GB', ';', { decimal: 'comma' }, '1.234', /can be read as 1\.234 and as 1234\. Write 1,234 or 1234$/],
      [
        'en-GB',
        ';',
        { decimal: 'comma' },
        '12.50',
        /has a point\. Use a comma for decimals, and nothing between thousands$/,
      ],
      ['en-GB', ';', { decimal: 'comma' }, '1,234,5', /is no number with one comma\. Use a comma for decimals/],
      ['en-US', '\t', {}, '12,5', /has a comma\. Use a point for decimals/],
    ] as const
    for (const [locale, separator, fields, text, problem] of files) {
      await speak(locale)
      const file = `SKUInfo.SKU${separator}SKUInfo.Price\nLAMP${separator}${text}\n`
      expect([locale, text, await said(file, fields)]).toEqual([
        locale,
        text,
        { show: 'errors', text: expect.stringMatching(problem) },
      ])
    }
  })

  test('whose columns somebody has named is read again as it was sent', async () => {
    const address = await takeIn('Artikel;Preis\nLAMP;1,234\n', { decimal: 'comma' })
    const chosen = { Artikel: 'SKUInfo.SKU', Preis: 'SKUInfo.Price' }
    const preview = await csv.assign(address, chosen)
    expect(await csv.linesAt(preview, 'changes')).toEqual([['2', 'LAMP', 'Preis: 42,5 → 1,234']])
    await speak('en-US')
    const again = await csv.assign(address, { ...chosen, Preis: 'SKUInfo.Cost' })
    expect(await csv.linesAt(again, 'changes')).toEqual([['2', 'LAMP', 'Cost: 1.2345 → 1.234']])
  })

  test('is refused with the choice still made', async () => {
    const file = 'SKUInfo.SKU,sku,SKU\nLAMP,LAMP,LAMP\n'
    const { statusCode, body } = await merchant.upload('/admin/products/csv', file, 'file.csv', {
      fields: { decimal: 'comma' },
    })
    expect([statusCode, /<option value="comma" selected>/.test(body)]).toEqual([400, true])
  })

  test('is refused where it says what there is not', async () => {
    const { statusCode } = await merchant.upload('/admin/products/csv', 'SKUInfo.SKU\nLAMP\n', 'file.csv', {
      fields: { decimal: 'both' },
    })
    expect(statusCode).toBe(400)
  })

  test('has dates that are read right or not at all', async () => {
    await placeLamps()
    const dates = [
      ['de-DE', '31.12.2026', 'changes', /→ 2026-12-31$/],
      ['de-AT', '1.2.2026', 'changes', /→ 2026-02-01$/],
      ['de-CH', '31.12.2026, 10:44', 'changes', /→ 2026-12-31 10:44$/],
      ['de-DE', '2026-12-31', 'changes', /→ 2026-12-31$/],
      ['de-DE', '12/31/2026', 'changes', /→ 12\/31\/2026$/],
      ['de-DE', '30.02.2026', 'errors', /30\.02\.2026/],
      ['de-DE', '01/02/2026', 'errors', /2026-01-02.+2026-02-01/],
      ['en-GB', '01/02/2026', 'errors', /can be read as 2026-01-02 and as 2026-02-01\. Write it like one of them$/],
      ['en-GB', '31.12.2026', 'errors', /31\.12\.2026/],
      ['en-US', '01/02/2026', 'changes', /→ 01\/02\/2026$/],
      ['en-US', '31.12.2026', 'errors', /31\.12\.2026/],
    ] as const
    for (const [locale, text, show, result] of dates) {
      await speak(locale)
      const found = await said(`OrderID;OrderDate\n1;${text}\n`, {}, 'orders')
      expect([locale, text, found]).toEqual([locale, text, { show, text: expect.stringMatching(result) }])
    }
  })
})
