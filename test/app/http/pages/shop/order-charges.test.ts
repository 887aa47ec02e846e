import { beforeEach, describe, expect, test } from 'vitest'
import { fieldsAt, type TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { alertIn, expectSaved } from './order-fixture.ts'

// The tables of taxes and shipping, and what they propose for orders: by hand, in place of lines, and to programs.

const server = await sharedServer()
let shop: TestStore
let merchant: TestPerson

beforeEach(async () => {
  shop = await server.openStore({
    currency: 'EUR',
    privileges: {
      Checkout: ['read', 'write'],
      Products: ['write'],
      Customers: ['read', 'write'],
      CustomerGroups: ['write'],
      Orders: ['read'],
    },
  })
  merchant = await merchantIn(server, shop.store)
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 60, Stock: 50 }, Weight: 2 })
  await shop.add('/Products', {
    SKUInfo: { SKU: 'BOOK', Name: 'Book', Price: 20, Stock: 50 },
    Weight: 1,
    NonTaxable: true,
  })
})

const page = (name: string) => `/admin/settings/${name}`
const tableOf = (name: string) => merchant.formOf(page(name), page(name))
const send = (name: string, fields: Record<string, string>) =>
  merchant.submit(page(name), fields, { to: page(name), action: page(name) })
const save = async (name: string, changes: Record<string, string>) =>
  send(name, { ...(await tableOf(name)), ...changes })
const saved = (name: string) => `${page(name)}?notice=settings-saved`

const rule = (row: number, Country: string, Rate: string, isIncluded = false, State = '') => ({
  [`country.${row}`]: Country,
  [`state.${row}`]: State,
  [`rate.${row}`]: Rate,
  [`isIncluded.${row}`]: isIncluded ? 'yes' : '',
})
const price = (row: number, Method: string, Country: string, From: string, Price: string, Basis = 'weight') => ({
  [`method.${row}`]: Method,
  [`country.${row}`]: Country,
  [`basis.${row}`]: Basis,
  [`from.${row}`]: From,
  [`price.${row}`]: Price,
})

const germany = () => save('taxes', { ...rule(1, 'DE', '19'), ...rule(2, 'FR', '20', true) })
const parcels = () =>
  save('shipping', { ...price(1, 'Parcel', 'DE', '0', '4.90'), ...price(2, 'Parcel', 'DE', '5', '8.90') })

describe('the tables', () => {
  test('are saved, changed and emptied by row, with an entry in the audit log, in this store alone', async () => {
    expectSaved(await germany(), saved('taxes'))
    expectSaved(
      await save('taxes', { 'rate.2': '7.7', ...rule(3, 'US', '8.875', false, 'New York'), 'remove.1': 'yes' }),
      saved('taxes'),
    )
    expect(await tableOf('taxes')).toMatchObject({
      ...rule(1, 'FR', '7.7', true),
      ...rule(2, 'US', '8.875', false, 'New York'),
      'country.3': '',
    })
    expectSaved(await parcels(), saved('shipping'))
    expect(await tableOf('shipping')).toMatchObject({ 'price.2': '8.9' })
    const entries = (await merchant.call('GET', '/admin/audit?limit=3')).json()
    expect(entries.map(({ Action, Details }: { Action: string; Details: object }) => [Action, Details])).toEqual([
      ['shipping-rates.changed', { rows: 2 }],
      ['tax-rules.changed', { rows: 2 }],
      ['tax-rules.changed', { rows: 2 }],
    ])
    const other = await merchantIn(server, (await server.openStore()).store)
    expect(await other.formOf(page('taxes'), page('taxes'))).toMatchObject({ 'country.1': '' })
  })

  test.each([
    ['taxes', { 'rate.3': '5' }, 400, 'country.3'],
    ['taxes', rule(3, 'AT', '100.1'), 400, 'rate.3'],
    ['taxes', rule(3, 'AT', ''), 400, 'rate.3'],
    ['taxes', rule(3, 'AT', 'much'), 400, 'rate.3'],
    ['taxes', rule(3, 'DE', '7'), 400, 'country.3'],
    ['shipping', price(3, 'parcel', 'DE', '5', '1'), 400, 'from.3'],
    ['shipping', price(3, 'parcel', 'DE', '9', '1', 'amount'), 400, 'from.3'],
    ['shipping', price(3, 'Courier', '', '0', '-1'), 400, 'price.3'],
    ['shipping', price(3, 'Courier', '', '0', '1.005'), 400, 'price.3'],
    ['shipping', price(3, '', 'DE', '0', '1'), 400, 'method.3'],
  ])('of %s refuse %j by row, and keep what they are', async (name, changes, status, field) => {
    await germany()
    await parcels()
    const before = await tableOf(name)
    const answer = await save(name, changes)
    expect([answer.statusCode, alertIn(answer.body)]).toEqual([status, expect.stringContaining(`href="#${field}"`)])
    expect(fieldsAt(answer.body, page(name))).toMatchObject(changes)
    expect({ ...(await tableOf(name)), _csrf: '' }).toEqual({ ...before, _csrf: '' })
  })

  test('are not written over by whoever opened them before another change', async () => {
    const early = await tableOf('taxes')
    await germany()
    const late = await send('taxes', { ...early, ...rule(1, 'AT', '20') })
    expect(late.statusCode).toBe(412)
    expect(fieldsAt(late.body, page('taxes'))).toMatchObject(rule(1, 'DE', '19'))
  })
})

