import { describe, expect, test } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { csvPages, wordsOf } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson
const { apply, linesAt, countsAt } = csvPages(() => ({ server, merchant }))

withMerchant(async (scene) => {
  ;({ server, shop, merchant } = scene)
  await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5, Stock: 30 } } })
})

function place(fields: Record<string, string> = {}) {
  const line = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1', BillingEmail: 'guest@shop.example' }
  return merchant.submit('/admin/orders/new', { ...line, ...fields }, { action: '/admin/orders' })
}

async function stock(): Promise<number> {
  const [{ SKUInfo }] = (await shop.call('GET', '/Products?sku=LAMP')).json()
  return SKUInfo.Stock
}

async function statusOf(id: number): Promise<number> {
  const [record] = (await shop.call('GET', `/Orders/${id}`)).json()
  return record.OrderStatusID
}

const invoices = (page: string) =>
  [...page.matchAll(/scope="row"><a href="[^"]+">(AB-\d+)</g)].map(([, invoice]) => invoice)

describe('the list of orders', () => {
  test('has the newest first, 25 a page, and leads on until each order was there once', async () => {
    for (let count = 0; count < 27; count++) await place()
    const first = (await merchant.open('/admin/orders')).body
    const [, older = ''] = /href="([^"]+)" rel="next"/.exec(first) ?? []
    const second = (await merchant.open(older.replaceAll('&amp;', '&'))).body
    const expected = Array.from({ length: 27 }, (_, index) => `AB-${1026 - index}`)
    expect([invoices(first).length, [...invoices(first), ...invoices(second)]]).toEqual([25, expected])
    expect(first).toContain('27 orders')
    expect(first).toContain('href="/admin/orders/new"')
    expect(second).not.toContain('rel="next"')
  })

  test('finds by what a customer says of an order and by status, and says what to do where nothing fits', async () => {
    await place({ BillingEmail: 'Ada@shop.example' })
    await place({ BillingEmail: 'bob@shop.example', BillingOnLinePayment: 'yes' })
    const found = async (query: string) => invoices((await merchant.open(`/admin/orders?${query}`)).body)
    expect(await found('find=ab-1000')).toEqual(['AB-1000'])
    expect(await found('find=1001')).toEqual(['AB-1001'])
    expect(await found('find=ada%40shop.example')).toEqual(['AB-1000'])
    expect(await found('find=shop+ada')).toEqual(['AB-1000'])
    expect(await found('find=%25%40%25')).toEqual([])
    expect(await found('find=nobody')).toEqual([])
    expect(await found('orderstatus=1')).toEqual(['AB-1001'])
    expect(await found('orderstatus=1&find=1000')).toEqual([])
    for (const both of [
      'orderstatus=1&orderstatus=11',
      'orderstatus=1,11',
      'orderstatus=1&orderstatus=11&orderstatus=',
    ]) {
      expect(await found(both)).toEqual(['AB-1001', 'AB-1000'])
    }
    expect(await found('orderstatus=1&orderstatus=1')).toEqual(['AB-1001'])
    expect((await merchant.open('/admin/orders?find=9999')).body).toContain('No orders fit')
    expect(await found('sort=OrderID')).toEqual(['AB-1000', 'AB-1001'])
  })

  test('shows statuses by their texts, and takes the same columns as other lists', async () => {
    await place()
    const { body } = await merchant.open('/admin/orders')
    expect(body).toMatch(/<select id="orderstatus"[\s\S]*?<option value="11">Unpaid<\/option>/)
    expect(body).toMatch(/data-label="Status"[^>]*>Unpaid<\/td>/)
    const { body: other } = await merchant.open('/admin/orders?columns=OrderID&columns=BillingCity')
    expect(other).toContain('data-label="Billing city"')
    const { body: csv } = await merchant.open('/admin/orders/export?format=csv&find=AB-1000')
    expect(csv).toContain('guest@shop.example')
    expect((await merchant.open('/admin/orders/export?format=csv&find=AB-1')).body).not.toContain('guest@')
  })

  test('shows whose an order is, what is paid and what has left, and finds by the last', async () => {
    for (let count = 0; count < 4; count++) {
      await place({ BillingFirstName: 'Ada', BillingLastName: `No ${count}` })
    }
    const two = [{ ShipmentCity: 'Oslo' }, { ShipmentCity: 'Bergen' }]
    const left = { ShipmentShippedDate: '03/09/2026' }
    await shop.call('PUT', '/Orders/2', { body: { ShipmentList: two } })
    const [{ ShipmentList }] = (await shop.call('GET', '/Orders/2')).json()
    await shop.call('PUT', `/Orders/2/Shipments/${ShipmentList[0].ShipmentID}`, { body: left })
    await shop.call('PUT', '/Orders/3/Shipments/0', { body: left })
    await shop.call('PUT', '/Orders/4', { body: { ShipmentList: [] } })
    const found = async (query: string) => invoices((await merchant.open(`/admin/orders?${query}`)).body)
    for (const [state, expected] of [
      ['waiting', 'AB-1000'],
      ['part', 'AB-1001'],
      ['left', 'AB-1002'],
      ['none', 'AB-1003'],
    ]) {
      expect([state, await found(`fulfilment=${state}`)]).toEqual([state, [expected]])
    }
    expect(await found('fulfilment=left&payment=unpaid')).toEqual(['AB-1002'])
    const { body } = await merchant.open('/admin/orders')
    const row = (invoice: string) => new RegExp(`>${invoice}</a>[\\s\\S]*?</tr>`).exec(body)?.[0] ?? ''
    const cells = (text: string) =>
      [...text.matchAll(/data-label="([^"]+)"[^>]*>(?:<span[^>]*>)?([^<]*)/g)].map(([, , cell]) => cell)
    expect(cells(row('AB-1001'))).toEqual([
      'Mar 10, 2026, 12:00 PM',
      'Ada No 1',
      '$42.50',
      'Unpaid',
      'Partly shipped',
      'Unpaid',
    ])
    expect(cells(row('AB-1003')).slice(3, 5)).toEqual(['Unpaid', 'Nothing to ship'])
    await shop.call('PUT', '/Orders/3/Shipments/0', { body: { ShipmentShippedDate: '' } })
    expect(await found('fulfilment=left')).toEqual([])
    const { body: chosen } = await merchant.open('/admin/orders?columns=InvoiceNumber&columns=payment')
    expect(chosen).toMatch(/data-label="Payment"><span class="badge bad">Unpaid/)
    expect((await merchant.open('/admin/orders/export?format=csv&payment=paid')).body).not.toContain('guest@')
    expect((await merchant.open('/admin/orders?fulfilment=lost')).statusCode).toBe(400)
  })

  test('and its files refuse different values of a filter that takes one', async () => {
    for (const path of ['/admin/orders', '/admin/orders/export']) {
      const answer = await merchant.open(`${path}?format=csv&invoicenumberstart=1&invoicenumberstart=2`)
      expect(answer.statusCode).toBe(400)
      expect(answer.body).toContain('invoicenumberstart is given several times')
    }
  })

  test.each(['cursor=x', 'orderstatus=x', 'find=%00@shop.example', `find=${'x'.repeat(101)}`])(
    'refuses ?%s',
    async (query) => {
      const { statusCode, body } = await merchant.open(`/admin/orders?${query}`)
      expect([statusCode, body.includes('role="alert"')]).toEqual([400, true])
    },
  )
})

