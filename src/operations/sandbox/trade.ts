import type { Caller } from '../../engine/caller.ts'
import { changeRecord } from '../../engine/changing/change.ts'
import type { RecordOf } from '../../engine/definition/record-of.ts'
import type { NestedSubResource } from '../../engine/definition/resource.ts'
import { getRecord } from '../../engine/reading/read.ts'
import { queryRows } from '../../foundation/database/client.ts'
import { type Sql, sql, storeId } from '../../foundation/database/sql.ts'
import { writeDate } from '../../foundation/values/dates.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { type OrderRecord, orders } from '../../shop/resources/orders/orders.ts'
import { placeOrder } from '../../shop/resources/orders/place-order.ts'
import { readConsignment, shipGoods } from '../../shop/resources/orders/ship.ts'
import { statusNew, statusProcessing, statusShipped, statusUnpaid } from '../../shop/resources/orders/statuses.ts'
import { correctStock } from '../../shop/resources/products/inventory.ts'
import { rma } from '../../shop/resources/rma/rma.ts'

// What happens in a shop, at the press of a button: by the functions that the administration and programs use, so that events follow.

/** What can be made to happen. */
export const changeKindNames = ['order', 'payment', 'shipment', 'stock', 'return'] as const
export type ChangeKind = (typeof changeKindNames)[number]

/** What has happened. */
interface SimulatedChange {
  /** A sentence without its full stop. */
  readonly words: string
  /** The page of the record in the store's administration. */
  readonly page: string
}

/**
 * Makes something happen in the store, to records that it has. What it needs happens before: an order to be paid is placed if none
 * waits for its payment. Throws a 409 where the store has nothing that it could happen to.
 */
export function simulateChange(caller: Caller, kind: ChangeKind): Promise<SimulatedChange> {
  return { order: sell, payment: pay, shipment: ship, stock: count, return: sendBack }[kind](caller)
}

const LINES_MAX = 3
/** Half of the products may ask for options. */
const TRIES_MAX = 30

const sellable = sql`NOT "notForSale" AND NOT "hide" AND NOT "giftCertificate" AND "accessGroupId" IS NULL AND "stock" >= ${LINES_MAX}
  AND NOT EXISTS (SELECT FROM "AdvancedOption" o WHERE o."storeId" = t."storeId" AND o."productId" = t."id")`

/** Places an order. Of products that ask for options, or that others have bought meanwhile, it takes others. */
async function sell(caller: Caller): Promise<SimulatedChange> {
  const { store } = caller
  let refusal: unknown = new StoreFailure('invalid-state', 'The store has no product that can be sold: reset it')
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const lines = tries < LINES_MAX ? 1 + Math.floor(Math.random() * LINES_MAX) : 1
    const products = await some(caller, sql`"Product"`, sellable, lines)
    const [customerId] = await some(caller, sql`"Customer"`, sql`"enabled" AND "email" IS NOT NULL`, 1)
    if (products.length === 0) break
    const body = {
      ...(customerId === undefined ? guest : { CustomerID: customerId }),
      OrderItemList: products.map((id) => ({ CatalogID: id, ItemQuantity: 1 + Math.floor(Math.random() * 2) })),
    }
    try {
      const { id, invoicePrefix, invoiceNumber, orderAmount } = await placeOrder(caller, body)
      const words = `Order ${invoicePrefix}${invoiceNumber} of ${orderAmount} ${store.currency} was placed`
      return { words, page: orderPage(id) }
    } catch (error) {
      if (!(error instanceof StoreFailure) || error.code === 'unavailable') throw error
      refusal = error
    }
  }
  throw refusal
}

const guest = { BillingFirstName: 'Pat', BillingLastName: 'Guest', BillingEmail: 'guest@customers.example' }

/** Pays the newest order that waits for its payment, whereupon it is New. */
async function pay(caller: Caller): Promise<SimulatedChange> {
  const { id, number } = await newestOrder(caller, [statusUnpaid], () => sell(caller))
  const { OrderAmount, BillingPaymentMethod } = JSON.parse(await getRecord(caller, orders, id))
  const list = orders.subResources.Transactions as NestedSubResource
  const body = {
    TransactionDateTime: writeDate(caller.now(), caller.store.timeZone),
    TransactionType: 'Sale',
    TransactionMethod: BillingPaymentMethod,
    TransactionAmount: OrderAmount,
    TransactionReference: `test-${id}`,
    TransactionCaptured: '1',
  }
  const precondition = whileIn([statusUnpaid])
  await changeRecord(caller, orders, { kind: 'add-item', id, list, body }, { precondition })
  await changeRecord(caller, orders, { kind: 'update', id, body: { OrderStatusID: statusNew } }, { precondition })
  return { words: `Order ${number} was paid: ${OrderAmount} ${caller.store.currency}`, page: orderPage(id) }
}

