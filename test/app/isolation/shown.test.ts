import { beforeAll, describe, expect, test } from 'vitest'
import { allows } from '../../../src/access/applications/privileges.ts'
import type { Privileges } from '../../../src/engine/caller.ts'
import { servedResources } from '../../../src/shop/registry.ts'
import { guardedRoutes } from '../../support/guarded-routes.ts'
import { formsAt, linksAt, type TestPerson } from '../../support/person.ts'
import { memberIn } from '../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../support/store.ts'
import { delivery, numberedEvent } from '../http/rest/webhooks-fixture.ts'
import { allRoles, mayUse, ownRoles, routeOf } from './roles.ts'
import { openSide, type Side } from './two-stores.ts'

// Whatever a page shows somebody of a store, it does not refuse; and what goods cost, and who the customers are, no page and no file
// shows to those who may not see it.

/** What goods cost, in each place that has a cost; none of the other amounts reads like it. */
const costs = { product: 613.37, option: 614.37, distributor: 615.37, line: 616.37, former: 617.37, inFile: 618.37 }
const cost = /61[3-8]\.37/
const email = 'planted@customers.example'
/** Of the billing address; parcels go to another name. */
const customer = { name: 'Plantagenet', phone: '555-7319' }
const personal = new RegExp(`${email}|${customer.name}|${customer.phone}`, 'i')

const server = await sharedServer()
const side = await openSide(server)
beforeAll(() => plant(side))

async function changed(shop: TestStore, path: string, body: object) {
  const { statusCode, body: text } = await shop.call('PUT', path, { body })
  expect(statusCode, text).toBe(200)
}

/** Costs and a customer in records, in their history, in a CSV file and in the body of a delivery. */
async function plant(shop: Side): Promise<void> {
  const productId = await shop.add('/Products', { SKUInfo: { SKU: 'PLANTED', Name: 'Lamp' } })
  const distributorId = shop.records.get('Distributors')?.id ?? 0
  const options = [{ AdvancedOptionCode: 'CODE', AdvancedOptionSufix: '-X', AdvancedOptionCost: costs.option }]
  const product = (Cost: number) => ({
    SKUInfo: { Cost, Price: 10, Stock: 3 },
    StockAlert: 5,
    AdvancedOptionList: options,
    DistributorList: [{ DistributorID: distributorId, DistributorItemCost: costs.distributor }],
  })
  await changed(shop, `/Products/${productId}`, product(costs.former))
  await changed(shop, `/Products/${productId}`, product(costs.product))
  const customerId = shop.records.get('Customers')?.id ?? 0
  const Billing = { BillingFirstName: 'Anna', BillingLastName: customer.name, BillingPhoneNumber: customer.phone }
  await changed(shop, `/Customers/${customerId}`, { Email: email, ...Billing })
  const to = { ShipmentFirstName: 'Bert', ShipmentLastName: 'Parcel', ShipmentAddress: '1 Road', ShipmentCity: 'Town' }
  const orderId = await shop.placeOrder([{ CatalogID: productId, ItemQuantity: 1 }], {
    CustomerID: customerId,
    BillingEmail: email,
    ...Billing,
    ShipmentList: [{ ...to, ShipmentEmail: email }],
  })
  const [{ OrderItemList }] = (await shop.call('GET', `/Orders/${orderId}`)).json()
  const lines = OrderItemList.map(({ ItemIndexID }: { ItemIndexID: number }) => ({
    ItemIndexID,
    ItemUnitCost: costs.line,
  }))
  await changed(shop, `/Orders/${orderId}`, { OrderItemList: lines, CardName: customer.name, IP: '203.0.113.9' })
  const registryId = shop.records.get('GiftRegistries')?.id ?? 0
  const CustomerAddressBook = { LastName: customer.name, PhoneNumber: customer.phone }
  await changed(shop, `/GiftRegistries/${registryId}`, { CustomerAddressBook })
  const file = `SKUInfo.SKU,SKUInfo.Name,SKUInfo.Cost\nNEW-IN-FILE,Lamp,${costs.inFile}\nOTHER,,${costs.inFile}x\n`
  await shop.merchant.upload('/admin/products/csv', file)
  for (const [kind, path, recordId] of [
    [1, `/Orders/${orderId}`, orderId],
    [5, `/Products/${productId}`, productId],
    [3, `/Customers/${customerId}`, customerId],
  ] as const) {
    const form = { Name: `Kind ${kind}`, Url: 'https://desk.example/', EventType: String(kind), Format: 'JSON' }
    const added = await shop.merchant.submit('/admin/webhooks/new', form, { action: '/admin/webhooks' })
    const webhookId = Number(/webhooks\/(\d+)/.exec(String(added.headers.location))?.[1])
    const body = JSON.stringify((await shop.call('GET', path)).json()[0])
    const event = { sequence: 10 + kind, eventType: kind, recordId, body }
    const eventId = await numberedEvent(server, shop, event)
    await delivery(server, shop, webhookId, eventId, { state: 'delivered', status: 200 })
  }
}

