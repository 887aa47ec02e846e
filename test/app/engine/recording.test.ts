import { describe, expect, test } from 'vitest'
import { createRecord, deleteRecord, inChange, updateRecord } from '../../../src/engine/changing/change.ts'
import { eventKinds, productKinds } from '../../../src/engine/definition/event-kinds.ts'
import { raise } from '../../../src/engine/recording/events.ts'
import { inTransaction } from '../../../src/foundation/database/client.ts'
import { placeOrder } from '../../../src/shop/resources/orders/place-order.ts'
import { products } from '../../../src/shop/resources/products/products.ts'
import { storedEvents } from '../../support/events.ts'
import { sharedServer } from '../../support/store.ts'
import { exportOf, importInto, linesOf, operator } from './transfer/fixture.ts'

// What is recorded of a change, whatever door it came through (webhooks §2).

const server = await sharedServer()
const shop = await server.openStore()

let serial = 0

interface Recorded {
  readonly name: string
  readonly recordId: number
  readonly record: Record<string, unknown>
}

/** What `work` made the store record, in order. */
async function recordedBy(work: () => Promise<unknown>, { store } = shop): Promise<Recorded[]> {
  const { db } = server.database
  const last = await db.event.findFirst({ orderBy: { id: 'desc' }, select: { id: true } })
  await work()
  const events = await storedEvents(db, store.id, { id: { gt: last?.id ?? 0n } })
  return events.map(({ eventType, recordId, record }) => ({
    name: eventKinds.find(({ type }) => type === eventType)?.name ?? '',
    recordId,
    record,
  }))
}

async function namesOf(work: () => Promise<unknown>): Promise<string[]> {
  return (await recordedBy(work)).map(({ name, recordId }) => `${name} ${recordId}`)
}

async function newProduct(fields: Record<string, unknown> = {}, info: Record<string, unknown> = {}): Promise<number> {
  const SKU = `SKU-${++serial}`
  return createRecord(shop.caller, products, { SKUInfo: { SKU, Name: SKU, Price: 5, Stock: 100, ...info }, ...fields })
}

function place(items: object[], more: object = {}) {
  return placeOrder(shop.caller, {
    BillingEmail: 'guest@shop.example',
    BillingOnLinePayment: true,
    OrderItemList: items,
    ...more,
  })
}

const get = async (path: string) => (await shop.call('GET', path)).json()[0]

describe('a change and its events', () => {
  test('are committed together: a change that is undone at its end records nothing', async () => {
    const id = await newProduct()
    const undone = inTransaction.bind(null, shop.caller.db, async (db) => {
      await updateRecord({ ...shop.caller, db }, products, id, { Title: 'Other' })
      throw new Error('undone')
    })

    const recorded = await recordedBy(() => undone().catch(() => undefined))

    expect(recorded).toEqual([])
    expect((await get(`/Products/${id}`)).Title).toBe('')
  })

  test('an order that is refused halfway, with stock already taken, records nothing', async () => {
    const [plenty, none] = [await newProduct(), await newProduct({}, { Stock: 0 })]
    const items = [plenty, none].map((id) => ({ CatalogID: id, ItemQuantity: 1 }))

    expect(await recordedBy(() => place(items).catch(() => undefined))).toEqual([])
    expect((await get(`/Products/${plenty}`)).SKUInfo.Stock).toBe(100)
  })

  test('the body is the record as GET gives it after the change, and stays so', async () => {
    const id = await newProduct()
    const recorded = await recordedBy(() => shop.call('PUT', `/Products/${id}`, { body: { Title: 'First' } }))
    const first = await get(`/Products/${id}`)
    await shop.call('PUT', `/Products/${id}`, { body: { Title: 'Second' } })

    expect(recorded).toEqual([{ name: 'Product Changed', recordId: id, record: first }])
    expect(first.Title).toBe('First')
  })

  test('each record of a list in one request has its own; those that are refused have none', async () => {
    const [one, other] = [await newProduct(), await newProduct()]
    const body = [
      { SKUInfo: { CatalogID: one, Stock: 7 } },
      { SKUInfo: { CatalogID: other, Stock: 'many' } },
      { SKUInfo: { CatalogID: other, Stock: 8 } },
    ]

    expect(await namesOf(() => shop.call('PUT', '/Products', { body }))).toEqual([
      `Product Stock Changed ${one}`,
      `Product Stock Changed ${other}`,
    ])
  })

  test('changes that end one another in a deadlock and run again record each once', async () => {
    const ids = [await newProduct(), await newProduct()]
    const items = ids.map((CatalogID) => ({ CatalogID, ItemQuantity: 1 }))
    // Each changes one product and then wants the other's lock, once both hold their first: one of them ends in a deadlock.
    const bothHoldOne = Promise.withResolvers<void>()
    let holding = 0
    const cross = ([first, second]: readonly number[]) =>
      inTransaction(shop.caller.db, async (db) => {
        await updateRecord({ ...shop.caller, db }, products, first as number, { Title: `of ${first}` })
        if (++holding === 2) bothHoldOne.resolve()
        await bothHoldOne.promise
        await db.$queryRaw`SELECT 1 FROM "Product" WHERE "id" = ${second} FOR UPDATE`
      })

    const names = await namesOf(() => {
      const placed = bothHoldOne.promise.then(() => place(items))
      return Promise.all([cross(ids), cross(ids.toReversed()), placed])
    })

    // One of them ran again.
    expect(holding).toBeGreaterThan(2)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toHaveLength(5)
  })
})

