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
  /** By invoice number, with its `C`. */
  returns: Map<string, ReturnFigures>
  /** Pieces that came back of each stock code, in lower case. */
  returnedPieces: Map<string, number>
  badDebts: number
  stockCorrections: number
}

export interface OrderFigures {
  customerId: number
  items: number
  amountPence: number
}

export interface ReturnFigures {
  /** Of the first row, in the wire's form. */
  date: string
  customerId: number
  /**
   * The order that it is of: among its customer's orders that are not later, the latest of those with the greatest
   * number of its stock codes. 0: none has any of them, or it is a guest's.
   */
  orderId: number
  items: number
  pieces: number
  creditPence: number
}

interface Invoice {
  readonly number: string
  readonly customer: string
  readonly date: string
  readonly skus: Set<string>
  items: number
  pieces: number
  priced: boolean
  milli: bigint
}

/** Reads the file once, which has no line breaks between quotes; with `month` (`YYYY-MM`) only the rows of that month count. */
export async function computeFigures(source: string | (() => Readable), month = ''): Promise<RetailFigures> {
  const skus = new Set<string>()
  const customers = new Set<string>()
  const invoices = new Map<string, Invoice>()
  const figures = emptyFigures()
  let isHeader = true
  for await (const line of linesOf(source)) {
    if (isHeader) {
      isHeader = false
      continue
    }
    const [number = '', spelling = '', , quantity = '', time = '', price = '', customer = ''] = cellsOf(line)
    if (!time.startsWith(month)) continue
    const sku = spelling.toLowerCase()
    figures.rows += 1
    skus.add(sku)
    if (customer !== '') customers.add(customer)
    const invoice = invoices.get(number) ?? newInvoice(number, customer, time.replace(' ', 'T'))
    const priceMilli = milliOf(price)
    invoice.skus.add(sku)
    invoice.items += 1
    invoice.pieces += Number(quantity)
    invoice.priced ||= priceMilli !== 0n
    invoice.milli += BigInt(quantity) * priceMilli
    invoices.set(number, invoice)
    if (number.startsWith('C')) addPieces(figures, sku, -Number(quantity))
  }
  figures.products = skus.size
  figures.customers = customers.size
  for (const invoice of invoices.values()) addInvoice(figures, invoice)
  matchReturns(figures, [...invoices.values()])
  return figures
}

function newInvoice(number: string, customer: string, date: string): Invoice {
  return { number, customer, date, skus: new Set(), items: 0, pieces: 0, priced: false, milli: 0n }
}

function addInvoice(figures: RetailFigures, { number, customer, date, items, pieces, priced, milli }: Invoice) {
  const customerId = Number(customer)
  if (number.startsWith('C')) {
    const creditPence = Number(penceOf(-milli))
    figures.returns.set(number, { date, customerId, orderId: 0, items, pieces: -pieces, creditPence })
  } else if (number.startsWith('A')) figures.badDebts += 1
  else if (customer === '' && !priced) figures.stockCorrections += 1
  else addOrder(figures, Number(number), { customerId, items, amountPence: Number(penceOf(milli)) })
}

/** By sorting all that could be meant: slow, and unlike the way that returns.ts goes. */
function matchReturns(figures: RetailFigures, invoices: readonly Invoice[]) {
  const byCustomer = Map.groupBy(invoices, ({ customer }) => customer)
  for (const { number, customer, date, skus } of invoices) {
    const record = figures.returns.get(number)
    if (!record || customer === '') continue
    const [best] = (byCustomer.get(customer) ?? [])
      .filter((other) => /^\d/.test(other.number) && other.date <= date)
      .map((other) => ({ ...other, shared: [...skus].filter((sku) => other.skus.has(sku)).length }))
      .filter(({ shared }) => shared > 0)
      .sort((one, other) => other.shared - one.shared || latestFirst(one, other))
    record.orderId = Number(best?.number ?? 0)
  }
}

function latestFirst(one: Invoice, other: Invoice): number {
  if (one.date !== other.date) return one.date < other.date ? 1 : -1
  return Number(other.number) - Number(one.number)
}

export function emptyFigures(): RetailFigures {
  return {
    rows: 0,
    products: 0,
    customers: 0,
    orders: new Map(),
    customerTotals: new Map(),
    returns: new Map(),
    returnedPieces: new Map(),
    badDebts: 0,
    stockCorrections: 0,
  }
}

export function addOrder(figures: RetailFigures, invoice: number, order: OrderFigures) {
  figures.orders.set(invoice, order)
  const total = figures.customerTotals.get(order.customerId) ?? 0
  figures.customerTotals.set(order.customerId, total + order.amountPence)
}

export function addPieces(figures: RetailFigures, sku: string, pieces: number) {
  figures.returnedPieces.set(sku, (figures.returnedPieces.get(sku) ?? 0) + pieces)
}

/** What the returns come to: what one would ask a store's report for. */
export interface ReturnTotals {
  returns: number
  items: number
  pieces: number
  creditPence: number
  /** Without guests. */
  customers: number
  withOrder: number
  /** By `YYYY-MM`. */
  perMonth: Record<string, number>
  /** The five stock codes, in lower case, of which most pieces came back. */
  mostReturned: [sku: string, pieces: number][]
}

export function returnTotals(
  returns: Iterable<ReturnFigures>,
  returnedPieces: ReadonlyMap<string, number>,
): ReturnTotals {
  const all = [...returns]
  const sumOf = (count: (record: ReturnFigures) => number) => all.reduce((sum, record) => sum + count(record), 0)
  const months = Map.groupBy(all, ({ date }) => date.slice(0, 7))
  const ranked = [...returnedPieces].sort(([a, more], [b, less]) => less - more || (a < b ? -1 : 1))
  return {
    returns: all.length,
    items: sumOf(({ items }) => items),
    pieces: sumOf(({ pieces }) => pieces),
    creditPence: sumOf(({ creditPence }) => creditPence),
    customers: new Set(all.map(({ customerId }) => customerId).filter(Boolean)).size,
    withOrder: sumOf(({ orderId }) => (orderId === 0 ? 0 : 1)),
    perMonth: Object.fromEntries([...months].map(([month, those]) => [month, those.length])),
    mostReturned: ranked.slice(0, 5),
  }
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
