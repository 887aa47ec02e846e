import { expect, test } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant(async (scene) => {
  ;({ server, shop, merchant } = scene)
  for (const [SKU, Price] of [
    ['LAMP', 42.5],
    ['CUP', 5],
  ]) {
    await shop.call('POST', '/Products', { body: { SKUInfo: { SKU, Name: `A ${SKU}`, Price, Stock: 500 } } })
  }
})

function place(fields: Record<string, string> = {}) {
  const order = {
    'ItemID.1': 'LAMP',
    'ItemQuantity.1': '3',
    'ItemID.2': 'CUP',
    'ItemQuantity.2': '2',
    BillingEmail: 'ada@shop.example',
    BillingFirstName: 'Ada',
    BillingCity: 'London',
    ShipmentMethodName: 'Ground',
    ShipmentCost: '6.5',
    SalesTax: '1.25',
    OrderDiscountPromotion: '2',
    CustomerComments: 'Ring <twice>',
  }
  return merchant.submit('/admin/orders/new', { ...order, ...fields }, { action: '/admin/orders' })
}

const sheets = (body: string) => body.split('<article').slice(1)

test('a packing slip has goods and no prices, the address and what the customer said', async () => {
  await place()
  const { statusCode, body } = await merchant.open('/admin/orders/1/packing-slip')
  expect(statusCode).toBe(200)
  const [sheet = ''] = sheets(body)
  for (const text of ['Packing slip AB-1000', 'LAMP', 'A CUP', 'Ada', 'London', 'Ground', 'Ring &lt;twice&gt;']) {
    expect(sheet).toContain(text)
  }
  expect(sheet).not.toContain('$')
  expect(body).toContain('href="/admin/orders/1"')
  expect(body).toMatch(/<button [^>]*data-print hidden/)
  expect(body).not.toContain('aria-label="Main menu"')
})

test('a packing slip of one shipment has its lines and address alone', async () => {
  await place()
  const [order] = (await shop.call('GET', '/Orders/1')).json()
  const [first, ...items] = order.OrderItemList
  const ShipmentList = [
    { ...order.ShipmentList[0], ShipmentFirstName: 'Ada' },
    { ShipmentFirstName: 'Bob', ShipmentCity: 'Paris' },
  ]
  await shop.call('PUT', '/Orders/1', { body: { ShipmentList } })
  const [{ ShipmentList: shipments }] = (await shop.call('GET', '/Orders/1')).json()
  const [one, other] = shipments.map(({ ShipmentID }: { ShipmentID: number }) => ShipmentID)
  const OrderItemList = [
    { ...first, ItemShipmentID: one },
    { ...items[0], ItemShipmentID: other },
  ]
  expect((await shop.call('PUT', '/Orders/1', { body: { OrderItemList } })).statusCode).toBe(200)

  const { body: both } = await merchant.open('/admin/orders/1/packing-slip')
  expect(both).toContain('Parcel 2 of 2')
  expect([both.includes('Paris'), both.includes('London')]).toEqual([true, true])
  const { body } = await merchant.open(`/admin/orders/1/packing-slip?shipment=${other}`)
  // What goes to somebody else is not told.
  expect([body.includes('Parcel 2 of 2'), body.includes('Follows later')]).toEqual([true, false])
  expect([body.includes('CUP'), body.includes('LAMP')]).toEqual([true, false])
  expect([body.includes('Paris'), body.includes('London')]).toEqual([true, false])
  for (const shipment of ['0', '99', 'x']) {
    expect((await merchant.open(`/admin/orders/1/packing-slip?shipment=${shipment}`)).statusCode).toBe(404)
  }
})

test('a packing slip has its lines by where they lie, those without a bin last, and says nothing of bins where there are none', async () => {
  await place()
  expect((await merchant.open('/admin/orders/1/packing-slip')).body).not.toContain('Bin')
  for (const [SKU, bin] of Object.entries({ A2: '2', A10: '10', A1: '1' })) {
    const stored = { WarehouseLocation: 'Hall', WarehouseAisle: 'A', WarehouseBin: bin }
    await shop.add('/Products', { SKUInfo: { SKU, Name: SKU, Price: 1, Stock: 9 }, ...stored })
  }
  await shop.placeOrder(['A10', 'CUP', 'A2', 'A1'].map((ItemID) => ({ ItemID, ItemQuantity: 1 })))
  const { body } = await merchant.open('/admin/orders/2/packing-slip')
  expect([...body.matchAll(/data-label="Bin">([^<]*)/g)].map(([, bin]) => bin)).toEqual([
    'Hall · A · 1',
    'Hall · A · 2',
    'Hall · A · 10',
    '–',
  ])
})

