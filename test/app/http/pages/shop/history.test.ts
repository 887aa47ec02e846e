import { expect, test } from 'vitest'
import { operatorCaller } from '../../../../../src/access/stores/caller-store.ts'
import { createRecord, deleteRecord, updateRecord } from '../../../../../src/engine/changing/change.ts'
import { historySweep } from '../../../../../src/engine/recording/history.ts'
import { customers } from '../../../../../src/shop/resources/customers/customers.ts'
import { manufacturers } from '../../../../../src/shop/resources/manufacturers/manufacturers.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { textOf } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from './merchant-fixture.ts'

// Who changed which fields of a record, on its page.

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant((scene) => ({ server, shop, merchant } = scene))

async function call(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<number> {
  const answer = await shop.call(method, path, body && { body })
  expect(answer.statusCode, answer.body).toBeLessThan(300)
  return Number(answer.json()[0].Value)
}

/** The changes on a page, newest first: what was changed, and by whom. */
async function historyOn(address: string): Promise<string[]> {
  const { statusCode, body } = await merchant.open(address)
  expect(statusCode).toBe(200)
  const table = /<div class="wide" role="region" aria-label="History[\s\S]*?<\/table>/.exec(body)?.[0] ?? ''
  return [
    ...table.matchAll(/data-label="What">([\s\S]*?)<\/td>\s*<td role="cell" data-label="Who">([\s\S]*?)<\/td>/g),
  ].map(([, what = '', who = '']) => `${textOf(what)} | ${textOf(who)}`)
}

test('says what an application changed, with what was there before, in its transaction', async () => {
  const id = await call('POST', '/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 10 } })
  await call('PUT', `/Products/${id}`, { SKUInfo: { Price: 12.5 }, Weight: 2, NonSearchable: true })
  expect(await historyOn(`/admin/products/${id}`)).toEqual([
    expect.stringMatching(
      /^Price: \$10.00 → \$12.50 Left out of the search: No → Yes Weight: 0 → 2 Put back… \| Application /,
    ),
    expect.stringMatching(/^Added \| Application /),
  ])
})

test('a change that changes nothing, and one that is refused, leave no trace', async () => {
  const id = await call('POST', '/Manufacturers', { ManufacturerName: 'Ada' })
  await call('PUT', `/Manufacturers/${id}`, { ManufacturerName: 'Ada' })
  const refused = await shop.call('PUT', `/Manufacturers/${id}`, { body: { ManufacturerName: '' } })
  expect(refused.statusCode).toBe(400)
  expect(await historyOn(`/admin/manufacturers/${id}`)).toHaveLength(1)
})

test('a stock is told by its ledger alone, and what is changed with it by the history', async () => {
  const id = await call('POST', '/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Stock: 1 } })
  await call('PUT', `/Products/${id}`, { SKUInfo: { Stock: 2 } })
  expect(await historyOn(`/admin/products/${id}`)).toHaveLength(1)
  await call('PUT', `/Products/${id}`, { SKUInfo: { Stock: 3, Name: 'Desk lamp' } })
  const [changed] = await historyOn(`/admin/products/${id}`)
  expect(changed).toMatch(/^Name: Lamp → Desk lamp Put back… \| /)
})

test('items of a list are told one by one', async () => {
  const id = await call('POST', '/Products', {
    SKUInfo: { SKU: 'LAMP', Name: 'Lamp' },
    FeatureList: [{ FeatureTitle: 'Bright' }, { FeatureTitle: 'Small' }],
  })
  const { FeatureList: features } = (await shop.call('GET', `/Products/${id}`)).json()[0]
  const [bright] = features.map(({ FeatureID }: { FeatureID: number }) => FeatureID)
  await call('PUT', `/Products/${id}`, {
    FeatureList: [{ FeatureID: bright, FeatureTitle: 'Very bright' }, { FeatureTitle: 'Cheap' }],
  })
  const [changed] = await historyOn(`/admin/products/${id}`)
  expect(changed).toContain(`Feature ${bright}: Title: Bright → Very bright`)
  expect(changed).toContain('Feature Cheap: added')
  expect(changed).toContain('Feature Small: removed')
})

test('what changes refer to is called by its name', async () => {
  const category = await call('POST', '/Category', { CategoryName: 'Desk lamps' })
  const other = await call('POST', '/Category', { CategoryName: 'Garden' })
  const id = await call('POST', '/Products', {
    SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 9.99 },
    CategoryList: [{ CategoryID: other }],
  })
  await call('PUT', `/Products/${id}`, { SKUInfo: { Price: 12 }, CategoryList: [{ CategoryID: category }] })
  const [changed] = await historyOn(`/admin/products/${id}`)
  expect(changed).toContain('Price: $9.99 → $12.00')
  expect(changed).toContain('Category Desk lamps: added')
  expect(changed).toContain('Category Garden: removed')
  const { body } = await merchant.open(`/admin/products/${id}/history`)
  expect(body).toContain('<h1>History of LAMP · Lamp</h1>')
  expect((await merchant.open('/admin/history')).body).toContain(
    `<a href="/admin/products/${id}"><bdi>LAMP · Lamp</bdi></a>`,
  )
})

test('says who: a merchant, the operator, cartAPI; of a password only that it changed', async () => {
  const id = await call('POST', '/Customers', { Email: 'ada@shop.example', Password: 'first-secret' })
  const form = `/admin/customers/${id}/edit?section=account`
  await merchant.submit(form, { ...(await merchant.formOf(form)), Password: 'second-secret' })
  await updateRecord(await operatorCaller(server.services, shop.store.id), customers, id, { BillingCity: 'Paris' })
  const found = await historyOn(`/admin/customers/${id}`)
  expect(found[0]).toBe('Billing city: nothing → Paris Put back… | The operator')
  expect(found[1]).toMatch(/^Password hash: changed \| .*@/)
  expect((await merchant.open(`/admin/customers/${id}`)).body).not.toMatch(/secret|argon2/)
})

test('a deleted record keeps its history, and what named it tells that it no longer does', async () => {
  const maker = await call('POST', '/Manufacturers', { ManufacturerName: 'Ada' })
  const id = await call('POST', '/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp' }, ManufacturerID: maker })
  await call('DELETE', `/Manufacturers/${maker}`)
  expect((await merchant.open(`/admin/manufacturers/${maker}`)).statusCode).toBe(404)
  const [deleted, added] = await historyOn(`/admin/manufacturers/${maker}/history`)
  expect(deleted).toMatch(/^Deleted; it was: Name: Ada \| Application /)
  expect(added).toMatch(/^Added/)
  const [cleared] = await historyOn(`/admin/products/${id}`)
  expect(cleared).toMatch(new RegExp(`^Manufacturer: ${maker} → nothing Put back… \\|`))
})