const toBeShipped = [statusNew, statusProcessing]

/** Ships what has not left of the newest order that is New or Processing. */
async function ship(caller: Caller): Promise<SimulatedChange> {
  const { id, number } = await newestOrder(caller, toBeShipped, () => pay(caller))
  const { ShipmentList, OrderItemList } = JSON.parse(await getRecord(caller, orders, id)) as OrderRecord
  const shipment = ShipmentList.find(({ ShipmentShippedDate }) => ShipmentShippedDate === '')
  if (shipment === undefined) throw new StoreFailure('invalid-state', `Order ${number} has nothing left to ship`)
  const { ShipmentID: shipmentId } = shipment
  const isInside = (itemShipmentId: number) => ShipmentList.length === 1 || itemShipmentId === shipmentId
  const lines = OrderItemList.filter(({ ItemShipmentID }) => isInside(ItemShipmentID))
  const quantities = new Map(lines.map(({ ItemIndexID, ItemQuantity }) => [ItemIndexID, ItemQuantity]))
  const [year, month, day] = writeDate(caller.now(), caller.store.timeZone).slice(0, 10).split('-')
  const trackingCode = `TEST${String(id).padStart(8, '0')}`
  const consignment = readConsignment(caller, {
    ShipmentShippedDate: `${month}/${day}/${year}`,
    ShipmentTrackingCode: trackingCode,
    ShipmentMethodName: 'Parcel',
  })
  await shipGoods(caller, id, { shipmentId, quantities, consignment }, whileIn(toBeShipped))
  return { words: `Order ${number} was shipped, with the tracking number ${trackingCode}`, page: orderPage(id) }
}

const STOCK_CHANGE_MAX = 5

/** Adds some to the stock of a product, or takes some off it, as somebody does who has counted it. */
async function count(caller: Caller): Promise<SimulatedChange> {
  const [productId] = await some(caller, sql`"Product"`, sellable, 1)
  if (productId === undefined)
    throw new StoreFailure('invalid-state', 'The store has no product with a stock: reset it')
  const quantity = (1 + Math.floor(Math.random() * STOCK_CHANGE_MAX)) * (Math.random() < 0.5 ? -1 : 1)
  const correction = { productId, optionCode: null, cause: 'adjust', quantity, note: 'Counted' } as const
  await correctStock(caller, correction, () => {})
  const [product] = await queryRows<{ sku: string; stock: number }>(caller.db)`
    SELECT "sku", "stock"::float8 AS "stock" FROM "Product" WHERE "storeId" = ${caller.store.id}::int AND "id" = ${productId}::int`
  const change = quantity > 0 ? `went up by ${quantity}` : `went down by ${-quantity}`
  const words = `The stock of ${product?.sku} ${change}, to ${product?.stock}`
  return { words, page: `/admin/products/${productId}/stock` }
}

