import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { FieldSet } from '../../src/engine/definition/fields.ts'
import type { RecordOf } from '../../src/engine/definition/record-of.ts'
import type { Resource } from '../../src/engine/definition/resource.ts'
import type { TransferLine } from '../../src/engine/transfer/import.ts'
import { drawPicture, PICTURES_PATH } from '../../src/operations/sandbox/pictures.ts'
import { readRecords, recordsDay, recordsFile, samplesFile } from '../../src/operations/sandbox/records.ts'
import { resources } from '../../src/shop/registry.ts'
import type { customers as customersService } from '../../src/shop/resources/customers/customers.ts'
import type { giftRegistries as registriesService } from '../../src/shop/resources/gift-registries/gift-registries.ts'
import type { orders as ordersService } from '../../src/shop/resources/orders/orders.ts'
import { holdsStock } from '../../src/shop/resources/orders/statuses.ts'
import type { products as productsService } from '../../src/shop/resources/products/products.ts'
import type { rma as returnsService } from '../../src/shop/resources/rma/rma.ts'
import { generateSandbox, samplesText, sandboxText } from './generate.ts'

type Product = RecordOf<typeof productsService>
type Order = RecordOf<typeof ordersService>
type Return = RecordOf<typeof returnsService>

interface Movement {
  AdvancedOptionCode: string
  Quantity: number
  StockAfter: number
  Cause: string
  OrderID: number
  Date: string
}

const lines = generateSandbox()
const products = recordsOf<Product>('Products')
const customers = recordsOf<RecordOf<typeof customersService>>('Customers')
const orders = recordsOf<Order>('Orders')
const returns = recordsOf<Return>('RMA')
const registries = recordsOf<RecordOf<typeof registriesService>>('GiftRegistries')
const movements = new Map(
  lines
    .filter(({ service }) => service === 'Products')
    .map(({ record, private: hidden }) => [(record as unknown as Product).SKUInfo.CatalogID, hidden?.StockMovements]),
)

test('src/operations/sandbox holds what the generator makes (`npm run sandbox-data` writes it), in at most 1 MB', () => {
  const file = readFileSync(recordsFile)
  expect(file.length).toBeLessThanOrEqual(1_000_000)
  // Unpacked: each version of zlib has its own way to pack.
  const [kept, made] = [gunzipSync(file).toString(), sandboxText()].map((text) => text.split('\n'))
  expect(kept?.filter((line, index) => line !== made?.[index])).toEqual([])
  expect(kept?.length).toBe(made?.length)
  expect(readFileSync(samplesFile, 'utf8')).toBe(samplesText())
})

test('the store is the same at every run, whatever the machine’s clock zone and language', async () => {
  const hash = hashOf(lines)
  expect(hashOf(generateSandbox())).toBe(hash)
  const generate = fileURLToPath(new URL('./generate.ts', import.meta.url))
  const read = fileURLToPath(new URL('../../src/operations/sandbox/records.ts', import.meta.url))
  const script = `
    const { generateSandbox } = await import(${JSON.stringify(generate)})
    const { readRecords, recordsDay } = await import(${JSON.stringify(read)})
    const { createHash } = await import('node:crypto')
    for (const lines of [generateSandbox(), await readRecords(recordsDay)])
      console.log(createHash('sha256').update(JSON.stringify(lines)).digest('hex'))`
  const elsewhere = { PATH: process.env.PATH, TZ: 'Pacific/Chatham', LC_ALL: 'tr_TR.UTF-8', LANG: 'tr_TR.UTF-8' }
  const run = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env: elsewhere })
  expect(run.stdout.trim().split('\n')).toEqual([hash, hash])
})

test.each([
  ['2024-02-29', -977],
  ['2026-11-03', 1],
  ['2031-01-01', 1521],
])('read on %s, every date is %i days away from the file’s, and nothing else differs', async (today, days) => {
  const moved = await readRecords(today)
  const [before, after] = [lines, moved].map((all) => all.flatMap((line) => leavesOf(line)))
  expect(after?.length).toBe(before?.length)
  const wrong = before?.filter(([path, value, isDate], index) => {
    return after?.[index]?.[0] !== path || after[index][1] !== (isDate && value ? addDays(String(value), days) : value)
  })
  expect(wrong).toEqual([])
})

