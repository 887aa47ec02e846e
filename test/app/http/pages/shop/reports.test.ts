import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { memberIn, merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'

// Files for an accountant, and reports. One store of Berlin, whose orders lie about the night of October 2025 in which the clock
// was put back, and about new year.

let shop: TestStore
let merchant: TestPerson
let packer: TestPerson

const german = { 'accept-language': 'de-DE,de;q=0.9,en;q=0.8' }

const server = await sharedServer()

beforeAll(async () => {
  const now = server.clock.ms
  shop = await server.openStore({ timeZone: 'Europe/Berlin' })
  await shop.call('POST', '/Products', {
    body: {
      SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 1234.5, Stock: 1_000 },
      MainImageFile: 'https://pictures.store-platform.test/assets/sandbox/lamp-amber.svg',
    },
  })
  await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: '=1+1', Name: '=Sum', Price: 10, Stock: 1_000 } } })
  const orderAt = async (moment: string, fields: object = {}) => {
    server.clock.ms = Date.parse(moment)
    const { id } = await placeOrder(shop.caller, {
      BillingEmail: 'guest@shop.example',
      BillingCountry: 'DE',
      BillingOnLinePayment: true,
      OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 1 }],
      ...fields,
    })
    server.clock.ms = now
    return id
  }
  const two = {
    BillingFirstName: '@Ada',
    BillingLastName: 'Byron',
    BillingEmail: 'Ada@shop.example',
    SalesTax: 4.4,
    SalesTax2: 0.6,
    OrderDiscountPromotion: 2.25,
    OrderItemList: [
      { ItemID: 'LAMP', ItemQuantity: 2 },
      { ItemID: '=1+1', ItemQuantity: 3 },
    ],
    ShipmentList: [{ ShipmentCountry: 'at', ShipmentState: 'W', ShipmentCost: 7.5, ShipmentTrackingCode: 'TRACK-1' }],
  }
  // The day of 25 hours begins at 22:00 and ends at 23:00 of the next day.
  await orderAt('2025-10-25T21:59:59Z')
  await orderAt('2025-10-25T22:00:00Z', two)
  await orderAt('2025-10-26T22:59:59Z')
  await orderAt('2025-10-26T23:00:00Z')
  const cancelled = await orderAt('2025-10-26T12:00:00Z')
  await orderAt('2025-12-31T23:00:00Z')
  await shop.call('PUT', `/Orders/${cancelled}`, { body: { OrderStatusID: 5 } })
  await shop.call('POST', '/Orders/2/Transactions', {
    body: [
      { TransactionType: 'Sale', TransactionAmount: 2_000, TransactionReference: 'BANK-7' },
      { TransactionType: 'Refund', TransactionAmount: 50.25 },
      { TransactionType: 'Void', TransactionAmount: 1 },
    ],
  })
  merchant = await merchantIn(server, shop.store)
  packer = await memberIn(server, shop, { Name: 'Packer', Privileges: { Orders: ['write'] } })
})

async function file(address: string, { by = merchant, headers = {}, delimiter = ',' } = {}) {
  const answer = await by.open(address, headers)
  expect([answer.statusCode, answer.headers['content-type']], answer.body).toEqual([
    200,
    'text/csv; charset=utf-8; header=present',
  ])
  expect(answer.body.startsWith('\uFEFF')).toBe(true)
  return parse(answer.body, { bom: true, delimiter, columns: true }) as Record<string, string>[]
}

const sum = (rows: readonly Record<string, string>[], column: string) =>
  rows.reduce((total, row) => total + Math.round(Number(row[column]) * 10_000), 0) / 10_000

const inOctober = 'from=2025-10-25&to=2025-10-27'

