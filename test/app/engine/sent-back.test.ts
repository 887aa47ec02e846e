import fc, { type GeneratorValue } from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { FieldSet, ListField, ValueField } from '../../../src/engine/definition/fields.ts'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { canImport, serviceOf } from '../../../src/http/pages/records/services.ts'
import { resources } from '../../../src/shop/registry.ts'
import { fieldsAt } from '../../support/person.ts'
import { merchantIn, proveAgain } from '../../support/signed-in.ts'
import { sharedServer } from '../../support/store.ts'
import { soapCall, type Tree, treeOf } from '../http/soap/support.ts'
import { importInto } from './transfer/fixture.ts'

// Whatever an import stores can be sent back by every door as that door shows it, and nothing is changed by it.

const server = await sharedServer()
const shop = await server.openStore()
const merchant = await merchantIn(server, shop.store)

type Wire = Record<string, unknown>
type Draw = GeneratorValue

const RUNS = 3
/** References lead to these ids, which every service has. */
const known = [1, 2]
const drawnId = 50
const shipments = [501, 502]

const writable = resources.filter(({ methods }) => methods.includes('PUT'))

const odd = [
  '\r\n',
  '\r',
  '\n',
  '\t',
  '\u0001',
  ' ',
  '\u00a0',
  '\u200b',
  'e\u0301',
  '<&>',
  '"',
  "'",
  '=',
  '-',
  '0',
  '𝄞',
  'É',
  '7',
]
const text = fc.string({ unit: fc.constantFrom(...odd, 'a', 'b', 'c'), maxLength: 12 })
/** Before, in and behind the hour that autumn repeats in New York, and on a day without time. */
const date = fc.constantFrom(
  '2026-11-01T05:30:00Z',
  '2026-11-01T06:30:00Z',
  '2026-03-08T07:15:09Z',
  '2020-02-29T05:00:00Z',
)

/** Columns that name records, or are named by a unique index. */
const ofColumn: Readonly<Record<string, (draw: Draw) => unknown>> = {
  ...Object.fromEntries(
    ['manufacturerId', 'groupId', 'accessGroupId', 'customerId', 'productId', 'parentId', 'orderId'].map((column) => [
      column,
      (draw) => draw(fc.constantFrom, 0, ...known),
    ]),
  ),
  sku: (draw) => `${draw(fc.constantFrom, '', ' ', '\t')}SKU ${drawnId}${draw(fc.constantFrom, '', ' ', '\u00a0')}`,
  email: (draw) => draw(fc.constantFrom, '', ' nobody', 'x@y@z', 'né@mail.example ', '\r\nline@mail.example'),
  altContactId: () => `other ${drawnId}`,
  statusId: (draw) => draw(fc.constantFrom, 1, 2, 4, 5, 7, 11),
  invoicePrefix: (draw) => draw(fc.constantFrom, '', 'AB-'),
  shippedDate: (draw) => draw(fc.constantFrom, '', '7/19/2013', '2013-07-19', '07/19/2013 15:00', 'next week'),
  trackingCode: (draw) => draw(fc.constantFrom, '', '1Z', ' 1\u0001Z\r\n2'),
  invoiceNumber: (draw) => draw(fc.constantFrom, 0, 17),
  shipmentId: (draw) => draw(fc.constantFrom, 0, ...shipments, 999),
  passwordHash: () => '',
}

function drawnValue(draw: Draw, field: ValueField): unknown {
  const { bounds, kind } = field
  const own = field.column === undefined ? undefined : ofColumn[field.column]
  if (own) return own(draw)
  if (bounds.values) return draw(fc.constantFrom, ...bounds.values)
  if (kind === 'boolean') return draw(fc.boolean)
  if (kind === 'date') return draw(() => date)
  if (kind === 'text') {
    const made = `${draw(() => text)}${field.required ? 'r' : ''}`.slice(0, bounds.maxLength)
    return made.isWellFormed() ? made : made.slice(0, -1)
  }
  const { min = 0, max = 0 } = bounds
  const numbers =
    kind === 'decimal' ? [0.1, 1.2345, 99_999.9999, -0.0001] : [0, 1, 999, min, Math.min(max, 2 ** 31 - 1)]
  return draw(fc.constantFrom, ...numbers.filter((each) => each >= min && each <= max))
}

