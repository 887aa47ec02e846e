import { expect, test } from 'vitest'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { importInto } from '../../../engine/transfer/fixture.ts'
import { alertIn } from '../../../http/pages/shop/order-fixture.ts'
import { soapCall } from '../../../http/soap/support.ts'

// A guest has an e-mail address or a telephone number. Orders with a telephone number alone, by every door.

const server = await sharedServer()

async function openShop() {
  const shop = await server.openStore()
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 5, Stock: 1_000 } })
  const merchant = await merchantIn(server, shop.store)
  const OrderItemList = [{ ItemID: 'LAMP', ItemQuantity: 1 }]
  const line = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1' }
  return {
    shop,
    merchant,
    place: (fields: object) =>
      server.operate('POST', `/admin/stores/${shop.store.id}/orders`, { OrderItemList, ...fields }),
    send: (fields: Record<string, string>, headers = {}) =>
      merchant.submit('/admin/orders/new', { ...line, ...fields }, { action: '/admin/orders', headers }),
    order: async (id: number) => (await shop.call('GET', `/Orders/${id}`)).json()[0],
  }
}

const phone = { BillingPhoneNumber: '617-555-0123' }

test('the operator’s route refuses a guest without either, and nothing is stored; a customer needs neither', async () => {
  const { shop, place, order } = await openShop()
  const ShipmentList = [{ ShipmentPhone: '555-0100', ShipmentEmail: 'a@b.example' }]
  for (const blank of [undefined, '', ' \t']) {
    const answer = await place({ BillingEmail: blank, BillingPhoneNumber: blank, ShipmentList })
    const Message = 'BillingEmail or BillingPhoneNumber is required for a guest'
    expect([answer.statusCode, answer.json()]).toMatchObject([400, [{ Value: 'BillingEmail', Message }]])
  }
  expect((await shop.call('GET', '/Orders')).statusCode).toBe(404)
  const CustomerID = await shop.add('/Customers', { Email: 'ada@customers.example', Password: 'secret words' })
  const placed = await place({ CustomerID, BillingEmail: '' })
  expect(await order(placed.json()[0].Value)).toMatchObject({ CustomerID, BillingEmail: '', BillingPhoneNumber: '' })
})

test('the page of a new order asks for either, in the reader’s language, and takes a telephone number', async () => {
  const { shop, merchant, send, order } = await openShop()
  const refused = await send({ BillingPhoneNumber: ' ' })
  expect(refused.statusCode).toBe(400)
  expect(alertIn(refused.body)).toContain('E-mail</a> or a telephone number is required for a guest')
  const german = await send({}, { 'accept-language': 'de' })
  expect(alertIn(german.body)).toContain('E-Mail</a> oder eine Telefonnummer ist bei Gästen erforderlich')
  expect((await send(phone)).headers.location).toBe('/admin/orders/1?notice=order-placed')
  expect(await order(1)).toMatchObject({ CustomerID: 0, BillingEmail: '', ...phone })
  const page = (await merchant.open('/admin/orders/1')).body
  expect(page).toContain('<strong>617-555-0123</strong> <small class="quiet">guest</small>')
  expect(page).not.toContain('mailto:')
  expect((await merchant.open('/admin/orders')).body).toContain('617-555-0123')
  // Customers without an address are not one customer.
  for (const BillingLastName of ['Byron', 'Lovelace'])
    expect((await send({ ...phone, NewCustomer: 'yes', BillingLastName })).statusCode).toBe(303)
  expect((await shop.call('GET', '/Customers')).json()).toMatchObject([{ Email: '' }, { Email: '' }])
})

/** Two guests by telephone, one by e-mail, and one of whom an import knows nothing: orders 1 to 4. */
async function withGuests() {
  const opened = await openShop()
  await opened.place({ ...phone, BillingLastName: 'Byron' })
  await opened.place({ BillingPhoneNumber: '(212) 555 0199' })
  await opened.place({ BillingEmail: 'guest@shop.example' })
  const record = { OrderID: 4, OrderStatusID: 1, OrderDate: '2026-06-01T12:00:00', OrderAmount: 5 }
  expect((await importInto(server, opened.shop, [{ service: 'Orders', record }])).refused).toEqual([])
  return opened
}

test('JSON, XML and cartAPI show an empty address, take it back, and no filter by it finds the others', async () => {
  const { shop, order } = await withGuests()
  const before = await order(1)
  const xml = (await shop.call('GET', '/Orders/1', { accept: 'application/xml' })).body
  expect(xml).toMatch(/617-555-0123<\/BillingPhoneNumber>\s*<BillingEmail( ?\/>|><\/BillingEmail>)/)
  const record = /<Order>[\s\S]*<\/Order>/.exec(xml)?.[0] ?? ''
  for (const [body, contentType] of [[before, 'application/json'] as const, [record, 'application/xml'] as const])
    expect((await shop.call('PUT', '/Orders/1', { body, contentType })).statusCode).toBe(200)
  expect(await order(1)).toEqual(before)
  const soap = await soapCall(server, shop, 'getOrder', { batchSize: 10, startNum: 1 })
  const billing = [...soap.matchAll(/<BillingAddress>.*?<\/BillingAddress>/gs)].map(([text]) => text)
  const emails = billing.map((text) => /<Email>([^<]*)/.exec(text)?.[1] ?? '')
  expect(emails).toEqual(['', '', 'guest@shop.example', ''])
  expect(billing[0]).toContain('<Phone>617-555-0123</Phone>')
  const found = async (query: string) => {
    const answer = await shop.call('GET', `/Orders?${query}`)
    return answer.statusCode === 404 ? [] : answer.json().map(({ OrderID }: { OrderID: number }) => OrderID)
  }
  expect(await found('billingemail=')).toEqual([1, 2, 3, 4])
  expect(await found('billingemail=&billingemail=GUEST@shop.example')).toEqual([3])
  expect(await found('billingemail=617-555-0123')).toEqual([])
})

test('search finds them by telephone number and name; files have them, and a file that is sent back changes nothing', async () => {
  const { merchant } = await withGuests()
  const found = async (q: string) => {
    const { body } = await merchant.open(`/admin/search?q=${encodeURIComponent(q)}`)
    return [...new Set([...body.matchAll(/href="\/admin\/orders\/(\d+)"/g)].map(([, id]) => Number(id)))]
  }
  const ids = [await found('6175550123'), await found('212 555-0199'), await found('byron'), await found('guest@shop')]
  expect(ids).toEqual([[1], [2], [1], [3]])
  const file = (await merchant.open('/admin/orders/export?format=csv')).body
  expect(file).toContain(',BillingEmail,')
  const { headers } = await merchant.upload('/admin/orders/csv', file)
  expect((await merchant.open(String(headers.location))).body).toContain('Unchanged (4)')
})

test('a report by customer joins guests by an address or a telephone number, and never by an empty address', async () => {
  const { merchant, place } = await withGuests()
  await place({ BillingPhoneNumber: '617 555 0123', BillingLastName: 'Byron' })
  for (const BillingPhoneNumber of ['7', '7']) await place({ BillingPhoneNumber })
  const { body } = await merchant.open('/admin/reports.csv?by=customer&headings=names&from=2024-01-01&to=2033-01-01')
  const rows = [...body.matchAll(/^[^,]*,[^,]*,[^,]*,\d+/gm)].map(String).toSorted()
  expect(rows).toEqual([',(212) 555 0199,,1', ',,,1', ',7,,1', ',7,,1', ',Byron,,2', 'guest@shop.example,,,1'])
})
