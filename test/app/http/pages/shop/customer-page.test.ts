import { describe, expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { testPerson } from '../../../../support/person.ts'
import { memberIn } from '../../../../support/signed-in.ts'
import { type Scene, withMerchant } from './merchant-fixture.ts'
import { alertIn, expectSaved } from './order-fixture.ts'

let scene: Scene

withMerchant((opened) => {
  scene = opened
})

const anna = {
  Email: 'anna@shop.example',
  Password: 'secret',
  BillingFirstName: 'Anna',
  BillingLastName: 'Smith',
  BillingCompany: 'Smith & Co',
  BillingAddress1: '1 High Street',
  BillingCity: 'Leeds',
  BillingZipCode: 'LS1 1AA',
  BillingCountry: 'GB',
  BillingPhoneNumber: '+44 113 496 0000',
  BillingTaxID: 'GB 123',
  ShippingFirstName: 'Ben',
  ShippingCity: 'York',
  ShippingAddressType: 2,
}
const add = (fields: object) => scene.shop.add('/Customers', { ...anna, ...fields })
const pageOf = async (id: number, person = scene.merchant) => (await person.open(`/admin/customers/${id}`)).body
const title = (html: string) => /<h1>(.*?)<\/h1>/.exec(html)?.[1]
const figures = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<div><dt>([^<]*)<\/dt><dd><strong>([^<]*)/g)].map(([, name, text]) => [name, text]),
  )
const noteAt = (id: number) => ({ action: `/admin/customers/${id}/notes` })

describe('a customer', () => {
  test('is called by the name, else the company, else the e-mail address, on the page, in lists and in links', async () => {
    const named = await add({})
    const company = await add({ Email: 'b@shop.example', BillingFirstName: '', BillingLastName: '' })
    const nameless = { BillingFirstName: '', BillingLastName: '', BillingCompany: '', ShippingFirstName: '' }
    const other = await add({ Email: 'c@shop.example', ...nameless })
    expect(title(await pageOf(named))).toBe('Anna Smith')
    expect(title(await pageOf(company))).toBe('Smith &amp; Co')
    expect(title(await pageOf(other))).toBe('c@shop.example')
    const list = (await scene.merchant.open('/admin/customers')).body
    const called = [...list.matchAll(/<th role="rowheader" scope="row"><a href="[^"]*">([^<]*)/g)].map(
      ([, name]) => name,
    )
    expect(called).toEqual(['c@shop.example', 'Smith &amp; Co', 'Anna Smith'])
    await scene.shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Stock: 1 } })
    const { id } = await placeOrder(scene.shop.caller, {
      CustomerID: company,
      OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 1 }],
    })
    const fields = (await scene.merchant.open(`/admin/orders/${id}/fields`)).body
    expect(fields).toContain(`<a href="/admin/customers/${company}"><bdi>Smith &amp; Co</bdi></a>`)
    const found = await scene.merchant.call('GET', '/admin/customers/search?q=anna')
    expect(found.json()).toEqual([{ ID: named, Name: 'Anna Smith · anna@shop.example' }])
  })

  test('has orders with their amounts, sums net of refunds, returns and both addresses', async () => {
    const id = await add({})
    await scene.shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 20, Stock: 9 } })
    const place = (quantity: number, online = false) =>
      placeOrder(scene.shop.caller, {
        CustomerID: id,
        BillingOnLinePayment: online,
        OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: quantity }],
      })
    const first = await place(2)
    const pay = (TransactionType: string, TransactionAmount: number) =>
      scene.shop.call('POST', `/Orders/${first.id}/Transactions`, { body: { TransactionType, TransactionAmount } })
    await pay('Sale', 40)
    await pay('Refund', 15.5)
    await place(1, true)
    await place(3)
    await scene.shop.add('/RMA', { OrderID: first.id, RMAItemList: [{ CatalogID: 1, RestockQuantity: 1 }] })
    const page = await pageOf(id)
    expect(figures(page)).toEqual({
      Orders: '3',
      'Spent, less refunds': '$44.50',
      'Average of 2 paid orders': '$22.25',
      'Customer since': 'Mar 10, 2026',
    })
    const amounts = [...page.matchAll(/data-label="Amount" class="right">([^<]*)/g)].map(([, amount]) => amount)
    expect(amounts).toEqual(['$60.00', '$20.00', '$40.00'])
    const states = [...page.matchAll(/data-label="Payment"><span class="badge [a-z]*">([^<]*)/g)].map(
      ([, text]) => text,
    )
    expect(states).toEqual(['Unpaid', 'Paid', 'Partly refunded'])
    expect(page).toContain(`<a href="/admin/rma/1">Return 1</a> of order <a href="/admin/orders/${first.id}">`)
    for (const line of ['1 High Street', 'Leeds, LS1 1AA', 'York', 'Tax number: GB 123', 'A commercial address'])
      expect(page).toContain(line)
    expect(page).toContain(`<a href="/admin/orders/new?customer=${id}" class="button">New order for Anna Smith</a>`)
  })

  test('points out who is likely the same, and why', async () => {
    const id = await add({})
    const others = {
      email: { Email: "an'na@shop.example", BillingZipCode: '' },
      phone: { BillingPhoneNumber: '', ShippingPhoneNumber: '0113 4960000' },
      named: { BillingFirstName: 'ANNA', BillingLastName: 'Smíth', BillingZipCode: 'ls11aa' },
    }
    const unlike = { BillingFirstName: 'Zoe', BillingPhoneNumber: '1', BillingZipCode: 'X' }
    const of = (name: string) => ({ Email: `${name}@shop.example`, ...unlike })
    const email = await add({ ...unlike, ...others.email })
    const phone = await add({ ...of('p'), ...others.phone })
    const named = await add({ ...of('n'), ...others.named })
    // The same name elsewhere, the extension of a telephone, and numbers that are none.
    await add({ ...of('x'), BillingFirstName: 'Anna', BillingZipCode: 'LS2', BillingPhoneNumber: '60000' })
    const none = { BillingPhoneNumber: '0000000', BillingZipCode: '' }
    const first = await add({ ...of('z1'), ...none })
    await add({ ...of('z2'), ...none })
    const why = async (of: number) =>
      [...(await pageOf(of)).matchAll(/<li><a href="\/admin\/customers\/(\d+)">(.*?): ([^<]*)<\/li>/g)].map(
        ([, other, who, text]) => [Number(other), /<small[^>]*>([^<]*)/.exec(who ?? '')?.[1], text],
      )
    expect(await why(id)).toEqual([
      [named, 'n@shop.example', 'the same name and postcode'],
      [phone, 'p@shop.example', 'the same phone number'],
      [email, 'an&#39;na@shop.example', 'nearly the same e-mail address'],
    ])
    expect(await why(phone)).toEqual([[id, expect.any(String), 'the same phone number']])
    expect(await why(first)).toEqual([])
    const many = Array.from({ length: 5 }, (_, at) => add({ ...of(`m${at}`), ...others.phone }))
    await Promise.all(many)
    expect(await why(id)).toHaveLength(5)
  })
})

