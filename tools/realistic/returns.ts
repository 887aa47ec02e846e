import type { TransferLine } from '../../src/engine/transfer/import.ts'
import { amountCents, type InvoiceRows, type RetailRow } from './retail-rows.ts'

/** order-statuses §3 */
const statusCompleted = 4
const methodMoneyBack = 1
const reasonOther = 4

export interface PlacedOrder {
  readonly id: number
  readonly date: string
  readonly catalogIds: ReadonlySet<number>
}

/** Finds the order that a return is of, which the file does not say. */
export class CustomerOrders {
  readonly #ordersOf = new Map<number, PlacedOrder[]>()

  /** Guests (0) have no number that would tell one from another. */
  add(customerId: number, order: PlacedOrder): void {
    if (customerId === 0) return
    const orders = this.#ordersOf.get(customerId)
    if (orders) orders.push(order)
    else this.#ordersOf.set(customerId, [order])
  }

  /**
   * Of the customer's orders dated no later than the return, the one that holds the most of the returned products, each
   * counted once and whatever the quantities; of several such the latest, by date and then by number. 0: none holds any.
   */
  orderOf(customerId: number, date: string, catalogIds: ReadonlySet<number>): number {
    let found: { order: PlacedOrder; common: number } | undefined
    for (const order of this.#ordersOf.get(customerId) ?? []) {
      const common = catalogIds.intersection(order.catalogIds).size
      if (common === 0 || order.date > date) continue
      if (!found || common > found.common || (common === found.common && isLater(order, found.order))) {
        found = { order, common }
      }
    }
    return found?.order.id ?? 0
  }
}

function isLater(order: PlacedOrder, than: PlacedOrder): boolean {
  return order.date === than.date ? order.id > than.id : order.date > than.date
}

/** The file does not tell whether goods went back to the shelf: they came back, and no stock moves. */
export function returnLine(rows: InvoiceRows, orderId: number, catalogIdOf: CatalogIdOf): TransferLine {
  const [first] = rows
  return {
    service: 'RMA',
    record: {
      RMAID: Number(first.invoice.slice(1)),
      RmaDate: first.date,
      OrderID: orderId,
      RMAReasonID: reasonOther,
      RMAMethodID: methodMoneyBack,
      RMAStatusID: statusCompleted,
      InternalComments: describeCredit(rows),
      RMAItemList: rows.map((row) => ({
        CatalogID: catalogIdOf(row),
        SKU: row.sku,
        ItemName: row.description,
        ReturnQuantity: -row.quantity,
        ReceivedQuantity: -row.quantity,
        RestockQuantity: 0,
      })),
    },
    private: { LastUpdate: first.date },
  }
}

export type CatalogIdOf = (row: RetailRow) => number

/** What the record has no field for, a name and its value a line; prices in the order of the items. */
function describeCredit(rows: InvoiceRows): string {
  const [{ invoice, customerId, country }] = rows
  return [
    `Invoice: ${invoice}`,
    `Customer: ${customerId || 'guest'}`,
    `Country: ${country}`,
    `Credited: ${(-amountCents(rows) / 100).toFixed(2)}`,
    `Unit prices: ${rows.map(({ priceMilli }) => priceText(priceMilli)).join(', ')}`,
  ].join('\n')
}

/** `1.65`; `0.001` where two decimals do not hold it. */
function priceText(milli: number): string {
  return (milli / 1000).toFixed(3).replace(/0$/, '')
}
