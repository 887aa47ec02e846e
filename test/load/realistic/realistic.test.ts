import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { convertRetail, type RetailCounts } from '../../../tools/realistic/convert.ts'
import { computeFigures, type RetailFigures, returnTotals } from '../../../tools/realistic/figures.ts'
import { generatedSource, smallYear } from '../../../tools/realistic/generate.ts'
import { findRealFile, whereToGetIt } from '../../../tools/realistic/real-file.ts'
import {
  creditedPence,
  figuresOfReturns,
  totalsOfReturns,
  type WireReturn,
} from '../../../tools/realistic/wire-return.ts'
import { cloneDatabase } from '../../support/database.ts'
import { importLines } from '../../support/import.ts'
import { operatorKey } from '../../support/services.ts'
import { serverProcess } from '../shop/webhooks/server-process.ts'
import { openServerStore } from '../shop/webhooks/server-store.ts'

const realFile = findRealFile()

test('the real file is here', ({ skip }) => {
  if (realFile) return
  const message = `SKIPPED December 2010 of the real file, which is not on this machine. ${whereToGetIt} Name it by REALISTIC_FILE.`
  console.info(message)
  skip(message)
})

describe.each([
  { name: 'a generated year', source: generatedSource(smallYear), month: undefined },
  ...(realFile ? [{ name: 'December 2010 of the real file', source: realFile, month: '2010-12' }] : []),
])('$name, through the import route', ({ source, month }) => {
  let store: OpenedStore
  let figures: RetailFigures
  let counts: RetailCounts | undefined

  const expectAllStored = async () => {
    const onCounts = (given: RetailCounts) => {
      counts = given
    }
    const lines = convertRetail(source, month === undefined ? { onCounts } : { month, onCounts })
    const outcome = await importLines(store, lines)
    expect(outcome.refused).toEqual([])
    const { products, customers, orders, returns } = figures
    expect(outcome.counts.stored).toBe(products + customers + orders.size + returns.size)
  }

  beforeAll(async () => {
    store = await openStore()
    figures = await computeFigures(source, month)
    await expectAllStored()
  })
  afterAll(() => store?.close())

  const expectCounts = async () => {
    expect(await countOf(store, 'Products')).toBe(figures.products)
    expect(await countOf(store, 'Customers')).toBe(figures.customers)
    expect(await countOf(store, 'Orders')).toBe(figures.orders.size)
    expect(await countOf(store, 'RMA')).toBe(figures.returns.size)
  }

  test('the store counts as many products, customers, orders and returns as the file has', expectCounts)

  test('every order has the amount, the items and the customer that the file gives it', async () => {
    const orders = await everyRecord<WireOrder>(store, 'Orders', 300)
    expect(orders).toHaveLength(figures.orders.size)
    const wrong = orders.filter(({ InvoiceNumber, CustomerID, OrderItemList, OrderAmount }) => {
      const expected = figures.orders.get(InvoiceNumber)
      const hasItems = expected?.customerId === CustomerID && expected.items === OrderItemList.length
      return !hasItems || expected.amountPence !== pence(OrderAmount)
    })
    expect(wrong.slice(0, 5)).toEqual([])
    expect(new Set(orders.map(({ InvoiceNumber }) => InvoiceNumber)).size).toBe(figures.orders.size)
  })

  test('every customer’s orders come to the total that the file gives', async () => {
    const customers = await everyRecord<{ CustomerID: number }>(store, 'Customers', 500)
    const totals = new Map<number, number>()
    for (const { CustomerID, OrderAmount } of await everyRecord<WireOrder>(store, 'Orders', 300)) {
      totals.set(CustomerID, (totals.get(CustomerID) ?? 0) + pence(OrderAmount))
    }
    const wrong = [...figures.customerTotals].filter(([id, total]) => totals.get(id) !== total)
    expect(wrong.slice(0, 5)).toEqual([])
    expect(totals.size).toBe(figures.customerTotals.size)
    const known = new Set(customers.map(({ CustomerID }) => CustomerID))
    expect(known.size).toBe(figures.customers)
    expect([...totals.keys()].filter((id) => id !== 0 && !known.has(id))).toEqual([])
  })

  test('every return has the date, the order, the pieces and the credit that the file gives it', async () => {
    const returns = await everyRecord<WireReturn>(store, 'RMA', 500)
    expect(figuresOfReturns(returns)).toEqual(figures.returns)
    const stated = returns.map((record) => [`C${record.RMAID}`, creditedPence(record)])
    const expected = [...figures.returns].map(([invoice, { creditPence }]) => [invoice, creditPence])
    expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(expected))
  })

  test('the returns come to the totals that the file gives: pieces, credit, customers, months, most returned', async () => {
    const totals = returnTotals(figures.returns.values(), figures.returnedPieces)
    expect(totalsOfReturns(await everyRecord<WireReturn>(store, 'RMA', 500))).toEqual(totals)
    expect([totals.withOrder > 0, totals.withOrder < totals.returns]).toEqual([true, true])
    for (const [yearMonth, expected] of Object.entries(totals.perMonth)) {
      const [year, number] = yearMonth.split('-').map(Number) as [number, number]
      const last = new Date(Date.UTC(year, number, 0)).getUTCDate()
      const range = `datestart=${number}/1/${year}&dateend=${number}/${last}/${year} 23:59:59`
      expect(await countOf(store, 'RMA', range), yearMonth).toBe(expected)
    }
  })

  test('the items of a return, read by themselves, are those of its record; nothing of them is back in stock', async () => {
    const returns = await everyRecord<WireReturn>(store, 'RMA', 500)
    const longest = returns.sort((one, other) => other.RMAItemList.length - one.RMAItemList.length).slice(0, 10)
    for (const { RMAID, RMAItemList } of longest) {
      const { status, body } = await store.get(`RMA/${RMAID}/Items?limit=500`)
      expect([status, body]).toEqual([200, RMAItemList])
      expect(RMAItemList.every((item) => item.ReceivedQuantity === item.ReturnQuantity)).toBe(true)
      expect(RMAItemList.every((item) => item.RestockQuantity === 0)).toBe(true)
    }
    const { body: one } = await store.get(`RMA/${longest[0]?.RMAID}`)
    expect(one).toEqual([longest[0]])
    expect(longest[0]).toMatchObject({ RMAReasonID: 4, RMAMethodID: 1, RMAStatusID: 4 })
  })

  test('a return of an order is of that customer’s order', async () => {
    const customerOf = new Map(
      (await everyRecord<WireOrder>(store, 'Orders', 300)).map(({ OrderID, CustomerID }) => [OrderID, CustomerID]),
    )
    const returns = figuresOfReturns(await everyRecord<WireReturn>(store, 'RMA', 500))
    const wrong = [...returns].filter(
      ([, { orderId, customerId }]) => orderId !== 0 && customerOf.get(orderId) !== customerId,
    )
    expect(wrong).toEqual([])
  })

  test('every row of the file is in an order or a return, or is counted as left out', () => {
    const kinds = counts && [counts.orders, counts.returns, counts.leftOut.badDebts, counts.leftOut.stockCorrections]
    expect(kinds?.reduce((sum, { rows }) => sum + rows, 0)).toBe(figures.rows)
  })

  // A month of the real file would only take longer to say the same.
  test.skipIf(month !== undefined)('loading it again doubles nothing', async () => {
    await expectAllStored()
    await expectCounts()
    const [first] = figures.orders
    const answered = await store.get(`Orders?invoicenumber=${first?.[0]}`)
    expect((answered.body as WireOrder[]).map(({ OrderItemList }) => OrderItemList.length)).toEqual([first?.[1].items])
  })
})

