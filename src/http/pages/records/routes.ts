import type { FastifyInstance, FastifyReply } from 'fastify'
import { mayRead } from '../../../access/applications/privileges.ts'
import { changeRecord } from '../../../engine/changing/change.ts'
import { t } from '../../../foundation/texts/text.ts'
import { canBePutBack } from '../../../shop/csv/undo/back.ts'
import type { PictureServices } from '../../../shop/pictures/pictures.ts'
import type { Privilege } from '../../../shop/staff/roles.ts'
import { adminPages } from '../../html/page-routes.ts'
import type { CallerServices } from '../../html/request.ts'
import { receivePicture } from '../../html/upload.ts'
import { type PageRequest, type RecordRequest, recordPages, storePages } from '../frame/pages.ts'
import { create, deletePage, editPage, newPage, remove, save } from './edit-page.ts'
import { eventsPage, kindsOf } from './events.ts'
import { sendFile } from './export.ts'
import { historyPage, putChangeBack, storeHistoryPage } from './history-page.ts'
import { htmlFrame, htmlValues } from './html-frame.ts'
import { forgetView, keepView, listPage } from './list-page.ts'
import { recordPage } from './record-page.ts'
import { suggestions } from './search.ts'
import { seenBy } from './seen.ts'
import type { Service } from './services.ts'

export type PagesOfPictures = CallerServices & PictureServices

/** Adds the pages of the records of all these services. */
export function servicePages(app: FastifyInstance, services: PagesOfPictures, all: readonly Service[]): void {
  storePages(adminPages(app), services).page('/admin/records', ({ caller: { privileges } }) => {
    const data = { services: all.filter(({ resource }) => mayRead(privileges, resource)) }
    return { template: '/pages/records/index', title: t('More records'), data }
  })
  storePages(adminPages(app, ['Settings', 'read']), services).page('/admin/history', storeHistoryPage)
  for (const service of all) servicePagesOf(app, services, service)
}

/** Adds the pages of one service's records, by their addresses behind its own. */
export function servicePagesOf(app: FastifyInstance, services: PagesOfPictures, service: Service): void {
  const privilege = service.resource.privilege as Privilege
  const [reading, writing] = [adminPages(app, [privilege, 'read']), adminPages(app, [privilege, 'write'])]
  listPages(reading, writing, services, service)
  pagesOfOne(reading, writing, services, service)
}

type Pages = ReturnType<typeof adminPages>

/** Answers with the service as whoever asks sees it. */
function seenIn(service: Service) {
  return <Asked extends PageRequest, Result>(answer: (asked: Asked, seen: Service, reply: FastifyReply) => Result) =>
    (asked: Asked, reply: FastifyReply) =>
      answer(asked, seenBy(asked.caller.privileges, service), reply)
}

function listPages(reading: Pages, writing: Pages, services: PagesOfPictures, service: Service): void {
  const { path, resource, special, values } = service
  const seen = seenIn(service)
  const { page, form, get } = storePages(reading, services)
  const changing = storePages(writing, services)
  page(path, seen(listPage))
  form(`${path}/views`, seen(listPage), seen(keepView))
  form(`${path}/views/delete`, seen(listPage), seen(forgetView))
  storePages(special.isFileProved ? reading.proved : reading, services).get(`${path}/export`, seen(sendFile))
  if (resource.referrers.length > 0) get(`${path}/search`, seen(suggestions))
  // Of a record that may be gone.
  page(`${path}/:id/history`, seen(historyPage))
  if (canBePutBack(resource)) {
    changing.form(`${path}/:id/history/:entry/back`, seen(historyPage), seen(putChangeBack))
  }
  if (!resource.methods.includes('POST')) return
  changing.page(`${path}/new`, seen(newPage))
  changing.form(path, seen(newPage), seen(create))
  const isShownAgain = values.some(({ refersTo, field }) => refersTo !== null || field.isHtml)
  // With the records that its words fit, or with the source of what a plain editor holds.
  if (isShownAgain) changing.again(`${path}/new`, seen(newPage))
}

function pagesOfOne(reading: Pages, writing: Pages, services: PagesOfPictures, service: Service): void {
  const { path, resource, special } = service
  const { methods, pictureIn } = resource
  const seen = seenIn(service)
  const { page, get } = recordPages(reading, services, resource)
  const { pair, again, upload } = recordPages(writing, services, resource)
  page(path + special.recordPath, seen(recordPage))
  if (htmlValues(service).length > 0) get(`${path}/:id/shown`, seen(htmlFrame))
  if (kindsOf(service).length > 0) page(`${path}/:id/events`, seen(eventsPage))
  if (methods.includes('DELETE')) pair(`${path}/:id/delete`, seen(deletePage), seen(remove))
  if (!methods.includes('PUT')) return
  pair(`${path}/:id/edit`, seen(editPage), seen(save))
  // With one more row, with the records that its words fit, or with the source of what a plain editor holds.
  again(`${path}/:id/edit/rows`, seen(editPage))
  if (pictureIn === undefined) return
  const editAnew = seen((asked: RecordRequest, own: Service) => editPage({ ...asked, typed: null }, own))
  upload(`${path}/:id/picture`, editAnew, async ({ caller, id }, reply) => {
    await receivePicture(reply, services, caller.store.id, (picture) => {
      const body = { [pictureIn]: `${services.config.publicUrl}${picture}` }
      return changeRecord(caller, resource, { kind: 'update', id, body })
    })
    return `${path}/${id}?notice=record-saved`
  })
}
