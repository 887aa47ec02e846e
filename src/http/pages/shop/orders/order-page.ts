import { isDeepStrictEqual } from 'node:util'
import { mayRead } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { changeRecord } from '../../../../engine/changing/change.ts'
import type { Format } from '../../../../foundation/texts/format.ts'
import { andOf, type Phrase, type Text, t } from '../../../../foundation/texts/text.ts'
import { writeDate } from '../../../../foundation/values/dates.ts'
import { type KeptAddress, readErasedAt, readKeptAddresses } from '../../../../shop/erasure/remains.ts'
import { customers } from '../../../../shop/resources/customers/customers.ts'
import { billedTo } from '../../../../shop/resources/orders/buyer.ts'
import { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { type Parcel, readParcels } from '../../../../shop/resources/orders/parcels.ts'
import { readPayments } from '../../../../shop/resources/orders/payments.ts'
import { readStatedTaxes } from '../../../../shop/resources/orders/proposals.ts'
import { sharersOf } from '../../../../shop/resources/orders/same-number.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import {
  holdsStock,
  type StatusEffect,
  statusCancelled,
  statusEffectOf,
  statusNew,
  statusNotCompleted,
  statusShipped,
  statusUnpaid,
} from '../../../../shop/resources/orders/statuses.ts'
import { readTracking } from '../../../../shop/resources/orders/tracking.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields } from '../../../html/page-routes.ts'
import { requireUnchanged, type Sent } from '../../frame/pages.ts'
import { changesOf } from '../../records/form.ts'
import { listStatusNames, paymentsInWords, type ShownPayments, textsOf } from '../../records/order-words.ts'
import { pickValues } from '../../records/services.ts'
import { readThumbnails } from '../products/thumbnails.ts'
import { returnsOf } from './returns.ts'
import { type OrderRequest, orderService } from './special.ts'
import { timelineOf } from './timeline.ts'

export async function changeStatus({ caller, id, typed, writing }: Sent<OrderRequest>): Promise<string> {
  const OrderStatusID = numberIn(typed, 'OrderStatusID', writing) ?? 0
  let effect: StatusEffect = 'none'
  const precondition = (text: string) => {
    const before: OrderRecord = JSON.parse(text)
    effect = statusEffectOf(before.OrderStatusID, OrderStatusID)
  }
  const change = { kind: 'update', id, body: { OrderStatusID } } as const
  await changeRecord(caller, orders, change, { precondition })
  return `/admin/orders/${id}?notice=status-changed${noticeEnds[effect]}`
}

const noticeEnds = { none: '', taken: '-taken', returned: '-back' }

const notes = pickValues(orderService, 'InternalComments', 'ExternalComments')

export async function saveNotes(asked: Sent<OrderRequest>): Promise<string> {
  const { caller, id, record, typed, writing } = asked
  const advice = 'What you typed is still in the form. Compare it with the order, and save again'
  const precondition = requireUnchanged(asked, 'order', advice)
  const { body, nameOf } = changesOf({ values: notes, list: null }, typed, record, writing)
  if (Object.keys(body).length === 0) return `/admin/orders/${id}`
  await changeRecord(caller, orders, { kind: 'update', id, body }, { precondition }).catch(inFormFields(nameOf))
  return `/admin/orders/${id}?notice=notes-saved`
}

const statusIds = { unpaid: statusUnpaid, new: statusNew, shipped: statusShipped }

/** Shows an order, with its status and notes. */
export async function orderPage({ caller, id, record: order, typed, writing }: OrderRequest): Promise<HtmlPage> {
  const [statuses, returned, sharers, erasure] = await Promise.all([
    listStatusNames(caller.db, caller.store.id),
    mayRead(caller.privileges, rma) ? returnsOf(caller, id) : { orderId: id, returns: [], isMore: false },
    sharersOf(caller, [{ id }]),
    erasureOf(caller, id, writing),
  ])
  const statusText = textsOf(statuses)
  const figures = orderFigures(order, caller.store.currency)
  const [sent, payments, trackingOf, taxes, thumbnailOf] = await Promise.all([
    readParcels(caller, order, figures.lines),
    readPayments(caller, order).then(paymentsInWords),
    readTracking(caller, order),
    readStatedTaxes(caller, [id]),
    readThumbnails(caller, figures.lines),
  ])
  const parcels = sent.map((one) => shownParcel(order, one, { trackingOf, writing }))
  const waiting = parcels.filter((parcel) => !parcel.hasLeft)
  const isLive = holdsStock(order.OrderStatusID)
  const { InternalComments, ExternalComments } = order
  const toShip = waiting.flatMap(({ shipment }) => shipment?.ShipmentID ?? [])
  return {
    template: '/pages/shop/orders/order',
    title: t('Order {number}', { number: invoiceOf(order) }),
    values: { OrderStatusID: String(order.OrderStatusID), InternalComments, ExternalComments, ...typed },
    data: {
      order,
      sameNumber: sharers.get(id),
      actions: actionsOf({ ...payments, isLive, toShip, hasLeftInPart: waiting.length < parcels.length }),
      figures,
      thumbnailOf,
      tax: taxes.get(id) ?? null,
      discountReasons: discountReasonsOf(order),
      waiting,
      sent: parcels.filter((parcel) => parcel.hasLeft),
      isLive,
      // Without its shipments, an order has the address of its customer alone.
      hasAddress: order.ShipmentList.length > 0 || mayRead(caller.privileges, customers),
      customer: customerOf(order, parcels, writing),
      ...erasure,
      payments,
      returned,
      statuses,
      statusText,
      stockWords: stockWords(order.OrderStatusID, statusText),
      statusIds,
      timeline: await timelineOf(caller, { orderId: id, parcels, payments, returned, statusText }),
    },
  }
}