describe('the lines of orders', () => {
  test('are those of the list, with the amounts of an order in its first line alone', async () => {
    const rows = await file('/admin/orders/lines.csv?sort=OrderID&find=ada')
    expect(rows).toHaveLength(2)
    expect(rows[0]).toEqual({
      'Invoice number': 'AB-1001',
      'Number in this system': '2',
      Date: '2025-10-26',
      Status: 'New',
      'Customer number': '',
      Customer: "'@Ada Byron",
      Company: '',
      'E-mail': 'Ada@shop.example',
      'Billing country': 'DE',
      SKU: 'LAMP',
      Description: 'Lamp',
      Quantity: '2',
      Price: '1234.50',
      Amount: '2469.00',
      Discount: '2.25',
      Shipping: '7.50',
      Tax: '4.40',
      'Second tax': '0.60',
      'Third tax': '0.00',
      Other: '0.00',
      Total: '2509.25',
      'Payment method': '',
      'Payment references': 'BANK-7',
      Paid: '2000.00',
      Refunded: '50.25',
      Net: '1949.75',
      Open: '559.50',
      'Shipping country': 'at',
      'Shipping method': '',
      'Shipped on': '',
      'Tracking number': 'TRACK-1',
    })
    expect(rows[1]).toMatchObject({
      'Invoice number': 'AB-1001',
      SKU: "'=1+1",
      Description: "'=Sum",
      Amount: '30.00',
      Total: '',
      Net: '',
    })
  })

  test('add up to the sums of the orders', async () => {
    const rows = await file('/admin/orders/lines.csv?headings=names')
    const sums = (await shop.call('GET', '/Orders/Sums')).json() as Record<string, number>[]
    for (const column of [
      'ItemTotal',
      'DiscountTotal',
      'ShippingTotal',
      'OtherAmount',
      'OrderAmount',
      'PaidAmount',
      'NetAmount',
      'OpenAmount',
    ]) {
      const expected = sums.reduce((total, each) => total + Math.round((each[column] ?? 0) * 10_000), 0) / 10_000
      expect([column, sum(rows, column)]).toEqual([column, expected])
    }
    expect(new Set(rows.map(({ OrderID }) => OrderID)).size).toBe(6)
    const chosen = await file('/admin/orders/lines.csv?headings=names&ids=1,3')
    expect(chosen.map(({ OrderID }) => OrderID).toSorted()).toEqual(['1', '3'])
  })

  test('have semicolons and decimal commas where the browser prefers a language that has them, unless the address says otherwise', async () => {
    const address = '/admin/orders/lines.csv?find=ada'
    const [row] = await file(address, { headers: german, delimiter: ';' })
    expect([row?.Preis, row?.Gesamtbetrag]).toEqual(['1234,50', '2509,25'])
    const [own] = await file(`${address}&separator=tab&decimal=point`, { headers: german, delimiter: '\t' })
    expect(own?.Gesamtbetrag).toBe('2509.25')
    const { body } = await merchant.open('/admin/orders', german)
    expect(body).toMatch(/name="separator"[\s\S]*?<option value="semicolon" selected>/)
    for (const wrong of ['headings=none', 'separator=pipe', 'decimal=none', 'datestart=never']) {
      expect([wrong, (await merchant.open(`/admin/orders/lines.csv?${wrong}`)).statusCode]).toEqual([wrong, 400])
    }
    // An export of before stays as it was, and takes the same.
    const plain = await merchant.open('/admin/orders/export?format=csv', german)
    expect(plain.body).toContain(',1234.5,')
    const other = await merchant.open(
      '/admin/orders/export?format=csv&headings=words&separator=semicolon&decimal=comma',
    )
    expect(other.body).toMatch(/^\uFEFF.*;Status;[\s\S]*;1234,5;/)
  })

  test('show no customer to whom may not read them', async () => {
    const [row] = await file('/admin/orders/lines.csv?ids=2', { by: packer })
    expect(row).toMatchObject({ 'Invoice number': 'AB-1001', Total: '2509.25', 'Tracking number': 'TRACK-1' })
    expect(JSON.stringify(row)).not.toMatch(/Ada|Byron|Billing/i)
    expect((await packer.open('/admin/orders/lines.csv?billingemail=a%40b.example')).statusCode).toBe(403)
  })
})

