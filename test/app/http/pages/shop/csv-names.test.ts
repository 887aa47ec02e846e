import { describe, expect, test } from 'vitest'
import type { Run } from '../../../../../src/shop/csv/apply/apply.ts'
import { makeNames } from '../../../../../src/shop/csv/apply/make-names.ts'
import { createCsvImports } from '../../../../../src/shop/csv/apply/runner.ts'
import { products } from '../../../../../src/shop/resources/products/products.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { memberIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { csvPages, wordsOf } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

// Records that a file names and the store does not have.

let server: TestServer
let shop: TestStore
let merchant: TestPerson
const { takeIn, apply, linesAt, countsAt } = csvPages(() => ({ server, merchant }))

withMerchant((scene) => ({ server, shop, merchant } = scene))

const add = (service: string, body: object) => shop.add(`/${service}`, body)
const all = async (service: string) => {
  const answer = await shop.call('GET', `/${service}?limit=500`)
  return answer.statusCode === 404 ? [] : answer.json()
}

const categoryPaths = async () => {
  const found = (await all('Category')) as { CategoryID: number; CategoryName: string; CategoryParent: number }[]
  const byId = new Map(found.map((one) => [one.CategoryID, one]))
  const pathOf = (id: number): string => {
    const one = byId.get(id)
    return one === undefined
      ? ''
      : `${one.CategoryParent === 0 ? '' : `${pathOf(one.CategoryParent)}/`}${one.CategoryName}`
  }
  return found.map(({ CategoryID }) => pathOf(CategoryID)).toSorted()
}

const placementsOf = async (sku: string) => {
  const [product] = (await shop.call('GET', `/Products?sku=${sku}`)).json()
  return product.CategoryList.map(({ CategoryName }: { CategoryName: string }) => CategoryName).toSorted()
}

type Cells = { readonly sku: string; readonly manufacturer?: string; readonly categories?: string }
/** A file of the former platform. */
const fileOf = (...rows: readonly Cells[]) =>
  [
    'id,name,manufacturer,categories,price2,nontax,extended_description',
    ...rows.map(({ sku, manufacturer = '', categories = '' }) => `${sku},${sku},"${manufacturer}","${categories}",,,`),
  ].join('\r\n')

const madeAt = async (address: string) =>
  wordsOf((await merchant.open(address)).body)
    .match(/(?:Will be made|Made): [\d,]+ [a-z ]+/g)
    ?.map((text) => text.trim().replace(/ [A-Z].*/, ''))

