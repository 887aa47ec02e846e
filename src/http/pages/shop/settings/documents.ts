import type { FastifyInstance } from 'fastify'
import type { Actor } from '../../../../access/audit/audit.ts'
import {
  changedDocuments,
  documentLengths,
  readDocuments,
  updateDocuments,
} from '../../../../access/stores/documents.ts'
import { saveLogo } from '../../../../access/stores/logo.ts'
import { locales } from '../../../../foundation/texts/language.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import type { PictureServices } from '../../../../shop/pictures/pictures.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices } from '../../../html/request.ts'
import { receivePicture } from '../../../html/upload.ts'
import { type PageRequest, type Sent, storePages } from '../../frame/pages.ts'

/** What invoices and packing slips have of the store. */
export async function documentsPage({ caller }: PageRequest): Promise<HtmlPage> {
  const { seller, phone, taxNumbers, footer, locale, logo } = await readDocuments(caller.db, caller.store.id)
  return {
    template: '/pages/shop/settings/documents',
    title: t('Invoices and packing slips'),
    values: { Seller: seller, Phone: phone, TaxNumbers: taxNumbers, Footer: footer, Locale: locale ?? '' },
    data: {
      picture: logo,
      choices: [['', t('As for whoever prints them')], ...Object.entries(locales)],
      lengthMax: documentLengths,
    },
  }
}

export async function saveDocuments({ caller, typed }: Sent<PageRequest>, actor: Actor): Promise<void> {
  if (typed.RemoveLogo !== undefined) return saveLogo(caller, null, actor)
  const { Seller, Phone, TaxNumbers, Footer, Locale } = typed
  const given = readInput(changedDocuments, { Seller, Phone, TaxNumbers, Footer, Locale })
  await updateDocuments(caller, given, actor)
}

const address = '/admin/settings/documents'

/** Adds the form that sets the logo. */
export function logoForm(app: FastifyInstance, services: CallerServices & PictureServices): void {
  const { upload } = storePages(adminPages(app, ['Settings', 'write']), services)
  upload(`${address}/logo`, documentsPage, async ({ caller }, reply) => {
    await receivePicture(reply, services, caller.store.id, (path) =>
      // Enough for paper, where it is at most 16 rem wide.
      saveLogo(caller, path.replace(/\d+$/, '480'), actorOf(reply.request)),
    )
    return `${address}?notice=settings-saved#logo`
  })
}
