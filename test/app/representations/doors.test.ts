import { afterAll, beforeAll, expect, test } from 'vitest'
import { merchantIn } from '../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../support/store.ts'
import { importInto } from '../engine/transfer/fixture.ts'
import { webhookBody } from '../http/rest/webhooks-fixture.ts'
import { soapCall } from '../http/soap/support.ts'
import { allShownBy, type Client, change, openProcess, send } from './fixture.ts'

// Nothing that is kept is shown once it is not so any more, whoever changed it, in whichever process, through whichever door.

let server: TestServer
let processes: readonly TestServer[]
let keepsNothing: TestServer
let shop: TestStore
/** With the store's present address. */
let client: Client
const ids: Record<string, number> = {}
let shown: ReadonlyMap<string, string>

beforeAll(async () => {
  const opened = await Promise.all([openProcess(), openProcess(), openProcess({ REPRESENTATION_CACHE_MB: '0' })])
  server = opened[0]
  processes = opened.slice(0, 2)
  keepsNothing = opened[2]
  shop = await server.openStore()
  client = shop
  await fill()
  shown = await allShownBy(keepsNothing, client)
  for (const process of [...processes, ...processes]) expect(await allShownBy(process, client)).toEqual(shown)
})
afterAll(async () => {
  await keepsNothing.close()
  for (const process of processes) await process.close()
})

async function fill(): Promise<void> {
  const add = async (name: string, path: string, body: object) => {
    ids[name] = await change(server, shop, 'POST', path, body)
  }
  await add('maker', '/Manufacturers', { ManufacturerName: 'Maker' })
  await add('carrier', '/Distributors', { CompanyName: 'Carrier' })
  await add('group', '/CustomerGroups', { Name: 'Group' })
  await add('leaving', '/CustomerGroups', { Name: 'Leaving' })
  await add('category', '/Category', {
    CategoryName: 'Category',
    CategoryExternalIdsList: [{ ExternalId1: 'EXT-1', ExternalIdType: 'ERP' }],
  })
  for (const [name, sku] of [
    ['lamp', 'LAMP'],
    ['shade', 'SHADE'],
    ['gone', 'GONE'],
  ] as const) {
    await add(name, '/Products', {
      SKUInfo: { SKU: sku, Name: sku, Price: 20, Stock: 100 },
      ManufacturerID: ids.maker,
      AllowAccessCustomerGroupID: ids.group,
      CategoryList: [{ CategoryID: ids.category }],
      DistributorList: [{ DistributorID: ids.carrier }],
      ...(name === 'lamp' && {
        AdvancedOptionList: [{ AdvancedOptionCode: '4', AdvancedOptionSufix: '-L', AdvancedOptionStock: 10 }],
        FeatureList: [{ FeatureTitle: 'Bright' }],
        RelatedProductList: [{ RelatedProductID: ids.shade }],
      }),
      ...(name === 'gone' && { RelatedProductList: [{ RelatedProductID: ids.lamp }] }),
    })
  }
  await add('customer', '/Customers', { Email: 'one@mail.example', Password: 'secret', CustomerGroupID: ids.leaving })
  await place('order', [
    { CatalogID: ids.gone, ItemQuantity: 3 },
    { CatalogID: ids.shade, ItemQuantity: 1 },
  ])
  await place('second', [{ CatalogID: ids.gone, ItemQuantity: 1 }])
  await add('return', '/RMA', { OrderID: ids.order, RMAItemList: [{ CatalogID: ids.gone, RestockQuantity: 1 }] })
  await add('registry', '/GiftRegistries', {
    Name: 'Wedding',
    GiftRegistryItemList: [{ CatalogID: ids.gone, Listed: 2 }],
  })
  await add('webhook', '/Webhooks', webhookBody())
}

async function asOperator(method: 'PUT' | 'POST', path: string, payload: object) {
  const url = `/admin/stores/${shop.store.id}${path}`
  const answer = await server.operate(method, url, payload)
  expect([200, 201], answer.body).toContain(answer.statusCode)
  return answer
}

async function place(name: string, OrderItemList: object[]): Promise<void> {
  const body = { CustomerID: ids.customer, BillingPaymentMethodID: '3', OrderItemList }
  ids[name] = Number((await asOperator('POST', '/orders', body)).json()[0].Value)
}

