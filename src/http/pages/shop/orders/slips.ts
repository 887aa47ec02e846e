import { isDeepStrictEqual } from 'node:util'
import type { toSVG } from 'bwip-js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readDocuments } from '../../../../access/stores/documents.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { refused } from '../../../../engine/definition/refused.ts'
import { getRecords } from '../../../../engine/reading/read.ts'
import type { Format } from '../../../../foundation/texts/format.ts'
import { languageOf } from '../../../../foundation/texts/language.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { runInSlices, type Steps } from '../../../../foundation/values/slices.ts'
import { readKeptAddresses } from '../../../../shop/erasure/remains.ts'
import { exact, shareOf, sum, toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { type Departures, parcelsOf, readDepartures } from '../../../../shop/resources/orders/parcels.ts'
import { isVoid, signedAmount } from '../../../../shop/resources/orders/payments.ts'
import { readStatedTaxes } from '../../../../shop/resources/orders/proposals.ts'
import { type KnownRefund, readRefunds } from '../../../../shop/resources/orders/refunds.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { languageFor, merchantOf, requirePrivileges, textIn } from '../../../html/request.ts'
import { idIn, type PageRequest } from '../../frame/pages.ts'
import { chosenIn } from '../../records/chosen.ts'
import { typeName } from '../../records/order-words.ts'
import { readThumbnails } from '../products/thumbnails.ts'
import { keptIn } from './order-page.ts'
import type { OrderRequest } from './special.ts'

type OfParcel = { readonly number: string; readonly parcel: number; readonly count: number }

/** What a slip is called, one of a parcel, and several. */
const titles = {
  'packing-slip': {
    one: (number: string) => t('Packing slip {number}', { number }),
    ofParcel: (values: OfParcel) => t('Packing slip {number}, parcel {parcel} of {count}', values),
    all: (count: number) => t('{count, plural, one {# packing slip} other {# packing slips}}', { count }),
  },
  invoice: {
    one: (number: string) => t('Invoice {number}', { number }),
    ofParcel: (values: OfParcel) => t('Invoice {number}, parcel {parcel} of {count}', values),
    all: (count: number) => t('{count, plural, one {# invoice} other {# invoices}}', { count }),
  },
}

type SlipKind = keyof typeof titles

/** An invoice is made out to the customer. */
export const slipNeeds = { 'packing-slip': [], invoice: [['Customers', 'read']] } as const

/** Throws (403) for slips that the role of the merchant may not read. */
export function requireForSlips(request: FastifyRequest, kind: SlipKind): void {
  requirePrivileges(merchantOf(request), slipNeeds[kind])
}

/** Lines of all orders of a page, which is made in one go. */
const LINES_MAX = 2_000

/** Prints packing slips or invoices of the orders that the address names. */
export async function slipsPage({ caller, query }: PageRequest, { request }: FastifyReply): Promise<HtmlPage> {
  const kind = slipKindIn(query)
  requireForSlips(request, kind)
  const all = (await getRecords(caller, orders, chosenIn(query))).map((text): OrderRecord => JSON.parse(String(text)))
  return slipPage(request, caller, { kind, all, back: '/admin/orders' })
}

/** Prints the packing slip of an order, or of one of its parcels. */
export function packingSlipPage({ caller, record, query }: OrderRequest, { request }: FastifyReply): Promise<HtmlPage> {
  const only = textIn(query, 'shipment') || null
  return slipPage(request, caller, { kind: 'packing-slip', all: [record], back: backTo(record), only })
}

export function invoicePage({ caller, record }: OrderRequest, { request }: FastifyReply): Promise<HtmlPage> {
  return slipPage(request, caller, { kind: 'invoice', all: [record], back: backTo(record) })
}

const backTo = ({ OrderID }: OrderRecord) => `/admin/orders/${OrderID}`

/** Throws unless it is one of the kinds. */
export function slipKindIn(sent: unknown): SlipKind {
  const kind = textIn(sent, 'kind')
  if (Object.hasOwn(titles, kind)) return kind as SlipKind
  throw refused('kind', `kind must be ${Object.keys(titles).join(' or ')}`)
}

/** `only`: the id of the one shipment that a slip of one order is for; null: all of each order. */
export async function slipPage(
  request: FastifyRequest,
  caller: Caller,
  { kind, all, back, only = null }: { kind: SlipKind; all: readonly OrderRecord[]; back: string; only?: string | null },
): Promise<HtmlPage> {
  const lines = all.reduce((sum, { OrderItemList }) => sum + OrderItemList.length, 0)
  // A single order can always be printed.
  if (lines > LINES_MAX && all.length > 1) {
    throw refused('ids', `These orders have ${lines} lines. Choose fewer: together ${LINES_MAX} at most`)
  }
  const { documents, locale, format } = await paperOf(request, caller)
  const departures = await readDepartures(caller, all)
  const ids = all.map(({ OrderID }) => OrderID)
  const kept = kind === 'invoice' ? await readKeptAddresses(caller, ids) : []
  const keptOf = new Map(kept.map((each) => [each.orderId, each]))
  const taxes = kind === 'invoice' ? await readStatedTaxes(caller, ids) : null
  const goods = kind === 'invoice' ? [] : all.flatMap(({ OrderItemList }) => OrderItemList)
  const slips = all.map((order) => ({
    ...slipOf(order, departures, { only, format, currency: caller.store.currency }),
    tax: taxes?.get(order.OrderID) ?? null,
    kept: keptIn(caller, keptOf.get(order.OrderID), format),
    head: titles[kind].one(invoiceOf(order)),
  }))
  const barcodes = await runInSlices(barcodesOf(all, (await import('bwip-js')).toSVG))
  const [first] = slips
  const title = slips.length === 1 && first !== undefined ? titleOf(kind, first) : titles[kind].all(all.length)
  return {
    template: `/pages/shop/orders/${kind}`,
    title,
    locale,
    data: {
      documents,
      slips: slips.map((slip, at) => ({ ...slip, barcode: barcodes[at] })),
      back,
      signedAmount,
      typeName,
      thumbnailOf: await readThumbnails(caller, goods),
    },
  }
}

/** What the documents of a store have in common, and in which language they are. */
async function paperOf(request: FastifyRequest, { db, store }: Caller) {
  const { seller, taxNumbers, footer, locale: own, ...others } = await readDocuments(db, store.id)
  const inLines = (text: string) => (text === '' ? [] : text.split('\n'))
  const documents = { seller: inLines(seller), taxNumbers: inLines(taxNumbers), footer: inLines(footer), ...others }
  const { locale, format } = own === null ? languageFor(request) : languageOf(own)
  return { documents, locale, format }
}

/** Prints the credit note of a refund. */
export function creditNotePage(asked: OrderRequest, { request }: FastifyReply): Promise<HtmlPage> {
  const { caller, record: order } = asked
  return creditNoteOf(request, caller, { order, refundId: idIn(asked, 'transactionId'), back: backTo(order) })
}

/** Throws where the refund of the order has none (404). */
export async function creditNoteOf(
  request: FastifyRequest,
  caller: Caller,
  { order, refundId, back }: { order: OrderRecord; refundId: number; back: string },
): Promise<HtmlPage> {
  const refund = (await readRefunds(caller, order.OrderID)).find(({ id }) => id === refundId)
  if (!refund?.number) throw new StoreFailure('not-found', 'This order has no such credit note')
  const { documents, locale, format } = await paperOf(request, caller)
  const title = t('Credit note {number}', { number: refund.number })
  const slip = {
    head: title,
    order,
    invoice: invoiceOf(order),
    billTo: format.postalAddress(order, 'Billing'),
    note: noteOf(order, refund, caller.store.currency),
    contained: await containedIn(caller, order, refund.amount),
  }
  return { template: '/pages/shop/orders/credit-note', title, locale, data: { documents, slips: [slip], back } }
}

/** What an amount has of the tax that the order's prices include. Null: none, or nobody stated it. */
async function containedIn(caller: Caller, { OrderID, OrderAmount }: OrderRecord, amount: number) {
  const tax = (await readStatedTaxes(caller, [OrderID])).get(OrderID)
  const share = () => shareOf(exact(tax?.amount ?? 0), exact(amount), exact(OrderAmount), caller.store.currency)
  return tax?.isIncluded ? { ...tax, amount: toNumber(share()) } : null
}

/** A refund, to be read as its credit note: what it says that it is for, and what of its total that leaves open. */
export function noteOf(
  order: OrderRecord,
  { id, number, amount, counts, items, shipping, tax }: KnownRefund,
  currency: string,
) {
  const transaction = order.TransactionList.find(({ TransactionIndexID }) => TransactionIndexID === id)
  const figures = new Map(orderFigures(order, currency).lines.map((line) => [line.id, line]))
  const lines = items.map(({ ItemIndexID, RefundQuantity, RefundAmount }) => {
    const { sku = '', name = t('Goods that are no longer in the order'), choices = [] } = figures.get(ItemIndexID) ?? {}
    // 0 is also what a program sends that does not say it.
    return { sku, name, choices, quantity: RefundQuantity, amount: RefundAmount === 0 ? null : RefundAmount }
  })
  const parts = sum([shipping, tax, ...lines.map((line) => line.amount ?? 0)].map(exact))
  const other = parts > 0n ? toNumber(exact(amount) - parts) : 0
  const sums = [
    [t('Shipping'), shipping],
    [t('Tax'), tax],
    [t('Other'), other],
  ] as const
  return {
    id,
    number,
    isVoid: !counts,
    date: transaction?.TransactionDateTime ?? '',
    method: transaction?.TransactionMethod ?? '',
    lines,
    sums: sums.filter(([, part]) => part !== 0),
    total: amount,
  }
}

/** What Code 128 has characters for, in a line that fits onto paper. */
const ENCODABLE = /^[ -~]{1,30}$/

/** The numbers of orders as hand scanners read them, with the quiet zone that they need. Null: they have other characters. */
function* barcodesOf(all: readonly OrderRecord[], toSvg: typeof toSVG): Steps<(string | null)[]> {
  const svgs: (string | null)[] = []
  for (const text of all.map(invoiceOf)) {
    yield
    svgs.push(ENCODABLE.test(text) ? toSvg({ bcid: 'code128', text, height: 10, paddingwidth: 10 }) : null)
  }
  return svgs
}

/** Where a line is fetched from, in the order in which people walk. */
function binOf(item: OrderRecord['OrderItemList'][number]): string {
  const parts = [item.ItemWarehouseLocation, item.ItemWarehouseAisle, item.ItemWarehouseBin, item.ItemWarehouseCustom]
  return parts.filter(Boolean).join(' · ')
}

const { compare } = new Intl.Collator('en', { numeric: true })

type Slip = ReturnType<typeof slipOf>

function titleOf(kind: SlipKind, { invoice: number, isOfOne, parcels: [parcel], count }: Slip): Text {
  const { one, ofParcel } = titles[kind]
  return isOfOne && parcel ? ofParcel({ number, parcel: parcel.number, count }) : one(number)
}

function slipOf(
  order: OrderRecord,
  departures: Departures,
  { only, format, currency }: { only: string | null; format: Format; currency: string },
) {
  const figures = orderFigures(order, currency)
  const bins = new Map(order.OrderItemList.map((item) => [item.ItemIndexID, binOf(item)]))
  const lines = figures.lines.map((line) => ({ ...line, bin: bins.get(line.id) ?? '' }))
  const all = parcelsOf(order, lines, departures).map((parcel) => ({
    ...parcel,
    // Those without a bin come last.
    lines: parcel.lines.toSorted(
      (one, { bin }) => Number(bin !== '') - Number(one.bin !== '') || compare(one.bin, bin),
    ),
    address: format.shippingAddress(order, parcel.shipment),
  }))
  const isOnly = ({ shipment }: (typeof all)[number]) => only === null || String(shipment?.ShipmentID) === only
  const parcels = all.filter(isOnly)
  const [own] = parcels
  if (own === undefined) throw new StoreFailure('not-found', 'This order has no such parcel', { field: 'shipment' })
  // What has not left and goes where this slip's parcel does: to others it is none of their business.
  const isToCome = (parcel: typeof own) => !parcel.hasLeft && isDeepStrictEqual(parcel.address, own.address)
  const later = all.filter((parcel) => parcel !== own && isToCome(parcel)).flatMap(({ lines }) => lines)
  return {
    order,
    // What was written down by mistake is not the customer's business, and an invoice stays what it was: refunds have credit notes.
    transactions: order.TransactionList.filter((paid) => !isVoid(paid.TransactionType) && signedAmount(paid) >= 0),
    invoice: invoiceOf(order),
    figures,
    billTo: format.postalAddress(order, 'Billing'),
    parcels,
    /** Of the order. */
    count: all.length,
    isOfOne: only !== null && all.length > 1,
    later: only === null ? [] : later,
  }
}
