import { expect, test } from 'vitest'
import { convertRetail, type RetailCounts } from '../../realistic/convert.ts'
import { computeFigures, returnTotals } from '../../realistic/figures.ts'
import { generatedFigures, generatedSource, generateRetail, smallYear } from '../../realistic/generate.ts'
import { findRealFile, whereToGetIt } from '../../realistic/real-file.ts'
import type { RetailSource } from '../../realistic/retail-rows.ts'
import { creditedPence, figuresOfReturns, totalsOfReturns, type WireReturn } from '../../realistic/wire-return.ts'

const source = generatedSource(smallYear)
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
