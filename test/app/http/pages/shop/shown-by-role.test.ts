import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { fieldsAt, linksAt, type TestPerson } from '../../../../support/person.ts'
import { memberIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { delivery, numberedEvent } from '../../rest/webhooks-fixture.ts'
import { csvPages } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

// What single roles see and may change of records whose fields need more than their service. All pages at once: test/app/isolation.

let server: TestServer
let shop: TestStore
let owner: TestPerson
let person: TestPerson
withMerchant((scene) => {
  ;({ server, shop, merchant: owner } = scene)
})

const stock = { Name: 'Stock', Privileges: { Products: ['write'] } } as const
const packer = { Name: 'Packer', Privileges: { Orders: ['write'] } } as const

const { takeIn, apply, linesAt } = csvPages(() => ({ server, merchant: person }))

async function readOne(service: string, id: number) {
  return (await shop.call('GET', `/${service}/${id}`)).json()[0]
}

const lamp = { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 20, Cost: 7.25, Stock: 9 } }

describe('what goods cost, for somebody with Products and without Cost', () => {
  let id: number

  async function enter() {
    id = await shop.add('/Products', {
      ...lamp,
      AdvancedOptionList: [{ AdvancedOptionCode: 'RED', AdvancedOptionSufix: '-R', AdvancedOptionCost: 7.5 }],
    })
    person = await memberIn(server, shop, stock)
  }

  test('is in no form, and a form that names it changes it in nothing', async () => {
    await enter()
    const forms = [
      [`/admin/products/${id}/edit?section=name-and-visibility`, 'SKUInfo.Cost', { 'SKUInfo.Name': 'Floor lamp' }],
      [`/admin/products/${id}/prices`, 'SKUInfo.Cost', { 'SKUInfo.Price': '21' }],
      [
        `/admin/products/${id}/options`,
        'AdvancedOptionList.0.AdvancedOptionCost',
        { 'AdvancedOptionList.0.AdvancedOptionPrice': '3' },
      ],
      [
        `/admin/products/${id}/edit?section=advanced-options`,
        'AdvancedOptionList.0.AdvancedOptionCost',
        { 'AdvancedOptionList.0.AdvancedOptionPrice': '4' },
      ],
    ] as const
    for (const [address, hidden, wanted] of forms) {
      const shown = await person.formOf(address)
      expect([address, Object.hasOwn(shown, hidden)]).toEqual([address, false])
      const { statusCode, headers } = await person.submit(address, { ...shown, ...wanted, [hidden]: '99' })
      expect([address, statusCode, headers.location]).toEqual([
        address,
        303,
        `/admin/products/${id}?notice=record-saved`,
      ])
    }
    const product = await readOne('Products', id)
    expect(product.SKUInfo).toMatchObject({ Name: 'Floor lamp', Price: 21, Cost: 7.25 })
    expect(product.AdvancedOptionList[0]).toMatchObject({ AdvancedOptionPrice: 4, AdvancedOptionCost: 7.5 })
  })

  test('is not given to a new record', async () => {
    await enter()
    const fields = { 'SKUInfo.SKU': 'NEW', 'SKUInfo.Name': 'New lamp', 'SKUInfo.Cost': '99' }
    const { statusCode, headers } = await person.submit('/admin/products/new', fields, { action: '/admin/products' })
    expect(statusCode).toBe(303)
    const created = Number(/\d+/.exec(String(headers.location))?.[0])
    expect((await readOne('Products', created)).SKUInfo).toMatchObject({ SKU: 'NEW', Cost: 0 })
  })

  test('is neither a column nor a filter, and one that is asked for is refused', async () => {
    await enter()
    const list = (await person.open('/admin/products?columns=SKUInfo.Cost&columns=SKUInfo.SKU&sort=SKUInfo.Cost')).body
    expect(list).toContain('LAMP')
    expect(list).not.toMatch(/SKUInfo\.Cost|costfrom|costto|7\.25/)
    for (const address of ['/admin/products', '/admin/products/export']) {
      for (const filter of ['costfrom=7', 'costto=8', 'costfrom=1&costfrom=2']) {
        const { statusCode, body } = await person.open(`${address}?format=csv&${filter}`)
        expect([address, filter, statusCode]).toEqual([address, filter, 403])
        expect(body).not.toContain('LAMP')
      }
    }
    expect((await owner.open('/admin/products?costfrom=7&columns=SKUInfo.Cost')).body).toContain('$7.25')
  })

  test('is in no file, whose other values are those of an owner', async () => {
    await enter()
    const read = async (who: TestPerson, format: string) =>
      (await who.open(`/admin/products/export?format=${format}`)).body
    const [csv = {}] = parse<Record<string, string>>(await read(person, 'csv'), { columns: true, bom: true })
    const [whole = {}] = parse<Record<string, string>>(await read(owner, 'csv'), { columns: true, bom: true })
    const { 'SKUInfo.Cost': cost, ...others } = whole
    expect([cost, csv]).toEqual(['7.25', others])
    const record = JSON.parse(await read(person, 'ndjson'))
    const { SKUInfo, AdvancedOptionList, ...rest } = JSON.parse(await read(owner, 'ndjson'))
    const { Cost: _cost, ...info } = SKUInfo
    const [{ AdvancedOptionCost: _optionCost, ...option }] = AdvancedOptionList
    expect(record).toEqual({ ...rest, SKUInfo: info, AdvancedOptionList: [option] })
  })

  test('is no column of a CSV file: it is refused by its name, and no template has it', async () => {
    await enter()
    const upload = (file: string) => person.upload('/admin/products/csv', file)
    const refused = await upload('SKUInfo.SKU,skuinfo.cost,SKUInfo.Price\nLAMP,1,2\n')
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toContain('Your role in this store does not show the column SKUInfo.Cost. Take it out.')
    expect((await upload('SKUInfo.SKU,SKUInfo.Price\nLAMP,22\n')).statusCode).toBe(303)
    const page = (await person.open('/admin/products/csv')).body
    expect(page).not.toContain('SKUInfo.Cost')
    const templates = linksAt(page).filter((link) => link.includes('/template?'))
    for (const template of templates) expect((await person.open(template)).body).not.toContain('SKUInfo.Cost')
    expect(templates).toHaveLength(3)
  })

  test('stays hidden in the file of somebody else, which only they can apply', async () => {
    await enter()
    const reader = person
    person = owner
    const address = await takeIn('products', 'SKUInfo.SKU,SKUInfo.Cost,SKUInfo.Price\nLAMP,8.5,23\nX,1y,1\n')
    person = reader
    const words = (await person.open(address)).body
    expect(words).toContain('The file changes columns that your role does not show')
    expect(words).not.toContain('/apply"')
    expect(await linesAt(address, 'changes')).toEqual([['2', 'LAMP', 'SKUInfo.Price 20 → 23']])
    for (const show of [`${address}?show=errors`, `${address}/problems`]) {
      expect((await person.open(show)).body).not.toMatch(/1y|SKUInfo\.Cost/)
    }
    const sent = await person.submit(address, {}, { action: `${address}/cancel`, to: `${address}/apply` })
    expect(sent.statusCode).toBe(403)
    expect((await readOne('Products', id)).SKUInfo).toMatchObject({ Cost: 7.25, Price: 20 })
    person = owner
    await apply(address)
    expect((await readOne('Products', id)).SKUInfo).toMatchObject({ Cost: 8.5, Price: 23 })
  })

  test('is in no history, which has what was changed with it', async () => {
    await enter()
    await shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Cost: 8.75, Price: 24 } } })
    const changes = async (who: TestPerson) => {
      const { body } = await who.open(`/admin/products/${id}/history`)
      return [...body.matchAll(/<li>([^:<]+):/g)].map(([, label]) => label)
    }
    expect(await changes(owner)).toEqual(['Cost', 'Price'])
    expect(await changes(person)).toEqual(['Price'])
  })

  test('records of other services are numbers without a link, a name or a search', async () => {
    const ManufacturerID = await shop.add('/Manufacturers', { ManufacturerName: 'Alder' })
    await enter()
    await shop.call('PUT', `/Products/${id}`, { body: { ManufacturerID } })
    await shop.placeOrder([{ CatalogID: id, ItemQuantity: 1 }])
    const pages = [
      `/admin/products/${id}`,
      `/admin/products/${id}/edit?section=name-and-visibility`,
      '/admin/products/new',
    ]
    for (const page of pages) {
      const links = linksAt((await person.open(page)).body)
      expect(links.filter((link) => /manufacturers|orders|customergroups/.test(link))).toEqual([])
    }
    const ofOwner = await Promise.all(pages.map(async (page) => linksAt((await owner.open(page)).body)))
    expect(ofOwner.flat()).toEqual(
      expect.arrayContaining([
        `/admin/manufacturers/${ManufacturerID}`,
        '/admin/manufacturers/search?q=a',
        '/admin/orders/1',
      ]),
    )
    // A name names nothing for somebody who may not read it.
    const edit = `/admin/products/${id}/edit?section=name-and-visibility`
    const typed = await person.submit(edit, { ...(await person.formOf(edit)), ManufacturerID: 'Alder' })
    expect(typed.statusCode).toBe(400)
    const address = await takeIn('products', 'SKUInfo.SKU,ManufacturerID\nLAMP,Alder\n')
    expect((await person.open(address)).body).toContain('names no Manufacturer of the store')
  })
})