/** An empty store of a server process of its own. */
async function openStore() {
  const database = await cloneDatabase()
  const server = await serverProcess(database.url)
  await server.start()
  const { id: storeId, call } = await openServerStore(server.baseUrl)
  return {
    baseUrl: server.baseUrl,
    operatorKey,
    storeId,
    get: async (path: string) => {
      const { status, text } = await call('GET', `/${path}`)
      return { status, body: JSON.parse(text) as unknown }
    },
    close: async () => {
      await server.kill()
      await database.drop()
    },
  }
}

type OpenedStore = Awaited<ReturnType<typeof openStore>>

interface WireOrder {
  OrderID: number
  InvoiceNumber: number
  CustomerID: number
  OrderAmount: number
  OrderItemList: unknown[]
}

/** A wire amount has two decimals: the nearest whole number of pence is the one meant. */
function pence(amount: number): number {
  return Math.round(amount * 100)
}

async function countOf(store: OpenedStore, service: string, query = ''): Promise<number> {
  const { status, body } = await store.get(`${service}?countonly=1&${query}`)
  if (status !== 200) throw new Error(`${service} answered ${status}: ${JSON.stringify(body)}`)
  return (body as { TotalCount: number }).TotalCount
}

/** Page by page, at the service's bound. */
async function everyRecord<T>(store: OpenedStore, service: string, limit: number): Promise<T[]> {
  const records: T[] = []
  const count = await countOf(store, service)
  while (records.length < count) {
    const { status, body } = await store.get(`${service}?limit=${limit}&offset=${records.length + 1}`)
    if (status !== 200) throw new Error(`${service} answered ${status}: ${JSON.stringify(body)}`)
    records.push(...(body as T[]))
  }
  return records
}
