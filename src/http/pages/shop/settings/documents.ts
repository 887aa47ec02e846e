import type { FastifyInstance } from 'fastify'
import type { Actor } from '../../../../access/audit/audit.ts'
import {
  changedDocuments,
  documentLengths,
  readDocuments,
  updateDocuments,
} from '../../../../access/stores/documents.ts'
import { saveLogo } from '../../../../access/stores/logo.ts'
import { PICTURE_BYTES_MAX, type WIDTHS } from '../../../../foundation/pictures/bounds.ts'
import { locales } from '../../../../foundation/texts/language.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import type { PictureServices } from '../../../../shop/pictures/pictures.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices } from '../../../html/request.ts'
import { receivePicture, takeUploads } from '../../../html/upload.ts'
import { readRequest } from '../../frame/pages.ts'
import type { PageRequest, Sent } from '../../frame/request.ts'

/** Enough for paper, where it is at most 16 rem wide. */
const LOGO_WIDTH: (typeof WIDTHS)[number] = 480

/** What invoices and packing slips have of the store. */
export async function documentsPage({ caller }: PageRequest): Promise<HtmlPage> {
  const { seller, phone, taxNumbers, footer, locale, logo } = await readDocuments(caller.db, caller.store.id)
  return {
    template: '/pages/shop/settings/documents',
    title: t('Invoices and packing slips'),
    values: { Seller: seller, Phone: phone, TaxNumbers: taxNumbers, Footer: footer, Locale: locale ?? '' },
    data: {
      picture: logo,
      megabytes: PICTURE_BYTES_MAX / 1024 ** 2,
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
  app.register(async (scope) => {
    takeUploads(scope)
    adminPages(scope, ['Settings', 'write']).upload(
      `${address}/logo`,
      async (request, reply) => {
        const { caller } = readRequest(request, services)
        await receivePicture(reply, services, caller.store.id, (path) =>
          saveLogo(caller, path.replace(/\d+$/, String(LOGO_WIDTH)), actorOf(request)),
        )
        return `${address}?notice=settings-saved#logo`
      },
      (request) => documentsPage(readRequest(request, services)),
    )
  })
}
