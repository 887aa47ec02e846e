import type { Caller } from '../../../../engine/caller.ts'
import type { HistoryEntry } from '../../../../engine/recording/history.ts'
import { type Phrase, t, written } from '../../../../foundation/texts/text.ts'
import type { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import type { Parcel } from '../../../../shop/resources/orders/parcels.ts'
import { isVoid } from '../../../../shop/resources/orders/payments.ts'
import { statusShipped } from '../../../../shop/resources/orders/statuses.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import type { CallerServices } from '../../../html/request.ts'
import { type Acts, newestHistory } from '../../records/history.ts'
import { type ShownPayments, typeName } from '../../records/order-words.ts'
import { mailRows } from './order-mails.ts'

const ENTRIES_MAX = 25

type ShownParcel = Parcel<ReturnType<typeof orderFigures>['lines'][number]>

/** What the page of an order shows. */
interface ShownOrder {
  readonly orderId: number
  readonly parcels: readonly ShownParcel[]
  readonly payments: Pick<ShownPayments, 'transactions'>
  readonly returned: { readonly returns: readonly { readonly id: number }[] }
  readonly statusText: (id: number) => Phrase
}

/** A part of an order: what it is called in place of its key, and what a change of it is called; false: it is told by what differs. */
interface Part {
  readonly called: Phrase
  readonly act?: (change: PartChange) => Phrase | false
}

/** A change of a member, or of the whole part (''). `then` says what another member was at that time, of what it is now. */
interface PartChange {
  readonly member: string
  readonly before: unknown
  readonly after: unknown
  readonly then: (member: string, now: unknown) => unknown
}

/** Returns what became of an order and its returns, newest first: what was done with its parts, or else what differs, and its mails. */
export async function timelineOf(caller: Caller & CallerServices, order: ShownOrder) {
  const { orderId, parcels, payments, returned, statusText } = order
  const parts = new Map<string, Part>()
  for (const parcel of parcels) {
    parts.set(`ShipmentList[${parcel.shipment?.ShipmentID}]`, parcelPart(parcel))
    for (const { id, name, sku } of parcel.lines) parts.set(`OrderItemList[${id}]`, { called: name || sku })
  }
  const { currency } = caller.store
  for (const paid of payments.transactions) parts.set(`TransactionList[${paid.id}]`, paymentPart(paid, currency))
  // The wire shows 0 for the key of an only parcel.
  const partAt = (path: string) => parts.get(path) ?? parts.get(path.replace(/\[.*/, '[0]'))
  const isStatus = (path: string) => path === 'OrderStatusID' || path === 'ShipmentList.ShipmentOrderStatus'
  const nameOf = (path: string, value: unknown) => {
    if (path === 'TransactionList.TransactionType') return typeName(String(value))
    return isStatus(path) ? statusText(Number(value)) : (partAt(`${path}[${value}]`)?.called ?? null)
  }
  const records = [
    { recordType: orders.table, recordId: orderId },
    ...returned.returns.map(({ id }) => ({ recordType: rma.table, recordId: id })),
  ]
  const [{ rows, next }, mails] = await Promise.all([
    newestHistory(caller, records, { limit: ENTRIES_MAX, nameOf, actsIn: actsBy(partAt) }),
    mailRows(caller, orderId),
  ])
  return { rows: [...rows, ...mails].toSorted((one, other) => other.at.getTime() - one.at.getTime()), next }
}

/** Finds what was done in each entry, which are asked for from the newest on. */
function actsBy(partAt: (path: string) => Part | undefined): (entry: HistoryEntry) => Acts {
  const later = new Map<string, unknown>()
  return ({ changed }) => {
    const acts = new Map<string, Phrase | null>()
    for (const [path, before, after] of changed) {
      const [, own = '', member = ''] = /^(\w+\[.*?\])\.?(.*)$/.exec(path) ?? []
      const then = (name: string, now: unknown) => (later.has(`${own}.${name}`) ? later.get(`${own}.${name}`) : now)
      const act = partAt(own)?.act?.({ member, before, after, then })
      if (!act) continue
      // Of a parcel the words tell these, and the lines of a new one were divided for it.
      const told = /\.Shipment(ShippedDate|TrackingCode|OrderStatus)$/
      const isCovered = (each: string) =>
        each.startsWith(own) ? told.test(each) : own === path && each.startsWith('OrderItem')
      if (own.startsWith('Ship')) for (const [each] of changed) if (isCovered(each)) acts.set(each, null)
      acts.set(path, act)
    }
    for (const [path, before] of changed) later.set(path, before)
    return acts
  }
}

function parcelPart({ number, hasLeft, shipment, lines }: ShownParcel): Part {
  const { ShipmentShippedDate: day = '', ShipmentTrackingCode: codeNow = '' } = shipment ?? {}
  const isSent = ({ member, before, after }: PartChange) => {
    if (member === 'ShipmentOrderStatus') return day === '' && after === statusShipped
    return member === 'ShipmentShippedDate' ? !before && after !== null : member === '' && after !== null
  }
  const act = (change: PartChange) => {
    if (!hasLeft || !isSent(change)) return false
    const code = String(change.then('ShipmentTrackingCode', codeNow) ?? '')
    const goods = written(({ format }) =>
      lines.map(({ quantity, name, sku }) => `${format.number(quantity)} × ${name || sku}`).join(', '),
    )
    if (code === '') return t('Parcel {number} sent: {goods}', { number, goods })
    return t('Parcel {number} sent: {goods}, tracking number {code}', { number, goods, code })
  }
  return { called: String(number), act }
}

function paymentPart({ type, method, amount }: ShownPayments['transactions'][number], currency: string): Part {
  const amountText = (value: unknown) => written(({ format }) => format.money(Math.abs(Number(value)), currency))
  const act = ({ member, before, after, then }: PartChange) => {
    const values = { type, method, amount: amountText(then('TransactionAmount', amount)) }
    if (member === 'TransactionType') return isVoid(after) && t('{type} of {amount} made void', values)
    if (member !== '' || before !== null || type === '') return false
    if (method === '') return t('{type} of {amount} recorded', values)
    return t('{type} of {amount} by {method} recorded', values)
  }
  return { called: amountText(amount), act }
}
