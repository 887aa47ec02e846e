import { byFilter, byWords, type Finder, RANK_ITEM, RANK_NAME } from '../../../engine/definition/finders.ts'
import { sql, storeId } from '../../../foundation/database/sql.ts'
import { sourcesFor } from '../searched-words.ts'
import { isInvoiceNumber, looksLikeInvoiceNumber } from './shown-invoice-number.ts'

const invoices = byFilter('Order', looksLikeInvoiceNumber)

/** With or without its prefix and a `#`, however the two are separated. */
const byInvoice: Finder = {
  rank: RANK_NAME,
  ids: (text, seeker, max) => {
    const number = text.replace(/^#\s*/, '')
    return isInvoiceNumber(number) ? invoices.ids(number, seeker, max) : null
  },
}

const words = byWords('Orders', sourcesFor)
const [byBeginnings] = words

// The words have no digits.
const numberFirst = /^(?<number>.*\d)\s+(?<name>\D+)$/u
const numberLast = /^(?<name>\D+)\s(?<number>\S*\d)$/u

/** By its invoice and words beside it, such as `1002 abshire`. */
const byInvoiceAndWords: Finder = {
  rank: RANK_NAME,
  ids: (text, seeker) => {
    const { number = '', name = '' } = (numberFirst.exec(text) ?? numberLast.exec(text))?.groups ?? {}
    const numbered = byInvoice.ids(number, seeker, Number.POSITIVE_INFINITY)
    const named = byBeginnings.ids(name, seeker, Number.POSITIVE_INFINITY)
    if (numbered === null || named === null) return null
    // Few orders have the number, and only their words are read.
    return sql`SELECT n."id" FROM (${numbered}) n WHERE EXISTS (SELECT 1 FROM (${named}) w WHERE w."id" = n."id")`
  },
}

/** By the whole SKU of one of its lines. */
const bySku: Finder = {
  rank: RANK_ITEM,
  ids: (text, { store }) =>
    sql`SELECT i."orderId" AS "id" FROM "OrderItem" i WHERE i."storeId" = ${storeId(store)} AND lower(i."sku") = lower(${text})`,
}

/** How people find an order: by its invoice, a SKU, names, addresses, telephone numbers, parcels and payments. */
export const orderFinders: readonly Finder[] = [byInvoice, byInvoiceAndWords, bySku, ...words]
