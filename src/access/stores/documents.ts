import { z } from 'zod'
import type { Caller } from '../../engine/caller.ts'
import { inStoreTransaction } from '../../foundation/database/client.ts'
import { isLocale, localeTags } from '../../foundation/texts/language.ts'
import { lines, namedObject, text } from '../../foundation/values/input.ts'
import type { Actor } from '../audit/audit.ts'
import { changeStore } from './change-store.ts'
import { logoAddress, logoColumns } from './logo.ts'

export const documentLengths = { seller: 500, phone: 50, taxNumbers: 200, footer: 1_000 } as const

const locales = `must be one of ${localeTags.join(', ')}, or empty for the language of who prints`

/** The form of the settings. An empty Locale: as for who prints them. */
export const changedDocuments = namedObject({
  Seller: lines(documentLengths.seller),
  Phone: text(documentLengths.phone, 0),
  TaxNumbers: lines(documentLengths.taxNumbers),
  Footer: lines(documentLengths.footer),
  Locale: z.enum(['', ...localeTags], locales),
})

/** Reads what invoices and packing slips have of the store, beside the order. */
export async function readDocuments(db: Caller['db'], storeId: number) {
  const { formerLogo } = logoColumns
  const row = await db.store.findUniqueOrThrow({ where: { id: storeId }, include: { formerLogo } })
  const { documentLocale: locale } = row
  return {
    /** The name and address of the seller, in lines. Empty: none are given. */
    seller: row.documentSeller,
    phone: row.documentPhone,
    taxNumbers: row.documentTaxNumbers,
    /** At the foot of an invoice, in lines. */
    footer: row.documentFooter,
    /** How they are written. Null: as for who prints them. */
    locale: locale !== null && isLocale(locale) ? locale : null,
    /** The address of the logo. Null: there is none. */
    logo: logoAddress(row),
  }
}

/** Sets what documents have of the store from now on, also those of former orders. */
export async function updateDocuments(caller: Caller, given: z.output<typeof changedDocuments>, actor: Actor) {
  const data = {
    documentSeller: given.Seller,
    documentPhone: given.Phone,
    documentTaxNumbers: given.TaxNumbers,
    documentFooter: given.Footer,
    documentLocale: given.Locale || null,
  }
  await inStoreTransaction(caller, (tx) => changeStore(tx, caller, { actor, data }))
}