/** Takes in the oldest return that waits for its goods, and puts them back into stock; if none does, agrees to one of a shipped order. */
async function sendBack(caller: Caller): Promise<SimulatedChange> {
  const [open] = await queryRows<{ id: number; orderId: number }>(caller.db)`
    SELECT r."id", r."orderId" FROM "Rma" r
    WHERE r."storeId" = ${storeId(caller.store)} AND r."statusId" = ${RETURN_OPEN}::int AND r."orderId" IS NOT NULL AND NOT EXISTS (
      SELECT FROM "RmaItem" i WHERE i."storeId" = r."storeId" AND i."rmaId" = r."id" AND i."receivedQuantity" > 0)
    ORDER BY r."id" LIMIT 1`
  if (open) return receive(caller, open)
  const returned = sql`NOT EXISTS (SELECT FROM "Rma" r WHERE r."storeId" = t."storeId" AND r."orderId" = t."id")
    AND EXISTS (SELECT FROM "OrderItem" i WHERE i."storeId" = t."storeId" AND i."orderId" = t."id" AND i."productId" IS NOT NULL)`
  const { id, number } = await newestOrder(caller, [statusShipped], () => ship(caller), returned)
  const [line] = await queryRows<{ productId: number; sku: string; quantity: number }>(caller.db)`
    SELECT "productId", "sku", "quantity"::float8 AS "quantity" FROM "OrderItem"
    WHERE "storeId" = ${caller.store.id}::int AND "orderId" = ${id}::int AND "productId" IS NOT NULL ORDER BY "id" LIMIT 1`
  if (line === undefined) throw new StoreFailure('invalid-state', `Order ${number} has nothing that could be sent back`)
  const item = { CatalogID: line.productId, SKU: line.sku, ReturnQuantity: Math.min(1, line.quantity) }
  const body = { OrderID: id, RMAStatusID: RETURN_OPEN, Comments: 'Does not fit', RMAItemList: [item] }
  const rmaId = await changeRecord(caller, rma, { kind: 'create', body })
  return { words: `Return ${rmaId} of order ${number} was agreed to`, page: `/admin/orders/${id}/returns/${rmaId}` }
}

/** The first statuses of a return; what they mean is up to the store (order-statuses §3). */
const RETURN_OPEN = 1
const RETURN_RECEIVED = 2

async function receive(caller: Caller, { id, orderId }: { id: number; orderId: number }): Promise<SimulatedChange> {
  const { RMAItemList } = JSON.parse(await getRecord(caller, rma, id)) as RecordOf<typeof rma>
  const items = RMAItemList.map((item) => ({
    ...item,
    ReceivedQuantity: item.ReturnQuantity,
    RestockQuantity: item.ReturnQuantity,
  }))
  const body = { RMAStatusID: RETURN_RECEIVED, RMAItemList: items }
  const precondition = (text: string) => {
    if (JSON.parse(text).RMAStatusID !== RETURN_OPEN) throw wasChanged()
  }
  await changeRecord(caller, rma, { kind: 'update', id, body }, { precondition })
  return {
    words: `The goods of return ${id} came back, and are in stock again`,
    page: `/admin/orders/${orderId}/returns/${id}`,
  }
}

function orderPage(id: number): string {
  return `/admin/orders/${id}`
}

function wasChanged(): StoreFailure {
  return new StoreFailure('invalid-state', 'Somebody else was faster: try again')
}

/** Refuses an order that has left these statuses since it was looked for. */
function whileIn(statuses: readonly number[]) {
  return (text: string) => {
    if (!statuses.includes(JSON.parse(text).OrderStatusID)) throw wasChanged()
  }
}

/** The newest order in one of the statuses; `make` makes one if there is none. */
async function newestOrder(
  caller: Caller,
  statuses: readonly number[],
  make: () => Promise<unknown>,
  condition: Sql = sql`true`,
): Promise<{ id: number; number: string }> {
  const look = async () => {
    const [found] = await queryRows<{ id: number; number: string }>(caller.db)`
      SELECT t."id", t."invoicePrefix" || t."invoiceNumber" AS "number" FROM "Order" t
      WHERE t."storeId" = ${storeId(caller.store)} AND t."statusId" = ANY (${[...statuses]}::int[]) AND ${condition}
      ORDER BY t."id" DESC LIMIT 1`
    return found
  }
  const found = (await look()) ?? (await make().then(look))
  if (!found) throw new StoreFailure('invalid-state', 'The store has no order that this could happen to')
  return found
}

/** Ids of at most `limit` records of a table, from a place by chance on. */
async function some(caller: Caller, table: Sql, condition: Sql, limit: number): Promise<number[]> {
  const from = (least: number) =>
    queryRows<{ id: number }>(caller.db)`
      SELECT t."id" FROM ${table} t WHERE t."storeId" = ${storeId(caller.store)} AND t."id" >= ${least}::int AND ${condition}
        ORDER BY t."id" LIMIT ${limit}::int`
  const [last] = await queryRows<{ id: number | null }>(caller.db)`
    SELECT max("id") AS "id" FROM ${table} WHERE "storeId" = ${storeId(caller.store)}`
  const found = await from(1 + Math.floor(Math.random() * (last?.id ?? 0)))
  const rows = found.length > 0 ? found : await from(0)
  return rows.map(({ id }) => id)
}