test('pages go back to the beginning, and another store sees nothing of it', async () => {
  const caller = await operatorCaller(server.services, shop.store.id)
  const id = await createRecord(caller, manufacturers, { ManufacturerName: 'Name 0' })
  for (let n = 1; n <= 55; n++) await updateRecord(caller, manufacturers, id, { ManufacturerName: `Name ${n}` })
  const address = `/admin/manufacturers/${id}/history`
  const first = await historyOn(address)
  const { body } = await merchant.open(address)
  const older = /<a href="([^"]*)" rel="next">Older/.exec(body)?.[1] ?? ''
  const all = [...first, ...(await historyOn(older))]
  expect(all).toHaveLength(56)
  expect(all[0]).toContain('Name: Name 54 → Name 55')
  expect(all.at(-1)).toContain('Added')
  const other = await merchantIn(server, (await server.openStore()).store)
  expect((await other.open(address)).statusCode).toBe(404)
  expect((await other.open('/admin/history')).body).toContain('Nothing is here yet.')
})

test("the store's history is found by service and by who, and bad filters are refused", async () => {
  const caller = await operatorCaller(server.services, shop.store.id)
  const id = await createRecord(caller, manufacturers, { ManufacturerName: 'Ada' })
  await deleteRecord(caller, manufacturers, id)
  await call('POST', '/Customers', { Email: 'ada@shop.example', Password: 'secret' })
  expect(await historyOn('/admin/history')).toHaveLength(3)
  expect(await historyOn('/admin/history?of=Manufacturers')).toHaveLength(2)
  expect(await historyOn('/admin/history?by=OPERATOR')).toHaveLength(2)
  expect(await historyOn('/admin/history?of=Customers&by=operator')).toHaveLength(0)
  for (const query of ['of=Lamps', 'before=-1', 'before=1e9']) {
    expect((await merchant.open(`/admin/history?${query}`)).statusCode, query).toBe(400)
  }
})

