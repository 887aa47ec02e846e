import { describe, expect, test } from 'vitest'
import { sweepsByAge } from '../../../../../src/parts/retention.ts'
import { addLines, readAgain } from '../../../../../src/shop/csv/lines/imports.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { memberIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { csvPages, wordsOf } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

// Files with other headings than an export's: a person says what their columns mean.

let server: TestServer
let shop: TestStore
let merchant: TestPerson
const { takeIn, refusalOf, apply, linesAt, countsAt, assign, refusedChoice, choicesAt, meaningsAt } = csvPages(() => ({
  server,
  merchant,
}))

withMerchant((scene) => ({ server, shop, merchant } = scene))

const product = (n: number, others: object = {}) =>
  shop.add('/Products', { SKUInfo: { SKU: `P-${n}`, Name: `Lamp ${n}`, Price: n }, ...others })
const productOf = async (sku: string) => (await shop.call('GET', `/Products?sku=${sku}`)).json()[0]

describe('a file with other headings', () => {
  test('asks what they mean, with the first values and the nearest columns, and is sent once', async () => {
    await product(1, { ShortDescription: 'Kept' })
    const asking = await takeIn('products', 'Code;Prise;Description;Colour;sku\nX;1,5;"<b>Text</b>";red;P-1\n;;;;P-2\n')
    expect(asking).toMatch(/^\/admin\/csv\/\d+\/columns$/)
    const page = (await merchant.open(asking)).body
    expect(wordsOf(page)).toContain('1 column needs your answer')
    expect(page).toContain('<bdi>&lt;b&gt;Text&lt;/b&gt;</bdi>')
    expect(await choicesAt(asking)).toEqual({
      Code: expect.any(String),
      Prise: 'SKUInfo.Price',
      Description: '',
      Colour: expect.any(String),
      sku: 'SKUInfo.SKU',
    })
    expect((await merchant.open(asking.replace('/columns', ''))).body).toContain('Say what the columns mean')
    const chosen = { Code: '-', Colour: 'ExtraField1', Description: 'Description' }
    const address = await assign(asking, chosen)
    // An empty cell changes nothing, and one that adds a record lacks what a new one needs.
    expect(await linesAt(address, 'changes')).toEqual([
      [
        '2',
        'P-1',
        'Price: 1 → 1.5 | Description: <b>Text</b> | Extra field 1: red'
          .replaceAll('<', '&lt;')
          .replaceAll('>', '&gt;'),
      ],
    ])
    expect(await meaningsAt(address)).toMatchObject({
      Colour: 'Extra field 1',
      Code: 'Not taken in, because it was left out on the page before.',
    })

    // What it means may be said anew until its changes are made.
    const again = await assign(`${address}/columns`, { Description: 'ShortDescription' })
    expect(again).toBe(address)
    expect((await linesAt(address, 'changes'))[0]?.[2]).toContain('Short description: Kept → ')
    await apply(address)
    expect(await productOf('P-1')).toMatchObject({
      ExtraField1: 'red',
      ShortDescription: '<b>Text</b>',
      SKUInfo: { Price: 1.5 },
    })
    expect((await merchant.open(`${address}/columns`)).statusCode).toBe(409)
    expect(await server.database.db.csvImportPart.count({ where: { storeId: shop.store.id } })).toBe(0)
  })

  test('is read by what was said of the same headings before, in any order and case', async () => {
    await product(1)
    await assign(await takeIn('products', 'Art,Preis\nP-1,5\n'), { Art: 'SKUInfo.SKU', Preis: 'SKUInfo.RetailPrice' })
    const asking = await takeIn('products', 'PREIS,ART\n6,P-1\n')
    expect(await choicesAt(asking)).toEqual({ PREIS: 'SKUInfo.RetailPrice', ART: 'SKUInfo.SKU' })
    expect(await linesAt(await assign(asking), 'changes')).toEqual([['2', 'P-1', 'Retail price: 0 → 6']])
    // Other headings, another service and another store know nothing of it.
    expect((await choicesAt(await takeIn('products', 'Preis,Art,Mehr\n6,P-1,1\n'))).Preis).not.toBe(
      'SKUInfo.RetailPrice',
    )
    expect(await server.database.db.csvMapping.count({ where: { storeId: shop.store.id } })).toBe(1)
  })

  test('is remembered for 100 sets of headings; the one that was not used for longest goes', async () => {
    const { db } = server.database
    const storeId = shop.store.id
    const usedAt = (n: number) => new Date(server.clock.ms - (100 - n) * 1_000)
    await db.csvMapping.createMany({
      data: Array.from({ length: 100 }, (_, n) => ({
        storeId,
        service: 'Products',
        headings: `h${n}`,
        columns: {},
        usedAt: usedAt(n),
      })),
    })
    await assign(await takeIn('products', 'Art,Preis\nP-1,5\n'), { Art: 'SKUInfo.SKU', Preis: 'SKUInfo.Price' })
    expect(await db.csvMapping.count({ where: { storeId } })).toBe(100)
    expect(await db.csvMapping.count({ where: { storeId, headings: 'h0' } })).toBe(0)
  })

  test('is refused by every column that is wrong, and keeps what was chosen', async () => {
    const asking = await takeIn('products', 'One,Two,Three,description\n1,2,3,4\n')
    const chosen = { One: 'SKUInfo.Price', Two: 'SKUInfo.Price', Three: 'LastUpdate', description: '' }
    expect(await refusedChoice(asking, chosen)).toBe(
      [
        'Two cannot mean SKUInfo.Price, because “One” does',
        'Three means no column that a file may give',
        'description needs a choice',
        'No heading names the records. Choose SKUInfo.SKU or SKUInfo.CatalogID.',
      ].join(' '),
    )
    expect((await merchant.open(asking)).statusCode).toBe(200)
    expect(await refusedChoice(asking, { ...chosen, Two: '-', Three: '-', description: '-' })).toContain(
      'No heading names the records.',
    )
    expect(await server.database.db.csvMapping.count({ where: { storeId: shop.store.id } })).toBe(0)
  })

  test.each([
    ['a heading twice', 'Art,Preis,art\nP-1,1,2\n', 'The heading "art" appears twice.'],
    ['only headings', 'Art,Preis\n', 'The file has only a header line.'],
    [
      '251 columns',
      `${Array.from({ length: 251 }, (_, n) => `h${n}`).join(',')}\n1\n`,
      'The file has 251 columns; at most 250 are allowed.',
    ],
    [
      'a stray quotation mark',
      'Art,Preis\nP-1,1\n"P-2" x,1\n',
      'The record at line 3 has text after a closing quotation mark. A quotation mark inside a cell is written twice.',
    ],
  ])('and %s is refused, and nothing of it is kept', async (_what, file, refusal) => {
    expect(await refusalOf('products', file)).toBe(refusal)
    expect(await server.database.db.csvImport.count({ where: { storeId: shop.store.id } })).toBe(0)
    expect(await server.database.db.csvImportPart.count({ where: { storeId: shop.store.id } })).toBe(0)
  })

  test('of 250 columns and several hundred lines is kept and read whole', async () => {
    const headings = ['Art', ...Array.from({ length: 249 }, (_, n) => `h${n}`)]
    const lines = Array.from({ length: 450 }, (_, n) => [`P-${n}`, `Lamp ${n}`, ...Array(248).fill('x')].join(','))
    const asking = await takeIn('products', `${headings.join(',')}\n${lines.join('\n')}\n`)
    const chosen = Object.fromEntries(headings.map((heading) => [heading, '-']))
    const address = await assign(asking, { ...chosen, Art: 'SKUInfo.SKU', h0: 'SKUInfo.Name' })
    expect(await countsAt(address)).toEqual(['New (450)'])
    await apply(address)
    expect((await productOf('P-449')).SKUInfo.Name).toBe('Lamp 449')
  })

  test('is no question where words are too few to know the file, and is read as it was chosen', async () => {
    const asking = await takeIn('products', 'name,price,stock\nLamp,1,2\n')
    expect(await choicesAt(asking)).toEqual({ name: 'SKUInfo.Name', price: 'SKUInfo.Price', stock: 'SKUInfo.Stock' })
    expect(await refusedChoice(asking, {})).toContain('No heading names the records.')
    await product(7)
    const withId = await takeIn('products', 'id,name,price\nP-7,Lamp,8\n')
    expect(await choicesAt(withId)).toEqual({ id: 'SKUInfo.SKU', name: 'SKUInfo.Name', price: 'SKUInfo.Price' })
    expect(await countsAt(await assign(withId))).toEqual(['Changes (1)'])
  })

  test('goes when nothing is to be changed, or after 30 days', async () => {
    const { db } = server.database
    const kept = () => db.csvImportPart.count({ where: { storeId: shop.store.id } })
    const asking = await takeIn('products', 'Art,Preis\nP-1,1\n')
    expect(await kept()).toBe(1)
    await merchant.submit(asking, {}, { action: asking.replace('/columns', '/cancel') })
    expect(await kept()).toBe(0)
    await takeIn('products', 'Art,Preis\nP-1,1\n')
    server.clock.ms += 31 * 24 * 60 * 60_000
    await sweepsByAge(server.services, { historyDays: null })['old CSV imports'](() => false)
    expect(await kept()).toBe(0)
    server.clock.ms -= 31 * 24 * 60 * 60_000
  })

  test('of customers brings no passwords, and keeps none, whatever the column is called', async () => {
    const asking = await takeIn(
      'customers',
      'Mail,Password,Kennwort,Wort,Ort\nada@shop.example,secret-1,secret-2,secret-3,Rome\n',
    )
    const page = (await merchant.open(asking)).body
    expect(page).not.toMatch(/secret-[12]/)
    expect(page).not.toContain('<option value="Password"')
    const rows = await server.database.db.$queryRaw`SELECT t::text AS "row" FROM "CsvImportPart" t`
    expect(JSON.stringify(rows)).not.toMatch(/secret-|ada@/)
    const { db, secrets } = server.services
    const [part] = await db.csvImportPart.findMany({ where: { storeId: shop.store.id } })
    expect(secrets.open(part?.sealed ?? '')).not.toMatch(/secret-[12]/)
    const address = await assign(asking, { Mail: 'Email', Wort: '-', Ort: 'BillingCity' })
    expect(await linesAt(address, 'new')).toEqual([
      ['2', 'ada@shop.example', 'E-mail: ada@shop.example | Billing city: Rome'],
    ])
    await apply(address)
    expect(await countsAt(address)).toEqual(['Added (1)'])
  })

  test('shows its values to who sent it, and has columns of who reads it', async () => {
    const own = { Name: 'Prices', Privileges: { Products: ['read', 'write'] } } as const
    const person = await memberIn(server, shop, own)
    const asking = await takeIn('products', 'Art,cost,categories\nP-1,12.34,A\n')
    expect((await merchant.open(asking)).body).toContain('12.34')
    const page = (await person.open(asking)).body
    expect(page).not.toContain('12.34')
    expect(page).not.toContain('<option value="SKUInfo.Cost"')
    expect(page).not.toContain('<option value="CategoryList"')
    const reader = await memberIn(server, shop, 'orders')
    for (const path of ['', '/columns'])
      expect((await reader.open(asking.replace('/columns', path))).statusCode).toBe(403)
    expect((await reader.call('POST', asking)).statusCode).toBe(403)
  })

  test('of customers asks who is there', async () => {
    const asking = await takeIn('customers', 'Mail,Ort\nada@shop.example,Rome\n')
    server.clock.ms += 15 * 60_000 + 1
    expect((await merchant.open(asking)).headers.location).toMatch(/^\/admin\/prove/)
    expect((await merchant.call('POST', asking)).statusCode).toBe(403)
  })

  test('sent twice is read once', async () => {
    await product(1)
    const asking = await takeIn('products', 'Art,Preis\nP-1,1.5\n')
    const fields = await merchant.formOf(asking)
    const form = { ...fields, 'column.0': 'SKUInfo.SKU', 'column.1': 'SKUInfo.Price' }
    const answers = await Promise.all([merchant.submit(asking, form), merchant.submit(asking, form)])
    expect(answers.map(({ statusCode }) => statusCode).every((status) => status === 303 || status === 409)).toBe(true)
    expect(await countsAt(asking.replace('/columns', ''))).toEqual(['Changes (1)'])
  })

  test('is read by the latest reading alone', async () => {
    const asking = await takeIn('products', 'Art,Preis\nP-1,5\n')
    const id = Number(/csv\/(\d+)/.exec(asking)?.[1])
    const meanings = [['SKUInfo.SKU', ''] as const, ['SKUInfo.Price', ''] as const]
    const slow = await readAgain(shop.caller, id, { mapping: meanings })
    expect(await readAgain(shop.caller, id, { mapping: meanings })).toBeNull()
    server.clock.ms += 60_001
    const next = await readAgain(shop.caller, id, { mapping: meanings })
    const line = {
      line: 2,
      outcome: 'new',
      recordId: null,
      name: 'P-1',
      body: {},
      secret: null,
      changes: [],
      marked: false,
    } as const
    const add = (reading: typeof slow) =>
      addLines(shop.caller, reading as NonNullable<typeof slow>, [{ ...line, problems: [], made: [] }])
    await expect(add(slow)).rejects.toThrow('read again')
    await add(next)
  })

  test('that was killed while it was read may be read again', async () => {
    await product(1)
    const asking = await takeIn('products', 'Art,Preis\nP-1,1.5\n')
    const where = { storeId: shop.store.id }
    const leasedUntil = new Date(server.clock.ms + 60_000)
    await server.database.db.csvImport.updateMany({ where, data: { state: 'reading', leasedUntil, claim: 1 } })
    expect((await merchant.open(asking)).statusCode).toBe(409)
    server.clock.ms += 60_001
    expect(wordsOf((await merchant.open(asking.replace('/columns', ''))).body)).toContain('to read it again')
    const address = await assign(asking, { Art: 'SKUInfo.SKU', Preis: 'SKUInfo.Price' })
    expect(await countsAt(address)).toEqual(['Changes (1)'])
  })
})