describe('customers, for somebody with Orders and without Customers', () => {
  const Billing = { BillingFirstName: 'Anna', BillingLastName: 'Alder', BillingEmail: 'anna@customers.example' }
  let id: number

  async function enter(more: object = {}) {
    await shop.add('/Products', lamp)
    const items = [{ ItemID: 'LAMP', ItemQuantity: 1 }]
    id = await shop.placeOrder(items, { ...Billing, BillingAddress: '1 Billing Road', BillingCity: 'Town', ...more })
    person = await memberIn(server, shop, packer)
  }
  const to = { ShipmentFirstName: 'Bert', ShipmentAddress: '2 Parcel Road', ShipmentEmail: 'bert@customers.example' }

  test('are not on the page of an order, which shows where to ship it', async () => {
    await enter({ ShipmentList: [to] })
    for (const page of [`/admin/orders/${id}`, `/admin/orders/${id}/packing-slip`, `/admin/orders/${id}/shipments/0`]) {
      const { statusCode, body } = await person.open(page)
      expect([page, statusCode]).toEqual([page, 200])
      expect(body).toContain('2 Parcel Road')
      expect(body).not.toMatch(/Alder|customers\.example|Billing Road/)
    }
    expect((await person.open(`/admin/orders/${id}/invoice`)).statusCode).toBe(403)
    expect((await person.open(`/admin/orders/slips?ids=${id}&kind=invoice`)).statusCode).toBe(403)
    expect((await person.open(`/admin/orders/slips?ids=${id}&kind=packing-slip`)).body).toContain('2 Parcel Road')
    expect((await person.open('/admin/orders/new')).statusCode).toBe(403)
  })

  test('but for the billing address of an order that goes to no other', async () => {
    await enter()
    const none = { ShipmentFirstName: '', ShipmentLastName: '', ShipmentAddress: '', ShipmentCity: '' }
    await shop.call('PUT', `/Orders/${id}`, { body: { ShipmentList: [{ ShipmentID: 0, ...none }] } })
    for (const page of [`/admin/orders/${id}`, `/admin/orders/${id}/packing-slip`]) {
      const { body } = await person.open(page)
      expect(body).toContain('1 Billing Road')
      expect(body).not.toContain('customers.example')
    }
    expect((await person.open(`/admin/orders/${id}/fields`)).body).not.toMatch(/Billing(Address|City|Email)/)
  })

  test('can ship the order', async () => {
    await enter({ ShipmentList: [to] })
    const page = `/admin/orders/${id}/shipments/0`
    const { headers } = await person.submit(page, { ...(await person.formOf(page)), ShipmentTrackingCode: 'T-1' })
    expect(headers.location).toBe(`/admin/orders/${id}?notice=goods-shipped`)
    const { ShipmentList } = await readOne('Orders', id)
    expect(ShipmentList[0]).toMatchObject({ ShipmentTrackingCode: 'T-1', ShipmentEmail: to.ShipmentEmail })
  })

  test('stay as they are in a form that shows the addresses of the shipments alone', async () => {
    await enter({ ShipmentList: [to] })
    const page = `/admin/orders/${id}/addresses`
    const shown = await person.formOf(page)
    expect(Object.keys(shown).filter((name) => /^Billing|Email$/.test(name))).toEqual([])
    const sent = {
      ...shown,
      'ShipmentList.0.ShipmentAddress': '3 Parcel Road',
      'ShipmentList.0.ShipmentEmail': 'me@thief.example',
      BillingEmail: 'me@thief.example',
    }
    expect((await person.submit(page, sent)).statusCode).toBe(303)
    const order = await readOne('Orders', id)
    expect(order).toMatchObject(Billing)
    expect(order.ShipmentList[0]).toMatchObject({ ShipmentAddress: '3 Parcel Road', ShipmentEmail: to.ShipmentEmail })
    const copied = await person.submit(page, { copy: '0' }, { to: `${page}/copy` })
    expect(copied.statusCode).toBe(403)
  })

  test('are not found by their e-mail address', async () => {
    await enter()
    const find = (who: TestPerson, query: string) => who.open(`/admin/orders?${query}`)
    expect((await find(owner, 'find=anna@customers.example')).body).toContain(`/admin/orders/${id}"`)
    const asked = await find(person, 'find=anna@customers.example')
    expect([asked.statusCode, asked.body.includes(`/admin/orders/${id}"`)]).toEqual([200, false])
    expect((await find(person, 'billingemail=anna@customers.example')).statusCode).toBe(403)
    expect((await find(person, 'find=1000')).body).toContain(`/admin/orders/${id}"`)
    expect((await find(person, '')).body).not.toMatch(/customers\.example|billingemail|Billing e-mail/)
  })

  test('are no filter of the list by their numbers, which passes one over', async () => {
    await enter()
    const isListed = async (who: TestPerson) =>
      (await who.open('/admin/orders?customerid=999')).body.includes(`/admin/orders/${id}"`)
    expect([await isListed(owner), await isListed(person)]).toEqual([false, true])
  })
})