test('the newest change is of the day before, so none lies in the future; only gift registries tell what is to come', () => {
  const dates = lines
    .filter(({ service }) => service !== 'GiftRegistries')
    .flatMap((line) => leavesOf(line))
    .flatMap(([, value, isDate]) => (isDate && String(value).includes('T') ? [String(value).slice(0, 10)] : []))
  expect(addDays(dates.toSorted().at(-1) ?? '', 1)).toBe(recordsDay)
  for (const { Created, LastUpdate } of registries)
    expect([Created, LastUpdate].every((date) => date < recordsDay)).toBe(true)
})

test('it holds so many records of each service, references pointing backwards', () => {
  const counts = Object.fromEntries(
    Object.entries(Object.groupBy(lines, ({ service }) => service)).map(([service, group]) => [service, group?.length]),
  )
  expect(Object.entries(counts)).toEqual([
    ['Category', 25],
    ['Manufacturers', 20],
    ['Distributors', 8],
    ['CustomerGroups', 4],
    ['Products', 600],
    ['Customers', 600],
    ['Orders', 350],
    ['GiftRegistries', 10],
    ['RMA', 20],
  ])
})

test('there is no service without records but OrderStatus, whose records come with the store', () => {
  const without = resources.filter((resource) => !lines.some(({ service }) => service === resource.service))
  expect(without.map(({ service }) => service)).toEqual(['OrderStatus'])
})