describe('a product', () => {
  test.each([
    { change: { SKUInfo: { Stock: 99 } }, names: ['Product Stock Changed'] },
    { change: { SKUInfo: { Stock: 99, Price: 6 } }, names: ['Product Changed', 'Product Stock Changed'] },
    { change: { SKUInfo: { Price: 6 } }, names: ['Product Changed'] },
    { change: { Description: 'Longer' }, names: ['Product Changed'] },
    { change: { FeatureList: [{ FeatureTitle: 'New' }] }, names: ['Product Changed'] },
    { change: { SKUInfo: { Stock: 100, Price: 5 } }, names: [] },
    { change: { Title: '', FeatureList: [] }, names: [] },
    { change: {}, names: [] },
  ])('$change raises $names', async ({ change, names }) => {
    const id = await newProduct()
    expect(await namesOf(() => shop.call('PUT', `/Products/${id}`, { body: change }))).toEqual(
      names.map((name) => `${name} ${id}`),
    )
  })

  test('whose lists are sent again as they are has not changed', async () => {
    const id = await newProduct(options)
    const { SKUInfo, AdvancedOptionList, OptionSetList } = await get(`/Products/${id}`)
    const body = { SKUInfo, AdvancedOptionList, OptionSetList }

    expect(await namesOf(() => shop.call('PUT', `/Products/${id}`, { body }))).toEqual([])
  })

  test('one of whose options gets another stock has changed its stock alone; with another price, both', async () => {
    const id = await newProduct(options)
    const path = `/Products/${id}/AdvancedOptions/1,2`

    const stock = await namesOf(() => shop.call('PUT', path, { body: { AdvancedOptionStock: 5 } }))
    const both = await namesOf(() =>
      shop.call('PUT', path, { body: { AdvancedOptionStock: 6, AdvancedOptionPrice: 2 } }),
    )

    expect(stock).toEqual([`Product Stock Changed ${id}`])
    expect(both).toEqual([`Product Changed ${id}`, `Product Stock Changed ${id}`])
  })

  test('that is deleted is told of as it was last; products that named it have changed', async () => {
    const id = await newProduct({ Title: 'The last words' })
    const other = await newProduct({ RelatedProductList: [{ RelatedProductID: id }] })
    const last = await get(`/Products/${id}`)

    const recorded = await recordedBy(() => shop.call('DELETE', `/Products/${id}`))

    expect(recorded).toEqual([
      { name: 'Product Deleted', recordId: id, record: last },
      { name: 'Product Changed', recordId: other, record: await get(`/Products/${other}`) },
    ])
    expect(recorded[1]?.record.RelatedProductList).toEqual([])
  })

  test.each([
    ['Manufacturers', { ManufacturerName: 'Maker' }, (key: number) => ({ ManufacturerID: key })],
    ['Category', { CategoryName: 'Shelf' }, (key: number) => ({ CategoryList: [{ CategoryID: key }] })],
    ['Distributors', { CompanyName: 'Carrier' }, (key: number) => ({ DistributorList: [{ DistributorID: key }] })],
  ])('that loses its reference when one of %s is deleted has changed, without it', async (service, body, fields) => {
    const key = await shop.add(`/${service}`, body)
    const ids = [await newProduct(fields(key)), await newProduct(fields(key))]
    await newProduct()

    const recorded = await recordedBy(() => shop.call('DELETE', `/${service}/${key}`))

    const records = await Promise.all(ids.map((id) => get(`/Products/${id}`)))
    const [deleted, ...cleared] = recorded
    expect(deleted?.recordId).toBe(key)
    expect(cleared).toEqual(
      ids.map((recordId, index) => ({ name: 'Product Changed', recordId, record: records[index] })),
    )
    for (const { record } of cleared) expect(JSON.stringify(record)).not.toContain(JSON.stringify(body).slice(1, -1))
  })

  test('whose deletion is refused is not told of', async () => {
    expect(await recordedBy(() => shop.call('DELETE', '/Products/2147483647'))).toEqual([])
  })
})

