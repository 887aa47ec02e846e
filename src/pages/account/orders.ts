import type { Prisma } from '../../database/generated/client.ts'
import { getRecord, notFound } from '../../engine/read.ts'
import { postalAddress } from '../../html/format.ts'
import type { CallerServices } from '../../html/principals.ts'
import type { Person } from '../../people/sessions.ts'
import { readStatusTexts, type StatusTexts } from '../../resources/order-statuses/status-texts.ts'
import { orders } from '../../resources/orders/orders.ts'
import { type OrderAmounts, orderFigures } from '../order-figures.ts'

export type Customer = Extract<Person, { kind: 'customer' }>

export interface OrderPage {
  readonly limit: number
  /** The id of the last order of the previous page. Omitted: the newest orders. */
  readonly before?: number | undefined
}

/** Lists the customer's orders, newest first. */
export async function listCustomerOrders(
  services: CallerServices,
  customer: Customer,
  { limit, before }: OrderPage,
): Promise<CustomerOrder[]> {
  const { id, store } = customer
  const rows = await services.db.order.findMany({
    where: { storeId: store.id, customerId: id, ...(before !== undefined && { id: { lt: before } }) },
    select: shownColumns,
    orderBy: { id: 'desc' },
    take: limit,
  })
  const statuses = await readStatusTexts({ db: services.db, store: customer.store })
  return rows.map((row) => orderOf(row, statuses))
}

const shownColumns = {
  id: true,
  invoicePrefix: true,
  invoiceNumber: true,
  orderDate: true,
  statusId: true,
  orderAmount: true,
} as const

export type CustomerOrder = ReturnType<typeof orderOf>

/** Returns an order as its customer sees it: the merchant's text as status, amounts in the store's currency. */
function orderOf(row: Prisma.OrderGetPayload<{ select: typeof shownColumns }>, statuses: StatusTexts) {
  return {
    id: row.id,
    invoice: `${row.invoicePrefix}${row.invoiceNumber}`,
    date: row.orderDate,
    status: statuses.textOf(row.statusId),
    total: row.orderAmount.toNumber(),
  }
}

export type CustomerOrderDetails = Awaited<ReturnType<typeof customerOrderDetails>>

/** Returns one order with its lines and shipments. Throws for an order that is not the customer's (404). */
export async function customerOrderDetails(services: CallerServices, customer: Customer, id: number) {
  const { store } = customer
  const row = await services.db.order.findFirst({
    where: { storeId: store.id, id, customerId: customer.id },
    select: shownColumns,
  })
  if (!row) throw notFound(orders, id)
  const caller = {
    store,
    application: null,
    channel: 'customer' as const,
    privileges: null,
    actor: '',
    ...services,
  }
  const record = JSON.parse(await getRecord(caller, orders, id)) as OrderRecord
  const statuses = await readStatusTexts({ db: services.db, store: customer.store })
  return {
    ...orderOf(row, statuses),
    ...orderFigures(record),
    shipments: record.ShipmentList.map((shipment) => shipmentOf(shipment, statuses)),
    comments: record.CustomerComments,
  }
}

/** The fields used of the order's record. It has others for the merchant only, such as costs and internal comments. */
interface OrderRecord extends OrderAmounts {
  readonly ShipmentList: readonly ShipmentRecord[]
  readonly CustomerComments: string
}

interface ShipmentRecord {
  readonly ShipmentCost: number
  readonly ShipmentOrderStatus: number
  readonly ShipmentMethodName: string
  readonly ShipmentShippedDate: string
  readonly ShipmentTrackingCode: string
}

function shipmentOf(shipment: ShipmentRecord, statuses: StatusTexts) {
  return {
    method: shipment.ShipmentMethodName,
    status: statuses.textOf(shipment.ShipmentOrderStatus),
    /** As entered. Empty: not shipped yet. */
    shippedDate: shipment.ShipmentShippedDate,
    trackingCode: shipment.ShipmentTrackingCode,
    address: postalAddress(shipment, 'Shipment'),
  }
}