test('every picture that a record names is one that the server draws, and unlike things look unlike', () => {
  const named = new Set(sandboxText().match(/assets\/[^"]*/g))
  const drawn = [...named].map((name) => drawPicture(name.replace(PICTURES_PATH, '')))
  expect(drawn).not.toContain(null)
  expect(new Set(drawn).size).toBeGreaterThan(300)
})

test('SKUs, names, e-mails and invoice numbers are unique without regard to case', () => {
  const variants = products.flatMap(({ AdvancedOptionList = [] }) =>
    AdvancedOptionList.map((row) => row.AdvancedOptionSufix),
  )
  expectUnique([...products.map(({ SKUInfo }) => SKUInfo.SKU), ...variants])
  expectUnique(products.map(({ SKUInfo }) => SKUInfo.Name))
  expectUnique(customers.map(({ Email }) => Email))
  expect(customers.every(({ Email }) => /^[a-z0-9.]+@example\.(com|net|org)$/.test(Email))).toBe(true)
  expectUnique(orders.map(({ InvoiceNumber }) => String(InvoiceNumber)))
})

test('ids of nested rows are unique in the store', () => {
  const keys = ['ItemIndexID', 'TransactionIndexID', 'QuestionAnswerIndexID', 'PromotionID', 'OptionSetID', 'OptionID']
  const moreKeys = ['FeatureID', 'ImageGalleryID', 'RelatedIndexID', 'UpSellingIndexID', 'DiscountID']
  for (const key of [...keys, ...moreKeys]) {
    const ids = valuesOf(lines, key).map(String)
    expect(ids.length, key).toBeGreaterThan(0)
    expectUnique(ids)
    expect(
      ids.every((id) => Number(id) > 0),
      key,
    ).toBe(true)
  }
  expectUnique(valuesOf(lines, 'ShipmentID').filter(Boolean).map(String))
})

test('an order comes to items, shipping and taxes less discounts, to the cent', () => {
  for (const order of orders) {
    const items = order.OrderItemList.map(
      (item) => item.ItemQuantity * (cents(item.ItemUnitPrice) + cents(item.ItemOptionPrice)),
    )
    const shipping = order.ShipmentList.map(({ ShipmentCost }) => cents(ShipmentCost))
    const taxes = cents(order.SalesTax) + cents(order.SalesTax2)
    const discounts = cents(order.OrderDiscountCoupon) + cents(order.OrderDiscountPromotion)
    expect(sum(items) + sum(shipping) + taxes - discounts, `order ${order.OrderID}`).toBe(cents(order.OrderAmount))
    expect(sum(order.PromotionList.map(({ DiscountAmount }) => cents(DiscountAmount)))).toBe(discounts)
    expect(order.TransactionList.every(({ TransactionAmount }) => TransactionAmount === order.OrderAmount)).toBe(true)
    expect(order.OrderAmount).toBeGreaterThan(0)
  }
})

test('an item is of a product on offer, at no more than its price, with options of that product', () => {
  const byId = new Map(products.map((product) => [product.SKUInfo.CatalogID, product]))
  for (const item of orders.flatMap(({ OrderItemList }) => OrderItemList)) {
    const product = byId.get(item.CatalogID)
    if (!product) throw new Error(`No product ${item.CatalogID}`)
    const { Price, SalePrice = 0, OnSale = false, SKU } = product.SKUInfo
    expect(product.Hide || product.NotForSale).toBeFalsy()
    expect(item.ItemUnitPrice).toBeLessThanOrEqual(OnSale ? SalePrice : Price)
    const chosen = item.ItemOptions.split(',').filter(Boolean).map(Number)
    const options = product.OptionSetList?.flatMap(({ OptionList }) => OptionList) ?? []
    const values = chosen.map((id) => cents(options.find(({ OptionID }) => OptionID === id)?.OptionValue ?? Number.NaN))
    expect(sum(values)).toBe(cents(item.ItemOptionPrice))
    const variant = product.AdvancedOptionList?.find((row) => row.AdvancedOptionCode === chosen.join(','))
    expect(item.ItemID).toBe(variant?.AdvancedOptionSufix ?? SKU)
    expect(Boolean(variant)).toBe((product.AdvancedOptionList?.length ?? 0) > 0)
  }
})

test('a return is of lines of an order that was shipped before, of no more than the order has of them', () => {
  const byId = new Map(orders.map((order) => [order.OrderID, order]))
  for (const { OrderID, RmaDate, RMAItemList } of returns) {
    const order = byId.get(OrderID)
    if (!order) throw new Error(`No order ${OrderID}`)
    expect(order.OrderStatusID).toBe(4)
    expect(RmaDate > order.LastUpdate).toBe(true)
    expect(RMAItemList.length).toBeGreaterThan(0)
    for (const item of RMAItemList) {
      const line = order.OrderItemList.find(({ ItemID }) => ItemID === item.SKU)
      expect(line).toMatchObject({ CatalogID: item.CatalogID, ItemDescription: item.ItemName })
      const { ReturnQuantity, ReceivedQuantity, RestockQuantity } = item
      expect([line?.ItemQuantity, ReturnQuantity, ReceivedQuantity, RestockQuantity]).toEqual(
        [line?.ItemQuantity ?? 0, ReturnQuantity, ReceivedQuantity, RestockQuantity].sort((a, b) => b - a),
      )
      expect(ReturnQuantity).toBeGreaterThan(0)
    }
  }
  expect(new Set(returns.map(({ OrderID }) => OrderID)).size).toBe(returns.length)
})

test('an item of a return names the variant that its order’s line took, where the wire does not show it', () => {
  const orderLines = new Map(
    lines.filter(({ service }) => service === 'Orders').map((line) => [line.record.OrderID, line]),
  )
  let variantCount = 0
  for (const { record, private: hidden } of lines.filter(({ service }) => service === 'RMA')) {
    const { OrderID, RMAItemList } = record as unknown as Return
    const order = orderLines.get(OrderID)
    if (!order) throw new Error(`No order ${OrderID}`)
    const given = rowsIn(hidden, 'RMAItemList')
    RMAItemList.forEach(({ SKU }, index) => {
      const place = (order.record as unknown as Order).OrderItemList.findIndex(({ ItemID }) => ItemID === SKU)
      const optionCode = rowsIn(order.private, 'OrderItemList')?.[place]?.optionCode
      expect(given?.[index]?.optionCode).toBe(optionCode)
      if (optionCode) variantCount += 1
    })
  }
  expect(variantCount).toBeGreaterThan(0)
})

test('a gift registry lists goods on offer under their names, and no more are sold than are listed', () => {
  const byId = new Map(products.map((product) => [product.SKUInfo.CatalogID, product]))
  for (const { Created, LastUpdate, Event, Expires, GiftRegistryItemList } of registries) {
    expect([Created, LastUpdate].toSorted()).toEqual([Created, LastUpdate])
    expect([Created, Event, Expires].toSorted()).toEqual([Created, Event, Expires])
    for (const { CatalogID, SKU, ItemName, Listed, Sold, SoldOffline } of GiftRegistryItemList) {
      const product = byId.get(CatalogID)
      expect(product?.SKUInfo).toMatchObject({ SKU, Name: ItemName })
      expect(product?.Hide || product?.NotForSale || product?.GiftCertificate).toBeFalsy()
      expect(Sold + SoldOffline).toBeLessThanOrEqual(Listed)
    }
  }
})

test('an order that holds stock moved what its lines have less what its return put back; every other order moved nothing', () => {
  const moved = new Map<string, number>()
  const add = (order: number, product: number, quantity: number) => {
    const key = `order ${order}, product ${product}`
    moved.set(key, (moved.get(key) ?? 0) + quantity)
  }
  for (const { SKUInfo } of products) {
    for (const { OrderID, Quantity, Cause } of movementsOf(SKUInfo.CatalogID)) {
      expect(OrderID === 0).toBe(Cause === 'initial')
      if (OrderID !== 0) add(OrderID, SKUInfo.CatalogID, -Quantity)
    }
  }
  for (const { OrderID, OrderStatusID, OrderItemList } of orders) {
    if (!holdsStock(OrderStatusID)) continue
    for (const { CatalogID, ItemQuantity } of OrderItemList) add(OrderID, CatalogID, -ItemQuantity)
  }
  const restocked = returns.flatMap(({ OrderID, RMAItemList }) => RMAItemList.map((item) => ({ OrderID, ...item })))
  for (const { OrderID, CatalogID, RestockQuantity } of restocked) add(OrderID, CatalogID, RestockQuantity)
  expect([...moved].filter(([, left]) => left !== 0)).toEqual([])
  expect(moved.size).toBeGreaterThan(500)
})

test('the stock of a product with variants is theirs', () => {
  for (const { SKUInfo, AdvancedOptionList = [] } of products) {
    if (AdvancedOptionList.length === 0) continue
    expect(sum(AdvancedOptionList.map((row) => row.AdvancedOptionStock))).toBe(SKUInfo.Stock)
  }
})

test('orders are of two years, in order of time, in all twelve statuses', () => {
  const dates = orders.map(({ OrderDate }) => OrderDate)
  expect([...dates].sort()).toEqual(dates)
  expect(dates.every((date) => date >= '2024-11-01' && date < recordsDay)).toBe(true)
  expect(orders.every(({ OrderDate, LastUpdate }) => LastUpdate >= OrderDate)).toBe(true)
  const byStatus = Object.groupBy(orders, ({ OrderStatusID }) => OrderStatusID)
  expect(Object.keys(byStatus).map(Number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  expect(Object.values(byStatus).every((group) => (group?.length ?? 0) >= 3)).toBe(true)
})

test('an order with one shipment shares its status with it; one with two names the shipment of every item', () => {
  const two = orders.filter(({ ShipmentList }) => ShipmentList.length > 1)
  expect(two.length).toBeGreaterThan(5)
  for (const { ShipmentList, OrderItemList } of two) {
    const ids = ShipmentList.map(({ ShipmentID }) => ShipmentID)
    expect(new Set(OrderItemList.map(({ ItemShipmentID }) => ItemShipmentID))).toEqual(new Set(ids))
  }
  for (const { ShipmentList, OrderItemList, OrderStatusID } of orders.filter((order) => !two.includes(order))) {
    expect(ShipmentList).toMatchObject([{ ShipmentID: 0, ShipmentOrderStatus: OrderStatusID }])
    expect(OrderItemList.every(({ ItemShipmentID }) => ItemShipmentID === 0)).toBe(true)
  }
})

test('every shipment has an id, and a line with a variant names it, where the wire shows neither', () => {
  const byId = new Map(products.map((product) => [product.SKUInfo.CatalogID, product]))
  const shipmentIds: number[] = []
  let variantCount = 0
  for (const { record, private: hidden } of lines.filter(({ service }) => service === 'Orders')) {
    const { ShipmentList, OrderItemList } = record as unknown as Order
    const { Rows: rows } = hidden as {
      Rows: { ShipmentList: { id: number }[]; OrderItemList?: { optionCode?: string }[] }
    }
    shipmentIds.push(...rows.ShipmentList.map(({ id }) => id))
    if (ShipmentList.length > 1) {
      expect(rows.ShipmentList).toEqual(ShipmentList.map(({ ShipmentID }) => ({ id: ShipmentID })))
    }
    expect(rows.ShipmentList).toHaveLength(ShipmentList.length)
    if (rows.OrderItemList) expect(rows.OrderItemList).toHaveLength(OrderItemList.length)
    OrderItemList.forEach(({ CatalogID, ItemID }, index) => {
      const { optionCode } = rows.OrderItemList?.[index] ?? {}
      const variant = byId.get(CatalogID)?.AdvancedOptionList?.find((row) => row.AdvancedOptionSufix === ItemID)
      expect(optionCode).toBe(variant?.AdvancedOptionCode)
      if (variant) variantCount += 1
    })
  }
  expectUnique(shipmentIds.map(String))
  expect(variantCount).toBeGreaterThan(20)
})

test('every time of day is one that no time zone skips', () => {
  const times = [...new Set(JSON.stringify(lines).match(/(?<=\d{4}-\d\d-\d\dT)\d\d:\d\d:\d\d/g))].sort()
  expect(times[0]?.slice(0, 2)).toBe('07')
  expect(times.at(-1)?.slice(0, 2)).toBe('22')
})

test('there is some of everything that a client may meet', () => {
  const returnedItems = returns.flatMap(({ RMAItemList }) => RMAItemList)
  const restockedItems = returnedItems.filter(({ RestockQuantity }) => RestockQuantity > 0)
  const some = {
    options: products.filter(({ OptionSetList = [] }) => OptionSetList.length > 0).length,
    variants: products.filter(({ AdvancedOptionList = [] }) => AdvancedOptionList.length > 0).length,
    discounts: products.filter(({ DiscountList = [] }) => DiscountList.length > 0).length,
    features: products.filter(({ FeatureList = [] }) => FeatureList.length > 0).length,
    onSale: products.filter(({ SKUInfo }) => SKUInfo.OnSale).length,
    hidden: products.filter(({ Hide }) => Hide).length,
    notForSale: products.filter(({ NotForSale }) => NotForSale).length,
    freeShipping: products.filter(({ FreeShipping }) => FreeShipping).length,
    giftCertificates: products.filter(({ GiftCertificate }) => GiftCertificate).length,
    outOfStock: products.filter(({ SKUInfo, GiftCertificate }) => SKUInfo.Stock === 0 && !GiftCertificate).length,
    inGroups: customers.filter(({ CustomerGroupID }) => CustomerGroupID > 0).length,
    guests: orders.filter(({ CustomerID }) => CustomerID === 0).length,
    questions: orders.filter(({ QuestionList }) => QuestionList.length > 0).length,
    comments: orders.filter(({ CustomerComments, InternalComments }) => CustomerComments && InternalComments).length,
    taxed: orders.filter(({ SalesTax }) => SalesTax > 0).length,
    taxedTwice: orders.filter(({ SalesTax2 }) => SalesTax2 > 0).length,
    discounted: orders.filter(({ PromotionList }) => PromotionList.length > 0).length,
    unpaid: orders.filter(({ TransactionList }) => TransactionList.length === 0).length,
    refunded: orders.filter(({ TransactionList }) => TransactionList.length > 1).length,
    returnedTwoItems: returns.filter(({ RMAItemList }) => RMAItemList.length > 1).length,
    restocked: restockedItems.filter((item) => item.RestockQuantity === item.ReturnQuantity).length,
    restockedInPart: restockedItems.filter((item) => item.RestockQuantity < item.ReturnQuantity).length,
    notRestocked: returnedItems.filter((item) => item.ReceivedQuantity > 0 && item.RestockQuantity === 0).length,
    registriesToCome: registries.filter(({ Event }) => Event >= '2026-11-01').length,
    registriesOfThePast: registries.filter(({ Event }) => Event < '2026-11-01').length,
  }
  expect(Object.entries(some).filter(([, count]) => count === 0)).toEqual([])
  expect(some.options).toBeGreaterThan(190)
  expect(new Set(returns.map(({ RMAStatusID }) => RMAStatusID)).size).toBe(5)
  expect(new Set(customers.map(({ BillingCountry }) => BillingCountry)).size).toBeGreaterThanOrEqual(5)
  expect(JSON.stringify(lines)).toMatch(/\p{Script=Latin}[é-ü]/u)
})

type Leaf = [path: string, value: unknown, isDate: boolean]

/** Every value of a line, and whether its definition calls it a date; ShipmentShippedDate is a text that says one. */
function leavesOf({ service, record, private: hidden = {} }: TransferLine): Leaf[] {
  const { storedFields, ledger } = resources.find((resource) => resource.service === service) as Resource
  const { Rows: rows = {}, StockMovements: movements = [], ...fields } = hidden
  return [
    ...leavesIn({ ...record, ...fields }, storedFields, service),
    ...(movements as object[]).flatMap((movement) => leavesIn(movement, ledger?.fields, `${service}.StockMovements`)),
    [`${service}.Rows`, JSON.stringify(rows), false],
  ]
}

function leavesIn(record: object, fields: FieldSet | undefined, path: string): Leaf[] {
  return Object.entries(record).flatMap(([name, value]): Leaf[] => {
    const field = fields?.get(name)
    const here = `${path}.${name}`
    if (field?.kind === 'object') return leavesIn(value, field.fields, here)
    if (field?.kind === 'list') return (value as object[]).flatMap((item) => leavesIn(item, field.fields, here))
    return [[here, value, field?.kind === 'date' || name === 'ShipmentShippedDate']]
  })
}

/** `2026-03-01T12:00:00`, `2026-03-01` or `03/01/2026`, so many days later. */
function addDays(date: string, days: number): string {
  const [month, day, year] = date.split('/')
  const later = new Date(Date.parse(year ? `${year}-${month}-${day}` : date.slice(0, 10)) + days * 86_400_000)
  const text = later.toISOString().slice(0, 10)
  return year ? `${text.slice(5, 7)}/${text.slice(8)}/${text.slice(0, 4)}` : text + date.slice(10)
}

/** The columns that the wire does not show, of a list's items. */
function rowsIn(hidden: TransferLine['private'], list: string): { optionCode?: string }[] | undefined {
  return (hidden?.Rows as Record<string, { optionCode?: string }[]> | undefined)?.[list]
}

function movementsOf(catalogId: number): Movement[] {
  return (movements.get(catalogId) ?? []) as Movement[]
}

function recordsOf<T>(service: string): T[] {
  return lines.filter((line) => line.service === service).map(({ record }) => record as T)
}

/** All values of members of that name, at any depth. */
function valuesOf(value: unknown, key: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(item, key))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => (name === key ? [inner] : valuesOf(inner, key)))
}

function hashOf(given: TransferLine[]): string {
  return createHash('sha256').update(JSON.stringify(given)).digest('hex')
}

function expectUnique(texts: string[]) {
  const folded = texts.map((text) => text.toLowerCase())
  expect(folded.filter((text, index) => folded.indexOf(text) !== index)).toEqual([])
}

function cents(amount: number): number {
  return Math.round(amount * 100)
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