const blank = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '2', BillingEmail: 'guest@shop.example', BillingCountry: 'DE' }
const form = '/admin/orders/new'

/** The form after a round trip, as its next one sends it. */
async function shown(fields: Record<string, string>) {
  const { body } = await merchant.submit(form, fields, { action: '/admin/orders', to: form })
  return { body, fields: fieldsAt(body, '/admin/orders'), from: saidIn(body) }
}
const saidIn = (html: string) => (/id="tax-from"[^>]*>([^<]*)/.exec(html)?.[1] ?? '').replaceAll('\u00A0', ' ')
const place = (fields: Record<string, string>) => merchant.submit(form, fields, { action: '/admin/orders' })
const stored = async (id = 1) => (await shop.call('GET', `/Orders/${id}`)).json()[0]
const statedOf = (id = 1) =>
  server.database.db.order.findFirst({
    where: { storeId: shop.store.id, id },
    select: { taxRate: true, taxIncluded: true, locale: true },
  })

describe('an order by hand', () => {
  test('is proposed tax and shipping, which are seen before they are charged, and keeps the rate', async () => {
    await germany()
    await parcels()
    const { fields, from, body } = await shown(blank)
    expect(fields).toMatchObject({ ShipmentMethodName: 'Parcel', ShipmentCost: '4.9', SalesTax: '23.73' })
    expect(from).toBe('19 % of €124.90, Germany: €23.73')
    expect(body).toContain('€148.63')
    expect((await place(fields)).statusCode).toBe(303)
    expect(await stored()).toMatchObject({
      SalesTax: 23.73,
      OrderAmount: 148.63,
      ShipmentList: [{ ShipmentMethodName: 'Parcel', ShipmentCost: 4.9 }],
    })
    expect(await statedOf()).toMatchObject({ taxRate: { d: [19] }, taxIncluded: false })
    expect((await merchant.open('/admin/orders/1/invoice')).body).toContain('Tax, 19 %')
    await save('taxes', { 'rate.1': '16' })
    for (const sent of [blank, { ...fields, OneTimeKey: 'another' }]) {
      const unseen = await place(sent)
      expect([unseen.statusCode, alertIn(unseen.body)]).toEqual([400, expect.stringContaining('is proposed anew')])
      expect(fieldsAt(unseen.body, '/admin/orders').SalesTax).toBe('19.98')
    }
    expect((await merchant.open('/admin/orders/1')).body).toContain('Tax, 19 %')
  })

  test('follows goods, discount and address, leaves exempt goods out, and keeps what was typed by hand', async () => {
    await germany()
    await parcels()
    const first = await shown({ ...blank, 'ItemID.2': 'BOOK', 'ItemQuantity.2': '2', OrderDiscountPromotion: '10%' })
    // 120 of 160 are taxed: 12 of the discount are theirs, and all of the shipping.
    expect([first.fields.ShipmentCost, first.fields.SalesTax]).toEqual(['8.9', '22.21'])
    const own = await shown({ ...first.fields, SalesTax: '21' })
    expect([own.fields.SalesTax, own.from]).toEqual(['21', expect.stringContaining('by hand')])
    const fewer = await shown({ ...own.fields, 'ItemQuantity.1': '1', ShipmentCost: '' })
    expect([fewer.fields.SalesTax, fewer.fields.ShipmentCost]).toEqual(['21', ''])
    expect((await place(fewer.fields)).statusCode).toBe(303)
    expect(await statedOf()).toMatchObject({ taxRate: null, taxIncluded: false })
    const abroad = await shown({ ...first.fields, BillingCountry: 'AT' })
    expect([abroad.fields.SalesTax, abroad.from.trim()]).toEqual(['', 'No rule for Austria: no tax is added.'])
    expect(abroad.body).toContain('href="/admin/settings/taxes"')
  })

  test('with a tax that prices include adds nothing; invoice, report and credit note say what it contains, whatever its products become', async () => {
    await germany()
    const goods = { 'ItemID.2': 'BOOK', 'ItemQuantity.2': '2' }
    const { fields, from } = await shown({ ...blank, ...goods, BillingCountry: 'FR', ShipmentCost: '5' })
    expect([fields.SalesTax, from]).toEqual(['', 'Tax is included: 20 % of €125.00, France, contain €20.83'])
    expect((await place(fields)).statusCode).toBe(303)
    expect(await stored()).toMatchObject({ SalesTax: 0, OrderAmount: 165 })
    const products = server.database.db.product.updateMany({
      where: { storeId: shop.store.id },
      data: { nonTaxable: true },
    })
    expect((await products).count).toBe(2)
    const containing = (amount: string) => new RegExp(`Contains 20 % VAT</th><td role="cell" class="right">€${amount}<`)
    expect((await merchant.open('/admin/orders/1/invoice')).body).toMatch(containing('20.83'))
    await shop
      .as({ privileges: { Orders: ['write'] } })
      .then((writer) =>
        writer.call('POST', '/Orders/1/Transactions', { body: { TransactionType: 'Refund', TransactionAmount: 33 } }),
      )
    const [{ TransactionIndexID } = { TransactionIndexID: 0 }] = (await shop.call('GET', '/Orders/1/Refunds')).json()
    const note = await merchant.open(`/admin/orders/1/credit-notes/${TransactionIndexID}`)
    expect(note.body).toMatch(containing('4.17'))
    const { body } = await merchant.open('/admin/reports.csv?headings=names&by=rate')
    expect(body).toContain('FR,20,Yes,1,144.17,0.00,20.83,4.17,165.00')
  })

  test('of a customer whose group pays no taxes has none', async () => {
    await germany()
    const CustomerGroupID = await shop.add('/CustomerGroups', { Name: 'Schools', NonTaxable: true })
    const CustomerID = await shop.add('/Customers', {
      Email: 'a@school.example',
      Password: 'x',
      CustomerGroupID,
      BillingCountry: 'DE',
    })
    const { fields, from } = await shown({ ...blank, CustomerID: String(CustomerID) })
    expect([fields.SalesTax, from]).toEqual(['', 'The customer pays no sales tax.'])
    await place(fields)
    expect(await statedOf()).toMatchObject({ taxRate: { d: [0] } })
  })

  test('without tables is placed at once, in the language of its mails, and in a currency without decimals they are rounded to it', async () => {
    expect((await place((await shown({ ...blank, Locale: 'de-CH' })).fields)).statusCode).toBe(303)
    expect(await statedOf()).toMatchObject({ locale: 'de-CH' })
    shop = await server.openStore({ currency: 'JPY' })
    merchant = await merchantIn(server, shop.store)
    await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 415, Stock: 9 } })
    await save('taxes', rule(1, 'JP', '10'))
    expect((await shown({ ...blank, 'ItemQuantity.1': '3', BillingCountry: 'JP' })).fields.SalesTax).toBe('125')
  })
})

