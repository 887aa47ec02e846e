import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importLines } from '../support/import.ts'
import { convertRetail, type RetailCounts } from './convert.ts'
import { computeFigures, type RetailFigures } from './figures.ts'
import { generatedSource, smallYear } from './generate.ts'
import { findRealFile, whereToGetIt } from './real-file.ts'
import { openServerStore, type ServerStore } from './server-store.ts'

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
  let store: ServerStore
  let figures: RetailFigures
  let counts: RetailCounts | undefined

  const expectAllStored = async () => {
    const onCounts = (given: RetailCounts) => {
      counts = given
    }
    const lines = convertRetail(source, month === undefined ? { onCounts } : { month, onCounts })
    const outcome = await importLines(store, lines)
    expect(outcome.refused).toEqual([])
    expect(outcome.counts.stored).toBe(figures.products + figures.customers + figures.orders.size)
  }

  beforeAll(async () => {
    store = await openServerStore()
    figures = await computeFigures(source, month)
    await expectAllStored()
  }, 120_000)
  afterAll(() => store?.close())

  test('the store counts as many products, customers and orders as the file has', async () => {
    expect(await countOf(store, 'Products')).toBe(figures.products)
    expect(await countOf(store, 'Customers')).toBe(figures.customers)
    expect(await countOf(store, 'Orders')).toBe(figures.orders.size)
  })

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

  test('every row of the file is in an order or a return, or is counted as left out', () => {
    const kinds = counts && [counts.orders, counts.returns, counts.leftOut.badDebts, counts.leftOut.stockCorrections]
    expect(kinds?.reduce((sum, { rows }) => sum + rows, 0)).toBe(figures.rows)
  })

  // A month of the real file would only take longer to say the same.
  test.skipIf(month !== undefined)(
    'loading it again doubles nothing',
    async () => {
      await expectAllStored()
      expect(await countOf(store, 'Products')).toBe(figures.products)
      expect(await countOf(store, 'Customers')).toBe(figures.customers)
      expect(await countOf(store, 'Orders')).toBe(figures.orders.size)
      const [first] = figures.orders
      const answered = await store.get(`Orders?invoicenumber=${first?.[0]}`)
      expect((answered.body as WireOrder[]).map(({ OrderItemList }) => OrderItemList.length)).toEqual([
        first?.[1].items,
      ])
    },
    120_000,
  )
})

interface WireOrder {
  InvoiceNumber: number
  CustomerID: number
  OrderAmount: number
  OrderItemList: unknown[]
}

/** A wire amount has two decimals: the nearest whole number of pence is the one meant. */
function pence(amount: number): number {
  return Math.round(amount * 100)
}

async function countOf(store: ServerStore, service: string): Promise<number> {
  const { status, body } = await store.get(`${service}?countonly=1`)
  if (status !== 200) throw new Error(`${service} answered ${status}: ${JSON.stringify(body)}`)
  return (body as { TotalCount: number }).TotalCount
}

/** Page by page, at the service's bound. */
async function everyRecord<T>(store: ServerStore, service: string, limit: number): Promise<T[]> {
  const records: T[] = []
  const count = await countOf(store, service)
  while (records.length < count) {
    const { status, body } = await store.get(`${service}?limit=${limit}&offset=${records.length + 1}`)
    if (status !== 200) throw new Error(`${service} answered ${status}: ${JSON.stringify(body)}`)
    records.push(...(body as T[]))
  }
  return records
}
