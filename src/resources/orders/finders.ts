import { sql, storeId } from '../../database/sql.ts'
import { byFilter, byWords, type Finder, RANK_ITEM, RANK_NAME } from '../../engine/definition/finders.ts'
import { sourcesFor } from '../searched-words.ts'
import { hasInvoiceNumber, isInvoiceNumber } from './shown-invoice-number.ts'

const invoices = byFilter('Order', hasInvoiceNumber)

/** With or without its prefix and a `#`. */
const byInvoice: Finder = {
  rank: RANK_NAME,
  ids: (text, seeker) => {
    const number = text.replace(/^#\s*/, '')
    return isInvoiceNumber(number) ? invoices.ids(number, seeker) : null
  },
}

/** By the whole SKU of one of its lines. */
const bySku: Finder = {
  rank: RANK_ITEM,
  ids: (text, { store }) =>
    sql`SELECT i."orderId" AS "id" FROM "OrderItem" i WHERE i."storeId" = ${storeId(store)} AND lower(i."sku") = lower(${text})`,
}

/** How people find an order: by its invoice, a SKU, names, addresses, telephone numbers, parcels and payments. */
export const orderFinders: readonly Finder[] = [byInvoice, bySku, ...byWords('Orders', sourcesFor)]