test('what is older than its days is deleted, and the newer stays', async () => {
  const caller = await operatorCaller(server.services, shop.store.id)
  const id = await createRecord(caller, manufacturers, { ManufacturerName: 'Ada' })
  const later = { db: server.services.db, now: () => new Date(server.services.now().getTime() + 3 * 86_400_000) }
  await updateRecord({ ...caller, now: later.now }, manufacturers, id, { ManufacturerName: 'Bea' })
  await historySweep(later, null)(() => false)
  expect(await historyOn(`/admin/manufacturers/${id}`)).toHaveLength(2)
  await historySweep(later, 2)(() => false)
  expect(await historyOn(`/admin/manufacturers/${id}`)).toEqual([expect.stringContaining('Name: Ada → Bea')])
})

test('what one request has changed is one line, by the names of the records, and opens to each', async () => {
  const ids = []
  for (const [SKU, Name] of [
    ['LINEN', 'Émile Linen Throw'],
    ['WOOL', 'Wool Throw'],
  ] as const) {
    ids.push(await call('POST', '/Products', { SKUInfo: { SKU, Name, Price: 9.99 } }))
  }
  const maker = await call('POST', '/Manufacturers', { ManufacturerName: 'Acme' })
  const body = ids.map((CatalogID) => ({ SKUInfo: { CatalogID, Price: 12 } }))
  expect((await shop.call('PUT', '/Products', { body })).statusCode).toBe(200)
  await call('PUT', `/Products/${ids[0]}`, { ManufacturerID: maker })
  const lines = await historyOn('/admin/history')
  expect(lines.slice(0, 2)).toEqual([
    expect.stringMatching(/^LINEN · Émile Linen Throw Manufacturer: nothing → Acme Put back… \| Application /),
    expect.stringMatching(/^Changed 2 products: Price · Show each \| Application /),
  ])
  expect(lines).toHaveLength(5)
  const { body: page } = await merchant.open('/admin/history')
  const each = /<a href="([^"]+)">Show each/.exec(page)?.[1] ?? ''
  expect(await historyOn(each)).toEqual([
    expect.stringMatching(/^Price: \$9.99 → \$12.00 Put back… \|/),
    expect.stringMatching(/^Price: \$9.99 → \$12.00 Put back… \|/),
  ])
})

