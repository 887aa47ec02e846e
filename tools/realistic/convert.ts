import type { TransferLine } from '../../src/engine/transfer/import.ts'
import { countryCode } from './countries.ts'
import { amountCents, type InvoiceRows, type RetailRow, type RetailSource, readRetailRows } from './retail-rows.ts'
import { type CatalogIdOf, CustomerOrders, returnLine } from './returns.ts'

/*
 * The Online Retail file as lines that `POST /admin/stores/{id}/import` takes.
 *
 * Ids are the same at every run, so that loading twice doubles nothing, and lie above those of the sandbox's own
 * records, so that the year fits beside them in one store:
 * - CatalogID: 100,000 + the place of the product's first appearance; CustomerID: the file's number (12346 and up);
 * - OrderID = InvoiceNumber = the file's number (536365 and up), without prefix; RMAID likewise, without its `C`;
 * - ItemIndexID: 1,000,000 + the row's number.
 *
 * What an invoice becomes:
 * - `C…`: a return, every row an item, of the order that returns.ts finds; what an RMA has no field for (customer,
 *   country, prices) stands in its InternalComments;
 * - `A…`: a bad-debt adjustment, left out: nothing was sold;
 * - digits, without customer, and nothing on it has a price: a stock correction ("damaged", "found"), left out;
 * - any other: an order, whether of a customer or a guest (CustomerID 0), every row an item, free ones too.
 *
 * Product names come from rows with a price, the latest first: in the corrections the column holds the warehouse's
 * notes, and 146 products would be called "damaged", "check" or "?". A product that was never sold keeps the latest
 * note, one without any description its stock code.
 */

const catalogIdBase = 100_000
const itemIdBase = 1_000_000
const statusShipped = 4

/** Codes of the file that are charges and bookings: kept, since orders name them, but not for sale. */
const notGoods = new Set(['POST', 'DOT', 'C2', 'M', 'D', 'S', 'B', 'BANK CHARGES', 'AMAZONFEE', 'CRUK'])

export interface InvoiceCount {
  invoices: number
  rows: number
}

/** Every row of the file is in one of the four kinds: their rows add up to `rows`. */
export interface RetailCounts {
  rows: number
  products: number
  customers: number
  orders: InvoiceCount
  returns: InvoiceCount
  leftOut: { badDebts: InvoiceCount; stockCorrections: InvoiceCount }
}

/** `survey`: rows read in the first pass, of a number not known yet. `lines`: lines given out in the second. */
export type RetailProgress = { stage: 'survey'; done: number } | { stage: 'lines'; done: number; total: number }

export interface ConvertOptions {
  /** `YYYY-MM`: the rows of that month alone, as if the file had no others. */
  readonly month?: string
  readonly onProgress?: (progress: RetailProgress) => void
  /** Called once, after the last line. */
  readonly onCounts?: (counts: RetailCounts) => void
}

/**
 * Products, then customers, then orders as each is complete (rows of an invoice need not lie together), then returns.
 * Reads the file twice. Memory is bounded by products, customers, invoice numbers, the rows of the returns, and which
 * products the orders of each customer have.
 */
export async function* convertRetail(source: RetailSource, options: ConvertOptions = {}): AsyncGenerator<TransferLine> {
  const survey = await surveyRows(source, options)
  const counts = countInvoices(survey)
  const total = survey.products.size + survey.customers.size + counts.orders.invoices + counts.returns.invoices
  let done = 0
  for await (const line of linesOf(source, survey, options.month)) {
    yield line
    done += 1
    options.onProgress?.({ stage: 'lines', done, total })
  }
  options.onCounts?.(counts)
}

interface Product {
  readonly id: number
  /** The first spelling met; stock codes that differ by case alone are one product. */
  readonly sku: string
  name: string
  note: string
  readonly prices: Map<number, { rows: number; lastRow: number }>
  readonly firstDate: string
  lastDate: string
}

interface Customer {
  country: string
  readonly firstDate: string
  lastDate: string
}

