import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import type { Listing } from '../records/listing.ts'
import type { Wire } from '../records/values.ts'

export function invoiceOf(order: Wire): string {
  return `${order.InvoiceNumberPrefix}${order.InvoiceNumber}`
}

export function textsOf(statuses: readonly { id: number; text: string }[]) {
  const texts = new Map(statuses.map(({ id, text }) => [id, text]))
  return (id: number) => texts.get(id) ?? String(id)
}

/** The list of orders: with their invoice numbers, and statuses by their texts. */
export const orderListing: Listing = {
  filters: {},
  labels: {},
  inSight: ['find', 'orderstatus', 'datestart', 'dateend'],
  columns: ['InvoiceNumber', 'OrderDate', 'BillingEmail', 'OrderStatusID', 'OrderAmount'],
  titleOf: invoiceOf,
  files: '/pages/admin/orders/files',
  wordsOf: async ({ db, store }) => {
    const statuses = await listStatuses(db, store.id)
    const statusText = textsOf(statuses)
    return {
      inWords: ['InvoiceNumber', 'OrderStatusID'],
      choices: { OrderStatusID: statuses.map(({ id, text }) => [String(id), text] as const) },
      textOf: (name, order) => {
        if (name === 'InvoiceNumber') return invoiceOf(order)
        return name === 'OrderStatusID' ? statusText(Number(order.OrderStatusID)) : null
      },
    }
  },
}
