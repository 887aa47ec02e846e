import type { Caller } from '../../../engine/caller.ts'
import type { Form } from '../../../html/request.ts'
import type { StockEffect } from './rehearse.ts'

/** The returns of an order that pages show. */
const RETURNS_MAX = 100

/** The latest returns of an order: for `returns.eta`. */
export async function returnsOf({ db, store }: Caller, orderId: number) {
  const rows = await db.rma.findMany({
    where: { storeId: store.id, orderId },
    select: {
      id: true,
      rmaDate: true,
      statusId: true,
      items: {
        select: { sku: true, returnQuantity: true, receivedQuantity: true, restockQuantity: true },
        orderBy: { position: 'asc' },
      },
    },
    orderBy: { id: 'desc' },
    take: RETURNS_MAX + 1,
  })
  const returns = rows.slice(0, RETURNS_MAX).map(({ items, ...row }) => ({
    ...row,
    items: items.map(({ sku, ...item }) => ({
      sku,
      returned: Number(item.returnQuantity),
      received: Number(item.receivedQuantity),
      restocked: Number(item.restockQuantity),
    })),
  }))
  return { orderId, returns, isMore: rows.length > RETURNS_MAX }
}

/** What a form of a return shows instead of what is stored. */
export interface ShownReturn {
  readonly typed?: Form | null
  readonly isOutdated?: boolean
  readonly stock?: readonly StockEffect[] | null
}

export interface ReturnedOrder {
  readonly InvoiceNumberPrefix: string
  readonly InvoiceNumber: number
  readonly OrderStatusID: number
}
