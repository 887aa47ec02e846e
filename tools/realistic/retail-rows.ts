import { createReadStream } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { parse } from 'csv-parse'

/** A path to a CSV file (`.gz`: compressed), or what opens the same text anew each time: it is read twice. */
export type RetailSource = string | (() => Readable)

/** One order line of the file. */
export interface RetailRow {
  /** From 1, the header not counted. */
  readonly number: number
  /** As in the file, with its letter. */
  readonly invoice: string
  readonly invoiceKind: 'sale' | 'return' | 'bad-debt'
  /** As spelled in this row. */
  readonly sku: string
  /** As written in this row; may be blank. */
  readonly description: string
  readonly quantity: number
  /** Local time of the shop, in the wire's form. */
  readonly date: string
  /** Thousandths of a pound: four prices of the real year are 0.001. */
  readonly priceMilli: number
  /** 0: a guest. */
  readonly customerId: number
  readonly country: string
}

/** In the file's order. */
export type InvoiceRows = [RetailRow, ...RetailRow[]]

const header = 'InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country'

/**
 * The order lines of a file in its order; with `month` (`YYYY-MM`) those of that month alone.
 * Throws, naming the row, for anything that is not of the file's form: no row is passed over.
 */
export async function* readRetailRows(source: RetailSource, month?: string): AsyncGenerator<RetailRow> {
  let number = -1
  let lastDate = ''
  for await (const cells of openCsv(source)) {
    number += 1
    if (number === 0) {
      if (cells.join(',') !== header) throw new Error(`Not an Online Retail file: the first line must be ${header}`)
      continue
    }
    const row = readRow(cells, number)
    if (row.date < lastDate) throw new Error(`Row ${number} is older than the row before: the file is in date order`)
    lastDate = row.date
    if (month === undefined || row.date.startsWith(month)) yield row
    else if (row.date > month) return
  }
  if (number === -1) throw new Error(`Not an Online Retail file: it is empty, the first line must be ${header}`)
}

function openCsv(source: RetailSource): AsyncIterable<string[]> {
  const parser = parse({ bom: true })
  // An error of any stage ends the parser, and so comes out of the loop that reads it.
  const passOn = (error: Error | null | undefined) => {
    if (error) parser.destroy(error)
  }
  if (typeof source !== 'string') pipeline(source(), parser, passOn)
  else if (source.endsWith('.gz')) pipeline(createReadStream(source), createGunzip(), parser, passOn)
  else pipeline(createReadStream(source), parser, passOn)
  return parser
}

function readRow(cells: string[], number: number): RetailRow {
  const [
    invoice = '',
    sku = '',
    description = '',
    quantity = '',
    date = '',
    price = '',
    customerId = '',
    country = '',
  ] = cells
  const refuse = (column: string, value: string, allowed: string): never => {
    throw new Error(`Row ${number}: ${column} is ${JSON.stringify(value)}, allowed is ${allowed}`)
  }
  const invoiceKind = invoiceKindOf(invoice) ?? refuse('InvoiceNo', invoice, 'digits, C and digits, or A and digits')
  if (sku.trim() === '') refuse('StockCode', sku, 'a code')
  if (!/^-?\d{1,9}$/.test(quantity)) refuse('Quantity', quantity, 'a whole number')
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(date)) refuse('InvoiceDate', date, 'YYYY-MM-DD HH:MM:SS')
  if (!/^-?\d{1,9}(\.\d{1,3})?$/.test(price)) refuse('UnitPrice', price, 'a number of up to 3 decimals')
  if (!/^\d{0,9}$/.test(customerId)) refuse('CustomerID', customerId, 'digits or nothing')
  return {
    number,
    invoice,
    invoiceKind,
    sku,
    description,
    quantity: Number(quantity),
    date: date.replace(' ', 'T'),
    priceMilli: thousandths(price),
    customerId: Number(customerId),
    country,
  }
}

function invoiceKindOf(invoice: string): RetailRow['invoiceKind'] | null {
  if (!/^[CA]?\d{1,9}$/.test(invoice)) return null
  if (invoice.startsWith('C')) return 'return'
  return invoice.startsWith('A') ? 'bad-debt' : 'sale'
}

/** By digits, never through a float. */
function thousandths(price: string): number {
  const [whole = '', decimals = ''] = price.replace('-', '').split('.')
  const size = Number(whole) * 1000 + Number(decimals.padEnd(3, '0'))
  return price.startsWith('-') ? -size : size
}

/**
 * What the rows come to, half a penny away from zero. Whole numbers below 2^53 all the way: the division that makes it
 * a wire number is the only one.
 */
export function amountCents(rows: readonly RetailRow[]): number {
  const milli = rows.reduce((sum, row) => sum + row.quantity * row.priceMilli, 0)
  return Math.sign(milli) * Math.floor((Math.abs(milli) + 5) / 10)
}