const options = {
  OptionSetList: [{ OptionSetName: 'Size', OptionList: [{ OptionName: 'S' }, { OptionName: 'L' }] }],
  AdvancedOptionList: [
    { AdvancedOptionCode: '1,2', AdvancedOptionStock: 4 },
    { AdvancedOptionCode: '3,4', AdvancedOptionStock: 4 },
  ],
}

describe('an order', () => {
  test('that is placed is new, and each stock that it takes has changed, once per product', async () => {
    const [one, other] = [await newProduct(), await newProduct()]
    const items = [one, other, one].map((CatalogID) => ({ CatalogID, ItemQuantity: 1 }))
    let id = 0

    const recorded = await recordedBy(async () => {
      id = (await place(items)).id
    })

    expect(recorded.map(({ name, recordId }) => `${name} ${recordId}`)).toEqual([
      `Order New ${id}`,
      `Product Stock Changed ${one}`,
      `Product Stock Changed ${other}`,
    ])
    expect(recorded[0]?.record).toEqual(await get(`/Orders/${id}`))
    expect(recorded[1]?.record).toEqual(await get(`/Products/${one}`))
  })

  test.each([
    { to: 1, names: ['Order New', 'Order Status Change'] },
    { to: 11, names: ['Order New', 'Order Status Change'] },
    { to: 2, names: ['Order New', 'Order Status Change'] },
    { to: 5, names: ['Order Status Change'] },
  ])('that is Not Completed is told of when it leaves that: status $to raises $names', async ({ to, names }) => {
    const product = await newProduct()
    let id = 0
    const placed = await namesOf(async () => {
      id = (await place([{ CatalogID: product, ItemQuantity: 1 }], { OrderStatusID: 7 })).id
    })
    const recorded = await namesOf(() => shop.call('PUT', `/Orders/${id}`, { body: { OrderStatusID: to } }))

    expect(placed).toEqual([])
    const stock = to === 5 ? [] : [`Product Stock Changed ${product}`]
    expect(recorded.toSorted()).toEqual([...names.map((name) => `${name} ${id}`), ...stock].toSorted())
  })

  test('tells of its status when that takes another value, by itself or by its only shipment, and otherwise of another change', async () => {
    const { id } = await place([{ CatalogID: await newProduct(), ItemQuantity: 1 }])
    const put = (path: string, body: object) => namesOf(() => shop.call('PUT', path, { body }))
    const changed = [`Order Status Change ${id}`]

    expect(await put(`/Orders/${id}`, { OrderStatusID: 2 })).toEqual(changed)
    expect(await put(`/Orders/${id}`, { OrderStatusID: 2, InternalComments: 'Packed' })).toEqual([
      `Order Changed ${id}`,
    ])
    expect(await put(`/Orders/${id}`, { OrderStatusID: 2 })).toEqual([])
    expect(await put(`/Orders/${id}/Shipments/0`, { ShipmentOrderStatus: 3 })).toEqual(changed)
  })

  test('that is cancelled gives its goods back: one event per product', async () => {
    const product = await newProduct()
    const { id } = await place([1, 2].map((ItemQuantity) => ({ CatalogID: product, ItemQuantity })))

    expect((await namesOf(() => shop.call('PUT', `/Orders/${id}`, { body: { OrderStatusID: 5 } }))).toSorted()).toEqual(
      [`Order Status Change ${id}`, `Product Stock Changed ${product}`],
    )
  })

  test('that comes back restocks its products', async () => {
    const product = await newProduct()
    const { id } = await place([{ CatalogID: product, ItemQuantity: 2 }])
    const items = [{ CatalogID: product, ReturnQuantity: 2, RestockQuantity: 2 }]

    const names = await namesOf(() => shop.call('POST', '/RMA', { body: { OrderID: id, RMAItemList: items } }))

    expect(names).toEqual([`Product Stock Changed ${product}`, expect.stringMatching(/^Return New \d+$/)])
  })
})

test('a customer is new once, and no event knows a password', async () => {
  const body = { Email: 'robin@shopper.example', Password: 'a long password', BillingLastName: 'Reed' }
  let id = 0
  const recorded = await recordedBy(async () => {
    id = await shop.add('/Customers', body)
    await shop.call('PUT', `/Customers/${id}`, { body: { BillingLastName: 'Rush', Password: 'a long password!' } })
  })

  expect(recorded).toMatchObject([
    { name: 'Customer New', recordId: id, record: { BillingLastName: 'Reed' } },
    { name: 'Customer Changed', recordId: id, record: { BillingLastName: 'Rush' } },
  ])
  expect(JSON.stringify(recorded)).not.toContain('a long password')
})