function drawnMembers(draw: Draw, fields: FieldSet, key: unknown): Wire {
  const record: Wire = {}
  for (const [name, field] of fields.shown.entries) {
    if (field.kind === 'object') record[name] = drawnMembers(draw, field.fields, key)
    else if (field.kind === 'list') {
      if (field.access !== 'derived') record[name] = drawnItems(draw, field)
    } else if (field.access === 'key') record[name] = key
    else if (field.access !== 'derived' && field.access !== 'wo') {
      const isGiven = field.required || ofColumn[field.column ?? ''] !== undefined || draw(fc.boolean)
      if (isGiven) record[name] = drawnValue(draw, field)
    }
  }
  return record
}

function drawnItems(draw: Draw, field: ListField): Wire[] {
  const count = draw(fc.nat, 2)
  return Array.from({ length: count }, (_, index) => {
    const keyField = field.key === undefined ? undefined : field.fields.get(field.key)
    const isText = keyField?.kind === 'text'
    const isShipment = field.typeName === 'Shipment'
    const ofCounter = isShipment ? shipments[index] : 600 + draw(fc.nat, 100) * 4 + index
    const ofCaller = isText ? `${draw(fc.constantFrom, '', ' ', '\u0001')}${index},9` : known[index]
    return drawnMembers(draw, field.fields, field.keyFrom === 'caller' ? ofCaller : ofCounter)
  })
}

/** A record that the import takes, stored under the drawn id; its times have fractions, as those that the platform stamps. */
async function imported(draw: Draw, resource: Resource): Promise<void> {
  const record = drawnMembers(draw, resource.storedFields, drawnId)
  const shown: Wire = {}
  const hidden: Wire = {}
  for (const [name, value] of Object.entries(record)) (resource.fields.get(name) ? shown : hidden)[name] = value
  const lines = [{ service: resource.service, record: shown, private: hidden }]
  expect((await importInto(server, shop, lines)).refused).toEqual([])
  const tables = [
    { table: resource.table, fields: resource.storedFields },
    ...resource.fields.entries.flatMap(([, field]) =>
      field.kind === 'list' && field.rows ? [{ table: field.rows.table, fields: field.fields }] : [],
    ),
  ]
  const updates = tables.flatMap(({ table, fields }) => {
    const columns = fields.leaves.flatMap(({ field }) =>
      field.kind === 'date' && field.column !== undefined
        ? [`"${field.column}" = "${field.column}" + interval '123 ms'`]
        : [],
    )
    return columns.length === 0
      ? []
      : [`UPDATE "${table}" SET ${columns.join(', ')} WHERE "storeId" = ${shop.store.id}`]
  })
  // A row of a list changes with that of its record.
  const { db } = server.database
  await db.$transaction(updates.reverse().map((update) => db.$executeRawUnsafe(update)))
}

let everything: string

/** All that the store has: records, events, history, stock movements. */
async function contents(): Promise<readonly string[]> {
  const { db } = server.database
  if (everything === undefined) {
    const tables = await db.$queryRawUnsafe<{ name: string }[]>(
      `SELECT c.table_name AS "name" FROM information_schema.columns c WHERE c.table_schema = 'public' AND c.column_name = 'storeId'
         AND c.table_name NOT IN ('StoreUser', 'Subscription', 'CsvImport', 'CsvImportLine', 'Counter', 'AuditEntry', 'UserSession', 'CallLogEntry')`,
    )
    everything = tables
      .map(({ name }) => `SELECT '${name} ' || to_json(t)::text AS "row" FROM "${name}" t WHERE t."storeId" = $1::int`)
      .join(' UNION ALL ')
  }
  const rows = await db.$queryRawUnsafe<{ row: string }[]>(`${everything} ORDER BY 1`, shop.store.id)
  return rows.map(({ row }) => row)
}

