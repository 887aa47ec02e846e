import type { Actor } from '../../../../access/audit/audit.ts'
import {
  changedDocuments,
  FOOTER_LENGTH_MAX,
  readDocuments,
  SELLER_LENGTH_MAX,
  TAX_NUMBERS_LENGTH_MAX,
  updateDocuments,
} from '../../../../access/stores/documents.ts'
import { locales } from '../../../../foundation/texts/language.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import type { HtmlPage } from '../../../html/page.ts'
import type { PageRequest, Sent } from '../../frame/request.ts'

/** What invoices and packing slips have of the store. */
export async function documentsPage({ caller }: PageRequest): Promise<HtmlPage> {
  const { seller, taxNumbers, footer, locale } = await readDocuments(caller.db, caller.store.id)
  return {
    template: '/pages/shop/settings/documents',
    title: t('Invoices and packing slips'),
    values: { Seller: seller, TaxNumbers: taxNumbers, Footer: footer, Locale: locale ?? '' },
    data: {
      choices: [['', t('As for whoever prints them')], ...Object.entries(locales)],
      lengthMax: { seller: SELLER_LENGTH_MAX, taxNumbers: TAX_NUMBERS_LENGTH_MAX, footer: FOOTER_LENGTH_MAX },
    },
  }
}

export async function saveDocuments({ caller, typed }: Sent<PageRequest>, actor: Actor): Promise<void> {
  const { Seller, TaxNumbers, Footer, Locale } = typed
  const given = readInput(changedDocuments, { Seller, TaxNumbers, Footer, Locale })
  await updateDocuments(caller, caller.store.id, given, actor)
}
