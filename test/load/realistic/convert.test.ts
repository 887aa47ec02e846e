import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { convertRetail, type RetailCounts, type RetailProgress } from '../../realistic/convert.ts'
import { countryCode } from '../../realistic/countries.ts'
import { computeFigures, returnTotals } from '../../realistic/figures.ts'
import { generatedFigures, generatedSource, generateRetail, smallYear } from '../../realistic/generate.ts'
import { findRealFile, whereToGetIt } from '../../realistic/real-file.ts'
import type { RetailSource } from '../../realistic/retail-rows.ts'
import { creditedPence, figuresOfReturns, totalsOfReturns, type WireReturn } from '../../realistic/wire-return.ts'

const source = generatedSource(smallYear)
const generated = convert(source)
const december = '2010-12'

interface ConvertedProduct {
  SKUInfo: { CatalogID: number; SKU: string; Name: string; Price: number }
  NotForSale?: boolean
}

interface ConvertedOrder {
  OrderID: number
  InvoiceNumber: number
  CustomerID: number
  OrderDate: string
  OrderAmount: number
  BillingCountry: string
  OrderItemList: {
    CatalogID: number
    ItemIndexID: number
    ItemID: string
    ItemQuantity: number
    ItemUnitPrice: number
  }[]
}

test.each([{ ...smallYear, invoices: 100, products: 60, customers: 40 }, smallYear])(
  'a generated file of $invoices invoices has the same bytes at every run, and all oddities of the real one',
  (size) => {
    const text = [...generateRetail(size)].join('')
    expect([...generateRetail(size)].join('')).toBe(text)
    const rows = text.split('\n')
    const has = (pattern: RegExp) => rows.some((row) => pattern.test(row))
    expect({
      return: has(/^C\d+,[^,]+,.*,-\d+,/),
      badDebt: has(/^A\d+,B,Adjust bad debt,1,[^,]+,-\d+\.\d+,,/),
      stockCorrection: has(/^\d+,[^,]+,[^,]*,-\d+,[^,]+,0\.0,,/),
      guestOrder: has(/^\d+,[^,]+,.*,\d+,[^,]+,[1-9][^,]*,,/),
      blankDescription: has(/^\d+,[^,]+,,/),
      trailingBlank: has(/^\d+,[^,]+,[^,]* ,/),
      quotesAndCommas: has(/""HOME SWEET HOME"" SIGN, METAL"/),
      nonAscii: has(/ROSÉ/),
      tenthOfPenny: has(/,0\.001,/),
      lowerCaseSku: has(/^\d+,\d{5}[a-z],/),
      upperCaseSku: has(/^\d+,\d{5}[A-Z],/),
      notGoods: has(/^\d+,(POST|DOT|BANK CHARGES),/),
      unspecified: has(/,Unspecified$/),
      doubled: rows.some((row, index) => row !== '' && row === rows[index + 1]),
    }).not.toContainEqual(false)
    const orders = [...generatedFigures(size).orders.values()]
    expect(Math.max(...orders.map(({ items }) => items))).toBeGreaterThanOrEqual(500)
    expect(orders.some(({ items }) => items === 1)).toBe(true)
    expect(orders.some(({ amountPence, customerId }) => amountPence === 0 && customerId !== 0)).toBe(true)
  },
)

test('the figures computed from the generated text are those that the generator knows', async () => {
  const computed = await computeFigures(source)
  const returns = new Map([...computed.returns].map(([invoice, record]) => [invoice, { ...record, orderId: 0 }]))
  expect({ ...computed, returns }).toEqual(generatedFigures(smallYear))
})

test.each([undefined, december])(
  'every order, return, amount and customer total agrees with the figures (month: %s)',
  async (month) => {
    await expectAgreement(source, month)
  },
)

test('the real file: every order, return, amount and customer total of December 2010 agrees with the figures', async ({
  skip,
}) => {
  const file = findRealFile()
  if (!file) return skip(`SKIPPED, the real file is not here. ${whereToGetIt}`)
  await expectAgreement(file, december)
})

test('what became of every row is counted', async () => {
  const { counts, returns } = await generated
  const { orders, leftOut } = counts
  const kinds = [orders, counts.returns, leftOut.badDebts, leftOut.stockCorrections]
  expect(kinds.reduce((sum, { rows }) => sum + rows, 0)).toBe(counts.rows)
  expect(kinds.every(({ rows }) => rows > 0)).toBe(true)
  const figures = generatedFigures(smallYear)
  expect(counts).toMatchObject({ rows: figures.rows, products: figures.products, customers: figures.customers })
  expect(leftOut.badDebts.invoices).toBe(figures.badDebts)
  expect(leftOut.stockCorrections.invoices).toBe(figures.stockCorrections)
  expect(counts.returns.invoices).toBe(figures.returns.size)
  expect(returns.flatMap(({ RMAItemList }) => RMAItemList)).toHaveLength(counts.returns.rows)
})

test('an order whose rows lie apart in the file is one order', async () => {
  const { orders } = await generated
  const apart = orders.filter(({ OrderItemList }) =>
    OrderItemList.some(
      (item, index) => index > 0 && item.ItemIndexID !== (OrderItemList[index - 1]?.ItemIndexID ?? 0) + 1,
    ),
  )
  expect(apart).toHaveLength(1)
  expect(new Set(orders.map(({ OrderID }) => OrderID)).size).toBe(orders.length)
})

test('ids are the same at every run, unique, and above those of a sandbox', async () => {
  const { lines, products, orders } = await generated
  expect((await convert(source)).lines).toEqual(lines)
  const catalogIds = products.map(({ SKUInfo }) => SKUInfo.CatalogID)
  expect(new Set(catalogIds).size).toBe(catalogIds.length)
  expect(Math.min(...catalogIds)).toBe(100_001)
  const itemIds = orders.flatMap(({ OrderItemList }) => OrderItemList.map(({ ItemIndexID }) => ItemIndexID))
  expect(new Set(itemIds).size).toBe(itemIds.length)
  expect(Math.min(...itemIds)).toBeGreaterThan(1_000_000)
})

test('an item names a product of the file, whatever the case of its stock code', async () => {
  const { products, orders } = await generated
  const skus = new Map(products.map(({ SKUInfo }) => [SKUInfo.CatalogID, SKUInfo.SKU]))
  const items = orders.flatMap(({ OrderItemList }) => OrderItemList)
  expect(items.every((item) => skus.get(item.CatalogID)?.toUpperCase() === item.ItemID.toUpperCase())).toBe(true)
  expect(items.some((item) => skus.get(item.CatalogID) !== item.ItemID)).toBe(true)
})

test('a product has its latest name and most usual price, whatever the warehouse noted', async () => {
  const { products } = await convert(
    csv(
      '1,10a,OLD NAME,1,2010-12-01 08:00:00,2.10,7,France',
      '1,10A,NEW NAME ,1,2010-12-01 08:00:00,2.1,7,France',
      '2,10A,,1,2010-12-02 08:00:00,9.99,7,France',
      '3,10A,damaged,-5,2010-12-03 08:00:00,0.0,,United Kingdom',
      '3,11,found,5,2010-12-03 08:00:00,0.0,,United Kingdom',
      '3,12,,5,2010-12-03 08:00:00,0.0,,United Kingdom',
      '4,POST,POSTAGE,1,2010-12-04 08:00:00,18.00,7,France',
    ),
  )
  expect(products.map(({ SKUInfo, NotForSale = false }) => ({ ...SKUInfo, NotForSale }))).toEqual([
    { CatalogID: 100_001, SKU: '10a', Name: 'NEW NAME', Price: 2.1, NotForSale: false },
    { CatalogID: 100_002, SKU: '11', Name: 'found', Price: 0, NotForSale: false },
    { CatalogID: 100_003, SKU: '12', Name: '12', Price: 0, NotForSale: false },
    { CatalogID: 100_004, SKU: 'POST', Name: 'POSTAGE', Price: 18, NotForSale: true },
  ])
})

test('of prices met equally often the latest is taken', async () => {
  const { products } = await convert(
    csv('1,10,A,1,2010-12-01 08:00:00,2.10,7,France', '2,10,A,1,2010-12-02 08:00:00,1.10,7,France'),
  )
  expect(products[0]?.SKUInfo.Price).toBe(1.1)
})

test('amounts are exact where floats are not, and half a penny counts as one', async () => {
  const { orders } = await convert(
    csv(
      '1,10,A,3,2010-12-01 08:00:00,0.1,,France',
      '1,10,A,1,2010-12-01 08:00:00,0.2,,France',
      '2,10,A,5,2010-12-01 08:00:00,0.001,,France',
      '3,10,A,4,2010-12-01 08:00:00,0.001,,France',
      '4,10,A,80995,2010-12-01 08:00:00,38970.01,,France',
      '5,10,A,3,2010-12-01 08:00:00,-0.1,,France',
    ),
  )
  expect(orders.map(({ OrderAmount }) => OrderAmount)).toEqual([0.5, 0.01, 0, 3_156_375_959.95, -0.3])
})

test('a free order of a customer is an order, one of nobody is a stock correction', async () => {
  const { orders, counts } = await convert(
    csv('1,10,A,1,2010-12-01 08:00:00,0.0,7,France', '2,10,A,1,2010-12-01 08:00:00,0.0,,France'),
  )
  expect(orders).toMatchObject([{ InvoiceNumber: 1, CustomerID: 7, OrderAmount: 0 }])
  expect(counts.leftOut.stockCorrections).toEqual({ invoices: 1, rows: 1 })
})

test('a customer who moved lives where the last row says; an order goes where its own row says', async () => {
  const { lines, orders } = await convert(
    csv('1,10,A,1,2010-12-01 08:00:00,1.0,7,France', '2,10,A,1,2010-12-02 08:00:00,1.0,7,Spain'),
  )
  const customer = lines.find(({ service }) => service === 'Customers')
  expect(customer).toMatchObject({
    record: { CustomerID: 7, BillingCountry: 'ES', ShippingCountry: 'ES' },
    private: { DateCreated: '2010-12-01T08:00:00', LastUpdate: '2010-12-02T08:00:00' },
  })
  expect(orders.map(({ BillingCountry }) => BillingCountry)).toEqual(['FR', 'ES'])
})

test('a return keeps all that its rows say, what has no field in its comments', async () => {
  const { lines, orders } = await convert(
    csv(
      'C1,10,A,-2,2010-12-01 08:00:00,1.50,7,EIRE',
      'C1,11b,"B, ""SMALL"" ",-3,2010-12-01 08:00:00,0.125,7,EIRE',
      'C2,10,A,-1,2010-12-01 08:01:00,0.001,,Channel Islands',
    ),
  )
  const none = { OrderID: 0, RMAReasonID: 4, RMAMethodID: 1, RMAStatusID: 4 }
  expect(lines.filter(({ service }) => service === 'RMA')).toEqual([
    {
      service: 'RMA',
      record: {
        ...none,
        RMAID: 1,
        RmaDate: '2010-12-01T08:00:00',
        InternalComments: 'Invoice: C1\nCustomer: 7\nCountry: EIRE\nCredited: 3.38\nUnit prices: 1.50, 0.125',
        RMAItemList: [
          item({ CatalogID: 100_001, SKU: '10', ItemName: 'A', quantity: 2 }),
          item({ CatalogID: 100_002, SKU: '11b', ItemName: 'B, "SMALL" ', quantity: 3 }),
        ],
      },
      private: { LastUpdate: '2010-12-01T08:00:00' },
    },
    {
      service: 'RMA',
      record: {
        ...none,
        RMAID: 2,
        RmaDate: '2010-12-01T08:01:00',
        InternalComments: 'Invoice: C2\nCustomer: guest\nCountry: Channel Islands\nCredited: 0.00\nUnit prices: 0.001',
        RMAItemList: [item({ CatalogID: 100_001, SKU: '10', ItemName: 'A', quantity: 1 })],
      },
      private: { LastUpdate: '2010-12-01T08:01:00' },
    },
  ])
  expect(orders).toEqual([])
})

test.each([
  ['the only one with a product of it', 1, ['1 08:00 7 a', '2 08:00 7 b'], 'a'],
  ['the one with more of its products, though older', 1, ['1 08:00 7 a b', '2 09:00 7 a c d'], 'a b'],
  ['of two with as many the later', 2, ['1 08:00 7 a', '2 09:00 7 a'], 'a'],
  ['of two of one time the one with the higher number', 2, ['2 08:00 7 a', '1 08:00 7 a'], 'a'],
  ['one of the same minute, wherever it stands in the file', 2, ['1 08:00 7 a', '2 12:00 7 a'], 'a'],
  ['none that is later', 1, ['1 08:00 7 a', '2 12:01 7 a'], 'a'],
  ['one that spells the stock code in another case', 1, ['1 08:00 7 A'], 'a'],
  ['the one with more products, not with more rows of one', 1, ['1 08:00 7 a b', '2 09:00 7 a a a'], 'a b'],
  ['none of another customer', 0, ['1 08:00 8 a'], 'a'],
  ['none without a product of it', 0, ['1 08:00 7 b c'], 'a'],
])('a return is of %s', async (_which, expected, orders, returned) => {
  const rows = [['C9', '12:00', '7', ...returned.split(' ')], ...orders.map((order) => order.split(' '))]
  const text = rows
    // An order that is as late as the return stands after it.
    .sort(([, a = ''], [, b = '']) => (a < b ? -1 : 1))
    .flatMap(([invoice = '', time, customer, ...skus]) =>
      skus.map(
        (sku) => `${invoice},${sku},X,${invoice === 'C9' ? -1 : 1},2010-12-01 ${time}:00,1.0,${customer},France`,
      ),
    )
  expect((await convert(csv(...text))).returns).toMatchObject([{ RMAID: 9, OrderID: expected }])
  expect((await computeFigures(csv(...text))).returns.get('C9')?.orderId).toBe(expected)
})

test('a guest’s return is of no order, though a guest has bought the same', async () => {
  const file = csv('1,a,X,1,2010-12-01 08:00:00,1.0,,France', 'C9,a,X,-1,2010-12-01 12:00:00,1.0,,France')
  expect((await convert(file)).returns).toMatchObject([{ OrderID: 0 }])
  expect((await computeFigures(file)).returns.get('C9')?.orderId).toBe(0)
})

test('returns come after the orders, and name orders that were given out', async () => {
  const { lines, orders, returns } = await generated
  const services = lines.map(({ service }) => service)
  expect([...new Set(services)]).toEqual(['Products', 'Customers', 'Orders', 'RMA'])
  expect(services).toEqual([...services].sort((a, b) => services.indexOf(a) - services.indexOf(b)))
  const orderIds = new Set(orders.map(({ OrderID }) => OrderID))
  const named = returns.filter(({ OrderID }) => OrderID !== 0)
  expect(named.every(({ OrderID }) => orderIds.has(OrderID))).toBe(true)
  expect(named.length).toBeGreaterThan(5)
  expect(returns.length - named.length).toBeGreaterThan(5)
})

test.each([
  ['EIRE', 'IE'],
  ['RSA', 'ZA'],
  ['Unspecified', ''],
  ['Channel Islands', 'Channel Islands'],
  [`Land${'x'.repeat(60)}`, `Land${'x'.repeat(46)}`],
])('the country %s becomes %j', (name, code) => {
  expect(countryCode(name)).toBe(code)
})

test('progress ends at the total that it names', async () => {
  const seen: RetailProgress[] = []
  for await (const _ of convertRetail(source, { onProgress: (progress) => seen.push({ ...progress }) }));
  const { rows, products, customers, orders, returns } = generatedFigures(smallYear)
  expect(seen.findLast(({ stage }) => stage === 'survey')).toEqual({ stage: 'survey', done: rows })
  const total = products + customers + orders.size + returns.size
  expect(seen.at(-1)).toEqual({ stage: 'lines', done: total, total })
})

test.each([
  ['Row 2: InvoiceNo is "X9"', 'X9,10,A,1,2010-12-01 08:00:00,1.0,7,France'],
  ['Row 2: StockCode is ""', '2,,A,1,2010-12-01 08:00:00,1.0,7,France'],
  ['Row 2: Quantity is "1.5"', '2,10,A,1.5,2010-12-01 08:00:00,1.0,7,France'],
  ['Row 2: InvoiceDate is "12/1/2010"', '2,10,A,1,12/1/2010,1.0,7,France'],
  ['Row 2: UnitPrice is "1.0001"', '2,10,A,1,2010-12-01 08:00:00,1.0001,7,France'],
  ['Row 2: CustomerID is "7.0"', '2,10,A,1,2010-12-01 08:00:00,1.0,7.0,France'],
  ['Row 2 is older', '2,10,A,1,2010-11-30 08:00:00,1.0,7,France'],
])('a row that is not of the file’s form ends the conversion: %s', async (message, row) => {
  await expect(convert(csv('1,10,A,1,2010-12-01 08:00:00,1.0,7,France', row))).rejects.toThrow(message)
})

test('a file of another form is refused, and so is a file that is not there', async () => {
  await expect(convert(() => Readable.from(['a,b,c\n1,2,3\n']))).rejects.toThrow('Not an Online Retail file')
  await expect(convert(() => Readable.from(['']))).rejects.toThrow('it is empty')
  await expect(convert('no-such-file.csv.gz')).rejects.toThrow('ENOENT')
})

async function expectAgreement(file: RetailSource, month: string | undefined) {
  const figures = await computeFigures(file, month)
  const { lines, orders, returns, counts } = await convert(file, month)
  expect(counts).toMatchObject({ rows: figures.rows, products: figures.products, customers: figures.customers })
  expect(lines).toHaveLength(figures.products + figures.customers + figures.orders.size + figures.returns.size)
  const found = orders.map(({ InvoiceNumber, CustomerID, OrderItemList, OrderAmount }) => [
    InvoiceNumber,
    { customerId: CustomerID, items: OrderItemList.length, amountPence: Math.round(OrderAmount * 100) },
  ])
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(figures.orders))
  const totals: Record<string, number> = {}
  for (const { CustomerID, OrderAmount } of orders) {
    totals[CustomerID] = (totals[CustomerID] ?? 0) + Math.round(OrderAmount * 100)
  }
  expect(totals).toEqual(Object.fromEntries(figures.customerTotals))
  expect(figuresOfReturns(returns)).toEqual(figures.returns)
  expect(totalsOfReturns(returns)).toEqual(returnTotals(figures.returns.values(), figures.returnedPieces))
  expect(returns.map(creditedPence)).toEqual([...figures.returns.values()].map(({ creditPence }) => creditPence))
  expect(new Set(returns.map(({ RMAID }) => RMAID)).size).toBe(figures.returns.size)
}

async function convert(file: RetailSource, month?: string) {
  let counts: RetailCounts | undefined
  const options = {
    onCounts: (given: RetailCounts) => {
      counts = given
    },
  }
  const lines = await Array.fromAsync(convertRetail(file, month === undefined ? options : { ...options, month }))
  if (!counts) throw new Error('No counts were given')
  const of = <T>(service: string) => lines.filter((line) => line.service === service).map(({ record }) => record as T)
  const [products, orders] = [of<ConvertedProduct>('Products'), of<ConvertedOrder>('Orders')]
  return { lines, counts, products, orders, returns: of<WireReturn>('RMA') }
}

function item({ quantity, ...item }: { CatalogID: number; SKU: string; ItemName: string; quantity: number }) {
  return { ...item, ReturnQuantity: quantity, ReceivedQuantity: quantity, RestockQuantity: 0 }
}

function csv(...rows: string[]): RetailSource {
  const header = 'InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country'
  return () => Readable.from([`${[header, ...rows].join('\n')}\n`])
}