describe('an import', () => {
  test('records nothing unless it is asked to; then, what it changed', async () => {
    const other = await server.openStore()
    const product = await newProduct(options)
    await place([{ CatalogID: product, ItemQuantity: 1 }])
    const lines = linesOf(await exportOf(server, shop))
    const counted = (service: string) => lines.filter((line) => line.service === service).length
    const raising = (file: readonly object[]) =>
      server.app.inject({
        method: 'POST',
        url: `/admin/stores/${other.store.id}/import?events=true`,
        headers: { ...operator(server), 'content-type': 'application/x-ndjson' },
        payload: file.map((line) => `${JSON.stringify(line)}\n`).join(''),
      })
    const named = async (work: () => Promise<unknown>) =>
      Object.entries(Object.groupBy(await recordedBy(work, other), ({ name }) => name)).map(
        ([name, events = []]) => [name, events.length] as const,
      )

    const first = await named(() => raising(lines))
    const again = await named(() => raising(lines))
    const changed = lines.map((line) => {
      if (line.service !== 'Products' || line.record.Title !== '') return line
      return { ...line, record: { ...line.record, Title: 'Imported' } }
    })
    const titled = await named(() => raising(changed))
    const silent = await named(() => importInto(server, other, lines))

    // Cancelled ones were never told of as new.
    const orders = lines.filter(({ service, record }) => service === 'Orders' && record.OrderStatusID !== 5).length
    const created = eventKinds.filter(({ name }) => name.endsWith(' New') && name !== 'Order New')
    expect(Object.fromEntries(first)).toEqual({
      ...Object.fromEntries(
        created.flatMap(({ name, service }) => (counted(service) > 0 ? [[name, counted(service)]] : [])),
      ),
      'Order New': orders,
    })
    expect(again).toEqual([])
    expect(titled).toEqual([['Product Changed', changed.filter(({ record }) => record?.Title === 'Imported').length]])
    expect(silent).toEqual([])
  })

  test('refuses what events cannot be', async () => {
    const answer = await server.app.inject({
      method: 'POST',
      url: `/admin/stores/${shop.store.id}/import?events=perhaps`,
      headers: { ...operator(server), 'content-type': 'application/x-ndjson' },
      payload: '{}\n',
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('events must be true or false')
  })
})

test('a deletion of many is told of in order, though it is written in pieces', async () => {
  const key = Number(
    (await shop.call('POST', '/Manufacturers', { body: { ManufacturerName: 'Many' } })).json()[0].Value,
  )
  for (let made = 0; made < 450; made++) await newProduct({ ManufacturerID: key })

  const recorded = await recordedBy(() => shop.call('DELETE', `/Manufacturers/${key}`))

  expect(recorded.shift()).toMatchObject({ name: 'Manufacturer Deleted', recordId: key })
  expect(recorded).toHaveLength(450)
  expect(recorded.map(({ recordId }) => recordId)).toEqual(
    recorded.map(({ recordId }) => recordId).toSorted((a, b) => a - b),
  )
  expect(new Set(recorded.map(({ record }) => record.ManufacturerID))).toEqual(new Set([0]))
})

test('steps of one change that tell of the same record are one event, with the members of all of them that answers show', async () => {
  const id = await newProduct()
  const { changed } = productKinds
  await inChange(shop.caller, async (tx) => {
    raise(tx, changed, products, id, { members: ['Title', 'SKUInfo.Price'] })
    raise(tx, changed, products, id, { members: ['CategoryList.CategoryID', 'Title', 'NoSuchMember'] })
  })

  const where = { storeId: shop.store.id, eventType: changed.type, recordId: id }
  const events = await server.database.db.event.findMany({ where })
  expect(events.map((event) => event.changed)).toEqual(['CategoryList.CategoryID,SKUInfo.Price,Title'])
})

test('an event of a record that a later step of the same change deletes cannot be recorded, and undoes it', async () => {
  const id = await newProduct()
  const vanish = inChange(shop.caller, async (tx) => {
    await tx.db.$executeRaw`UPDATE "Product" SET "details" = '{"Title": "Gone"}' WHERE "id" = ${id}`
    raise(tx, productKinds.changed, products, id)
    await tx.db.$executeRaw`DELETE FROM "Product" WHERE "id" = ${id}`
  })
  await expect(vanish).rejects.toThrow(`There is no record for the event of Products ${id}`)
  expect((await get(`/Products/${id}`)).Title).toBe('')
  await deleteRecord(shop.caller, products, id)
})
