import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestPerson } from '../../support/person.ts'
import { merchantIn } from '../../support/signed-in.ts'
import { openServer, type TestServer, type TestStore } from '../../support/store.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson

beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server?.close())
beforeEach(async () => {
  shop = await server.openStore()
  merchant = await merchantIn(server, shop.store)
  await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5, Stock: 10 } } })
})

const line = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '3', BillingEmail: 'guest@shop.example' }

function place(fields: Record<string, string> = {}) {
  return merchant.submit('/admin/orders/new', { ...line, ...fields }, { action: '/admin/orders' })
}

async function stock(): Promise<number> {
  const [{ SKUInfo }] = (await shop.call('GET', '/Products?sku=LAMP')).json()
  return SKUInfo.Stock
}

async function order(id: number) {
  const [record] = (await shop.call('GET', `/Orders/${id}`)).json()
  return record
}

describe('an order that is placed by hand', () => {
  test('is placed as by the checkout: priced, taken off the stock, in the name of the merchant', async () => {
    const answer = await place({
      BillingEmail: 'guest@shop.example',
      BillingFirstName: 'Ada',
      BillingCity: 'London',
      ShipmentMethodName: 'Ground',
      ShipmentCost: '6.5',
      SalesTax: '1.25',
      BillingOnLinePayment: 'yes',
    })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/admin/orders/1?notice=order-placed'])
    expect(await stock()).toBe(7)
    expect(await order(1)).toMatchObject({
      OrderAmount: 135.25,
      OrderStatusID: 1,
      UserID: 'merchant@shop.example',
      ShipmentList: [{ ShipmentFirstName: 'Ada', ShipmentCity: 'London', ShipmentMethodName: 'Ground' }],
    })
    const page = (await merchant.open('/admin/orders/1?notice=order-placed')).body
    expect(page).toContain('The order is placed.')
    expect(page).toContain('$135.25')
  })

  test('is Unpaid where it was not paid online', async () => {
    await place()
    expect(await order(1)).toMatchObject({ OrderStatusID: 11 })
  })

  test.each([
    { fields: { 'ItemID.1': 'NONE' }, status: 400, says: 'ItemID is not the SKU of a product' },
    { fields: { 'ItemQuantity.1': 'many' }, status: 400, says: 'ItemQuantity' },
    { fields: { 'ItemQuantity.1': '11' }, status: 409, says: 'LAMP' },
    { fields: { CustomerID: '77' }, status: 400, says: 'CustomerID' },
    { fields: { SalesTax: '1,5' }, status: 400, says: 'SalesTax' },
  ])('is refused as $status with $fields, nothing is stored, and what was typed is still there', async (given) => {
    const answer = await place({ BillingCity: 'Köln <b>', ...given.fields })
    expect(answer.statusCode).toBe(given.status)
    expect(/role="alert">([\s\S]*?)<\/div>/.exec(answer.body)?.[1]).toContain(given.says)
    expect(answer.body).toContain('value="Köln &lt;b&gt;"')
    expect(await stock()).toBe(10)
    expect((await shop.call('GET', '/Orders')).statusCode).toBe(404)
  })
})

describe('the status of an order', () => {
  const move = (OrderStatusID: string) =>
    merchant.submit('/admin/orders/1', { OrderStatusID }, { action: '/admin/orders/1/status' })

  test('is changed; cancelling gives the goods back, and reopening, which REST refuses, takes them again', async () => {
    await place()
    expect((await move('5')).statusCode).toBe(303)
    expect(await stock()).toBe(10)
    expect((await shop.call('PUT', '/Orders/1', { body: { OrderStatusID: 2 } })).statusCode).toBe(400)
    expect((await move('2')).statusCode).toBe(303)
    expect([await stock(), (await order(1)).OrderStatusID]).toEqual([7, 2])
  })

  test('is refused on the page when the store does not have it', async () => {
    await place()
    const answer = await move('99')
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('role="alert"')
    expect((await order(1)).OrderStatusID).toBe(11)
  })
})

describe('the list of orders', () => {
  const invoices = (page: string) => [...page.matchAll(/>(AB-\d+)</g)].map(([, invoice]) => invoice)

  test('has the newest first, 25 a page, and leads on until each order was there once', async () => {
    await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'CUP', Name: 'Cup', Price: 5, Stock: 27 } } })
    for (let count = 0; count < 27; count++) await place({ 'ItemID.1': 'CUP', 'ItemQuantity.1': '1' })
    const first = (await merchant.open('/admin/orders')).body
    const [, older = ''] = /href="([^"]+)" rel="next"/.exec(first) ?? []
    const second = (await merchant.open(older.replaceAll('&amp;', '&'))).body
    const expected = Array.from({ length: 27 }, (_, index) => `AB-${1026 - index}`)
    expect([invoices(first).length, [...invoices(first), ...invoices(second)]]).toEqual([25, expected])
    expect(second).not.toContain('rel="next"')
  })

  test('finds by invoice number, e-mail address and status, and says what to do where nothing fits', async () => {
    await place({ BillingEmail: 'Ada@shop.example' })
    await place({ BillingEmail: 'bob@shop.example', BillingOnLinePayment: 'yes' })
    const found = async (query: string) => invoices((await merchant.open(`/admin/orders?${query}`)).body)
    expect(await found('find=AB-1000')).toEqual(['AB-1000'])
    expect(await found('find=1001')).toEqual(['AB-1001'])
    expect(await found('find=ada%40shop.example')).toEqual(['AB-1000'])
    expect(await found('status=1')).toEqual(['AB-1001'])
    expect(await found('status=1&find=1000')).toEqual([])
    expect((await merchant.open('/admin/orders?find=none')).body).toContain('No order fits')
  })

  test.each(['before=x', 'status=-1', `find=${'x'.repeat(255)}`, 'colour=red'])('refuses ?%s', async (query) => {
    expect((await merchant.open(`/admin/orders?${query}`)).statusCode).toBe(400)
  })
})

test('another store’s order does not exist', async () => {
  await place()
  const stranger = await merchantIn(server, (await server.openStore()).store)
  expect((await stranger.open('/admin/orders/1')).statusCode).toBe(404)
})

test('products are found by name, SKU and stock, and lead on page by page', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `Cup ${index}`)
  const cups = names.map((Name, index) => ({
    SKUInfo: { SKU: `CUP-${index}`, Name, Price: 5, Stock: index === 3 ? 0 : 1 },
  }))
  await shop.call('POST', '/Products', { body: cups })
  const skus = (page: string) => [...page.matchAll(/<th scope="row">([^<]+)</g)].map(([, sku]) => sku)
  const found = async (query: string) => skus((await merchant.open(`/admin/products?${query}`)).body)
  expect(await found('stock=out')).toEqual(['CUP-3'])
  expect(await found('sku=CUP-7')).toEqual(['CUP-7'])
  expect(await found('name=cup+1&stock=')).toEqual(['CUP-1', ...Array.from({ length: 10 }, (_, one) => `CUP-1${one}`)])
  const first = (await merchant.open('/admin/products')).body
  const next = /href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect([...skus(first), ...skus((await merchant.open(next)).body)]).toEqual([
    'LAMP',
    ...cups.map((cup) => cup.SKUInfo.SKU),
  ])
})
