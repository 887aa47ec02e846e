import { expect, test } from 'vitest'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { importInto } from '../../../engine/transfer/fixture.ts'
import { alertIn } from '../../../http/pages/shop/order-fixture.ts'
import { soapCall, treeOf } from '../../../http/soap/support.ts'

// A guest has an e-mail address or a telephone number. Orders with a telephone number alone, by every door.

const server = await sharedServer()

const needsContact = 'BillingEmail or BillingPhoneNumber is required for a guest'
const line = { ItemID: 'LAMP', ItemQuantity: 1 }

async function openShop() {
  const shop = await server.openStore()
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 5, Stock: 1_000 } })
  const merchant = await merchantIn(server, shop.store)
  const place = (fields: object) =>
    server.operate('POST', `/admin/stores/${shop.store.id}/orders`, { OrderItemList: [line], ...fields })
  return { shop, merchant, place, order: async (id: number) => (await shop.call('GET', `/Orders/${id}`)).json()[0] }
}

test.each([{}, { BillingEmail: '', BillingPhoneNumber: '' }, { BillingEmail: ' ', BillingPhoneNumber: ' \t' }])(
  'the operator’s route refuses a guest with %j, and nothing is stored',
  async (fields) => {
    const { shop, place } = await openShop()
    const answer = await place({
      ...fields,
      ShipmentList: [{ ShipmentPhone: '555-0100', ShipmentEmail: 'a@b.example' }],
    })
    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      [expect.objectContaining({ Value: 'BillingEmail', Message: needsContact })],
    ])
    expect((await shop.call('GET', '/Orders')).statusCode).toBe(404)
  },
)

test('a customer needs neither, whether new or known, and one with the order needs a telephone number or an address', async () => {
  const { shop, merchant, place, order } = await openShop()
  const CustomerID = await shop.add('/Customers', { Email: 'ada@customers.example', Password: 'secret words' })
  expect((await place({ CustomerID, BillingEmail: '' })).statusCode).toBe(201)
  expect(await order(1)).toMatchObject({ CustomerID, BillingEmail: '', BillingPhoneNumber: '' })

  const typed = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1', NewCustomer: 'yes', BillingPhoneNumber: '617-555-0123' }
  for (const BillingLastName of ['Byron', 'Lovelace']) {
    const { statusCode } = await merchant.submit(
      '/admin/orders/new',
      { ...typed, BillingLastName },
      { action: '/admin/orders' },
    )
    expect(statusCode).toBe(303)
  }
  const customers = (await shop.call('GET', '/Customers')).json()
  expect(customers.map(({ Email }: { Email: string }) => Email)).toEqual(['ada@customers.example', '', ''])
})

