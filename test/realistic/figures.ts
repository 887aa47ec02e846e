import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/*
 * What a store holding the file must show, computed from the file's text alone: a reader and an arithmetic of its own
 * (BigInt thousandths), nothing of convert.ts, so that the two can be held against each other.
 */

export interface RetailFigures {
  rows: number
  /** Stock codes that differ by more than case. */
  products: number
  customers: number
  /** By invoice number. */
  orders: Map<number, OrderFigures>
  /** What each customer's orders come to, in pence; guests together are 0. Customers without orders are absent. */
  customerTotals: Map<number, number>
  returns: number
  badDebts: number
  stockCorrections: number
}

export interface OrderFigures {
  customerId: number
  items: number
  amountPence: number
}

/** Reads the file once, which has no line breaks between quotes; with `month` (`YYYY-MM`) only the rows of that month count. */
export async function computeFigures(source: string | (() => Readable), month = ''): Promise<RetailFigures> {
  const skus = new Set<string>()
  const customers = new Set<string>()
  const invoices = new Map<string, { customer: string; items: number; priced: boolean; milli: bigint }>()
  let rows = 0
  let isHeader = true
  for await (const line of linesOf(source)) {
    if (isHeader) {
      isHeader = false
      continue
    }
    const [number = '', sku = '', , quantity = '', date = '', price = '', customer = ''] = cellsOf(line)
    if (!date.startsWith(month)) continue
    rows += 1
    skus.add(sku.toLowerCase())
    if (customer !== '') customers.add(customer)
    const invoice = invoices.get(number) ?? { customer, items: 0, priced: false, milli: 0n }
    const priceMilli = milliOf(price)
    invoice.items += 1
    invoice.priced ||= priceMilli !== 0n
    invoice.milli += BigInt(quantity) * priceMilli
    invoices.set(number, invoice)
  }

  const figures = emptyFigures()
  Object.assign(figures, { rows, products: skus.size, customers: customers.size })
  for (const [number, { customer, items, priced, milli }] of invoices) {
    if (number.startsWith('C')) figures.returns += 1
    else if (number.startsWith('A')) figures.badDebts += 1
    else if (customer === '' && !priced) figures.stockCorrections += 1
    else addOrder(figures, Number(number), { customerId: Number(customer), items, amountPence: Number(penceOf(milli)) })
  }
  return figures
}

export function emptyFigures(): RetailFigures {
  return {
    rows: 0,
    products: 0,
    customers: 0,
    orders: new Map(),
    customerTotals: new Map(),
    returns: 0,
    badDebts: 0,
    stockCorrections: 0,
  }
}

export function addOrder(figures: RetailFigures, invoice: number, order: OrderFigures) {
  figures.orders.set(invoice, order)
  const total = figures.customerTotals.get(order.customerId) ?? 0
  figures.customerTotals.set(order.customerId, total + order.amountPence)
}

async function* linesOf(source: string | (() => Readable)): AsyncGenerator<string> {
  let pending = ''
  for await (const chunk of textOf(source)) {
    const lines = (pending + chunk).split(/\r?\n/)
    pending = lines.pop() ?? ''
    yield* lines
  }
  if (pending !== '') yield pending
}

async function* textOf(source: string | (() => Readable)): AsyncGenerator<string> {
  const bytes =
    typeof source !== 'string'
      ? source()
      : source.endsWith('.gz')
        ? createReadStream(source).pipe(createGunzip())
        : createReadStream(source)
  const decoder = new TextDecoder()
  for await (const chunk of bytes) yield typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
}

function cellsOf(line: string): string[] {
  if (!line.includes('"')) return line.split(',')
  const cells = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '')
}

function milliOf(price: string): bigint {
  const [whole = '', decimals = ''] = price.split('.')
  return BigInt(whole + decimals.padEnd(3, '0'))
}

/** Half a penny counts as one, away from zero. */
function penceOf(milli: bigint): bigint {
  return milli < 0n ? (milli - 5n) / 10n : (milli + 5n) / 10n
}
