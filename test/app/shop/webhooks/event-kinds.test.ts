import { beforeEach, describe, expect, test } from 'vitest'
import { eventKinds } from '../../../../src/engine/definition/event-kinds.ts'
import { numberEvents } from '../../../../src/shop/webhooks/dispatch/number.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { refusalOf } from '../../http/rest/fixture.ts'
import { newWebhook, storedDeliveries, webhookBody } from '../../http/rest/webhooks-fixture.ts'

// Which events occur because of which change, what the feed says of them, and who hears of them (webhooks §2).

let shop: TestStore

const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
})

interface Shown {
  readonly Sequence: number
  readonly EventType: number
  readonly EventName: string
  readonly RecordID: number
  readonly Changed?: string
  readonly Record: object
}

const number = () => numberEvents(server.services.db, server.services.now(), [], 'the test')

async function feed(query = '', call = shop.call): Promise<Shown[]> {
  const answer = await call('GET', `/Events?limit=500${query}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

/** What the feed gets because of it. */
async function eventsOf(work: () => Promise<unknown>): Promise<Shown[]> {
  await number()
  const after = (await feed('&after=newest'))[0]?.Sequence ?? 0
  await work()
  await number()
  return feed(`&after=${after}`)
}

/** Each as `Customer Changed 3: BillingCity`. */
async function notifiedResource(work: () => Promise<unknown>): Promise<string[]> {
  return (await eventsOf(work)).map(
    ({ EventName, RecordID, Changed }) => `${EventName} ${RecordID}${Changed === undefined ? '' : `: ${Changed}`}`,
  )
}

async function put(path: string, body: object): Promise<string[]> {
  return notifiedResource(async () => {
    const answer = await shop.call('PUT', path, { body })
    expect(answer.statusCode, answer.body).toBe(200)
  })
}

const get = async (path: string) => (await shop.call('GET', path)).json()[0]

let serial = 0
const newProduct = (fields: object = {}) => {
  const SKU = `MUG-${++serial}`
  return shop.add('/Products', { SKUInfo: { SKU, Name: 'Mug', Price: 8, Stock: 100 }, ...fields })
}

const newCustomer = (fields: object = {}) =>
  shop.add('/Customers', { Email: `robin-${++serial}@shopper.example`, Password: 'secret words', ...fields })

const place = ({ OrderItemList, ...fields }: { OrderItemList: object[]; [field: string]: unknown }) =>
  shop.placeOrder(OrderItemList, fields)

describe.each([
  {
    noun: 'Customer',
    path: '/Customers',
    body: () => ({ Email: 'robin@shopper.example', Password: 'secret words' }),
    change: { BillingCity: 'Springfield', MailList: true },
    changed: 'BillingCity,MailList',
  },
  {
    noun: 'Product',
    path: '/Products',
    body: () => ({ SKUInfo: { SKU: 'CUP', Name: 'Cup', Price: 8 } }),
    change: { SKUInfo: { Price: 9 }, FeatureList: [{ FeatureTitle: 'New' }] },
    changed: 'FeatureList,SKUInfo.Price',
  },
  {
    noun: 'Return',
    path: '/RMA',
    body: async () => {
      const product = await newProduct()
      const OrderID = await place({ OrderItemList: [{ CatalogID: product, ItemQuantity: 2 }] })
      return { OrderID, RMAItemList: [{ CatalogID: product, ReturnQuantity: 1 }] }
    },
    change: { RMAStatusID: 2, Comments: 'It came' },
    changed: 'Comments,RMAStatusID',
  },
  {
    noun: 'Category',
    path: '/Category',
    body: () => ({ CategoryName: 'Shelf' }),
    change: { Hide: true, OptionSetList: [{ OptionSetName: 'Size' }] },
    changed: 'Hide,OptionSetList',
  },
  {
    noun: 'Manufacturer',
    path: '/Manufacturers',
    body: () => ({ ManufacturerName: 'Maker' }),
    change: { Website: 'maker.example' },
    changed: 'Website',
  },
  {
    noun: 'Distributor',
    path: '/Distributors',
    body: () => ({ CompanyName: 'Carrier' }),
    change: { City: 'Springfield', Comments: 'Slow' },
    changed: 'City,Comments',
  },
  {
    noun: 'Customer Group',
    path: '/CustomerGroups',
    body: () => ({ Name: 'Trade' }),
    change: { PriceLevel: 3 },
    changed: 'PriceLevel',
  },
  {
    noun: 'Gift Registry',
    path: '/GiftRegistries',
    body: () => ({ Name: 'Wedding', GiftRegistryItemList: [{ SKU: 'MUG', ItemName: 'Mug', Listed: 2 }] }),
    change: { Message: 'Thank you', CustomerAddressBook: { City: 'Springfield' } },
    changed: 'CustomerAddressBook.City,Message',
  },
])('$noun', ({ noun, path, body, change, changed }) => {
  test('New, Changed and Deleted, each with the record as it was then, and nothing when nothing changes', async () => {
    const given = await body()
    let id = 0
    const created = await eventsOf(async () => {
      id = await shop.add(path, given)
    })
    const first = await get(`${path}/${id}`)
    const updated = await eventsOf(() => shop.call('PUT', `${path}/${id}`, { body: change }))
    const second = await get(`${path}/${id}`)
    const again = await put(`${path}/${id}`, second)
    const deleted = await eventsOf(() => shop.call('DELETE', `${path}/${id}`))

    const shown = [...created, ...updated, ...deleted].map(({ EventName, RecordID, Changed, Record }) => {
      return { EventName, RecordID, Changed, Record }
    })
    expect(shown).toEqual([
      { EventName: `${noun} New`, RecordID: id, Changed: undefined, Record: first },
      { EventName: `${noun} Changed`, RecordID: id, Changed: changed, Record: second },
      { EventName: `${noun} Deleted`, RecordID: id, Changed: undefined, Record: second },
    ])
    expect(again).toEqual([])
    const { type } = eventKinds.find(({ name }) => name === `${noun} Changed`) ?? { type: 0 }
    expect(await feed(`&eventtype=${type}&record=${id}`)).toEqual(updated)
  })
})

describe('an order', () => {
  let order: number
  let product: number

  beforeEach(async () => {
    product = await newProduct()
    order = await place({ OrderItemList: [{ CatalogID: product, ItemQuantity: 2 }] })
  })

  test.each([
    { change: { InternalComments: 'Packed' }, changed: 'InternalComments' },
    { change: { BillingCity: 'Springfield', BillingZipCode: '62701' }, changed: 'BillingCity,BillingZipCode' },
    { change: { TransactionList: [{ TransactionAmount: 5 }] }, changed: 'TransactionList' },
    {
      change: { ShipmentList: [{ ShipmentID: 0, ShipmentTrackingCode: '1Z' }] },
      changed: 'ShipmentList.ShipmentTrackingCode',
    },
    { change: { CardNumber: '4111111111111111', CardVerification: '123' }, changed: null },
  ])('of which $changed takes another value has changed', async ({ change, changed }) => {
    expect(await put(`/Orders/${order}`, change)).toEqual(
      changed === null ? [] : [`Order Changed ${order}: ${changed}`],
    )
    expect(await put(`/Orders/${order}`, await get(`/Orders/${order}`))).toEqual([])
  })

  test('by the addresses of its lists too', async () => {
    const [{ ItemIndexID }] = (await get(`/Orders/${order}`)).OrderItemList
    expect(await put(`/Orders/${order}/Items/${ItemIndexID}`, { ItemUnitPrice: 7 })).toEqual([
      `Order Changed ${order}: OrderItemList.ItemUnitPrice`,
    ])
  })

  test('of another status, by itself or by its only shipment, tells of that alone; of more, both', async () => {
    expect(await put(`/Orders/${order}`, { OrderStatusID: 2 })).toEqual([`Order Status Change ${order}`])
    expect(await put(`/Orders/${order}/Shipments/0`, { ShipmentOrderStatus: 3 })).toEqual([
      `Order Status Change ${order}`,
    ])
    const both = { OrderStatusID: 4, ShipmentList: [{ ShipmentID: 0, ShipmentTrackingCode: '1Z' }] }
    expect((await put(`/Orders/${order}`, both)).toSorted()).toEqual([
      `Order Changed ${order}: ShipmentList.ShipmentTrackingCode`,
      `Order Status Change ${order}`,
    ])
  })

  test('one of whose shipments gets another status than it has itself has changed', async () => {
    const two = { ShipmentList: [{ ShipmentID: 0 }, { ShipmentCity: 'Springfield' }] }
    expect(await put(`/Orders/${order}`, two)).toEqual([`Order Changed ${order}: ShipmentList`])
    const [, { ShipmentID }] = (await get(`/Orders/${order}`)).ShipmentList
    expect(await put(`/Orders/${order}/Shipments/${ShipmentID}`, { ShipmentOrderStatus: 4 })).toEqual([
      `Order Changed ${order}: ShipmentList.ShipmentOrderStatus`,
    ])
  })

  test('a stock that moves tells of the product alone', async () => {
    const lines = [{ CatalogID: product, ReturnQuantity: 1, RestockQuantity: 1 }]
    const told = await notifiedResource(() => shop.add('/RMA', { OrderID: order, RMAItemList: lines }))
    expect(told).toEqual([`Product Stock Changed ${product}`, expect.stringMatching(/^Return New \d+$/)])
  })
})

test('a changed password names no member, because answers show none', async () => {
  const id = await newCustomer()
  expect(await put(`/Customers/${id}`, { Password: 'other secret words' })).toEqual([`Customer Changed ${id}: `])
})

test('a list in another order has changed', async () => {
  const [one, other] = [await newProduct(), await newProduct()]
  const related = [{ RelatedProductID: one }, { RelatedProductID: other }]
  const id = await newProduct({ RelatedProductList: related })
  const { RelatedProductList } = await get(`/Products/${id}`)
  expect(await put(`/Products/${id}`, { RelatedProductList: RelatedProductList.toReversed() })).toEqual([
    `Product Changed ${id}: RelatedProductList`,
  ])
})

describe('a deletion that takes references away changes the records that had them', () => {
  test('of a product: categories, and not what was ordered, returned and wished for, which may be very much', async () => {
    const product = await newProduct()
    const order = await place({ OrderItemList: [{ CatalogID: product, ItemQuantity: 1 }] })
    await shop.add('/RMA', { OrderID: order, RMAItemList: [{ CatalogID: product, ReturnQuantity: 1 }] })
    await shop.add('/GiftRegistries', {
      Name: 'Wedding',
      GiftRegistryItemList: [{ CatalogID: product, SKU: 'MUG', Listed: 1 }],
    })
    const options = [{ OptionName: 'With a mug', OptionBundleCatalogId: product }]
    const category = await shop.add('/Category', {
      CategoryName: 'Shelf',
      OptionSetList: [{ OptionSetName: 'Extra', OptionList: options }],
    })

    expect(await notifiedResource(() => shop.call('DELETE', `/Products/${product}`))).toEqual([
      `Product Deleted ${product}`,
      `Category Changed ${category}: OptionSetList.OptionList.OptionBundleCatalogId`,
    ])
  })

  test('of a customer: orders; of a group: customers; of a category: products', async () => {
    const group = await shop.add('/CustomerGroups', { Name: 'Trade' })
    const customer = await newCustomer({ CustomerGroupID: group })
    const category = await shop.add('/Category', { CategoryName: 'Shelf' })
    const product = await newProduct({ CategoryList: [{ CategoryID: category }] })
    const order = await place({ CustomerID: customer, OrderItemList: [{ CatalogID: product, ItemQuantity: 1 }] })

    expect(await notifiedResource(() => shop.call('DELETE', `/CustomerGroups/${group}`))).toEqual([
      `Customer Group Deleted ${group}`,
      `Customer Changed ${customer}: CustomerGroupID`,
    ])
    expect(await notifiedResource(() => shop.call('DELETE', `/Customers/${customer}`))).toEqual([
      `Customer Deleted ${customer}`,
      `Order Changed ${order}: CustomerID`,
    ])
    expect(await notifiedResource(() => shop.call('DELETE', `/Category/${category}`))).toEqual([
      `Category Deleted ${category}`,
      `Product Changed ${product}: CategoryList.CategoryID`,
    ])
  })
})

test('of a list of records each tells what changed of it', async () => {
  const ids = [await newCustomer(), await newCustomer()]
  const body = ids.map((CustomerID, index) => ({ CustomerID, BillingCity: `City ${index}`, MailList: index === 0 }))
  expect(await notifiedResource(() => shop.call('PUT', '/Customers', { body }))).toEqual([
    `Customer Changed ${ids[0]}: BillingCity,MailList`,
    `Customer Changed ${ids[1]}: BillingCity`,
  ])
})

test('an application reads the kinds whose records it may read, and all kinds have a service that it can be granted', async () => {
  for (const [path, body] of [
    ['/Manufacturers', { ManufacturerName: 'Maker' }],
    ['/Category', { CategoryName: 'Shelf' }],
    ['/GiftRegistries', { Name: 'Wedding' }],
  ] as const) {
    await shop.add(path, body)
  }
  await number()
  for (const [service, name] of [
    ['Manufacturers', 'Manufacturer New'],
    ['Category', 'Category New'],
    ['GiftRegistries', 'Gift Registry New'],
    ['RMA', null],
  ] as const) {
    const { call } = await shop.as({ privileges: { Webhooks: ['read', 'write'], [service]: ['read'] } })
    expect((await feed('', call)).map(({ EventName }) => EventName)).toEqual(name === null ? [] : [name])
    for (const kind of eventKinds) {
      const answer = await call('POST', '/Webhooks', { body: webhookBody({ EventType: kind.type }) })
      expect([kind.name, answer.statusCode]).toEqual([kind.name, kind.service === service ? 201 : 401])
    }
  }
})

describe('the Members of a webhook', () => {
  const heardOf = async (id: number) => {
    await number()
    const deliveries = await storedDeliveries(server, shop, id)
    const events = await server.services.db.event.findMany({ where: { storeId: shop.store.id } })
    const { EventType } = await get(`/Webhooks/${id}`)
    const changes = deliveries.map(({ eventId }) => events.find((event) => event.id === eventId)?.changed)
    expect(
      deliveries.every(({ eventId }) => events.find((event) => event.id === eventId)?.eventType === EventType),
    ).toBe(true)
    return changes
  }

  test('are those of whose changes it hears: a name covers what is inside it', async () => {
    const ids = {
      all: await newWebhook(shop.call, { EventType: 5 }),
      price: await newWebhook(shop.call, { EventType: 5, Members: 'skuinfo.price' }),
      info: await newWebhook(shop.call, { EventType: 5, Members: ' Title , SKUInfo,' }),
      options: await newWebhook(shop.call, { EventType: 5, Members: 'FeatureList.FeatureTitle' }),
      deleted: await newWebhook(shop.call, { EventType: 6 }),
    }
    const product = await newProduct()
    await put(`/Products/${product}`, { SKUInfo: { Price: 9 } })
    await put(`/Products/${product}`, { SKUInfo: { Name: 'Cup' } })
    await put(`/Products/${product}`, { Title: 'A cup', Description: 'White' })
    await put(`/Products/${product}`, { Description: 'Blue', SKUInfo: { Stock: 3 } })
    await put(`/Products/${product}`, { FeatureList: [{ FeatureTitle: 'New' }] })
    await shop.call('DELETE', `/Products/${product}`)

    expect(await heardOf(ids.all)).toEqual([
      'SKUInfo.Price',
      'SKUInfo.Name',
      'Description,Title',
      'Description',
      'FeatureList',
    ])
    expect(await heardOf(ids.price)).toEqual(['SKUInfo.Price'])
    expect(await heardOf(ids.info)).toEqual(['SKUInfo.Price', 'SKUInfo.Name', 'Description,Title'])
    expect(await heardOf(ids.options)).toEqual(['FeatureList'])
    expect(await heardOf(ids.deleted)).toEqual([null])
  })

  test('decide too what a webhook missed while it was disabled', async () => {
    const id = await newWebhook(shop.call, { EventType: 9, Members: 'BillingCity' })
    const customer = await newCustomer()
    await shop.call('PUT', `/Webhooks/${id}`, { body: { Enabled: false } })
    await put(`/Customers/${customer}`, { MailList: true })
    await put(`/Customers/${customer}`, { BillingCity: 'Springfield' })
    await put(`/Customers/${customer}`, { Password: 'other secret words' })

    expect((await get(`/Webhooks/${id}/Status`)).Missed).toBe(1)
    await shop.call('POST', `/Webhooks/${id}/Resume`, { body: { CatchUp: true } })
    expect(await heardOf(id)).toEqual(['BillingCity'])
  })

  test('stand in answers only where they are set, as they are spelt in records, and can be changed and cleared', async () => {
    const plain = await newWebhook(shop.call)
    const id = await newWebhook(shop.call, {
      EventType: 8,
      Members: 'transactionlist, SHIPMENTLIST.ShipmentTrackingCode',
    })
    const shown = 'TransactionList,ShipmentList.ShipmentTrackingCode'

    const { body } = await shop.call('GET', '/Webhooks')
    const dates = '"DateCreated":"03/10/2026 12:00","DateUpdated":"03/10/2026 12:00"'
    const webhook = (key: number, type: number, more = '') =>
      `{"Id":${key},"Name":"Desk","Url":"https://desk.example/orders","EventType":${type},${dates},"Format":"JSON","Enabled":true${more}}`
    expect(body).toBe(`[${webhook(plain, 1)},${webhook(id, 8, `,"Members":"${shown}"`)}]`)
    const xml = await shop.call('GET', '/Webhooks', { accept: 'application/xml' })
    expect(xml.body.match(/<Members>.*?<\/Members>/g)).toEqual([`<Members>${shown}</Members>`])
    expect(await get(`/Webhooks/${id}?$select=Members`)).toEqual({ Members: shown })
    expect(await get(`/Webhooks/${plain}?$select=Id,Members`)).toEqual({ Id: plain })

    await shop.call('PUT', `/Webhooks/${id}`, { body: { Name: 'Desk 2' } })
    expect((await get(`/Webhooks/${id}`)).Members).toBe(shown)
    await shop.call('PUT', `/Webhooks/${id}`, { body: { Members: 'InternalComments' } })
    expect((await get(`/Webhooks/${id}`)).Members).toBe('InternalComments')
    await shop.call('PUT', `/Webhooks/${id}`, { body: { Members: '' } })
    expect(await get(`/Webhooks/${id}`)).not.toHaveProperty('Members')
  })

  test('are refused where they are no members of which the kind tells, with the name that may be meant', async () => {
    const refusals = [
      [
        8,
        'InternalComents',
        'has the name "InternalComents", of which Order Changed never tells; the nearest is InternalComments',
      ],
      [
        8,
        'ItemQuantitty',
        'has the name "ItemQuantitty", of which Order Changed never tells; the nearest is OrderItemList.ItemQuantity',
      ],
      [8, 'OrderStatusID', /^Members has the name "OrderStatusID", of which Order Changed never tells/],
      [8, 'LastUpdate', /^Members has the name "LastUpdate", of which Order Changed never tells/],
      [5, 'SKUInfo.StockAdjust', /^Members has the name "SKUInfo.StockAdjust", of which Product Changed never tells/],
      [5, 'SKUInfo.Stock', /^Members has the name "SKUInfo.Stock", of which Product Changed never tells/],
      [9, 'PasswordHash', /^Members has the name "PasswordHash", of which Customer Changed never tells/],
      [9, 'xyzzyxyzzy', 'has the name "xyzzyxyzzy", of which Customer Changed never tells'],
      [9, Array.from({ length: 101 }, () => 'Email').join(), 'has 101 names; at most 100 are allowed'],
      [1, 'OrderItemList', 'does not apply to Order New, which does not tell what changed'],
      [7, 'SKUInfo', 'does not apply to Product Stock Changed, which does not tell what changed'],
      [10, 'Email', 'does not apply to Customer Deleted, which does not tell what changed'],
    ] as const
    for (const [EventType, Members, problem] of refusals) {
      const answer = await shop.call('POST', '/Webhooks', { body: webhookBody({ EventType, Members }) })
      const message = typeof problem === 'string' ? `Members ${problem}` : expect.stringMatching(problem)
      expect(refusalOf(answer)).toEqual({ statusCode: 400, field: 'Members', status: '400', message })
    }
    expect((await shop.call('GET', '/Webhooks')).statusCode).toBe(404)
  })
})
