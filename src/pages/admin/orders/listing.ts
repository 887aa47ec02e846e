import { allows } from '../../../applications/privileges.ts'
import type { Privileges } from '../../../engine/caller.ts'
import { exactly, type Filter } from '../../../engine/definition/filters.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import { listStatuses } from '../../../resources/order-statuses/status-texts.ts'
import { hasInvoiceNumber, isInvoiceNumber } from '../../../resources/orders/shown-invoice-number.ts'
import type { Listing } from '../records/listing.ts'
import type { Wire } from '../records/values.ts'

const hasEmail = exactly('billingEmail')

/**
 * Finds orders by what a customer says of one: the invoice number, with its prefix or without, or the e-mail address, which only those
 * may look for who may read customers.
 */
function findBy(mayReadCustomers: boolean): Filter {
  return {
    kind: 'text',
    read: (given, name, store) => {
      if (mayReadCustomers && given.includes('@')) return hasEmail.read(given, name, store)
      if (isInvoiceNumber(given)) return hasInvoiceNumber.read(given, name, store)
      const orEmail = mayReadCustomers ? ', or a whole e-mail address' : ''
      throw wrongField(name, `must be an invoice number such as AB-1000${orEmail}`)
    },
  }
}

export function invoiceOf(order: Wire): string {
  return `${order.InvoiceNumberPrefix}${order.InvoiceNumber}`
}

export function textsOf(statuses: readonly { id: number; text: string }[]) {
  const texts = new Map(statuses.map(({ id, text }) => [id, text]))
  return (id: number) => texts.get(id) ?? String(id)
}

/** The list of orders: with their invoice numbers, and statuses by their texts. */
export function orderListing(privileges: Privileges): Listing {
  const mayReadCustomers = allows(privileges, 'Customers', 'read')
  return {
    ...listing,
    filters: { find: findBy(mayReadCustomers) },
    labels: { find: mayReadCustomers ? 'Invoice number or e-mail' : 'Invoice number' },
  }
}

const listing: Omit<Listing, 'filters' | 'labels'> = {
  inSight: ['find', 'orderstatus', 'datestart', 'dateend'],
  columns: ['InvoiceNumber', 'OrderDate', 'BillingEmail', 'OrderStatusID', 'OrderAmount'],
  titleOf: invoiceOf,
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