interface Invoice {
  readonly kind: RetailRow['invoiceKind']
  readonly hasCustomer: boolean
  hasPrice: boolean
  rows: number
}

interface Survey {
  readonly products: Map<string, Product>
  readonly customers: Map<number, Customer>
  readonly invoices: Map<string, Invoice>
}

async function surveyRows(source: RetailSource, { month, onProgress }: ConvertOptions): Promise<Survey> {
  const survey: Survey = { products: new Map(), customers: new Map(), invoices: new Map() }
  let done = 0
  for await (const row of readRetailRows(source, month)) {
    noteProduct(survey.products, row)
    if (row.customerId !== 0) noteCustomer(survey.customers, row)
    noteInvoice(survey.invoices, row)
    done += 1
    if (done % 1000 === 0) onProgress?.({ stage: 'survey', done })
  }
  onProgress?.({ stage: 'survey', done })
  return survey
}

function noteProduct(products: Map<string, Product>, row: RetailRow) {
  const key = foldedSku(row.sku)
  let product = products.get(key)
  if (!product) {
    const id = catalogIdBase + products.size + 1
    product = { id, sku: row.sku, name: '', note: '', prices: new Map(), firstDate: row.date, lastDate: row.date }
    products.set(key, product)
  }
  product.lastDate = row.date
  const description = row.description.trim()
  if (row.priceMilli <= 0) {
    if (description !== '') product.note = description
    return
  }
  if (description !== '') product.name = description
  const rows = product.prices.get(row.priceMilli)?.rows ?? 0
  product.prices.set(row.priceMilli, { rows: rows + 1, lastRow: row.number })
}

function noteCustomer(customers: Map<number, Customer>, row: RetailRow) {
  const customer = customers.get(row.customerId)
  if (!customer) {
    customers.set(row.customerId, { country: row.country, firstDate: row.date, lastDate: row.date })
    return
  }
  customer.country = row.country
  customer.lastDate = row.date
}

function noteInvoice(invoices: Map<string, Invoice>, row: RetailRow) {
  let invoice = invoices.get(row.invoice)
  if (!invoice) {
    invoice = { kind: row.invoiceKind, hasCustomer: row.customerId !== 0, hasPrice: false, rows: 0 }
    invoices.set(row.invoice, invoice)
  }
  invoice.rows += 1
  if (row.priceMilli !== 0) invoice.hasPrice = true
}

function countInvoices({ products, customers, invoices }: Survey): RetailCounts {
  const none = () => ({ invoices: 0, rows: 0 })
  const counts: RetailCounts = {
    rows: 0,
    products: products.size,
    customers: customers.size,
    orders: none(),
    returns: none(),
    leftOut: { badDebts: none(), stockCorrections: none() },
  }
  const counterOf = {
    order: counts.orders,
    return: counts.returns,
    'bad-debt': counts.leftOut.badDebts,
    'stock-correction': counts.leftOut.stockCorrections,
  }
  for (const invoice of invoices.values()) {
    const counter = counterOf[meaningOf(invoice)]
    counter.invoices += 1
    counter.rows += invoice.rows
    counts.rows += invoice.rows
  }
  return counts
}

function meaningOf({ kind, hasCustomer, hasPrice }: Invoice): 'order' | 'return' | 'bad-debt' | 'stock-correction' {
  if (kind !== 'sale') return kind
  return hasCustomer || hasPrice ? 'order' : 'stock-correction'
}

async function* linesOf(source: RetailSource, survey: Survey, month: string | undefined): AsyncGenerator<TransferLine> {
  for (const product of survey.products.values()) yield productLine(product)
  for (const [id, customer] of survey.customers) yield customerLine(id, customer)
  const catalogIdOf = (row: RetailRow) => productOf(row, survey.products).id
  const placed = new CustomerOrders()
  const returns: InvoiceRows[] = []
  for await (const rows of completeInvoices(readRetailRows(source, month), survey.invoices)) {
    const [{ invoice, invoiceKind, customerId, date }] = rows
    if (invoiceKind === 'return') {
      returns.push(rows)
      continue
    }
    placed.add(customerId, { id: Number(invoice), date, catalogIds: new Set(rows.map(catalogIdOf)) })
    yield orderLine(rows, catalogIdOf)
  }
  // Only now is every order known that may be of the same minute as a return.
  for (const rows of returns) {
    const [{ customerId, date }] = rows
    const orderId = placed.orderOf(customerId, date, new Set(rows.map(catalogIdOf)))
    yield returnLine(rows, orderId, catalogIdOf)
  }
}