describe('with several orders', () => {
  const ask = async (ids: string[], OrderStatusID: string) => {
    const { statusCode, headers } = await sendOf('status', { ids, OrderStatusID })
    expect(statusCode).toBe(303)
    return String(headers.location)
  }
  const wordsAt = async (address: string) => wordsOf((await merchant.open(address)).body)

  /** Sends the form of the list as its buttons do. */
  async function sendOf(action: string, fields: Record<string, string | string[]>, by = merchant) {
    const { body } = await by.open('/admin/orders')
    const to = /formaction="(\/admin\/orders\/bulk\/status[^"]*)"/.exec(body)?.[1]?.replace('status', action) ?? ''
    const form = /<form method="post" action="(\/admin\/orders[^"]*)"/.exec(body)?.[1] ?? ''
    return by.submit('/admin/orders', fields, { action: form, to })
  }

  test('a change of status is asked about first, with what becomes of the stock', async () => {
    for (const quantity of ['1', '2', '3']) await place({ 'ItemQuantity.1': quantity })
    await merchant.submit('/admin/orders/3', { OrderStatusID: '5' }, { action: '/admin/orders/3/status' })
    expect(await stock()).toBe(27)
    const asked = await ask(['1', '2', '3'], '5')
    expect(await wordsAt(asked)).toContain('2 orders: their goods go back into stock')
    expect(await countsAt(asked)).toEqual(['Changes (2)', 'Unchanged (1)'])
    expect(await linesAt(asked, 'changes')).toEqual([
      ['AB-1000', 'Status: Unpaid → Cancel'],
      ['AB-1001', 'Status: Unpaid → Cancel'],
    ])
    expect([await statusOf(1), await stock()]).toEqual([11, 27])

    await apply(asked)
    expect(await wordsAt(asked)).toContain('2 changed.')
    expect([await statusOf(1), await statusOf(2), await stock()]).toEqual([5, 5, 30])

    expect(await wordsAt(await ask(['1', '2', '3'], '2'))).toContain('3 orders: their goods are taken from stock again')
    await place()
    expect(await wordsAt(await ask(['4'], '2'))).toContain('1 order: stock does not change')
  })

  test('a change sent twice is made once, and an order that somebody else changed meanwhile stays', async () => {
    for (let count = 0; count < 2; count++) await place()
    const asked = await ask(['1', '2'], '5')
    await shop.call('PUT', '/Orders/2', { body: { InternalComments: 'Ask first' } })
    await apply(asked)
    expect(await linesAt(asked, 'errors')).toEqual([['AB-1001', 'has been changed since it was shown']])
    expect([await statusOf(1), await statusOf(2), await stock()]).toEqual([5, 11, 29])

    // The first is reopened, which a repetition of the form must not undo.
    await merchant.submit('/admin/orders/1', { OrderStatusID: '2' }, { action: '/admin/orders/1/status' })
    await merchant.submit(asked, {}, { action: '/admin/sign-out', to: `${asked}/apply` })
    await server.services.csvImports.settle()
    expect([await statusOf(1), await stock()]).toEqual([2, 28])
  })

  test('all that match are chosen, as many as the list says when they are', async () => {
    for (let count = 0; count < 27; count++) await place()
    const list = '/admin/orders?orderstatus=11'
    expect(wordsOf((await merchant.open(list)).body)).toContain('Choose all 27 that match')
    const { headers } = await merchant.submit(
      list,
      { all: 'true', OrderStatusID: '2' },
      { action: '/admin/orders/bulk/slips?orderstatus=11', to: '/admin/orders/bulk/status?orderstatus=11' },
    )
    const asked = String(headers.location)
    expect(await countsAt(asked)).toEqual(['Changes (27)'])
    // A later one is none of them.
    await place()
    await apply(asked)
    expect(await countsAt(asked)).toEqual(['Changed (27)'])
    expect([await statusOf(1), await statusOf(27), await statusOf(28)]).toEqual([2, 2, 11])
    const file = await sendOf('file', { all: 'true' })
    expect((await merchant.open(String(file.headers.location))).body.trim().split('\n')).toHaveLength(29)
    expect((await sendOf('slips', { all: 'true', kind: 'invoice' })).statusCode).toBe(303)
  })

  test('slips and a file are of the chosen ones', async () => {
    for (let count = 0; count < 3; count++) await place()
    const slips = await sendOf('slips', { ids: ['1', '3'], kind: 'invoice' })
    expect([slips.statusCode, slips.headers.location]).toEqual([303, '/admin/orders/slips?ids=1%2C3&kind=invoice'])
    const file = await sendOf('file', { ids: ['1', '3'] })
    const { body, headers } = await merchant.open(String(file.headers.location))
    expect(headers['content-disposition']).toMatch(/attachment; filename="orders-.*\.csv"/)
    expect(body.trim().split('\n')).toHaveLength(3)
  })

  test.each([
    ['status', { OrderStatusID: '5' }, 'from 1 to 100'],
    ['status', { ids: ['1'], OrderStatusID: '' }, 'has to be one of the list'],
    ['status', { ids: ['1'], OrderStatusID: '99' }, 'has to be one of the list'],
    ['status', { ids: Array.from({ length: 101 }, (_, at) => String(at + 1)), OrderStatusID: '5' }, '100 at most'],
    ['slips', { kind: 'invoice' }, 'from 1 to 100'],
    ['file', { ids: ['x'] }, 'numbers of records'],
  ])('%s of %j is refused on the list', async (action, fields, problem) => {
    await place()
    const { statusCode, body } = await sendOf(action, fields)
    expect([statusCode, body.includes(problem)]).toEqual([400, true])
    expect(invoices(body)).toEqual(['AB-1000'])
    expect(await statusOf(1)).toBe(11)
  })

  test('another store’s orders do not exist', async () => {
    await place()
    const { shop: other, stranger } = await strange()
    const asked = await sendOf('status', { ids: ['1', '9'], OrderStatusID: '5' })
    expect(asked.statusCode).toBe(404)
    expect((await stranger.open('/admin/orders/export?format=csv&ids=1')).statusCode).toBe(404)
    expect((await stranger.open('/admin/orders/slips?ids=1&kind=invoice')).statusCode).toBe(404)
    expect(other.store.id).not.toBe(shop.store.id)
    expect(await statusOf(1)).toBe(11)
  })

  async function strange() {
    const shop = await server.openStore()
    return { shop, stranger: await merchantIn(server, shop.store) }
  }
})