test('a change of the goods proposes tax and shipping of the goods as they would be, once somebody has seen them', async () => {
  await germany()
  await parcels()
  await place((await shown(blank)).fields)
  const [line] = (await stored()).OrderItemList
  const lines = '/admin/orders/1/lines'
  const typed = { ...(await merchant.formOf(lines)), [`Line.${line.ItemIndexID}.ItemQuantity`]: '3' }
  const unseen = await merchant.submit(lines, typed)
  expect([unseen.statusCode, alertIn(unseen.body)]).toEqual([400, expect.stringContaining('is proposed anew')])
  const fields = fieldsAt(unseen.body, lines)
  expect(fields).toMatchObject({ 'Shipment.0.ShipmentCost': '8.9', SalesTax: '35.89' })
  expect(saidIn(unseen.body)).toBe('19 % of €188.90, Germany: €35.89')
  expectSaved(await merchant.submit(lines, fields), '/admin/orders/1?notice=record-saved')
  expect(await stored()).toMatchObject({ OrderAmount: 224.79, SalesTax: 35.89, ShipmentList: [{ ShipmentCost: 8.9 }] })
  const own = { ...(await merchant.formOf(lines)), [`Line.${line.ItemIndexID}.ItemQuantity`]: '4', SalesTax: '1' }
  expectSaved(await merchant.submit(lines, own), '/admin/orders/1?notice=record-saved')
  expect([(await stored()).SalesTax, await statedOf()]).toEqual([
    1,
    { taxRate: null, taxIncluded: false, locale: null },
  ])
})

