import { beforeEach, describe, expect, test } from 'vitest'
import { fieldsAt, type TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from '../shop/merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson
let lamp: number
let alder: number

withMerchant((scene) => ({ server, shop, merchant } = scene))
beforeEach(async () => {
  alder = await add('Manufacturers', { ManufacturerName: 'Alder & Finch' })
  lamp = await add('Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp' } })
})

const add = (service: string, body: object) => shop.add(`/${service}`, body)

async function product() {
  return (await shop.call('GET', `/Products/${lamp}`)).json()[0]
}

const edit = (section: string) => `/admin/products/${lamp}/edit?section=${section}`
const rows = (section: string) => edit(section).replace('?', '/rows?')
const choicesIn = (body: string) =>
  [...body.matchAll(/<input type="radio" name="[^"]*\.choice" value="(\d+)"> ([^<]*)</g)].map(([, id, text]) => [
    Number(id),
    text?.trim(),
  ])

describe('a field that names a record', () => {
  const save = async (fields: Record<string, string>) =>
    merchant.submit(edit('name-and-visibility'), {
      ...(await merchant.formOf(edit('name-and-visibility'))),
      ...fields,
    })

  test('takes a part of a name, or a SKU, that one record fits', async () => {
    await add('Manufacturers', { ManufacturerName: 'Birch' })
    expect((await save({ ManufacturerID: ' alder ' })).statusCode).toBe(303)
    expect(await product()).toMatchObject({ ManufacturerID: alder })

    const bulb = await add('Products', { SKUInfo: { SKU: 'BULB', Name: 'Light bulb' } })
    const related = edit('related-products')
    const form = await merchant.formOf(related)
    await merchant.submit(related, { ...form, 'RelatedProductList.0.RelatedProductID': 'bulb' })
    expect(await product()).toMatchObject({ RelatedProductList: [{ RelatedProductID: bulb }] })
  })

  test('shows the records that its words fit, and takes the one that is chosen', async () => {
    const other = await add('Manufacturers', { ManufacturerName: 'Alder Lamps' })
    const form = await merchant.formOf(edit('name-and-visibility'))
    const typed = { ...form, ManufacturerID: 'ald', 'SKUInfo.Name': 'typed' }
    const { statusCode, body } = await merchant.submit(
      edit('name-and-visibility'),
      { ...typed, lookup: 'ManufacturerID' },
      { to: rows('name-and-visibility') },
    )
    expect(statusCode).toBe(200)
    expect(choicesIn(body)).toEqual([
      [other, `${other} Alder Lamps`],
      [alder, `${alder} Alder &amp; Finch`],
    ])
    expect(fieldsAt(body, edit('name-and-visibility'))).toMatchObject({
      ManufacturerID: 'ald',
      'SKUInfo.Name': 'typed',
    })
    expect(await product()).toMatchObject({ ManufacturerID: 0, SKUInfo: { Name: 'Lamp' } })

    await merchant.submit(edit('name-and-visibility'), { ...typed, 'ManufacturerID.choice': String(other) })
    expect(await product()).toMatchObject({ ManufacturerID: other, SKUInfo: { Name: 'typed' } })
  })

  test('refuses words that none or several fit, and changes nothing', async () => {
    await add('Manufacturers', { ManufacturerName: 'Alder Lamps' })
    const none = await save({ ManufacturerID: 'Birch', 'SKUInfo.Name': 'typed' })
    expect([none.statusCode, none.body.includes('names no record that exists')]).toEqual([400, true])
    const several = await save({ ManufacturerID: 'alder', 'SKUInfo.Name': 'typed' })
    expect([several.statusCode, several.body.includes('fits several records')]).toEqual([400, true])
    expect(choicesIn(several.body)).toHaveLength(2)
    expect(await product()).toMatchObject({ ManufacturerID: 0, SKUInfo: { Name: 'Lamp' } })
  })

  test.each(['2147483648', '4294967296', '9223372036854775807'])('refuses %s, which no record can have', async (id) => {
    expect((await save({ ManufacturerID: id })).statusCode).toBe(400)
    const looked = await merchant.submit(
      edit('name-and-visibility'),
      { ManufacturerID: id, lookup: 'ManufacturerID' },
      { to: rows('name-and-visibility') },
    )
    expect(looked.statusCode).toBe(200)
    const added = await merchant.submit('/admin/products/new', { ManufacturerID: id }, { action: '/admin/products' })
    expect(added.statusCode).toBe(400)
  })

  test('looks a number up too, where a SKU is one', async () => {
    const bulb = await add('Products', { SKUInfo: { SKU: String(lamp), Name: 'Bulb' } })
    const { body } = await merchant.submit(
      edit('related-products'),
      { 'RelatedProductList.0.RelatedProductID': String(lamp), lookup: 'RelatedProductList.0.RelatedProductID' },
      { to: rows('related-products') },
    )
    expect(choicesIn(body).map(([id]) => id)).toEqual([lamp, bulb])
  })

  test('of a new record is looked up as well', async () => {
    const { body } = await merchant.submit(
      '/admin/products/new',
      { 'SKUInfo.SKU': 'NEW', ManufacturerID: 'finch', lookup: 'ManufacturerID' },
      { action: '/admin/products', to: '/admin/products/new' },
    )
    expect(fieldsAt(body, '/admin/products')).toMatchObject({ 'SKUInfo.SKU': 'NEW', ManufacturerID: String(alder) })
    expect(body).toContain('Alder &amp; Finch')
  })

  test('has the name of the record, in pages and lists in place of its number, and in forms beside it', async () => {
    const category = await add('Category', { CategoryName: 'Desk lamps' })
    const body = { ManufacturerID: alder, CategoryList: [{ CategoryID: category }] }
    await shop.call('PUT', `/Products/${lamp}`, { body })
    const named = `<a href="/admin/manufacturers/${alder}"><bdi>Alder &amp; Finch</bdi></a>`
    expect((await merchant.open(`/admin/products/${lamp}`)).body).toContain(named)
    expect((await merchant.open('/admin/products?columns=SKUInfo.SKU&columns=ManufacturerID')).body).toContain(named)
    expect((await merchant.open(edit('name-and-visibility'))).body).toContain('>Alder &amp; Finch</small>')
    expect((await merchant.open(edit('categories'))).body).toContain(' <bdi>Desk lamps</bdi></legend>')
  })
})