/** The rows of each order and return, given out when the last of them was read. */
async function* completeInvoices(rows: AsyncIterable<RetailRow>, invoices: Map<string, Invoice>) {
  const open = new Map<string, InvoiceRows>()
  for await (const row of rows) {
    const invoice = invoices.get(row.invoice)
    // A pipe would give other rows the second time; a file, when someone writes to it.
    if (!invoice) throw new Error(`Row ${row.number}: the file changed while it was read`)
    const meaning = meaningOf(invoice)
    if (meaning === 'bad-debt' || meaning === 'stock-correction') continue
    const met: InvoiceRows = open.get(row.invoice) ?? [row]
    if (open.has(row.invoice)) met.push(row)
    else open.set(row.invoice, met)
    if (met.length < invoice.rows) continue
    open.delete(row.invoice)
    yield met
  }
}

function productLine(product: Product): TransferLine {
  const price = usualPriceMilli(product) / 1000
  return {
    service: 'Products',
    record: {
      SKUInfo: {
        CatalogID: product.id,
        SKU: product.sku,
        Name: product.name || product.note || product.sku,
        Price: price,
      },
      LastUpdate: product.lastDate,
      DateCreated: product.firstDate,
      ...(notGoods.has(foldedSku(product.sku)) ? { NotForSale: true, Hide: true, NonSearchable: true } : {}),
    },
  }
}

/** The price of most rows; of several such the one met last; 0 for a product that was never sold. */
function usualPriceMilli({ prices }: Product): number {
  const [usual] = [...prices].sort(([, a], [, b]) => b.rows - a.rows || b.lastRow - a.lastRow)
  return usual?.[0] ?? 0
}

/** The file knows a customer by number and country alone: of several countries it is the latest. */
function customerLine(id: number, customer: Customer): TransferLine {
  const country = countryCode(customer.country)
  return {
    service: 'Customers',
    record: { CustomerID: id, BillingCountry: country, ShippingCountry: country, Enabled: true },
    private: { DateCreated: customer.firstDate, LastUpdate: customer.lastDate },
  }
}

function orderLine(rows: InvoiceRows, catalogIdOf: CatalogIdOf): TransferLine {
  const [first] = rows
  const number = Number(first.invoice)
  const country = countryCode(first.country)
  return {
    service: 'Orders',
    record: {
      InvoiceNumberPrefix: '',
      InvoiceNumber: number,
      OrderID: number,
      CustomerID: first.customerId,
      OrderDate: first.date,
      OrderStatusID: statusShipped,
      LastUpdate: first.date,
      BillingCountry: country,
      ShipmentList: [
        {
          ShipmentID: 0,
          ShipmentLastUpdate: first.date,
          ShipmentOrderStatus: statusShipped,
          ShipmentCountry: country,
          ShipmentNumber: 1,
        },
      ],
      OrderItemList: rows.map((row) => ({
        CatalogID: catalogIdOf(row),
        ItemIndexID: itemIdBase + row.number,
        ItemID: row.sku,
        ItemQuantity: row.quantity,
        ItemDescription: row.description,
        ItemUnitPrice: row.priceMilli / 1000,
        ItemDateAdded: row.date,
      })),
      OrderAmount: amountCents(rows) / 100,
    },
  }
}

function productOf(row: RetailRow, products: Map<string, Product>): Product {
  const product = products.get(foldedSku(row.sku))
  if (!product) throw new Error(`Row ${row.number}: the file changed while it was read`)
  return product
}

function foldedSku(sku: string): string {
  return sku.toUpperCase()
}