describe('names of a file', () => {
  test('are looked up without regard to case and white space, level by level, and made where there are none', async () => {
    const acme = await add('Manufacturers', { ManufacturerName: 'Acme' })
    const lamps = await add('Category', { CategoryName: 'Lamps' })
    await add('Category', { CategoryName: 'Desk', CategoryParent: lamps })
    await add('Category', { CategoryName: 'Desk' })
    const address = await takeIn(
      'products',
      fileOf(
        { sku: 'P-1', manufacturer: ' ACME ', categories: 'lamps / DESK@ Sale' },
        { sku: 'P-2', manufacturer: 'Brass', categories: 'Desk/Small@Lamps' },
        { sku: 'P-3', manufacturer: 'brass', categories: 'SALE@sale@Lamps/Desk' },
      ),
    )
    expect(await madeAt(address)).toEqual(['Will be made: 2 categories', 'Will be made: 1 manufacturer'])
    const page = wordsOf((await merchant.open(address)).body)
    expect(page).toMatch(/Desk\/Small ?Sale/)
    expect(await categoryPaths()).toEqual(['Desk', 'Lamps', 'Lamps/Desk'])
    await apply(address)
    expect(await categoryPaths()).toEqual(['Desk', 'Desk/Small', 'Lamps', 'Lamps/Desk', 'Sale'])
    expect(await Promise.all(['P-1', 'P-2', 'P-3'].map(placementsOf))).toEqual([
      ['Desk', 'Sale'],
      ['Lamps', 'Small'],
      ['Desk', 'Sale'],
    ])
    expect((await all('Manufacturers')).map((one: { ManufacturerName: string }) => one.ManufacturerName)).toEqual([
      'Acme',
      'Brass',
    ])
    const [one] = (await shop.call('GET', '/Products?sku=P-1')).json()
    expect(one.ManufacturerID).toBe(acme)
    // As every change does, it is in the history, by the person who had it made.
    const history = await server.database.db.historyEntry.findMany({
      where: { storeId: shop.store.id, recordType: 'Manufacturer' },
    })
    expect(history.map(({ actor }) => actor)).toContain('merchant@shop.example')
    expect(await madeAt(address)).toEqual(['Made: 2 categories', 'Made: 1 manufacturer'])
  })

  test('of placements replace those that a product has, and the same ones change nothing', async () => {
    const [one, two] = [await add('Category', { CategoryName: 'One' }), await add('Category', { CategoryName: 'Two' })]
    await add('Products', {
      SKUInfo: { SKU: 'P-1', Name: 'P-1' },
      CategoryList: [{ CategoryID: two }, { CategoryID: one }],
    })
    expect(await countsAt(await takeIn('products', fileOf({ sku: 'P-1', categories: 'one@TWO' })))).toEqual([
      'Unchanged (1)',
    ])
    const address = await takeIn('products', fileOf({ sku: 'P-1', categories: 'Two' }))
    expect(await linesAt(address, 'changes')).toEqual([['2', 'P-1', 'Categories: One, Two → Two']])
    await apply(address)
    expect(await placementsOf('P-1')).toEqual(['Two'])
  })

  test('that are wrong are errors of their lines, and make nothing', async () => {
    await add('Category', { CategoryName: 'Twice' })
    await add('Category', { CategoryName: 'Twice' })
    const address = await takeIn(
      'products',
      fileOf(
        { sku: 'P-1', categories: 'Lamps//Desk' },
        { sku: 'P-2', categories: 'Twice/Below' },
        { sku: 'P-3', manufacturer: 'x'.repeat(51) },
        { sku: 'P-4', categories: Array.from({ length: 101 }, (_, n) => `C${n}`).join('@') },
        { sku: 'P-5', categories: Array.from({ length: 21 }, (_, n) => `C${n}`).join('/') },
        { sku: '', manufacturer: 'Of a line without an SKU' },
      ),
    )
    const errors = (await linesAt(address, 'errors')).map(
      ([line, , problem = '']) => `${line} ${problem.replace(/“[^”]*” /, '')}`,
    )
    expect(errors).toEqual([
      '2 Categories has an item without a name, or with U+0000',
      expect.stringMatching(
        /^3 Categories is the name of several Category records, such as \d+ and \d+\. Rename one of them$/,
      ),
      '4 Manufacturer names no Manufacturer of the store, and one cannot be made: ManufacturerName has 51 characters; at most 50 are allowed',
      '5 Categories has 101 items; at most 100 are allowed',
      '6 Categories has an item of more than 20 levels',
      expect.stringMatching(/^7 SKU is required/),
    ])
    expect(await madeAt(address)).toBeUndefined()
  })

  test('are 500 a file; the lines of the next ones are refused', async () => {
    const rows = Array.from({ length: 502 }, (_, n) => ({ sku: `P-${n}`, manufacturer: `M-${Math.min(n, 500)}` }))
    const address = await takeIn('products', fileOf(...rows))
    expect(await countsAt(address)).toEqual(['New (500)', 'Errors (2)'])
    expect((await linesAt(address, 'errors'))[0]?.[2]).toBe(
      'Manufacturer “M-500” names no Manufacturer of the store, and a file makes at most 500 records that it names. Import these lines by another file',
    )
    expect(await madeAt(address)).toEqual(['Will be made: 500 manufacturers'])
    await apply(address)
    expect(await all('Manufacturers')).toHaveLength(500)
    // What is there by now needs no making.
    expect(await madeAt(await takeIn('products', fileOf(...rows)))).toEqual(['Will be made: 1 manufacturer'])
  })

  test('are made once by two files that are applied at once', async () => {
    const rows = Array.from({ length: 30 }, (_, n) => ({
      sku: `P-${n}`,
      manufacturer: `M-${n % 10}`,
      categories: `A/B${n % 3}/C`,
    }))
    const addresses = [await takeIn('products', fileOf(...rows)), await takeIn('products', fileOf(...rows))]
    const { db } = server.database
    const leasedUntil = new Date(server.clock.ms + 60_000)
    await db.csvImport.updateMany({
      where: { storeId: shop.store.id },
      data: { state: 'applying', claim: 1, leasedUntil },
    })
    const runs = addresses.map((address) => runOf(address))
    const numbers = (
      await db.csvImportName.findMany({ where: { importId: runs[0]?.id ?? 0, storeId: shop.store.id } })
    ).map((one) => one.number)
    expect(numbers).toHaveLength(17)
    const [one, other] = await Promise.all(runs.map((run) => makeNames(run, numbers)))
    expect([...(one?.ids ?? [])].toSorted()).toEqual([...(other?.ids ?? [])].toSorted())
    expect(await all('Manufacturers')).toHaveLength(10)
    expect(await categoryPaths()).toEqual(['A', 'A/B0', 'A/B0/C', 'A/B1', 'A/B1/C', 'A/B2', 'A/B2/C'])
  })

  const runOf = (address: string): Run => ({
    caller: shop.caller,
    resource: products,
    id: Number(address.split('/').at(-1)),
    claim: 1,
    source: 'other',
    secrets: server.services.secrets,
    log: server.services.log,
  })

  test('that were made before a kill are not made again', async () => {
    const address = await takeIn('products', fileOf({ sku: 'P-1', manufacturer: 'Acme', categories: 'A/B' }))
    const { db } = server.database
    const applying = { state: 'applying', startedAt: new Date(server.clock.ms), appliedBy: 'merchant@shop.example' }
    const leasedUntil = new Date(server.clock.ms + 60_000)
    await db.csvImport.updateMany({ where: { storeId: shop.store.id }, data: { ...applying, claim: 1, leasedUntil } })
    const names = await db.csvImportName.findMany({ where: { storeId: shop.store.id } })
    // The process makes the names, or some, and is gone.
    await makeNames(
      runOf(address),
      names.filter(({ path }) => path !== 'A/B').map(({ number }) => number),
    )
    expect(await categoryPaths()).toEqual(['A'])
    server.clock.ms += 61_000
    await createCsvImports({ ...server.services, db }).settle()
    expect(await countsAt(address)).toEqual(['Added (1)'])
    expect([await categoryPaths(), (await all('Manufacturers')).length]).toEqual([['A', 'A/B'], 1])
    // One that lost its import makes nothing.
    await expect(makeNames({ ...runOf(address), claim: 0 }, [1])).resolves.toBeDefined()
    await db.csvImportName.updateMany({ where: { storeId: shop.store.id }, data: { recordId: null } })
    await expect(makeNames(runOf(address), [1])).rejects.toThrow('another process continues it')
  })

  test('whose category above is gone by then fail their lines alone', async () => {
    const above = await add('Category', { CategoryName: 'Lamps' })
    const address = await takeIn(
      'products',
      fileOf({ sku: 'P-1', categories: 'Lamps/Desk/Small' }, { sku: 'P-2', categories: 'Sale' }),
    )
    expect((await shop.call('DELETE', `/Category/${above}`)).statusCode).toBe(200)
    await apply(address)
    expect(await countsAt(address)).toEqual(['Added (1)', 'Errors (1)'])
    expect((await linesAt(address, 'errors'))[0]?.[2]).toContain('refers to a record that does not exist')
    expect(await categoryPaths()).toEqual(['Sale'])
  })

  test('are made by those who may add such records, and named to others', async () => {
    const file = fileOf({ sku: 'P-1', manufacturer: 'Acme' })
    const own = {
      Name: 'Prices',
      Privileges: { Products: ['read', 'write'], Manufacturers: ['read'], Category: ['read'] },
    } as const
    const person = await memberIn(server, shop, own)
    const answer = await person.upload('/admin/products/csv', file)
    const refused = String(answer.headers.location)
    expect(wordsOf((await person.open(refused)).body)).toContain('names no Manufacturer of the store, by name')
    const address = await takeIn('products', file)
    const seen = (await person.open(address)).body
    expect(seen).toContain('The file adds manufacturers, which your role may not.')
    expect(seen).not.toContain(`action="${address}/apply"`)
    expect((await person.call('POST', `${address}/apply`)).statusCode).toBe(403)
    await apply(address)
    expect(await all('Manufacturers')).toHaveLength(1)
  })
})