test('each slip has the number of its order as a barcode, where a scanner has characters for it', async () => {
  await place()
  await place()
  const { db } = server.database
  await db.order.updateMany({ where: { storeId: shop.store.id, id: 2 }, data: { invoicePrefix: 'Ä-' } })
  for (const kind of ['invoice', 'packing-slip']) {
    const { body } = await merchant.open(`/admin/orders/slips?ids=1,2&kind=${kind}`)
    expect(sheets(body).map((sheet) => sheet.includes('<svg '))).toEqual([true, false])
  }
  expect((await merchant.open('/admin/search?q=AB-1000')).body).toContain('/admin/orders/1"')
})

test('a slip of a parcel says which it is, and what follows later', async () => {
  await place()
  const [order] = (await shop.call('GET', '/Orders/1')).json()
  const [lamps, cups] = order.OrderItemList
  const page = '/admin/orders/1/shipments/0'
  const sent = {
    ...(await merchant.formOf(page)),
    [`Quantity.${lamps.ItemIndexID}`]: '2',
    [`Quantity.${cups.ItemIndexID}`]: '0',
  }
  expect((await merchant.submit(page, sent)).statusCode).toBe(303)
  const [rest, gone] = (await shop.call('GET', '/Orders/1')).json()[0].ShipmentList

  const [slip = ''] = sheets((await merchant.open(`/admin/orders/1/packing-slip?shipment=${gone.ShipmentID}`)).body)
  expect(slip).toMatch(/Parcel 1 of 2[\s\S]*LAMP[\s\S]*>2<[\s\S]*Follows later[\s\S]*1 × A LAMP[\s\S]*2 × A CUP/)
  const [last = ''] = sheets((await merchant.open(`/admin/orders/1/packing-slip?shipment=${rest.ShipmentID}`)).body)
  expect(last).toMatch(/Parcel 2 of 2[\s\S]*LAMP[\s\S]*CUP/)
  expect(last).not.toContain('Follows later')
  const whole = (await merchant.open('/admin/orders/1/packing-slip')).body
  expect(whole).toMatch(/Parcel 1 of 2[\s\S]*Parcel 2 of 2/)
  expect(whole).not.toContain('Follows later')
  const several = (await merchant.open('/admin/orders/slips?ids=1&kind=packing-slip')).body
  expect(sheets(several)[0]).toMatch(/Parcel 1 of 2[\s\S]*Parcel 2 of 2/)
})

test('an invoice has prices, sums and the payments that are recorded', async () => {
  await place()
  const paid = { TransactionType: 'Sale', TransactionMethod: 'Card', TransactionAmount: 143.25, TransactionID: 'T-7' }
  expect((await shop.call('PUT', '/Orders/1', { body: { TransactionList: [paid] } })).statusCode).toBe(200)
  const [sheet = ''] = sheets((await merchant.open('/admin/orders/1/invoice')).body)
  for (const text of ['Invoice AB-1000', '$42.50', '$127.50', '$137.50', '-$2.00', '$6.50', '$1.25', '$143.25']) {
    expect(sheet).toContain(text)
  }
  expect(sheet).toMatch(/Payments[\s\S]*Payment[\s\S]*Card[\s\S]*T-7[\s\S]*\$143\.25/)
})

test('several orders are a sheet each, in the order asked for', async () => {
  for (let count = 0; count < 3; count++) await place()
  const { body } = await merchant.open('/admin/orders/slips?ids=3,1&kind=invoice')
  expect(sheets(body).map((sheet) => /AB-\d+/.exec(sheet)?.[0])).toEqual(['AB-1002', 'AB-1000'])
  const { body: repeated } = await merchant.open('/admin/orders/slips?ids=1&ids=2&kind=packing-slip')
  expect(sheets(repeated)).toHaveLength(2)
})