test('the page of a new order asks for one of the two, in the reader’s language, and takes a telephone number', async () => {
  const { merchant, order } = await openShop()
  const send = (fields: Record<string, string>, headers = {}) =>
    merchant.submit(
      '/admin/orders/new',
      { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1', ...fields },
      { action: '/admin/orders', headers },
    )
  const refused = await send({ BillingPhoneNumber: ' ' })
  expect([refused.statusCode, alertIn(refused.body)]).toEqual([
    400,
    expect.stringContaining('E-mail</a> or a telephone number is required for a guest'),
  ])
  expect(alertIn((await send({}, { 'accept-language': 'de' })).body)).toContain(
    'E-Mail</a> oder eine Telefonnummer ist bei Gästen erforderlich',
  )

  const placed = await send({ BillingPhoneNumber: '617-555-0123' })
  expect([placed.statusCode, placed.headers.location]).toEqual([303, '/admin/orders/1?notice=order-placed'])
  expect(await order(1)).toMatchObject({ CustomerID: 0, BillingEmail: '', BillingPhoneNumber: '617-555-0123' })
  const page = (await merchant.open('/admin/orders/1')).body
  expect(page).toContain('<strong>617-555-0123</strong> <small class="quiet">guest</small>')
  expect(page).not.toContain('mailto:')
  expect((await merchant.open('/admin/orders')).body).toContain('617-555-0123')
})

/** Two guests by telephone, one by e-mail, and one of whom an import knows nothing: orders 1 to 4. */
async function withGuests() {
  const opened = await openShop()
  const guests = [
    { BillingPhoneNumber: '617-555-0123', BillingLastName: 'Byron' },
    { BillingPhoneNumber: '(212) 555 0199' },
    { BillingEmail: 'guest@shop.example' },
  ]
  for (const guest of guests) expect((await opened.place(guest)).statusCode).toBe(201)
  const record = { OrderID: 4, OrderStatusID: 1, OrderDate: '2026-06-01T12:00:00', OrderAmount: 5 }
  expect((await importInto(server, opened.shop, [{ service: 'Orders', record }])).refused).toEqual([])
  return opened
}

const idsIn = (records: readonly { OrderID: number }[]) => records.map(({ OrderID }) => OrderID)

test('JSON, XML and cartAPI show an empty address, take it back, and no filter by it finds the others', async () => {
  const { shop, order } = await withGuests()
  const xml = (await shop.call('GET', '/Orders/1', { accept: 'application/xml' })).body
  expect(xml).toMatch(
    /<BillingPhoneNumber>617-555-0123<\/BillingPhoneNumber>\s*<BillingEmail\s*(\/>|><\/BillingEmail>)/,
  )
  const record = /<Order>[\s\S]*<\/Order>/.exec(xml)?.[0] ?? ''
  const before = await order(1)
  const sent: [body: object | string, contentType: string][] = [
    [before, 'application/json'],
    [record, 'application/xml'],
  ]
  for (const [body, contentType] of sent) {
    const answer = await shop.call('PUT', '/Orders/1', { body, contentType })
    expect(answer.statusCode, answer.body).toBe(200)
  }
  expect(await order(1)).toEqual(before)

  const tree = treeOf(await soapCall(server, shop, 'getOrder', { batchSize: 10, startNum: 1, invoiceNum: '' })) as {
    Order: { OrderID: string; BillingAddress: { Email: string; Phone: string } }[]
  }
  expect(tree.Order.map(({ BillingAddress: { Email, Phone } }) => [Email, Phone])).toEqual([
    ['', '617-555-0123'],
    ['', '(212) 555 0199'],
    ['guest@shop.example', ''],
    ['', ''],
  ])
  // An empty parameter is none.
  for (const [query, ids] of [
    ['billingemail=', [1, 2, 3, 4]],
    ['billingemail=&billingemail=GUEST@shop.example', [3]],
    ['billingemail=617-555-0123', []],
  ] as const) {
    const answer = await shop.call('GET', `/Orders?${query}`)
    expect([query, answer.statusCode === 404 ? [] : idsIn(answer.json())]).toEqual([query, ids])
  }
})

test('search finds them by telephone number and name; files have them, and a file that is sent back changes nothing', async () => {
  const { merchant } = await withGuests()
  const found = async (q: string) => {
    const { body } = await merchant.open(`/admin/search?q=${encodeURIComponent(q)}`)
    return [...new Set([...body.matchAll(/href="\/admin\/orders\/(\d+)"/g)].map(([, id]) => Number(id)))]
  }
  expect([
    await found('6175550123'),
    await found('212 555-0199'),
    await found('byron'),
    await found('guest@shop'),
  ]).toEqual([[1], [2], [1], [3]])
  const [first] =
    (await merchant.open('/admin/search?q=2125550199')).body.match(/href="\/admin\/orders\/2"[\s\S]*?<\/li>/) ?? []
  expect(first).toContain('(212) 555 0199')

  const file = (await merchant.open('/admin/orders/export?format=csv')).body
  expect(file).toContain(',BillingEmail,')
  const { headers } = await merchant.upload('/admin/orders/csv', file)
  expect((await merchant.open(String(headers.location))).body).toContain('Unchanged (4)')
})

test('a report by customer joins guests by an address or a telephone number, and never by an empty address', async () => {
  const { shop, merchant, place } = await withGuests()
  await place({ BillingPhoneNumber: '617 555 0123', BillingLastName: 'Byron' })
  await place({ BillingPhoneNumber: '7' })
  await place({ BillingPhoneNumber: '7' })
  await shop.add('/Customers', { Email: 'ada@customers.example', Password: 'secret words' })
  const { body } = await merchant.open('/admin/reports.csv?by=customer&headings=names&from=2024-01-01&to=2033-01-01')
  const rows = body.trim().split('\n').slice(1)
  expect(rows.map((row) => row.split(',').slice(0, 4).join()).toSorted()).toEqual([
    ',(212) 555 0199,,1',
    ',,,1',
    ',7,,1',
    ',7,,1',
    ',Byron,,2',
    'guest@shop.example,,,1',
  ])
})