describe('the history of the store', () => {
  test('has only the records of services that the person may read', async () => {
    await shop.add('/Products', lamp)
    const made = await shop.add('/Manufacturers', { ManufacturerName: 'Alder' })
    const role = { Name: 'Auditor', Privileges: { Settings: ['read'], Manufacturers: ['read'] } } as const
    person = await memberIn(server, shop, role)
    const { body } = await person.open('/admin/history')
    expect(body).toContain(`/admin/manufacturers/${made}"`)
    expect(body).not.toContain('LAMP')
    expect(body).not.toContain('value="Products"')
    expect((await person.open('/admin/history?of=Products')).statusCode).toBe(400)
    expect((await owner.open('/admin/history')).body).toContain('LAMP · Lamp')
  })
})

describe('webhooks', () => {
  const form = { Name: 'Desk', Url: 'https://desk.example/', Format: 'JSON', Enabled: 'true' }
  const ofProducts = { ...stock, Privileges: { ...stock.Privileges, Webhooks: ['write'] } } as const
  const withCost = { Name: 'Costs', Privileges: { ...ofProducts.Privileges, Cost: ['read'] } } as const

  async function added(who: TestPerson, EventType: string): Promise<number> {
    const { headers, body } = await who.submit(
      '/admin/webhooks/new',
      { ...form, EventType },
      { action: '/admin/webhooks' },
    )
    expect(headers.location, body).toMatch(/notice=webhook-added/)
    return Number(/\d+/.exec(String(headers.location))?.[0])
  }

  test('are added only for events whose records the person sees in full', async () => {
    person = await memberIn(server, shop, withCost)
    const kinds = [...(await person.open('/admin/webhooks/new')).body.matchAll(/<option value="(\d)"/g)].map(
      ([, kind]) => kind,
    )
    expect(kinds).toEqual(['4', '5', '6', '7'])
    await added(person, '4')
    const fields = { ...form, EventType: '1' }
    const refused = await person.submit('/admin/webhooks/new', fields, { action: '/admin/webhooks' })
    expect(refused.statusCode).toBe(403)
    expect(refused.body).toMatch(
      /id="EventType-problem"[^>]*>Event needs a role that shows Orders and Customers and Cost/,
    )
    const without = await memberIn(server, shop, ofProducts)
    expect((await without.open('/admin/webhooks/new')).body).not.toContain(
      '<form method="post" action="/admin/webhooks"',
    )
    const token = { _csrf: String((await without.formOf('/admin', '/admin/sign-out'))._csrf ?? '') }
    const sent = await without.submit(
      '/admin',
      { ...form, EventType: '4', ...token },
      { action: '/admin/sign-out', to: '/admin/webhooks' },
    )
    expect(sent.statusCode).toBe(403)
    expect(await server.services.db.webhook.count({ where: { storeId: shop.store.id } })).toBe(1)
  })

  test('are led to no other address by somebody who does not see the records, and can be switched off', async () => {
    const id = await added(owner, '5')
    person = await memberIn(server, shop, ofProducts)
    const page = `/admin/webhooks/${id}`
    expect((await person.open(page)).body).not.toContain(`action="${page}"`)
    const to = { action: `${page}/test`, to: page }
    expect((await person.submit(page, { ...form, Name: 'Dock' }, to)).statusCode).toBe(303)
    const sent = await person.submit(page, { ...form, Url: 'https://thief.example/' }, to)
    expect(sent.statusCode).toBe(403)
    expect((await person.submit(page, {}, { action: `${page}/disable` })).statusCode).toBe(303)
    const where = { storeId_id: { storeId: shop.store.id, id } }
    const { name, url, enabled } = await server.services.db.webhook.findUniqueOrThrow({ where })
    expect({ name, url, enabled }).toEqual({ name: 'Dock', url: form.Url, enabled: false })
  })

  test('show neither their secret without Keys, nor bodies of records that the person may not read', async () => {
    const productId = await shop.add('/Products', lamp)
    const record = JSON.stringify(await readOne('Products', productId))
    const [ofProduct, ofOrder] = [await added(owner, '5'), await added(owner, '1')]
    const event = await numberedEvent(server, shop, { sequence: 1, eventType: 5, recordId: productId, body: record })
    const sent = await delivery(server, shop, ofProduct, event, { state: 'delivered' })
    const order = await numberedEvent(server, shop, { sequence: 2, eventType: 1 })
    const other = await delivery(server, shop, ofOrder, order, { state: 'delivered' })
    person = await memberIn(server, shop, ofProducts)
    const page = `/admin/webhooks/${ofProduct}`
    const where = { storeId_id: { storeId: shop.store.id, id: ofProduct } }
    await server.services.db.webhook.update({ where, data: { url: 'https://desk.example/?token=s3cret' } })
    expect((await owner.open(page)).body).toMatch(/s3cret[\s\S]*whsec_/)
    expect((await person.open(page)).body).not.toMatch(/whsec_|Rotate the secret|s3cret/)
    const { body } = await person.open(`${page}/deliveries/${sent}`)
    expect(body).toContain('LAMP')
    expect(body).not.toContain('7.25')
    expect((await owner.open(`${page}/deliveries/${sent}`)).body).toContain('7.25')
    expect((await person.open(`/admin/webhooks/${ofOrder}/deliveries/${other}`)).statusCode).toBe(403)
    expect((await person.open(`/admin/webhooks/${ofOrder}`)).body).not.toContain(`deliveries/${other}`)
  })
})

