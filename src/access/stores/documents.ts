import { z } from 'zod'
import type { Caller } from '../../engine/caller.ts'
import { type DataServices, inTransaction } from '../../foundation/database/client.ts'
import { isLocale, localeTags } from '../../foundation/texts/language.ts'
import { lines, namedObject, text } from '../../foundation/values/input.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { logoAddress, withLogo } from './logo.ts'

export const documentLengths = { seller: 500, phone: 50, taxNumbers: 200, footer: 1_000 } as const

/** The form of the settings. An empty Locale: as for who prints them. */
export const changedDocuments = namedObject({
  Seller: lines(documentLengths.seller),
  Phone: text(documentLengths.phone, 0),
  TaxNumbers: lines(documentLengths.taxNumbers),
  Footer: lines(documentLengths.footer),
  Locale: z.enum(
    ['', ...localeTags],
    `must be one of ${localeTags.join(', ')}, or empty for the language of who prints`,
  ),
})

const columns = {
  documentSeller: true,
  documentPhone: true,
  documentTaxNumbers: true,
  documentFooter: true,
  documentLocale: true,
} as const

/** Reads what invoices and packing slips have of the store, beside the order. */
export async function readDocuments(db: Caller['db'], storeId: number) {
  const row = await db.store.findUniqueOrThrow({ where: { id: storeId }, select: { ...columns, ...withLogo } })
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
    logo: logoAddress(storeId, row),
  }
}

/** Sets what documents have of the store from now on, also those of former orders. The audit log has what was changed. */
export async function updateDocuments(
  { db, now }: DataServices,
  storeId: number,
  given: z.output<typeof changedDocuments>,
  actor: Actor,
): Promise<void> {
  const data = {
    documentSeller: given.Seller,
    documentPhone: given.Phone,
    documentTaxNumbers: given.TaxNumbers,
    documentFooter: given.Footer,
    documentLocale: given.Locale === '' ? null : given.Locale,
  }
  await inTransaction(db, async (tx) => {
    await tx.$executeRaw`SELECT FROM "Store" WHERE "id" = ${storeId}::int FOR NO KEY UPDATE`
    const before = await tx.store.findUniqueOrThrow({ where: { id: storeId }, select: { ...columns, name: true } })
    const changed = (Object.keys(data) as (keyof typeof data)[]).filter((name) => before[name] !== data[name])
    if (changed.length === 0) return
    await tx.store.update({ where: { id: storeId }, data })
    const details = Object.fromEntries(
      changed.map((name) => [name, { from: before[name] || null, to: data[name] || null }]),
    )
    await recordAudit(tx, now, { actor, target: before.name, storeId, action: 'store.changed', details })
  })
}