describe('the shop’s notes', () => {
  test('of two people at once are both kept, each with who and when, and one form adds one', async () => {
    const id = await add({})
    const colleague = await memberIn(scene.server, scene.shop, 'orders')
    const write = (person: typeof colleague, Note: string) =>
      person.submit(`/admin/customers/${id}`, { Note }, noteAt(id))
    const answers = await Promise.all([write(scene.merchant, 'Likes\r\n<lamps>'), write(colleague, 'Rings at noon')])
    for (const answer of answers) expectSaved(answer, `/admin/customers/${id}?notice=note-added#notes`)
    const page = await pageOf(id)
    expect(page).toContain('<p class="text">Likes\n&lt;lamps&gt;</p>')
    expect(page).toMatch(/merchant@shop\.example, Mar 10, 2026/)
    expect(page).toMatch(/member-\d+@staff\.example, Mar 10, 2026/)
    const form = await scene.merchant.formOf(`/admin/customers/${id}`, `/admin/customers/${id}/notes`)
    const again = () => scene.merchant.submit(`/admin/customers/${id}`, { ...form, Note: 'Once' }, noteAt(id))
    await again()
    await again()
    expect((await pageOf(id)).match(/<p class="text">Once<\/p>/g)).toHaveLength(1)
    const remove = /action="(\/admin\/customers\/\d+\/notes\/\d+\/delete)"/.exec(await pageOf(id))?.[1] ?? ''
    expectSaved(
      await scene.merchant.submit(`/admin/customers/${id}`, {}, { action: remove }),
      `/admin/customers/${id}?notice=note-deleted#notes`,
    )
    expect(await pageOf(id)).not.toContain('Once')
  })

  test('are bounded, also where two come at once, and go with the customer', async () => {
    const id = await add({})
    const { store } = scene.shop
    const { db } = scene.server.database
    const of = { storeId: store.id, customerId: id }
    const rows = Array.from({ length: 199 }, () => ({ ...of, text: 'x', writtenBy: 'a', writtenAt: new Date() }))
    await db.customerNote.createMany({ data: rows })
    const write = (Note: string) => scene.merchant.submit(`/admin/customers/${id}`, { Note }, noteAt(id))
    const answers = await Promise.all([write('one'), write('two')])
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, 409])
    expect(await db.customerNote.count({ where: of })).toBe(200)
    const long = await write('y'.repeat(2_001))
    expect(long.statusCode).toBe(400)
    expect(alertIn(long.body)).toContain('must have 1 to 2000 characters')
    expect(long.body).toContain('y'.repeat(2_001))
    expect((await write(' ')).statusCode).toBe(400)
    await scene.shop.call('DELETE', `/Customers/${id}`)
    expect(await db.customerNote.count({ where: of })).toBe(0)
  })

  test('are shown to who may only read customers, without forms, and of other stores not at all', async () => {
    const id = await add({})
    await scene.merchant.submit(`/admin/customers/${id}`, { Note: 'Likes lamps' }, noteAt(id))
    const reader = await memberIn(scene.server, scene.shop, {
      Name: 'Support',
      Privileges: { Customers: ['read'] },
    })
    const page = await pageOf(id, reader)
    expect(page).toContain('Likes lamps')
    for (const hidden of ['/notes"', '/delete"', 'sign-in-link', '/admin/orders', 'Spent'])
      expect(page).not.toContain(hidden)
    const refused = await reader.call('POST', `/admin/customers/${id}/notes`, { Note: 'x' })
    expect(refused.statusCode).toBe(403)
  })
})