describe('the overview', () => {
  test('of a packer has orders, and neither stock nor connections', async () => {
    await shop.add('/Products', { ...lamp, StockAlert: 20 })
    await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 1 }])
    person = await memberIn(server, shop, packer)
    const headings = async (who: TestPerson) =>
      [...(await who.open('/admin')).body.matchAll(/<h2 id="([\w-]+)"/g)].map(([, id]) => id)
    expect(await headings(owner)).toEqual(['sales', 'waiting', 'low-stock', 'connections', 'first-steps'])
    expect(await headings(person)).toEqual(['sales', 'waiting'])
    expect(await headings(await memberIn(server, shop, 'orders'))).toEqual(['sales', 'waiting', 'low-stock'])
    expect(await headings(await memberIn(server, shop, 'catalogue'))).toEqual(['low-stock'])
    expect(await headings(await memberIn(server, shop, 'reader'))).toEqual([
      'sales',
      'waiting',
      'low-stock',
      'connections',
    ])
    const makers = { Name: 'Makers', Privileges: { Manufacturers: ['write'] } } as const
    expect(await headings(await memberIn(server, shop, makers))).toEqual(['records'])
  })

  test('of a new store has the steps that the person can take', async () => {
    const steps = async (who: TestPerson) =>
      [...(await who.open('/admin')).body.matchAll(/<li(?: class="done")?>\s*<strong>([^<]+)/g)].map(([, step]) => step)
    expect(await steps(owner)).toHaveLength(6)
    expect(await steps(await memberIn(server, shop, 'orders'))).toEqual(['Place an order by hand'])
    expect(await steps(await memberIn(server, shop, 'catalogue'))).toEqual(['Add products'])
    expect(await steps(await memberIn(server, shop, 'reader'))).toEqual([])
  })
})

test('settings are shown without a form to somebody who may only read them', async () => {
  person = await memberIn(server, shop, { Name: 'Auditor', Privileges: { Settings: ['read'] } })
  expect((await person.open('/admin/history')).body).toContain('Nothing is here yet.')
  for (const page of ['/admin/settings', '/admin/settings/order-statuses', '/admin/settings/payment-methods']) {
    const { statusCode, body } = await person.open(page)
    expect([page, statusCode, body.includes(`action="${page}`)]).toEqual([page, 200, false])
    expect(fieldsAt((await owner.open(page)).body, page)).not.toEqual({})
  }
  const returns = (await person.open('/admin/settings/returns')).body
  expect(returns).toContain('value="Damaged item"')
  expect(returns).not.toContain('action="/admin/settings/returns')
})