test.each([
  ['ids=1', 400],
  ['ids=1&kind=letter', 400],
  ['kind=invoice', 400],
  [`kind=invoice&ids=${Array.from({ length: 101 }, (_, at) => at + 1)}`, 400],
  ['kind=invoice&ids=1,x', 400],
  ['kind=invoice&ids=1,9', 404],
])('slips of ?%s are refused', async (query, status) => {
  await place()
  expect((await merchant.open(`/admin/orders/slips?${query}`)).statusCode).toBe(status)
})

test('slips of more lines than a page is made of at once are refused, but one order is always printed', async () => {
  const items = Array.from({ length: 401 }, () => ({ CatalogID: 2, ItemQuantity: 1 }))
  for (let count = 0; count < 5; count++) await place()
  for (const id of [1, 2, 3, 4, 5]) {
    expect((await shop.call('PUT', `/Orders/${id}`, { body: { OrderItemList: items } })).statusCode).toBe(200)
  }
  const { statusCode, body } = await merchant.open('/admin/orders/slips?ids=1,2,3,4,5&kind=invoice')
  expect([statusCode, body.includes('have 2005 lines')]).toEqual([400, true])
  expect((await merchant.open('/admin/orders/1/invoice')).statusCode).toBe(200)
})

const documents = '/admin/settings/documents'
const settings = {
  Seller: 'Lamps & Co\r\nHafenstraße 3\r\n50667 Köln',
  Phone: '+49 221 1',
  TaxNumbers: 'DE123456789',
  Footer: 'Thank you',
  Locale: 'de-DE',
}

test('documents have the seller, tax numbers and footer of the settings, in their language, whoever prints them', async () => {
  await place({ BillingCity: 'Köln', BillingZipCode: '50667', BillingCountry: 'DE' })
  expect((await merchant.submit(documents, settings)).headers.location).toBe(`${documents}?notice=settings-saved`)
  const [invoice = ''] = sheets((await merchant.open('/admin/orders/1/invoice', { 'accept-language': 'en-US' })).body)
  const own = ['Lamps &amp; Co</p>', 'Hafenstraße 3<br>50667 Köln<br>', '+49 221 1', 'DE123456789', 'Thank you']
  const inGerman = [
    'Rechnung AB-1000',
    'Rechnungs- und Bestelldatum: 10. März 2026',
    'Köln<br>Deutschland<br>',
    '127,50',
  ]
  for (const text of [...own, ...inGerman]) expect(invoice).toContain(text)
  expect(invoice).not.toContain(shop.store.name)
  const [slip = ''] = sheets((await merchant.open('/admin/orders/1/packing-slip')).body)
  expect(slip).toContain('Hafenstraße 3')
  expect(slip).not.toMatch(/DE123456789|Thank you/)
  expect((await merchant.open('/admin/audit')).body).toContain('seller on documents: none → Lamps &amp; Co')

  await merchant.submit(documents, { Seller: '', Phone: '', TaxNumbers: '', Footer: '', Locale: '' })
  const [plain = ''] = sheets((await merchant.open('/admin/orders/1/invoice', { 'accept-language': 'en-US' })).body)
  expect(plain).toContain('Invoice AB-1000')
  expect(plain).toContain(shop.store.name)
})

test.each([
  { field: 'Seller', value: 'x'.repeat(501), says: 'must be a text of at most 500 characters' },
  { field: 'Phone', value: '1\n2', says: 'must be a text of 0 to 50 characters on one line' },
  { field: 'TaxNumbers', value: 'DE\u0000', says: 'must be a text of at most 200 characters' },
  { field: 'Locale', value: 'fr-FR', says: 'must be one of en-US' },
])('a wrong $field of documents is refused beside it, and nothing is stored', async ({ field, value, says }) => {
  const answer = await merchant.submit(documents, { ...settings, [field]: value })
  expect(answer.statusCode).toBe(400)
  expect(answer.body).toMatch(new RegExp(`id="${field}-problem" class="problem">[^<]*${says}`))
  const { documentFooter } = await server.database.db.store.findUniqueOrThrow({ where: { id: shop.store.id } })
  expect(documentFooter).toBe('')
})