describe('reports', () => {
  test('have the days of the store’s zone, without cancelled orders', async () => {
    const rows = await file(`/admin/reports.csv?by=day&headings=names&${inOctober}`)
    expect(rows.map(({ Day, Orders, ItemQuantity, OrderAmount }) => [Day, Orders, ItemQuantity, OrderAmount])).toEqual([
      ['2025-10-25', '1', '1', '1234.50'],
      ['2025-10-26', '2', '6', '3743.75'],
      ['2025-10-27', '1', '1', '1234.50'],
    ])
    expect(rows[1]).toMatchObject({
      ItemTotal: '3733.50',
      DiscountTotal: '2.25',
      ShippingTotal: '7.50',
      TaxTotal: '5.00',
      OtherAmount: '0.00',
      PaidAmount: '2000.00',
      RefundedAmount: '50.25',
      NetAmount: '1949.75',
    })
    const weeks = await file(`/admin/reports.csv?by=week&headings=names&${inOctober}`)
    expect(weeks.map(({ Week, Orders }) => [Week, Orders])).toEqual([
      ['2025-10-25', '3'],
      ['2025-10-27', '1'],
    ])
  })

  test('have presets, and months also without orders', async () => {
    const months = await file('/admin/reports.csv?by=month&from=10/01/2025&to=2026-01-31')
    expect(months.map(({ Month, Orders }) => [Month, Orders])).toEqual([
      ['2025-10', '4'],
      ['2025-11', '0'],
      ['2025-12', '0'],
      ['2026-01', '1'],
    ])
    const orders = async (period: string) => sum(await file(`/admin/reports.csv?by=month&period=${period}`), 'Orders')
    const counted = ['this-month', 'last-month', 'this-quarter', 'last-quarter', 'this-year', 'last-year'].map(orders)
    expect(await Promise.all(counted)).toEqual([0, 0, 1, 4, 1, 4])
  })

  test('mark the preset that has the days shown, however they were asked for', async () => {
    const current = async (query: string) => {
      const { body } = await merchant.open(`/admin/reports?${query}`)
      const [tabs = ''] = /<nav aria-label="Time"[\s\S]*?<\/nav>/.exec(body) ?? []
      return [...tabs.matchAll(/aria-current="page">([^<]*)/g)].map(([, text]) => text)
    }
    const form = await merchant.formOf('/admin/reports?period=last-quarter', '/admin/reports')
    expect(await current(`by=country&from=${form.from}&to=${form.to}`)).toEqual(['Last quarter'])
    expect(await current('period=last-quarter&by=month')).toEqual(['Last quarter'])
    expect(await current('')).toEqual(['This month'])
    expect(await current(inOctober)).toEqual([])
  })

  test('are by product, customer, country and tax', async () => {
    const by = async (name: string) => file(`/admin/reports.csv?by=${name}&headings=names&${inOctober}`)
    expect(await by('product')).toEqual([
      { ItemID: 'LAMP', ItemDescription: 'Lamp', Orders: '4', ItemQuantity: '5', ItemTotal: '6172.50' },
      { ItemID: "'=1+1", ItemDescription: "'=Sum", Orders: '1', ItemQuantity: '3', ItemTotal: '30.00' },
    ])
    const customers = await by('customer')
    expect(customers.map(({ BillingEmail, Orders }) => [BillingEmail, Orders])).toEqual([
      ['guest@shop.example', '3'],
      ['Ada@shop.example', '1'],
    ])
    const countries = await by('country')
    expect(countries.map(({ ShipmentCountry, Orders }) => [ShipmentCountry, Orders])).toEqual([
      ['DE', '3'],
      ['AT', '1'],
    ])
    const [taxed] = await by('tax')
    expect(taxed).toEqual({
      ShipmentCountry: 'AT',
      ShipmentState: 'W',
      Orders: '1',
      TaxedAmount: '2504.25',
      UntaxedAmount: '0.00',
      SalesTax: '4.40',
      SalesTax2: '0.60',
      SalesTax3: '0.00',
      TaxTotal: '5.00',
      RefundTaxAmount: '0.00',
      OrderAmount: '2509.25',
    })
  })

  test('are shown with a plot, sums and ways on', async () => {
    const { body } = await merchant.open(`/admin/reports?by=day&${inOctober}`)
    expect(body.match(/class="bar"/g)).toHaveLength(3)
    expect(body).toContain('datestart=2025-10-26&amp;dateend=2025-10-26"><title>Oct 26, 2025: $3,743.75</title>')
    expect(body).toContain('href="/admin/orders?datestart=2025-10-26&amp;dateend=2025-10-26"')
    expect(body).toMatch(/<tfoot[^>]*>[\s\S]*\$6,212\.75/)
    const products = (await merchant.open(`/admin/reports?by=product&${inOctober}`)).body
    expect(products).toContain('<a href="/admin/products/1">LAMP</a>')
    expect(
      products.match(/<svg class="share" viewBox="0 0 100 8"[^>]*><rect x="0" y="0" width="(100|0.5)"/g),
    ).toHaveLength(2)
    expect(products).toContain('<img class="thumbnail" src="/assets/sandbox/lamp-amber.svg')
    expect(products).toContain('<span class="thumbnail" aria-hidden="true">')
    expect((await merchant.open('/admin/reports')).body).toContain('No orders were placed in this time')
    expect((await merchant.open(`/admin/reports?by=country&${inOctober}`)).body).toContain('Austria')
  })

  test('leave out a column of zeros, and mark the other zeros, which a phone has no room for; a file has all', async () => {
    const headings = (body: string) => [...body.matchAll(/class="right">([^<]*)<\/th>/g)].map(([, text]) => text)
    const { body } = await merchant.open('/admin/reports?by=day&from=2025-10-27&to=2025-10-27')
    expect(headings(body)).toEqual(['Orders', 'Items', 'Goods', 'Total'])
    const all = (await merchant.open(`/admin/reports?by=day&${inOctober}`)).body
    expect(headings(all).join(' ')).toBe('Orders Items Goods Discount Shipping Tax Total Paid Refunded Net')
    expect(all.match(/class="right nowrap zero">\$0\.00</g)).toHaveLength(12)
    const [row] = await file('/admin/reports.csv?by=day&from=2025-10-27&to=2025-10-27')
    expect(row).toMatchObject({ Discount: '0.00', Other: '0.00', Net: '0.00' })
  })

  test('show of very many orders their number and total by time, which are summed already', async () => {
    const { db } = server.database
    const of = { storeId: shop.store.id, count: 4_001, amount: 1_000_000 }
    await db.salesSum.create({ data: { ...of, since: new Date('2024-03-30T23:00:00Z') } })
    const { body } = await merchant.open('/admin/reports?by=day&from=2024-03-01&to=2024-03-31')
    expect(body).toContain('Of so many orders this page has the number and the total')
    expect(body).toMatch(
      /datestart=2024-03-31[^<]*<\/a><\/span><\/th>\s*<td[^>]*>4,001<\/td>\s*<td[^>]*>\$1,000,000\.00</,
    )
    const [, address = ''] = /<a href="([^"]*)">Add up all columns/.exec(body) ?? []
    const all = (await merchant.open(address.replaceAll('&amp;', '&'))).body
    expect(all).toContain('No orders were placed in this time')
    await db.salesSum.deleteMany({ where: of })
  })

  test('say what is wrong with a time, beside its field', async () => {
    for (const [query, problem] of [
      ['from=never', 'must be a day'],
      ['from=2025-10-27&to=2025-10-25', 'must not be before'],
      ['from=1990-01-01&to=2025-01-01', 'at most 3660 days'],
      ['period=ever', 'must be this-month'],
      ['by=moon', 'must be day'],
    ]) {
      const { statusCode, body } = await merchant.open(`/admin/reports?${query}`)
      expect([query, statusCode, body.includes(String(problem))]).toEqual([query, 400, true])
      expect((await merchant.open(`/admin/reports.csv?${query}`)).statusCode).toBe(400)
    }
  })

  test('have no customers for whom may not read them', async () => {
    const { body } = await packer.open(`/admin/reports?${inOctober}`)
    expect(body).not.toContain('value="customer"')
    for (const page of ['reports', 'reports.csv']) {
      expect((await packer.open(`/admin/${page}?by=customer`)).statusCode).toBe(403)
    }
    const countries = await file(`/admin/reports.csv?by=country&headings=names&${inOctober}`, { by: packer })
    expect(countries.map(({ ShipmentCountry }) => ShipmentCountry).toSorted()).toEqual(['AT', 'DE'])
  })
})