/** The order's number, as cartAPI names it. */
async function invoiceOf(name: string): Promise<string> {
  const [{ InvoiceNumberPrefix, InvoiceNumber }] = (await send(server, client, 'GET', `/Orders/${ids[name]}`)).json()
  return `${InvoiceNumberPrefix}${InvoiceNumber}`
}

async function cart(operation: string, parameters: Record<string, string | number>): Promise<void> {
  expect(await soapCall(server, client, operation, parameters)).not.toContain('<Error>')
}

const rest = (method: 'PUT' | 'POST' | 'DELETE', path: string, body?: object) => async () => {
  const [service, name, ...below] = path.split('/').slice(1)
  const address = name === undefined ? '' : `/${[ids[name], ...below].join('/')}`
  await change(server, client, method, `/${service}${address}`, body)
}

const doors: Record<string, () => Promise<unknown>> = {
  'PUT of a product': rest('PUT', '/Products/lamp', { Description: 'Bright' }),
  'PUT of products': () =>
    change(server, client, 'PUT', '/Products', [
      { SKUInfo: { CatalogID: ids.lamp, Stock: 7 } },
      { SKUInfo: { SKU: 'shade', Stock: 8 } },
    ]),
  'POST of a product': rest('POST', '/Products', { SKUInfo: { SKU: 'NEW', Name: 'New' } }),
  'PUT of an advanced option': rest('PUT', '/Products/lamp/AdvancedOptions/4', { AdvancedOptionStock: 5 }),
  'POST of a feature': rest('POST', '/Products/lamp/Features', { FeatureTitle: 'Small' }),
  'PUT of the related products': rest('PUT', '/Products/shade', { RelatedProductList: [{ RelatedProductID: 1 }] }),
  'PUT of the name of a related product': rest('PUT', '/Products/lamp', { SKUInfo: { Name: 'Lamp & co' } }),
  'PUT of categories’ places': rest('PUT', '/Products/shade', { CategoryList: [] }),
  'PUT of a manufacturer': rest('PUT', '/Manufacturers/maker', { ManufacturerName: 'Renamed' }),
  'PUT of a distributor': rest('PUT', '/Distributors/carrier', { CompanyName: 'Renamed' }),
  'PUT of a category': rest('PUT', '/Category/category', { CategoryName: 'Renamed' }),
  'PUT of a category’s external ids': rest('PUT', '/Category/category', {
    CategoryExternalIdsList: [{ ExternalId1: 'EXT-2', ExternalIdType: 'PIM' }],
  }),
  'POST of a category’s option': rest('POST', '/Category/category/Options', { OptionSetName: 'Colour' }),
  'PUT of a customer group': rest('PUT', '/CustomerGroups/group', { Name: 'Renamed' }),
  'PUT of a customer': rest('PUT', '/Customers/customer', { BillingFirstName: 'Ada' }),
  'PUT of an order': rest('PUT', '/Orders/order', { InternalComments: 'Careful' }),
  'PUT of an order’s item': async () => {
    const [{ OrderItemList }] = (await send(server, client, 'GET', `/Orders/${ids.order}`)).json()
    const path = `/Orders/${ids.order}/Items/${OrderItemList[0].ItemIndexID}`
    await change(server, client, 'PUT', path, { ItemOptions: 'Red' })
  },
  'PUT of an order’s only shipment': rest('PUT', '/Orders/order/Shipments/0', { ShipmentCity: 'Oslo' }),
  'POST of a payment': rest('POST', '/Orders/order/Transactions', { TransactionID: 'T-1', TransactionAmount: 5 }),
  'PUT of a gift registry': rest('PUT', '/GiftRegistries/registry', {
    GiftRegistryItemList: [{ CatalogID: 3, Listed: 9 }],
  }),
  'PUT of a return': rest('PUT', '/RMA/return', { RMAItemList: [{ CatalogID: 3, RestockQuantity: 2 }] }),
  'POST of a return': async () => {
    const RMAItemList = [{ CatalogID: ids.gone, RestockQuantity: 1 }]
    ids.another = await change(server, client, 'POST', '/RMA', { OrderID: ids.second, RMAItemList })
  },
  'DELETE of a return': rest('DELETE', '/RMA/another'),
  'PUT of a webhook': rest('PUT', '/Webhooks/webhook', { Format: 'XML' }),
  'the texts of order statuses': () =>
    asOperator('PUT', '/order-statuses', [{ OrderStatusID: 8, StatusText: 'Waiting for parts', Visible: true }]),
  'the name of a payment method': () =>
    asOperator('PUT', '/payment-methods', [{ PaymentMethodID: 3, Name: 'Cheque & cash' }]),
  'the store’s currency': () => asOperator('PUT', '', { Currency: 'EUR' }),
  'the store’s time zone': () => asOperator('PUT', '', { TimeZone: 'Asia/Tokyo' }),
  updateProductInventory: () =>
    cart('updateProductInventory', { productId: 'LAMP', quantity: 3, replaceStock: 'true' }),
  updateOrderStatus: async () =>
    cart('updateOrderStatus', { invoiceNum: await invoiceOf('second'), newStatus: 'Hold' }),
  updateOrderShipment: async () =>
    cart('updateOrderShipment', { invoiceNum: await invoiceOf('second'), tracking: '1Z', shipmentDate: '3/9/2026' }),
  editCustomer: () =>
    cart('editCustomer', {
      customerData: `contactid===${ids.customer}|||billing_firstname===Grace|||billing_lastname===H|||email===one@mail.example`,
      action: 'update',
    }),
  'an order of the checkout': () => place('third', [{ CatalogID: ids.lamp, ItemQuantity: 1 }]),
  'the status in the administration, which gives stock back': async () => {
    const merchant = await merchantIn(server, shop.store)
    const page = `/admin/orders/${ids.third}`
    const answer = await merchant.submit(page, { OrderStatusID: '5' }, { action: `${page}/status` })
    expect(answer.statusCode).toBe(303)
  },
  'an import over a record': async () => {
    const record = {
      SKUInfo: { CatalogID: ids.shade, SKU: 'SHADE', Name: 'Imported' },
      CategoryList: [{ CategoryID: 1 }],
    }
    expect((await importInto(server, shop, [{ service: 'Products', record }])).refused).toEqual([])
  },
  'an import of a category': async () => {
    const record = { CategoryID: ids.category, CategoryName: 'Imported' }
    expect((await importInto(server, shop, [{ service: 'Category', record }])).refused).toEqual([])
  },
  'DELETE of a product that others show': rest('DELETE', '/Products/gone'),
  'DELETE of a manufacturer': rest('DELETE', '/Manufacturers/maker'),
  'DELETE of a distributor': rest('DELETE', '/Distributors/carrier'),
  'DELETE of a category': rest('DELETE', '/Category/category'),
  'DELETE of a customer’s group': rest('DELETE', '/CustomerGroups/leaving'),
  'DELETE of a customer': rest('DELETE', '/Customers/customer'),
  'the store’s address': async () => {
    const secureUrl = 'https://moved.example'
    await asOperator('PUT', '', { SecureURL: secureUrl })
    client = { store: { ...shop.store, secureUrl }, credentials: { ...shop.credentials, secureurl: secureUrl } }
  },
}

test.each(Object.entries(doors))('%s', async (_name, go) => {
  await go()

  const before = shown
  shown = await allShownBy(keepsNothing, client)
  // The first reading finds what was kept before, the second what the first has kept.
  for (const process of [...processes, ...processes]) expect(await allShownBy(process, client)).toEqual(shown)
  const changed = [...shown].filter(([read, text]) => before.get(read) !== text)
  expect(changed.length).toBeGreaterThan(0)
  await Promise.all(changed.map(([read, text]) => isModified(read, before.get(read), text)))
})

/** A client that has the former record gets the present one; one that has the present one, nothing. */
async function isModified(read: string, before: string | undefined, now: string): Promise<void> {
  const [path = '', accept] = read.split(' ')
  const [former, present] = [before, now].map((text) => text?.split('\n')[1])
  if (!former || !present || former === present) return
  for (const process of processes) {
    expect((await send(process, client, 'GET', path, { accept, known: former })).statusCode).toBe(200)
    expect((await send(process, client, 'GET', path, { accept, known: present })).statusCode).toBe(304)
  }
}