async function put(path: string, body: unknown, contentType?: string): Promise<void> {
  const options = { body, tolerated: true, ...(contentType && { contentType }) }
  const answer = await shop.call('PUT', path, options)
  const ignored = answer.headers['x-ignored']
  const seen = { path, status: answer.statusCode, ignored, body: answer.body.slice(0, 300) }
  expect(seen).toMatchObject({ path, status: 200, ignored: undefined })
}

const asJson = async (path: string) => (await shop.call('GET', path)).json()
const asXml = async (path: string) => (await shop.call('GET', path, { accept: 'application/xml' })).body
const xml = 'application/xml'

type Door = (resource: Resource) => Promise<void>

const byJson: Door = async (resource) => {
  const path = `/${resource.service}/${drawnId}`
  const [record] = await asJson(path)
  await put(path, record)
  if (resource.changesMany) await put(`/${resource.service}`, await asJson(`/${resource.service}?limit=100`))
}

const byXml: Door = async (resource) => {
  const path = `/${resource.service}/${drawnId}`
  const shown = await asXml(path)
  await put(path, shown, xml)
  // A program that writes line ends as they are.
  await put(path, shown.replaceAll('&#13;', '\r'), xml)
  if (resource.changesMany) await put(`/${resource.service}`, await asXml(`/${resource.service}?limit=100`), xml)
}

const byItems: Door = async (resource) => {
  for (const [name, sub] of Object.entries(resource.subResources)) {
    if (sub.kind !== 'nested' || !sub.methods.includes('PUT')) continue
    const path = `/${resource.service}/${drawnId}/${name}`
    const field = resource.fields.get(sub.list) as ListField
    const answer = await shop.call('GET', path)
    if (answer.statusCode === 404) continue
    const items = answer.json() as Wire[]
    await put(path, items)
    await put(path, await asXml(path), xml)
    for (const item of items) {
      await put(`${path}/${encodeURIComponent(String(item[field.key ?? '']))}`, item)
    }
  }
}

const byCsv: Door = async (resource) => {
  const service = serviceOf(resource)
  if (!canImport(service)) return
  const file = (await merchant.open(`${service.path}/export?format=csv`)).body
  const { statusCode, headers, body } = await merchant.upload(`${service.path}/csv`, file)
  expect({ statusCode, body: statusCode === 303 ? '' : body }).toEqual({ statusCode: 303, body: '' })
  const page = (await merchant.open(String(headers.location))).body
  const tabs = /aria-label="Lines of the file"[\s\S]*?<\/nav>/.exec(page)?.[0] ?? ''
  const counted = [...tabs.matchAll(/>([^<]+) \(\d[\d,]*\)</g)].map(([, name]) => name)
  const lines = /<tbody[\s\S]*?<\/tbody>/.exec(page)?.[0] ?? ''
  expect({ counted, lines: lines.replaceAll(/<[^>]*>|\s+/g, ' ') }).toMatchObject({ counted: ['Unchanged'] })
}

const byForm: Door = async (resource) => {
  const service = serviceOf(resource)
  for (const { slug } of service.sections) {
    const address = `${service.path}/${drawnId}/edit?section=${slug}`
    const { statusCode, body } = await merchant.open(address)
    if (statusCode === 404 || !body.includes(`action="${address}"`)) continue
    const { _csrf, ...fields } = asBrowserSends(body, fieldsAt(body, address))
    const answer = await merchant.submit(address, fields)
    expect({ slug, status: answer.statusCode, to: answer.headers.location }).toEqual({
      slug,
      status: 303,
      to: `${service.path}/${drawnId}`,
    })
  }
}

