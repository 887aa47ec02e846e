import { describe, expect, test } from 'vitest'
import { issueCustomerToken } from '../../../../../src/access/people/customer-tokens.ts'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { type TestPerson, testPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { statementsOf } from '../../../../support/statements.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { mailTo } from '../../../shop/staff/fixture.ts'

const server = await sharedServer()
const shop = await server.openStore({ timeZone: 'Asia/Tokyo' })

let serial = 0

function newCustomer(store = shop) {
  return store.add('/Customers', { Email: `customer-${++serial}@home.example`, Password: 'secret words' })
}

async function newProduct(store: TestStore, changes: object = {}) {
  const SKUInfo = { SKU: `SKU-${++serial}`, Name: 'Lamp', Price: 20, Stock: 1_000, ...changes }
  return store.add('/Products', { SKUInfo })
}

async function newOrder(CustomerID: number, fields: object = {}) {
  const item = { CatalogID: await newProduct(shop), ItemQuantity: 1 }
  return placeOrder(shop.caller, { CustomerID, OrderItemList: [item], ...fields })
}

async function linkFor(customerId: number, store = shop, minutes = 30): Promise<string> {
  const { publicUrl } = server.services.config
  const { url } = await issueCustomerToken({ ...server.services, publicUrl }, store.caller, { customerId, minutes })
  return url.replace(publicUrl, '')
}

function press(person: TestPerson, link: string) {
  return person.submit(link, {}, { action: '/account/sign-in' })
}

async function customerIn(customerId: number, store = shop): Promise<TestPerson> {
  const person = testPerson(server.app)
  const answer = await press(person, await linkFor(customerId, store))
  if (answer.statusCode !== 303) throw new Error(answer.body)
  return person
}

describe('the link that a store gives', () => {
  test('opens a page of no store, and uses nothing up however often it is looked at', async () => {
    const link = await linkFor(await newCustomer())
    const person = testPerson(server.app)
    for (let looks = 0; looks < 3; looks++) {
      const { body, statusCode, cookies } = await person.open(link)
      expect(statusCode).toBe(200)
      expect(body).not.toContain(shop.store.name)
      expect(cookies.map(({ name }) => name)).not.toContain('customer')
    }
    await server.app.inject({ method: 'HEAD', url: link })

    const answer = await press(person, link)
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/account'])
    // Its cookie is for the server alone.
    const cookie = answer.cookies.find(({ name }) => name === 'customer')
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' })
    expect((await person.open('/account')).statusCode).toBe(200)
  })

  test('says the same of a token that was never given', async () => {
    const real = await testPerson(server.app).open(await linkFor(await newCustomer()))
    const made = await testPerson(server.app).open(`/account/sign-in?token=${'a'.repeat(64)}`)
    const withoutTokens = (body: string) => body.replace(/value="[^"]*"/g, '')

    expect(withoutTokens(real.body)).toBe(withoutTokens(made.body))
  })

  test('works once: pressed again, the page says to ask for a new one; its token is not in the log', async () => {
    const link = await linkFor(await newCustomer())
    const page = await testPerson(server.app).open(link)
    expect(page.body).toContain('See my orders')
    await press(testPerson(server.app), link)

    const again = await press(testPerson(server.app), link)
    expect(again.statusCode).toBe(401)
    expect(again.body).toContain('ask for a new one where you got it')
    expect(again.cookies.map(({ name }) => name)).not.toContain('customer')
    const token = new URL(link, 'http://here').searchParams.get('token') ?? ''
    expect([token.length, server.log.join('\n').includes(token)]).toEqual([64, false])
  })

  test('a program uses it by JSON, and is told until when the session lasts', async () => {
    const link = await linkFor(await newCustomer())
    const Token = new URL(link, 'http://here').searchParams.get('token')
    const person = testPerson(server.app)
    const answer = await person.call('POST', '/account/sign-in', { Token })

    expect(answer.json()).toEqual({ ExpiresAt: new Date(server.clock.ms + 12 * 3_600_000).toISOString() })
    expect((await person.call('GET', '/account')).json()).toEqual([])
    const again = await person.call('POST', '/account/sign-in', { Token })
    expect([again.statusCode, again.json()[0].Value]).toEqual([401, 'Token'])
    expect((await person.call('POST', '/account/sign-in', { Token: 1 })).statusCode).toBe(400)
  })

  test('its form needs the token of its own page', async () => {
    const link = await linkFor(await newCustomer())
    const answer = await testPerson(server.app).submit(link, { _csrf: '' }, { action: '/account/sign-in' })

    expect(answer.statusCode).toBe(403)
    expect((await press(testPerson(server.app), link)).statusCode).toBe(303)
  })
})

describe('the link that a customer asks for', () => {
  const ask = (Email: string, Store = shop.store.secureUrl) =>
    testPerson(server.app).call('POST', '/account/sign-in/link', { Email, Store })

  test('goes to the address of a customer of the shop, and signs in to that shop alone', async () => {
    const { store } = await server.openStore()
    const Email = `anna-${++serial}@home.example`
    await shop.add('/Customers', { Email, Password: 'secret words' })
    const [host] = shop.store.secureUrl.split('//').slice(1)
    const page = `/account/sign-in?store=${host}`
    expect((await testPerson(server.app).open('/account/sign-in')).body).toContain('name="Store"')
    expect((await testPerson(server.app).open(page)).body).toContain(`at <strong>${shop.store.name}</strong>`)
    const answer = await testPerson(server.app).submit(
      page,
      { Email: Email.toUpperCase() },
      { action: '/account/sign-in/link' },
    )
    expect(answer.body).toContain('a link is on its way')

    const mail = await mailTo(server, Email)
    expect(mail).toMatchObject({ kind: 'customer-link', storeId: shop.store.id, state: 'shown' })
    const person = testPerson(server.app)
    expect((await press(person, mail?.link ?? '')).headers.location).toBe('/account')
    expect((await person.open('/account')).body).toContain(shop.store.name)
    expect((await press(person, mail?.link ?? '')).statusCode).toBe(401)
    expect((await ask(Email, store.secureUrl)).statusCode).toBe(204)
    expect(await mailTo(server, Email)).toMatchObject({ state: 'void', storeId: store.id })
    expect((await ask(Email, 'nowhere.example')).json()[0]).toMatchObject({ Value: 'Store' })
    expect((await ask('no address')).json()[0]).toMatchObject({ Value: 'Email' })
  })

  test('does not tell who is a customer: same answer, same statements, a mail’s row either way, and the same bounds', async () => {
    const [known = '', disabled = '', unknown = ''] = [1, 2, 3].map(() => `who-${++serial}@home.example`)
    await shop.add('/Customers', { Email: known, Password: 'secret words' })
    await shop.add('/Customers', { Email: disabled, Password: 'secret words', Enabled: false })
    await ask('first@home.example')
    const sent = async (email: string) => {
      const answers: [number, string][] = []
      const statements = await statementsOf(async () => {
        const { statusCode, body } = await ask(email)
        answers.push([statusCode, body])
      })
      return [answers, statements.map(({ text }) => text).filter((text) => !/pg_notify|"ApiCall"/.test(text))]
    }
    const first = await sent(known)
    expect(first[0]).toEqual([[204, '']])
    for (const email of [disabled, unknown]) expect(await sent(email)).toEqual(first)
    const { db } = server.services
    const where = { recipient: { in: [known, disabled, unknown] } }
    const rows = await db.mail.findMany({ where, orderBy: { id: 'asc' } })
    expect(rows.map(({ state }) => state)).toEqual(['shown', 'void', 'void'])
    for (const email of [known, unknown]) {
      for (let time = 0; time < 4; time++) expect((await ask(email)).statusCode).toBe(204)
      expect((await ask(email)).statusCode).toBe(429)
    }
    const owner = await merchantIn(server, shop.store)
    const outbox = (await owner.open('/admin/outbox')).body
    expect([outbox.includes(known), outbox.includes(unknown)]).toEqual([true, false])
  })
})

describe('a customer', () => {
  test('sees the orders, the newest first, with number, date in the store’s zone, status and total', async () => {
    const customer = await newCustomer()
    const one = await newOrder(customer)
    const two = await newOrder(customer, { SalesTax: 41.23 })
    await server.services.db.orderStatus.update({
      where: { storeId_id: { storeId: shop.store.id, id: 11 } },
      data: { text: 'Waiting for <money>' },
    })
    const person = await customerIn(customer)
    const { body } = await person.open('/account')

    expect(body.indexOf(`AB-${two.invoiceNumber}`)).toBeGreaterThan(0)
    expect(body.indexOf(`AB-${one.invoiceNumber}`)).toBeGreaterThan(body.indexOf(`AB-${two.invoiceNumber}`))
    expect(body).toContain('Mar 11, 2026, 1:00 AM GMT+9')
    expect(body).toContain('Waiting for &lt;money&gt;')
    expect(body).toContain('$61.23')
    expect(body).toContain(`<title>Your orders · ${shop.store.name} ·`)
    const german = await person.open('/account', { 'accept-language': 'de-DE' })
    expect(german.body).toContain(`<title>Ihre Bestellungen · ${shop.store.name} ·`)
    expect(german.body).toContain('11. März 2026, 01:00 GMT+9')
    expect(german.body).toMatch(/61,23\s\$/)
    expect((await person.call('GET', '/account')).json()[0]).toEqual({
      OrderID: two.id,
      InvoiceNumber: `AB-${two.invoiceNumber}`,
      OrderDate: '2026-03-11T01:00:00',
      OrderStatus: 'Waiting for <money>',
      OrderAmount: 61.23,
      Currency: 'USD',
    })
  })

  test('reads page by page without gap or repetition', async () => {
    const customer = await newCustomer()
    const placed: number[] = []
    for (let orders = 0; orders < 45; orders++) placed.unshift((await newOrder(customer)).id)
    const person = await customerIn(customer)

    const read: number[] = []
    const lengths: number[] = []
    let address: string | undefined = '/account'
    while (address !== undefined) {
      const answer = await person.call('GET', address)
      const orders = answer.json<{ OrderID: number }[]>()
      read.push(...orders.map(({ OrderID }) => OrderID))
      lengths.push(orders.length)
      address = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers.link ?? ''))?.[1]
    }
    expect(lengths).toEqual([20, 20, 5])
    expect(read).toEqual(placed)

    const { body } = await person.open('/account')
    const older = /href="([^"]+)" rel="next"/.exec(body)?.[1] ?? ''
    const second = await person.open(older)
    expect(second.body).toContain(`/account/orders/${placed[20]}"`)
    expect(second.body).not.toContain(`/account/orders/${placed[19]}"`)
  })

  test('sees one order with its lines, what was chosen, its shipments and exact totals', async () => {
    const customer = await newCustomer()
    const product = await newProduct(shop, { Name: 'Lamp <small> & Co', Price: 0.07 })
    const placed = await placeOrder(shop.caller, {
      CustomerID: customer,
      OrderItemList: [{ CatalogID: product, ItemQuantity: 3 }],
      ShipmentList: [
        { ShipmentFirstName: 'Ada', ShipmentCity: 'Kyoto', ShipmentMethodName: 'Ground', ShipmentCost: 6.5 },
      ],
      SalesTax: 0.1,
      SalesTax2: 0.2,
      OrderDiscountCoupon: 0.01,
      CustomerComments: 'Please ring <twice>',
    })
    await shop.call('PUT', `/Orders/${placed.id}`, {
      body: {
        InternalComments: 'a difficult customer',
        ShipmentList: [{ ShipmentID: 0, ShipmentTrackingCode: '1Z-999', ShipmentShippedDate: '03/11/2026' }],
      },
    })
    const { db } = server.services
    await db.$transaction([
      db.orderItem.updateMany({
        where: { storeId: shop.store.id, orderId: placed.id },
        data: { description: 'Lamp <small> & Co<br><b>Colour:</b>&nbsp;Red &amp; blue', unitCost: 77.77 },
      }),
      db.order.updateMany({ where: { storeId: shop.store.id, id: placed.id }, data: { updatedBy: 'somebody' } }),
    ])
    const person = await customerIn(customer)
    const { body, statusCode } = await person.open(`/account/orders/${placed.id}`)
    const json = (await person.call('GET', `/account/orders/${placed.id}`)).json()

    expect(statusCode).toBe(200)
    const texts = ['Lamp &lt;small&gt; &amp; Co', 'Colour: Red &amp; blue', 'Please ring &lt;twice&gt;', '1Z-999']
    const amounts = ['$0.07', '$0.21', '$6.50', '$0.30', '-$0.01', '$7.00']
    for (const text of [...texts, 'Mar 11, 2026', 'Ground', 'Kyoto', ...amounts]) expect(body).toContain(text)
    expect(json).toMatchObject({
      Subtotal: 0.21,
      ShippingCost: 6.5,
      SalesTax: 0.3,
      OrderDiscount: 0.01,
      OrderAmount: 7,
      OrderItemList: [
        { ItemDescription: 'Lamp <small> & Co\nColour: Red & blue', ItemUnitPrice: 0.07, ItemAmount: 0.21 },
      ],
      ShipmentList: [{ ShipmentTrackingCode: '1Z-999' }],
    })
    for (const text of ['a difficult customer', '77.77']) {
      expect(body).not.toContain(text)
      expect(JSON.stringify(json)).not.toContain(text)
    }
  })

  test('reads parcels by leaving with what is in each, and what is still to be sent; programs read them as they are stored', async () => {
    const customer = await newCustomer()
    const item = { CatalogID: await newProduct(shop), ItemQuantity: 5 }
    const { id } = await placeOrder(shop.caller, { CustomerID: customer, OrderItemList: [item] })
    const [{ OrderItemList }] = (await shop.call('GET', `/Orders/${id}`)).json()
    const ShipmentList = [
      { ShipmentID: 0, ShipmentTrackingCode: 'STAYS' },
      { ShipmentTrackingCode: 'SECOND', ShipmentShippedDate: '03/12/2026' },
      { ShipmentTrackingCode: 'FIRST', ShipmentShippedDate: '03/11/2026' },
    ]
    expect((await shop.call('PUT', `/Orders/${id}`, { body: { ShipmentList } })).statusCode).toBe(200)
    const [stored] = (await shop.call('GET', `/Orders/${id}`)).json()
    const [, , third] = stored.ShipmentList
    await shop.call('PUT', `/Orders/${id}`, {
      body: {
        OrderItemList: [
          { ...OrderItemList[0], ItemQuantity: 3, ItemShipmentID: third.ShipmentID },
          {
            CatalogID: item.CatalogID,
            ItemQuantity: 2,
            ItemUnitPrice: 20,
            ItemShipmentID: stored.ShipmentList[0].ShipmentID,
          },
        ],
      },
    })
    const person = await customerIn(customer)
    const { body } = await person.open(`/account/orders/${id}`)
    expect(body).toMatch(
      /Parcel 1<[\s\S]*3 × Lamp[\s\S]*FIRST[\s\S]*Parcel 2<[\s\S]*SECOND[\s\S]*Still to be sent<[\s\S]*2 × Lamp[\s\S]*not sent yet/,
    )
    const json = (await person.call('GET', `/account/orders/${id}`)).json()
    expect(
      json.ShipmentList.map(({ ShipmentTrackingCode }: { ShipmentTrackingCode: string }) => ShipmentTrackingCode),
    ).toEqual(['STAYS', 'SECOND', 'FIRST'])
  })

  test('names a status of Unpaid by that of New once the order is paid, also where it was refunded', async () => {
    const customer = await newCustomer()
    const [{ id }, other] = [await newOrder(customer), await newOrder(customer)]
    const person = await customerIn(customer)
    const statuses = async () => {
      const listed: { OrderID: number; OrderStatus: string }[] = (await person.call('GET', '/account')).json()
      const own = (await person.call('GET', `/account/orders/${id}`)).json()
      return [
        listed.find(({ OrderID }) => OrderID === other.id)?.OrderStatus,
        listed.find(({ OrderID }) => OrderID === id)?.OrderStatus,
        own.OrderStatus,
        own.ShipmentList[0].ShipmentStatus,
      ]
    }
    const pay = (TransactionType: string, TransactionAmount: number) =>
      shop.add(`/Orders/${id}/Transactions`, { TransactionType, TransactionAmount })
    const statusTexts = (await shop.call('GET', '/OrderStatus?limit=50')).json<
      { OrderStatusID: number; StatusText: string }[]
    >()
    const textOf = (of: number) => statusTexts.find(({ OrderStatusID }) => OrderStatusID === of)?.StatusText
    const [unpaid, fresh, shipped] = [11, 1, 4].map(textOf)
    expect(await statuses()).toEqual([unpaid, unpaid, unpaid, unpaid])
    await pay('Sale', 19.99)
    expect(await statuses()).toEqual([unpaid, unpaid, unpaid, unpaid])
    await pay('Sale', 0.01)
    expect(await statuses()).toEqual([unpaid, fresh, fresh, fresh])
    await pay('Refund', 5)
    expect(await statuses()).toEqual([unpaid, fresh, fresh, fresh])
    const { body } = await person.open(`/account/orders/${id}`)
    expect(body).toContain(`<dd>${fresh}</dd>`)
    expect(body).toMatch(
      /<dt>Paid<\/dt>\s*<dd>\$20\.00<\/dd>\s*<dt>Refunded<\/dt>\s*<dd>\$5\.00<\/dd>\s*<dt>Net<\/dt>\s*<dd>\$15\.00<\/dd>/,
    )
    await shop.call('PUT', `/Orders/${id}`, { body: { OrderStatusID: 4 } })
    expect((await statuses()).slice(1)).toEqual([shipped, shipped, shipped])
  })

  test('sees payments, returns, refunds and the documents of an order as the shop has them', async () => {
    const customer = await newCustomer()
    const item = { CatalogID: await newProduct(shop, { Name: 'Lamp' }), ItemQuantity: 2 }
    const { id } = await placeOrder(shop.caller, { CustomerID: customer, OrderItemList: [item] })
    const pay = (body: object) => shop.add(`/Orders/${id}/Transactions`, body)
    await pay({ TransactionType: 'Sale', TransactionAmount: 30, TransactionMethod: 'Card' })
    await pay({ TransactionType: 'Sale', TransactionAmount: 10, TransactionMethod: 'Voucher' })
    await pay({ TransactionType: 'Authorize', TransactionAmount: 17 })
    const [{ OrderItemList }] = (await shop.call('GET', `/Orders/${id}`)).json()
    const RMAItemList = [{ CatalogID: item.CatalogID, ReturnQuantity: 1, ReceivedQuantity: 1 }]
    const comments = { Comments: 'Thank you', InternalComments: 'scratched' }
    const returned = await shop.add('/RMA', { OrderID: id, RMAStatusID: 3, ...comments, RMAItemList })
    const RefundItemList = [{ ItemIndexID: OrderItemList[0].ItemIndexID, RefundQuantity: 1, RefundAmount: 18.5 }]
    await pay({ TransactionType: 'Refund', TransactionAmount: 19.25, RMAID: returned, RefundItemList })
    const person = await customerIn(customer)
    const { body } = await person.open(`/account/orders/${id}`)
    const words = body.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
    const told = `$30.00 Card,$10.00 Voucher,Return ${returned},1 × Lamp 1 received,Amount $19.25,1 × Lamp: $18.50,Other $0.75`
    for (const part of told.split(',')) expect(words).toContain(part)
    expect(words).not.toMatch(/17\.00|scratched/)

    const links = [...body.matchAll(/href="(\/account\/orders\/[^"]+)"/g)].map(([, href]) => href ?? '')
    expect(links).toEqual([
      `/account/orders/${id}/invoice`,
      expect.stringMatching(`^/account/orders/${id}/credit-notes/\\d+$`),
    ])
    const merchant = await merchantIn(server, shop.store)
    for (const link of links) {
      const own = await person.open(link)
      const back = (page: string) => page.replace(/href="[^"]*\/orders\/\d+"/, '')
      expect(back(own.body)).toBe(back((await merchant.open(link.replace('/account/', '/admin/'))).body))
      expect((await person.open(link, { 'accept-language': 'de' })).body).toMatch(/<h2[^>]*>(Rechnung|Gutschrift) /)
      expect((await (await customerIn(await newCustomer())).open(link)).statusCode).toBe(404)
      expect((await testPerson(server.app).open(link)).headers.location).toContain('/account/sign-in')
    }
    expect((await person.open(`/account/orders/${id}/credit-notes/1`)).statusCode).toBe(404)
  })

  test('finds no order of another customer, of a guest, or of another store', async () => {
    const [customer, neighbour] = [await newCustomer(), await newCustomer()]
    const ofNeighbour = await newOrder(neighbour)
    const ofGuest = await newOrder(0, { BillingEmail: 'guest@home.example' })
    const other = await server.openStore()
    const person = await customerIn(customer)
    const account = { Email: 'namesake@home.example', Password: 'secret words' }
    const CustomerID = await other.add('/Customers', { CustomerID: customer, ...account })
    const OrderItemList = [{ CatalogID: await newProduct(other), ItemQuantity: 1 }]
    const ofOther = await placeOrder(other.caller, { CustomerID, OrderItemList })

    for (const { id } of [ofNeighbour, ofGuest, ofOther, { id: 999_999 }]) {
      expect((await person.open(`/account/orders/${id}`)).statusCode).toBe(404)
      expect((await person.call('GET', `/account/orders/${id}`)).statusCode).toBe(404)
    }
    expect((await person.call('GET', '/account')).json()).toEqual([])
  })

  test('without an order is told so, with a way to the store', async () => {
    const { body } = await (await customerIn(await newCustomer())).open('/account')

    expect(body).toContain('There are no orders in your account yet')
    expect(body).toContain(`href="${shop.store.secureUrl}"`)
  })

  test('signs out on the server', async () => {
    const person = await customerIn(await newCustomer())
    const stolen = testPerson(server.app)
    stolen.cookies.set('customer', person.cookies.get('customer') ?? '')
    const answer = await person.submit('/account', {}, { action: '/account/sign-out' })

    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/account/sign-in?notice=signed-out'])
    expect((await person.open('/account/sign-in?notice=signed-out')).body).toContain('You are signed out.')
    expect((await stolen.call('GET', '/account')).statusCode).toBe(401)
  })

  test('of a session that another link opens in the same browser, the former one ends', async () => {
    const person = await customerIn(await newCustomer())
    const former = testPerson(server.app)
    former.cookies.set('customer', person.cookies.get('customer') ?? '')
    await press(person, await linkFor(await newCustomer()))

    expect((await person.call('GET', '/account')).statusCode).toBe(200)
    expect((await former.call('GET', '/account')).statusCode).toBe(401)
  })

  test.each(['before=0x1', 'before=', 'beside=1'])('?%s is refused', async (query) => {
    const person = await customerIn(await newCustomer())

    expect((await person.call('GET', `/account?${query}`)).statusCode).toBe(400)
  })
})