describe('a sign-in link', () => {
  const link = (id: number) => `/admin/customers/${id}/sign-in-link`

  test('is mailed, signs in once, and stands in the audit log without its secret', async () => {
    const id = await add({})
    expect((await scene.merchant.open(link(id))).body).toContain('It is mailed to <strong>anna@shop.example</strong>')
    expectSaved(await scene.merchant.submit(link(id), {}), `/admin/customers/${id}?notice=customer-link-mailed`)
    const mail = /href="(\/admin\/outbox\/\d+)"/.exec((await scene.merchant.open('/admin/outbox')).body)?.[1] ?? ''
    const { body } = await scene.merchant.open(mail)
    expect(body).toContain('anna@shop.example')
    await expectSignsInOnce(body)
    const [entry] = await scene.server.database.db.auditEntry.findMany({
      where: { storeId: scene.shop.store.id },
      orderBy: { id: 'desc' },
    })
    expect(entry).toMatchObject({
      action: 'customer.link-made',
      actor: 'merchant@shop.example',
      target: 'Anna Smith',
      details: { mailed: true },
    })
  })

  test('is shown once for a customer without an e-mail address', async () => {
    const id = await add({})
    const where = { storeId_id: { storeId: scene.shop.store.id, id } }
    await scene.server.database.db.customer.update({ where, data: { email: null } })
    const asked = await scene.merchant.open(link(id))
    expect(asked.body).not.toContain('/account/sign-in?token=')
    const { statusCode, body } = await scene.merchant.submit(link(id), {})
    expect(statusCode).toBe(200)
    await expectSignsInOnce(body)
  })

  async function expectSignsInOnce(html: string): Promise<void> {
    const address = /\/account\/sign-in\?token=[\w-]{64}/.exec(html)?.[0] ?? ''
    const customer = testPerson(scene.server.app)
    const form = await customer.formOf(address, '/account/sign-in')
    const signIn = (person: typeof customer) => person.submit(address, form, { action: '/account/sign-in' })
    const { statusCode, headers } = await signIn(customer)
    expect(statusCode).toBe(303)
    expect((await customer.open(String(headers.location))).statusCode).toBe(200)
    expect((await signIn(testPerson(scene.server.app))).statusCode).toBe(401)
  }

  test('is refused for a customer who is disabled', async () => {
    const id = await add({ Enabled: false })
    expect((await scene.merchant.open(link(id))).body).toContain('cannot sign in')
    const other = await add({ Email: 'b@shop.example' })
    const form = await scene.merchant.formOf(link(other))
    const { statusCode } = await scene.merchant.submit(link(other), form, { action: link(other), to: link(id) })
    expect(statusCode).toBe(409)
    expect(await scene.server.database.db.customerLoginToken.count({ where: { storeId: scene.shop.store.id } })).toBe(0)
  })
})

test('leads to all orders of exactly this customer', async () => {
  const one = await add({ Email: 'many@shop.example' })
  const other = await add({ Email: 'few@shop.example' })
  await scene.shop.add('/Products', { SKUInfo: { SKU: 'CHAIR', Name: 'Chair', Stock: 100 } })
  const order = async (CustomerID: number) =>
    (await placeOrder(scene.shop.caller, { CustomerID, OrderItemList: [{ ItemID: 'CHAIR', ItemQuantity: 1 }] })).id
  const ids: number[] = []
  for (let count = 0; count < 11; count++) ids.push(await order(one))
  await order(other)
  expect(await pageOf(one)).toContain(`<a href="/admin/orders?customerid=${one}">All orders</a>`)
  const list = (await scene.merchant.open(`/admin/orders?customerid=${one}`)).body
  const listed = [...list.matchAll(/scope="row"><a href="\/admin\/orders\/(\d+)"/g)].map(([, id]) => Number(id))
  expect(listed).toEqual(ids.toReversed())
})