test('is found by day and by field, and what an import has changed is one line', async () => {
  const ids = []
  for (let n = 1; n <= 3; n++)
    ids.push(await call('POST', '/Products', { SKUInfo: { SKU: `P-${n}`, Name: `Lamp ${n}` } }))
  const first = new Date(server.clock.ms).toISOString().slice(0, 10)
  server.clock.ms += 3 * 24 * 60 * 60 * 1_000
  merchant = await merchantIn(server, shop.store)
  const later = new Date(server.clock.ms).toISOString().slice(0, 10)
  const { headers } = await merchant.upload(
    '/admin/products/csv',
    'SKUInfo.SKU,SKUInfo.Name,SKUInfo.Price\nP-1,Lamp 1,5\nP-2,Lamp 2,5\nP-9,New,5\n',
  )
  const file = String(headers.location)
  await merchant.submit(file, {}, { action: `${file}/apply` })
  await server.services.csvImports.settle()
  server.clock.ms += 60_000
  await call('PUT', `/Products/${ids[2]}`, { SKUInfo: { Price: 7 }, Hide: true })
  const found = (query: string) => historyOn(`/admin/history?${query}`)
  expect(await found(`from=${later}`)).toEqual([
    expect.stringContaining('Price: $0.00 → $7.00'),
    expect.stringMatching(
      /^(Added 1 product, Changed 2 products|Changed 2 products, Added 1 product): Price · Show each \| merchant@/,
    ),
  ])
  expect(await found(`to=${first}`)).toHaveLength(3)
  expect(await found(`from=${later}&to=${first}`)).toHaveLength(0)
  expect(await found('of=Products&field=Hide')).toHaveLength(1)
  expect(await found('of=Products&field=SKUInfo.Price')).toHaveLength(2)
  expect(await found('of=Products&field=CategoryList')).toHaveLength(0)
  for (const query of ['from=2026-02-30x', 'to=yesterday', 'field=Hide', 'of=Products&field=Nothing', 'change=x']) {
    expect((await merchant.open(`/admin/history?${query}`)).statusCode, query).toBe(400)
  }
  expect((await merchant.open('/admin/history?change=999999')).statusCode).toBe(404)
})

test('a change that is stored whole is put back from its line, and one that was cut is not', async () => {
  const id = await call('POST', '/Products', {
    SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 5 },
    ShortDescription: 'x'.repeat(201),
  })
  await call('PUT', `/Products/${id}`, { SKUInfo: { Price: 6, Name: 'Desk lamp' } })
  await call('PUT', `/Products/${id}`, { ShortDescription: 'short' })
  const address = `/admin/products/${id}/history`
  const { body } = await merchant.open(address)
  const [action = '', ...others] = [...body.matchAll(/action="([^"]+\/back)"/g)].map(([, to = '']) => to)
  expect(others).toEqual([])
  const { headers } = await merchant.submit(address, {}, { action })
  const preview = String(headers.location)
  expect(textOf((await merchant.open(preview)).body)).toContain('Name: Desk lamp → Lamp Price: $6.00 → $5.00')
  await merchant.submit(preview, {}, { action: `${preview}/apply` })
  await server.services.csvImports.settle()
  const [{ SKUInfo }] = (await shop.call('GET', `/Products/${id}`)).json()
  expect(SKUInfo).toMatchObject({ Name: 'Lamp', Price: 5 })
  const cut = await server.database.db.historyEntry.findFirstOrThrow({
    where: { storeId: shop.store.id, recordId: id, kind: 'update' },
    orderBy: { id: 'desc' },
    skip: 1,
  })
  const refused = await merchant.submit(address, {}, { action, to: `/admin/products/${id}/history/${cut.id}/back` })
  expect([refused.statusCode, refused.body.includes('has not kept everything')]).toEqual([409, true])
})

test('a change of HTML is told by its words, with the source behind them', async () => {
  const long = `<p>${'Made of oak. '.repeat(8)}</p>`
  const id = await call('POST', '/Products', {
    SKUInfo: { SKU: 'DESK', Name: 'Desk' },
    Description: `${long}<p>Six legs.</p>`,
  })
  await call('PUT', `/Products/${id}`, { Description: `${long}<p>Four <b>strong</b> legs.</p>` })
  await call('PUT', `/Products/${id}`, { Description: `${long}<p>Four strong legs.</p>` })
  await call('PUT', `/Products/${id}`, { Description: `${long.repeat(3)}<p>One.</p>` })
  await call('PUT', `/Products/${id}`, { Description: `${long.repeat(3)}<p>Two.</p>` })
  const [cut = '', , looks = '', words = ''] = await historyOn(`/admin/products/${id}/history`)
  expect(cut).toContain('Description: changed')
  expect(looks).toContain('Description: only how it looks was changed')
  expect(words.length).toBeLessThan(1_500)
  expect(words).toMatch(/Description: … [^<]*Six legs\. → … [^<]*Four strong legs\. Source/)
})