const routes = await guardedRoutes()
/** Pages are read in the order of their links; those with other pages of the same list lead nowhere new. */
const PAGES_MAX = 1_500

interface Crawl {
  /** What a page leads to that would be refused, or does not exist. */
  readonly wrong: string[]
  readonly texts: ReadonlyMap<string, string>
}

/** Reads every page and file that somebody is led to, and looks where the forms there are sent. */
async function crawl(person: TestPerson, privileges: Privileges): Promise<Crawl> {
  const texts = new Map<string, string>()
  const wrong: string[] = []
  const open = ['/admin']
  for (const address of open) {
    const { statusCode, headers, body } = await person.open(address)
    const isLedOn = statusCode === 303
    const isWrong = statusCode > 400 && routeOf(routes, 'GET', address) !== undefined
    if (isWrong) wrong.push(`GET ${address}: ${statusCode}`)
    texts.set(address, body)
    const isPage = String(headers['content-type']).startsWith('text/html')
    const links = isLedOn ? [String(headers.location)] : isPage ? linksAt(body) : []
    for (const { method, actions, fields } of isPage ? formsAt(body) : []) {
      for (const action of actions) {
        if (method === 'get') links.push(`${action}?${new URLSearchParams(fields)}`)
        else if (!isOffered(action, privileges)) wrong.push(`POST ${action} on ${address}`)
      }
    }
    const fresh = links.filter((link) => /^\/(admin|oauth)\b/.test(link) && !open.includes(link))
    open.push(...new Set(fresh))
    expect(open.length).toBeLessThan(PAGES_MAX)
  }
  return { wrong, texts }
}

function isOffered(action: string, privileges: Privileges): boolean {
  const route = routeOf(routes, 'POST', action)
  return route !== undefined && mayUse(privileges, route, 'of any record')
}

describe.each(allRoles)('$role', ({ role, privileges }) => {
  let pages: Crawl

  beforeAll(async () => {
    const own = ownRoles.find(({ Name }) => Name === role)
    pages = await crawl(await memberIn(server, side, own ?? (role as 'owner')), privileges)
  })

  test('is led to nothing that is refused', () => {
    expect(pages.wrong).toEqual([])
    expect(pages.texts.size).toBeGreaterThan(3)
  })

  test('finds the pages of every service that it may read, and only those', () => {
    for (const { service, privilege } of servedResources) {
      const address = `/admin/${service.toLowerCase()}`
      expect([service, pages.texts.has(address)]).toEqual([service, allows(privileges, privilege, 'read')])
    }
  })

  test.each([
    { what: 'what goods cost', needs: 'Cost', planted: cost, services: ['Products', 'Orders'] },
    { what: 'who the customers are', needs: 'Customers', planted: personal, services: ['Customers', 'Orders'] },
  ])('sees $what only with the privilege', ({ needs, planted, services }) => {
    const showing = [...pages.texts].filter(([, text]) => planted.test(text.replaceAll(',', '')))
    const isSeen = services.some((service) => allows(privileges, service, 'read')) && allows(privileges, needs, 'read')
    if (isSeen) expect(showing.length).toBeGreaterThan(3)
    else expect(showing.map(([address]) => address)).toEqual([])
  })
})

test('an owner sees each of the planted costs', async () => {
  const { texts } = await crawl(side.merchant, null)
  const whole = [...texts.values()].join('\n')
  for (const [place, amount] of Object.entries(costs))
    expect([place, whole.includes(String(amount))]).toEqual([place, true])
})