describe('suggestions', () => {
  const ask = async (service: string, q: string) => {
    const answer = await merchant.call('GET', `/admin/${service}/search?${new URLSearchParams({ q })}`)
    return [answer.statusCode, answer.json()]
  }

  test('are records by number, whole text or part of a name, without those of another store', async () => {
    const found = [200, [{ ID: lamp, Name: 'LAMP · Lamp' }]]
    for (const q of [String(lamp), 'lamp', 'Lam', 'am']) expect(await ask('products', q), q).toEqual(found)
    expect(await ask('products', 'bulb')).toEqual([200, []])
    const ada = await add('Customers', { Email: 'ada@shop.example', Password: 'x', BillingLastName: 'Lovelace' })
    expect(await ask('customers', 'love')).toEqual([200, [{ ID: ada, Name: 'Lovelace · ada@shop.example' }]])
    const vip = await add('CustomerGroups', { Name: 'VIP' })
    expect(await ask('customergroups', 'vi')).toEqual([200, [{ ID: vip, Name: 'VIP' }]])
    const other = await merchantIn(server, (await server.openStore()).store)
    expect((await other.call('GET', '/admin/products/search?q=lamp')).json()).toEqual([])
  })

  test('are twenty at most, and of a short text', async () => {
    for (let n = 0; n < 25; n++) await add('Category', { CategoryName: `Lamps ${n}` })
    expect((await ask('category', 'lamps'))[1]).toHaveLength(20)
    expect((await ask('category', 'x'.repeat(256)))[0]).toBe(400)
    expect(await ask('category', '%_\\')).toEqual([200, []])
    expect(await ask('category', 'a\0')).toEqual([200, []])
  })

  test('of two letters inside a word are looked for among the newest thousand, longer ones by an index', async () => {
    await server.services.db.$executeRaw`
      INSERT INTO "SearchText" SELECT ${shop.store.id}, 'Products', n, 0, 0, ' other ' FROM generate_series(1001, 2000) n`
    expect(await ask('products', 'am')).toEqual([200, []])
    expect(await ask('products', 'lam')).toEqual([200, [{ ID: lamp, Name: 'LAMP · Lamp' }]])
  })

  test('that many records have are looked for among the newest until there are enough, else by an index', async () => {
    const add = (from: number, to: number) => server.services.db.$executeRaw`
      INSERT INTO "SearchText" SELECT ${shop.store.id}, 'Products', n, 0, 0, ' lamp ' FROM generate_series(${from}::int, ${to}::int) n`
    const list = async () => (await merchant.open('/admin/products?find=lam')).body
    await add(1001, 10_900)
    expect(await list()).toContain(`/admin/products/${lamp}"`)
    await add(10_901, 11_000)
    expect(await list()).toContain('No products fit')
  })
})

describe('an amount', () => {
  test('has the decimals and the sign of the currency on pages, and is in a form and a file as it is stored', async () => {
    const Cost = 9.1234
    await shop.call('PUT', `/Products/${lamp}`, { body: { SKUInfo: { Price: 10, SalePrice: 9.5, Cost }, Weight: 2 } })
    const { body } = await merchant.open(`/admin/products/${lamp}`)
    for (const amount of ['$10.00', '$9.50', '$9.1234', '>2</dd>']) expect(body).toContain(amount)
    expect((await merchant.open('/admin/products?columns=SKUInfo.SKU&columns=SKUInfo.Price')).body).toContain('$10.00')
    expect(await merchant.formOf(edit('prices'))).toMatchObject({
      'SKUInfo.Price': '10',
      'SKUInfo.Cost': '9.1234',
    })
    expect((await merchant.open('/admin/products/export?format=csv')).body).not.toContain('$')
  })
})