/** When the person of an order was erased, and the address that is kept. */
async function erasureOf(caller: Caller, id: number, writing: Format) {
  const [erasedAt, [kept]] = await Promise.all([readErasedAt(caller, 'Orders', id), readKeptAddresses(caller, [id])])
  return { erasedAt, kept: keptIn(caller, kept, writing) }
}

/** What took off the discount: the names of promotions, with the code of a coupon. */
function discountReasonsOf({ PromotionList }: OrderRecord): string[] {
  const named = PromotionList.map(({ PromotionName, Coupon }) => [PromotionName, Coupon].filter(Boolean).join(' · '))
  return named.filter((name) => name !== '')
}

/** For `parcel.eta`: with where it goes, and the contact that it has beside that of the order. */
function shownParcel<Line>(
  order: OrderRecord,
  parcel: Parcel<Line>,
  { trackingOf, writing }: { trackingOf: Awaited<ReturnType<typeof readTracking>>; writing: Format },
) {
  const { shipment } = parcel
  const own = (value: string | undefined, other: string) => (value === other ? '' : (value ?? ''))
  const shipTo = {
    lines: writing.shippingAddress(order, shipment),
    phone: own(shipment?.ShipmentPhone, order.BillingPhoneNumber),
    email: own(shipment?.ShipmentEmail, order.BillingEmail),
  }
  return { ...parcel, shipTo, trackingLink: shipment && trackingOf(shipment) }
}

/** A billing address that is kept although the person was erased; null: none is. */
export function keptIn({ store }: Caller, kept: KeptAddress | undefined, format: Format) {
  if (kept === undefined) return null
  const until = writeDate(kept.until, store.timeZone).slice(0, 10)
  return { lines: format.postalAddress(kept.address, 'Billing'), until }
}

type ShipTo = ReturnType<typeof shownParcel>['shipTo']

/** Who the order is for, and where it goes if all of it goes to one place. */
function customerOf(order: OrderRecord, parcels: readonly { shipTo: ShipTo }[], format: Format) {
  const [billTo, [first, ...others]] = [format.postalAddress(order, 'Billing'), parcels.map(({ shipTo }) => shipTo)]
  const isOnePlace = others.every((other) => isDeepStrictEqual(other, first))
  return {
    name: billedTo(order),
    billTo,
    shipTo: isOnePlace ? (first ?? null) : null,
    isSame: isDeepStrictEqual(first?.lines, billTo),
  }
}

/** What a change of the status does to the stock. */
function stockWords(statusId: number, statusText: (id: number) => Phrase): Text {
  const statuses = andOf([statusText(statusCancelled), statusText(statusNotCompleted)])
  return holdsStock(statusId)
    ? t('{statuses} put the goods back into stock. Any other status leaves the stock as it is.', { statuses })
    : t('Any status but {statuses} takes the goods from stock again.', { statuses })
}

/** What says which step of an order comes next. */
export interface OrderState extends Pick<ShownPayments, 'owed' | 'net' | 'open'> {
  /** Neither cancelled nor given up at the checkout. */
  readonly isLive: boolean
  /** The shipments that have not left. */
  readonly toShip: readonly number[]
  /** Whether some of its parcels have left. */
  readonly hasLeftInPart: boolean
}

/** Returns the step of an order that comes next: money, then goods, then money to give back. Null: nothing is pressing. */
export function nextStep({ isLive, owed, net, open, toShip }: OrderState): 'payment' | 'shipping' | 'refund' | null {
  if (!isLive) return net > 0 ? 'refund' : null
  if (owed > 0) return 'payment'
  if (toShip.length > 0) return 'shipping'
  return open < 0 ? 'refund' : null
}

const otherTexts = {
  'packing-slip': t('Packing slip'),
  invoice: t('Invoice'),
  'returns/new': t('Return goods'),
  lines: t('Change goods'),
  'mails/new': t('Write to the customer'),
}
const others = Object.entries(otherTexts).map(([part, text]) => ({ part, route: part, text, isNext: false }))

/**
 * What can be done with an order: the next step first. `part` is the end of its address, `route` that of the route that has to be open to
 * somebody who is to see it.
 */
export function actionsOf(state: OrderState) {
  const next = nextStep(state)
  const pay = { part: 'payments', route: 'payments', text: t('Record a payment'), isNext: next === 'payment' }
  const refund = { part: 'refund', route: 'refund', text: t('Refund'), isNext: next === 'refund' }
  const [first] = state.isLive ? state.toShip : []
  const ship = {
    part: `shipments/${first}`,
    route: 'shipments/:shipmentId',
    text: state.hasLeftInPart ? t('Ship the rest') : t('Ship the goods'),
    isNext: next === 'shipping',
  }
  const steps = [...(first === undefined ? [] : [ship]), pay, ...(state.net > 0 ? [refund] : [])]
  return [...steps.filter(({ isNext }) => isNext), ...steps.filter(({ isNext }) => !isNext), ...others]
}