/** Line breaks as HTML reads and sends them: a field of one line has none, a choice those of its value. */
function asBrowserSends(page: string, fields: Record<string, string>): Record<string, string> {
  const ofLines = new Set([...page.matchAll(/<(?:textarea|select)\b[^>]*?\sname="([^"]*)"/g)].map(([, name]) => name))
  const sent = ([name, value]: [string, string]) => {
    const read = value.replace(/\r\n?/g, '\n')
    return [name, ofLines.has(name) ? read.replaceAll('\n', '\r\n') : read.replaceAll('\n', '')]
  }
  return Object.fromEntries(Object.entries(fields).map((field) => sent(field)))
}

const byCartApi: Door = async (resource) => {
  if (resource.service === 'Customers') await editCustomers()
  if (resource.service === 'Products') await replaceStocks()
  if (resource.service === 'Orders') await updateOrders()
}

const page = { batchSize: 100, startNum: 1 }
type Shown = { [name: string]: Tree }

const all = (given: unknown): Shown[] =>
  given === undefined || typeof given === 'string' ? [] : ([given].flat() as Shown[])

async function editCustomers(): Promise<void> {
  const { Customer } = treeOf(await soapCall(server, shop, 'getCustomer', page)) as Shown
  const addressNames = {
    firstname: 'FirstName',
    lastname: 'LastName',
    address: 'Address',
    address2: 'Address2',
    city: 'City',
    state: 'StateCode',
    zip: 'ZipCode',
    country: 'CountryCode',
    company: 'Company',
    phone: 'Phone',
  }
  for (const customer of all(Customer)) {
    const {
      BillingAddress: billing,
      ShippingAddress: shipping,
      AditionalFields: more,
    } = customer as Record<string, Shown>
    const data = {
      contactid: customer.CustomerID,
      email: billing?.Email,
      ...Object.fromEntries(
        Object.entries(addressNames).flatMap(([name, shown]) => [
          [`billing_${name}`, billing?.[shown]],
          [`shipping_${name}`, shipping?.[shown]],
        ]),
      ),
      comments: customer.Comments,
      website: customer.WebSite,
      discount: customer.DiscountGroup,
      accountno: customer.AccountNumber,
      maillist: customer.MailList,
      custenabled: customer.CustEnabled,
      lastlogindate: customer.LastLoginDate,
      additional_field1: more?.AdditionalField1,
      additional_field2: more?.AdditionalField2,
      additional_field3: more?.AdditionalField3,
    }
    const customerData = Object.entries(data)
      .map(([name, value]) => `${name}===${value}`)
      .join('|||')
    const answer = await soapCall(server, shop, 'editCustomer', { customerData, action: 'update' })
    expect(answer, customerData).toContain('<result>OK</result>')
  }
}

async function replaceStocks(): Promise<void> {
  const { Product } = treeOf(await soapCall(server, shop, 'getProduct', page)) as Shown
  for (const { ProductID } of all(Product)) {
    const productId = String(ProductID)
    const shown = treeOf(await soapCall(server, shop, 'getProductInventory', { productId })) as Shown
    if (shown.Inventory === undefined) continue
    const quantity = String(shown.Inventory)
    const asked = { productId, quantity, replaceStock: true }
    const answer = treeOf(await soapCall(server, shop, 'updateProductInventory', asked)) as Shown
    expect(answer.NewInventory).toBe(quantity)
  }
}

async function updateOrders(): Promise<void> {
  const [order] = await asJson(`/Orders/${drawnId}`)
  if (order.InvoiceNumber === 0) return
  const invoiceNum = `${order.InvoiceNumberPrefix}${order.InvoiceNumber}`
  const { StatusText } = treeOf(await soapCall(server, shop, 'getOrderStatus', { invoiceNum })) as Shown
  const answer = await soapCall(server, shop, 'updateOrderStatus', { invoiceNum, newStatus: String(StatusText) })
  expect(answer).toContain('<NewStatus>')
  const { Order } = treeOf(await soapCall(server, shop, 'getOrder', { ...page, invoiceNum })) as Record<string, Shown>
  const { ShipmentList } = (Order?.ShippingInformation ?? {}) as Record<string, Shown>
  const shown = ShipmentList ?? (Order?.ShippingInformation as Shown)
  for (const { ShipmentID, ShipmentDate, TrackingCode } of all(shown?.Shipment)) {
    if (TrackingCode === '') continue
    const asked = {
      invoiceNum,
      tracking: `${TrackingCode}`,
      shipmentID: `${ShipmentID}`,
      shipmentDate: `${ShipmentDate}`,
    }
    expect(await soapCall(server, shop, 'updateOrderShipment', asked), JSON.stringify(asked)).toContain('OK')
  }
}

const doors: Readonly<Record<string, Door>> = { byJson, byXml, byItems, byCsv, byForm, byCartApi }

describe.each(writable.map((resource) => [resource.service, resource] as const))('%s', (_service, resource) => {
  beforeAll(async () => {
    const lines = resources.flatMap(({ service, methods, storedFields }) =>
      methods.includes('PUT') ? known.map((id) => ({ service, record: plainRecord(storedFields, id) })) : [],
    )
    expect((await importInto(server, shop, lines)).refused).toEqual([])
  })

  test('what an import stored is taken back by every door, and changes nothing', async () => {
    const property = fc.asyncProperty(fc.gen(), async (draw) => {
      await imported(draw, resource)
      await proveAgain(merchant)
      const before = await contents()
      for (const [name, door] of Object.entries(doors)) {
        server.clock.ms += 60_000
        await door(resource)
        const after = await contents()
        const gone = before.filter((row) => !after.includes(row))
        expect({ name, rows: after.filter((row) => !before.includes(row)), gone }).toEqual({ name, rows: [], gone: [] })
      }
    })
    await fc.assert(property, { numRuns: RUNS, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true })
  })
})

/** With what an import needs. */
function plainRecord(fields: FieldSet, id: number): Wire {
  const record: Wire = {}
  for (const [name, field] of fields.entries) {
    if (field.kind === 'object') record[name] = plainRecord(field.fields, id)
    else if (field.kind === 'list') continue
    else if (field.access === 'key') record[name] = id
    else if (field.column === 'statusId') record[name] = 4
    else if (field.required && field.kind === 'text' && field.access !== 'wo') record[name] = `plain-${id}@mail.example`
  }
  return record
}

describe('what is sent back beside a change', () => {
  let id = 8_000
  const stored = async (service: string, record: (id: number) => Wire) => {
    expect((await importInto(server, shop, [{ service, record: record(++id) }])).refused).toEqual([])
    server.clock.ms += 60_000
    return `/${service}/${id}`
  }
  const read = async (path: string) => (await asJson(path))[0]

  test('is not refused: an e-mail address that an import left out; a set one cannot be emptied', async () => {
    const path = await stored('Customers', (CustomerID) => ({ CustomerID, Comments: 'old' }))
    const customer = await read(path)
    await put(path, { ...customer, Comments: 'new' })
    expect(await read(path)).toEqual({ ...customer, Comments: 'new' })

    await put(path, { Email: `set-${id}@mail.example` })
    const refused = [
      400,
      [{ Key: 'Error', Value: 'Email', Status: '400', Message: expect.stringContaining('required') }],
    ]
    const answers = [
      await shop.call('PUT', path, { body: customer, tolerated: true }),
      // As ever, before it is looked whether there is such a record.
      await shop.call('PUT', '/Customers/999999', { body: customer, tolerated: true }),
      await shop.call('PUT', '/Customers', { body: [customer, { ...customer, CustomerID: 999_999 }], tolerated: true }),
    ]
    const [one, unknown, both] = answers.map((answer) => [answer.statusCode, answer.json()])
    expect([one, unknown, both]).toEqual([refused, refused, [400, [refused[1], refused[1]].flat()]])
    expect((await read(path)).Email).toBe(`set-${id}@mail.example`)
  })

  test('stays: lines, shipments and their times, of which only an import could store some', async () => {
    const path = await stored('Orders', (OrderID) => ({
      OrderID,
      OrderStatusID: 4,
      LastUpdate: '2026-01-01T00:00:00',
      ShipmentList: [1, 2].map((n) => ({
        ShipmentID: OrderID * 10 + n,
        ShipmentOrderStatus: 1 + n,
        ShipmentLastUpdate: '2026-01-02T00:00:00',
      })),
      OrderItemList: [{ ItemIndexID: OrderID * 10, ItemShipmentID: 7, ItemQuantity: 1 }],
    }))
    const order = await read(path)
    const [first, second] = order.ShipmentList
    await put(path, { ...order, ShipmentList: [first, { ...second, ShipmentTrackingCode: '1Z' }] })
    const { LastUpdate, UserID, ...changed } = await read(path)
    expect(LastUpdate > order.LastUpdate).toBe(true)
    expect(changed.ShipmentList[0]).toEqual(first)
    expect(changed.ShipmentList[1]).toEqual({
      ...second,
      ShipmentTrackingCode: '1Z',
      ShipmentLastUpdate: LastUpdate,
      ShipmentUserID: UserID,
    })
    expect(changed.OrderStatusID).toBe(4)
  })

  test('stays beside a change of something else: a line in no shipment, and a status that an only shipment has of its own', async () => {
    const several = await stored('Orders', (OrderID) => ({
      OrderID,
      OrderStatusID: 1,
      ShipmentList: [1, 2].map((n) => ({ ShipmentID: OrderID * 10 + n })),
      OrderItemList: [{ ItemIndexID: OrderID * 10, ItemShipmentID: 0, ItemQuantity: 1 }],
    }))
    const one = await stored('Orders', (OrderID) => ({
      OrderID,
      OrderStatusID: 4,
      ShipmentList: [{ ShipmentID: OrderID * 10, ShipmentOrderStatus: 0 }],
    }))
    for (const path of [several, one]) {
      const order = await read(path)
      await put(path, { ...order, InternalComments: 'new' })
      const { OrderItemList, ShipmentList, InternalComments } = await read(path)
      expect(InternalComments).toBe('new')
      expect(OrderItemList).toEqual(order.OrderItemList)
      // An only shipment has the time and the editor of its order.
      const statuses = (shipments: Wire[]) => shipments.map(({ ShipmentOrderStatus }) => ShipmentOrderStatus)
      expect(statuses(ShipmentList)).toEqual(statuses(order.ShipmentList))
    }
  })

  test('does not take the status of an only shipment for a wish', async () => {
    const path = await stored('Orders', (OrderID) => ({
      OrderID,
      OrderStatusID: 5,
      ShipmentList: [{ ShipmentID: OrderID * 10, ShipmentOrderStatus: 2 }],
    }))
    await put(path, { ...(await read(path)), SalesPerson: 'Ann' })
    expect(await read(path)).toMatchObject({ OrderStatusID: 5, SalesPerson: 'Ann' })
  })

  test('stays in a list from which a deletion took an item', async () => {
    const ids = [++id, ++id, ++id]
    const lines = ids.map((CategoryID) => ({ service: 'Category', record: { CategoryID, CategoryName: 'C' } }))
    await importInto(server, shop, lines)
    const path = await stored('Products', (CatalogID) => ({
      SKUInfo: { CatalogID, SKU: `gap-${CatalogID}`, Name: 'Gap' },
      CategoryList: ids.map((CategoryID) => ({ CategoryID })),
    }))
    expect((await shop.call('DELETE', `/Category/${ids[1]}`)).statusCode).toBe(200)
    const before = await contents()
    server.clock.ms += 60_000
    await put(path, await read(path))
    expect(await contents()).toEqual(before)
  })

  test('is no change either where a rule makes it the same: blanks around an e-mail address', async () => {
    const Email = `blank-${id + 1}@mail.example`
    const path = await stored('Customers', (CustomerID) => ({ CustomerID, Email }))
    const before = await contents()
    await put(path, { Email: ` ${Email} ` })
    expect(await contents()).toEqual(before)
  })
})
