import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { mayRead } from '../../../../access/applications/privileges.ts'
import { changeRecord } from '../../../../engine/changing/change.ts'
import type { Format } from '../../../../foundation/texts/format.ts'
import { andOf, type Phrase, type Text, t } from '../../../../foundation/texts/text.ts'
import { customers } from '../../../../shop/resources/customers/customers.ts'
import { billedTo } from '../../../../shop/resources/orders/buyer.ts'
import { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { type Parcel, readParcels } from '../../../../shop/resources/orders/parcels.ts'
import { readPayments } from '../../../../shop/resources/orders/payments.ts'
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
import { rma } from '../../../../shop/resources/rma/rma.ts'
import { numberIn } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages, inFormFields } from '../../../html/page-routes.ts'
import type { CallerServices } from '../../../html/request.ts'
import { recordPages } from '../../frame/pages.ts'
import type { RecordRequest, Sent } from '../../frame/request.ts'
import { requireUnchanged } from '../../frame/unchanged.ts'
import { changesOf } from '../../records/form.ts'
import { listStatusNames, paymentsInWords, textsOf } from '../../records/order-words.ts'
import { actionsOf } from './order-actions.ts'
import { returnsOf } from './returns.ts'
import { orderService } from './special.ts'
import { timelineOf } from './timeline.ts'

const address = '/admin/orders/:id'

/** Adds the page of an order, with its status and notes. */
export function orderPage(app: FastifyInstance, services: CallerServices): void {
  const { page } = recordPages(adminPages(app, ['Orders', 'read']), services, orders)
  const { form } = recordPages(adminPages(app, ['Orders', 'write']), services, orders)
  page(address, shownOrder)
  form(`${address}/status`, changeStatus, shownOrder)
  form(`${address}/notes`, saveNotes, shownOrder)
}

async function changeStatus({ caller, id, typed, writing }: Sent<RecordRequest<OrderRecord>>): Promise<string> {
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

const notes = orderService.values.filter(({ path: [name] }) =>
  ['InternalComments', 'ExternalComments'].includes(name ?? ''),
)

async function saveNotes(asked: Sent<RecordRequest<OrderRecord>>): Promise<string> {
  const { caller, id, record, typed, writing } = asked
  const advice = 'What you typed is still in the form. Compare it with the order, and save again'
  const precondition = requireUnchanged(asked, 'order', advice)
  const { body, nameOf } = changesOf({ values: notes, list: null }, typed, record, writing)
  if (Object.keys(body).length === 0) return `/admin/orders/${id}`
  await changeRecord(caller, orders, { kind: 'update', id, body }, { precondition }).catch(inFormFields(nameOf))
  return `/admin/orders/${id}?notice=notes-saved`
}

async function shownOrder({
  caller,
  id,
  record: order,
  typed,
  writing: format,
}: RecordRequest<OrderRecord>): Promise<HtmlPage> {
  const mayReadReturns = mayRead(caller.privileges, rma)
  const [statuses, returned, sharers] = await Promise.all([
    listStatusNames(caller.db, caller.store.id),
    mayReadReturns ? returnsOf(caller, id) : { orderId: id, returns: [], isMore: false },
    sharersOf(caller, [{ id }]),
  ])
  const statusText = textsOf(statuses)
  const figures = orderFigures(order, caller.store.currency)
  const [sent, paid] = await Promise.all([readParcels(caller, order, figures.lines), readPayments(caller, order)])
  const parcels = sent.map((parcel) => ({ ...parcel, shipTo: shipToOf(order, parcel, format) }))
  const payments = paymentsInWords(paid)
  const waiting = parcels.filter((parcel) => !parcel.hasLeft)
  const isLive = holdsStock(order.OrderStatusID)
  const state = {
    ...payments,
    isLive,
    toShip: waiting.flatMap(({ shipment }) => shipment?.ShipmentID ?? []),
    hasLeftInPart: waiting.length < parcels.length,
  }
  const stored = {
    OrderStatusID: String(order.OrderStatusID),
    InternalComments: order.InternalComments,
    ExternalComments: order.ExternalComments,
  }
  return {
    template: '/pages/shop/orders/order',
    title: t('Order {number}', { number: invoiceOf(order) }),
    values: { ...stored, ...typed },
    data: {
      order,
      sameNumber: sharers.get(id),
      actions: actionsOf(state),
      figures,
      discountReasons: discountReasonsOf(order),
      waiting,
      sent: parcels.filter((parcel) => parcel.hasLeft),
      isLive,
      // Without its shipments, an order has the address of its customer alone.
      hasAddress: order.ShipmentList.length > 0 || mayRead(caller.privileges, customers),
      customer: customerOf(order, parcels, format),
      payments,
      returned,
      statuses,
      statusText,
      stockWords: stockWords(order.OrderStatusID, statusText),
      statusIds: { unpaid: statusUnpaid, new: statusNew, shipped: statusShipped },
      timeline: await timelineOf(caller, { orderId: id, parcels, payments, returned, statusText }),
    },
  }
}

/** What took off the discount: the names of promotions, with the code of a coupon. */
function discountReasonsOf({ PromotionList }: OrderRecord): string[] {
  const named = PromotionList.map(({ PromotionName, Coupon }) => [PromotionName, Coupon].filter(Boolean).join(' · '))
  return named.filter((name) => name !== '')
}

/** Where a shipment goes, with the contact that it has beside that of the order. */
function shipToOf(order: OrderRecord, { shipment }: Parcel, format: Format) {
  const own = (value: string | undefined, other: string) => (value === other ? '' : (value ?? ''))
  return {
    lines: format.shippingAddress(order, shipment),
    phone: own(shipment?.ShipmentPhone, order.BillingPhoneNumber),
    email: own(shipment?.ShipmentEmail, order.BillingEmail),
  }
}

/** Who the order is for, and where it goes if all of it goes to one place. */
function customerOf(order: OrderRecord, parcels: readonly { shipTo: ReturnType<typeof shipToOf> }[], format: Format) {
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
  const without = [statusText(statusCancelled), statusText(statusNotCompleted)]
  return holdsStock(statusId)
    ? t('{statuses} put the goods back into stock. Any other status leaves the stock as it is.', {
        statuses: andOf(without),
      })
    : t('Any status but {statuses} takes the goods from stock again.', {
        statuses: andOf(without),
      })
}
