import { beforeEach, expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { memberIn, merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'

// The letters of a person, "what do you store?" and "delete it", answered on the pages.

const server = await sharedServer()
const home = '/admin/settings/privacy'
const german = { 'accept-language': 'de' }
let shop: TestStore
let owner: TestPerson
let [ada, orderId] = [0, 0]

beforeEach(async () => {
  shop = await server.openStore()
  owner = await merchantIn(server, shop.store)
  ada = await shop.add('/Customers', { Email: 'ada@shop.example', Password: 'secret', BillingLastName: 'Byron' })
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Cost: 7.25, Price: 20, Stock: 9 } })
  orderId = (await order({ CustomerID: ada, BillingAddress: '12 Engine Row', BillingPhoneNumber: '+44 20 5550199' })).id
})

const order = (fields: object) =>
  placeOrder(shop.caller, {
    BillingEmail: 'ada@shop.example',
    BillingFirstName: 'Ada',
    BillingLastName: 'Byron',
    OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 1 }],
    ...fields,
  })
const body = async (url: string, person = owner, headers = {}) => (await person.open(url, headers)).body
const erase = `${home}/erase?customerId=`

test('an owner reads, prints and erases a person in either language, and sees afterwards what was done', async () => {
  for (const who of ['ada@shop.example', '+44 20 5550199', 'Byron']) {
    expect(await body(`${home}?who=${encodeURIComponent(who)}`)).toContain(`${home}/person?`)
  }
  const letter = await body(`${home}/person?customerId=${ada}`)
  for (const text of ['Data of Byron', 'ada@shop.example', '12 Engine Row', 'LAMP', '$20.00'])
    expect(letter).toContain(text)
  expect(letter).not.toContain('7.25')
  expect(await body(`${home}/person?orderId=${orderId}`, owner, german)).toContain('Daten von Byron')
  const file = await owner.open(/href="(\/admin\/stores[^"]*)"/.exec(letter)?.[1] ?? '')
  expect(file.headers['content-disposition']).toContain('attachment')
  expect(file.json().Orders[0].BillingAddress).toBe('12 Engine Row')

  const asked = await body(erase + ada)
  expect(asked).toContain('the customer’s account, 1 order, and')
  expect(asked).toContain('1 order has parcels that have not left')
  expect(await body(erase + ada, owner, german)).toContain('das Konto des Kunden, 1 Bestellung und')
  // Another order is placed meanwhile.
  const stale = await owner.formOf(erase + ada)
  await order({})
  const again = await owner.submit(erase + ada, { Confirm: stale.Confirm ?? '' })
  expect([again.statusCode, again.body]).toEqual([409, expect.stringContaining('account, 2 orders')])
  expect((await owner.submit(erase + ada, {})).headers.location).toBe(`${home}?notice=person-erased#erasures`)

  for (const url of [home, '/admin/audit', `/admin/customers/${ada}`, `/admin/orders/${orderId}`]) {
    expect([url, /Byron|ada@|Engine/.test(await body(url))]).toEqual([url, false])
  }
  expect(await body(home)).toContain(`<a href="/admin/orders/${orderId}">`)
  expect(await body(home, owner, german)).toContain('das Konto des Kunden, 2 Bestellungen')
  expect(await body('/admin/audit')).toMatch(/Person erased.*Data of a person read/s)
  for (const url of [`/admin/customers/${ada}`, `/admin/orders/${orderId}`]) {
    expect(await body(url)).toContain('The person was erased on')
  }
})

test('nobody but an owner with a recent proof sees it', async () => {
  const People = { Name: 'Staff', Privileges: { People: ['write'], Customers: ['write'], Orders: ['read'] } } as const
  for (const person of [await memberIn(server, shop, 'manager'), await memberIn(server, shop, People)]) {
    for (const path of ['', `/person?customerId=${ada}`, `/erase?customerId=${ada}`, '/idle?Years=10']) {
      expect([path, (await person.open(home + path)).statusCode]).toEqual([path, 403])
    }
    expect(await body(`/admin/customers/${ada}`, person)).not.toContain(home)
    expect(await body(`/admin/customers/${ada}/delete`, person)).toContain('An owner of the store can erase the person')
  }
  for (const url of [`/admin/customers/${ada}`, `/admin/orders/${orderId}`, `/admin/customers/${ada}/delete`])
    expect(await body(url)).toContain(home)
  server.clock.ms += 16 * 60_000
  expect((await owner.open(erase + ada)).headers.location).toContain('/admin/prove')
})

test('a billing address that the law has kept is shown to who reads customers, until its day', async () => {
  await owner.submit(home, { BookkeepingYears: '31' }).then(({ statusCode }) => expect(statusCode).toBe(400))
  await owner.submit(home, { BookkeepingYears: '3', KeepsInvoiceAddresses: 'yes' })
  await owner.submit(erase + ada, {})
  const packer = await memberIn(server, shop, { Name: 'Packer', Privileges: { Orders: ['write'] } })
  const seen = async (person: TestPerson) => (await body(`/admin/orders/${orderId}`, person)).includes('12 Engine Row')
  expect([await seen(owner), await seen(packer)]).toEqual([true, false])
  expect(await body(`/admin/orders/${orderId}/invoice`)).toMatch(
    /12 Engine Row.*The law has it kept until Jan 1, 2030/s,
  )
  await server.database.db.invoiceAddress.updateMany({ data: { until: new Date(server.clock.ms) } })
  expect(await seen(owner)).toBe(false)
})

test('the rule queues who has not ordered for whole years, after a page that shows them', async () => {
  const idle = `${home}/idle?Years=10`
  const at = { storeId: shop.store.id }
  const day = new Date('2015-06-01')
  await server.database.db.customer.updateMany({ where: at, data: { createdAt: day } })
  expect(await body(idle)).toContain('No customer who was added before')
  await server.database.db.order.updateMany({ where: at, data: { orderDate: day } })
  expect(await body(idle)).toContain('1 customer has')
  // A guest's order counts, and comes after the page was shown.
  const { Confirm = '' } = await owner.formOf(idle, `${home}/idle`)
  const guest = await order({})
  const stale = await owner.submit(home, { Years: '10', Confirm }, { to: `${home}/idle` })
  expect([stale.statusCode, stale.body]).toEqual([409, expect.stringContaining('Look at them again')])
  await server.database.db.order.update({ where: { storeId_id: { ...at, id: guest.id } }, data: { orderDate: day } })
  expect((await owner.open(`${home}/idle?Years=9`)).statusCode).toBe(400)
  const queued = await owner.submit(idle, {}, { action: `${home}/idle` })
  expect(queued.headers.location).toBe(`${home}?notice=idle-erasing#erasures`)
  expect(await body(home)).toMatch(new RegExp(`waits</span>.*Customer ${ada}`, 's'))
  expect(await body(idle)).toContain('No customer who was added before')
})