test('a quote proposes both to a program, and Checkout keeps the rate and the language that are stated', async () => {
  const body = {
    BillingEmail: 'a@b.example',
    BillingCountry: 'de',
    ShipmentList: [{ ShipmentCost: 4.9 }],
    OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 2 }],
  }
  const quote = async (more: object = {}) =>
    (await shop.call('POST', '/Checkout/Quote', { body: { ...body, ...more } })).json()[0]
  const without = await quote()
  expect([without.ShippingMethods, 'TaxProposal' in without]).toEqual([[], false])
  await germany()
  await parcels()
  expect(await quote()).toEqual({
    ...without,
    TaxProposal: { TaxRate: 19, TaxIncluded: false, TaxAmount: 23.73 },
    ShippingMethods: [{ ShipmentMethodName: 'Parcel', ShipmentCost: 4.9 }],
  })
  expect((await quote({ ShipmentList: [{ ShipmentCountry: 'FR' }] })).TaxProposal).toEqual({
    TaxRate: 20,
    TaxIncluded: true,
    TaxAmount: 20,
  })
  const order = (more: object, key: string) =>
    shop.call('POST', '/Checkout', { body: { ...body, ...more }, headers: { 'idempotency-key': key } })
  expect((await order({ TaxRate: 100.01 }, 'a')).statusCode).toBe(400)
  const unknown = await order({ Locale: 'fr-FR' }, 'a')
  expect([unknown.statusCode, unknown.body]).toEqual([400, expect.stringContaining('must be en-US or en-GB or de-DE')])
  const placed = await order({ TaxRate: 19, TaxIncluded: true, SalesTax: 1, Locale: 'de-AT' }, 'b')
  expect(placed.json()).toMatchObject([{ OrderAmount: 125.9 }])
  const id = Number(placed.json()[0].Value)
  expect(await statedOf(id)).toMatchObject({ taxRate: { d: [19] }, taxIncluded: true, locale: 'de-AT' })
  for (const name of ['TaxRate', 'Locale']) expect(await stored(id)).not.toHaveProperty(name)
})
