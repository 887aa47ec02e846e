import type { FastifyInstance, FastifyReply } from 'fastify'
import { mayRead } from '../../../access/applications/privileges.ts'
import { changeRecord } from '../../../engine/changing/change.ts'
import { t } from '../../../foundation/texts/text.ts'
import { canBePutBack } from '../../../shop/csv/undo/back.ts'
import type { PictureServices } from '../../../shop/pictures/pictures.ts'
import type { Privilege } from '../../../shop/staff/roles.ts'
import type { HtmlPage } from '../../html/page.ts'
import { adminPages } from '../../html/page-routes.ts'
import type { CallerServices } from '../../html/request.ts'
import { receivePicture } from '../../html/upload.ts'
import { type Framed, recordPages, storePages } from '../frame/pages.ts'
import type { PageRequest, RecordRequest, Sent } from '../frame/request.ts'
import { create, deletePage, editPage, newPage, remove, save } from './edit-page.ts'
import { eventsPage, kindsOf } from './events.ts'
import { sendFile } from './export.ts'
import { historyPage, putChangeBack, storeHistoryPage } from './history-page.ts'
import { htmlFrame, htmlValues } from './html-frame.ts'
import { forgetView, keepView, listPage } from './list-page.ts'
import { recordPage } from './record-page.ts'
import { suggestions } from './search.ts'
import { seenBy } from './seen.ts'
import { canCreate, type Service } from './services.ts'

type Need = 'read' | 'write' | 'take along'
type Answer<Asked, Result> = (asked: Asked, service: Service, reply: FastifyReply) => Result
type Page<Asked> = Answer<Asked, HtmlPage | Promise<HtmlPage>>

/**
 * What an address of a service needs, how it is asked, where it stands behind the service's own, and its page, or what answers; of a form
 * also what carries it out.
 */
type Row<Asked extends PageRequest> =
  | readonly [need: Need, method: 'page' | 'again', path: string, page: Page<Asked>]
  | readonly [need: Need, method: 'form', path: string, page: Page<Asked>, submit: Answer<Sent<Asked>, Promise<string>>]
  | readonly [need: Need, method: 'get', path: string, answer: Answer<Asked, Promise<unknown>>]

/** The pages of a service's records, by their addresses behind its own. */
const ofList: readonly Row<PageRequest>[] = [
  ['read', 'page', '', listPage],
  ['read', 'form', '/views', listPage, keepView],
  ['read', 'form', '/views/delete', listPage, forgetView],
  ['take along', 'get', '/export', sendFile],
  // Of a record that may be gone.
  ['read', 'page', '/:id/history', historyPage],
]
const ofFields: readonly Row<PageRequest>[] = [['read', 'get', '/search', suggestions]]
const ofPuttingBack: readonly Row<PageRequest>[] = [
  ['write', 'form', '/:id/history/:entry/back', historyPage, putChangeBack],
]
const ofNew: readonly Row<PageRequest>[] = [
  ['write', 'page', '/new', newPage],
  ['write', 'form', '', newPage, create],
]
/** Shows the form again with the records that its words fit, or with the source of what a plain editor holds. */
const ofNewAgain: readonly Row<PageRequest>[] = [['write', 'again', '/new', newPage]]

/** The pages of one record. */
const ofHtml: readonly Row<RecordRequest>[] = [['read', 'get', '/:id/shown', htmlFrame]]
const ofEvents: readonly Row<RecordRequest>[] = [['read', 'page', '/:id/events', eventsPage]]
const ofChanging: readonly Row<RecordRequest>[] = [
  ['write', 'page', '/:id/edit', editPage],
  ['write', 'form', '/:id/edit', editPage, save],
  // Shows the form again with one more row, with the records that its words fit, or with the source of what a plain editor holds.
  ['write', 'again', '/:id/edit/rows', editPage],
]
const ofDeleting: readonly Row<RecordRequest>[] = [
  ['write', 'page', '/:id/delete', deletePage],
  ['write', 'form', '/:id/delete', deletePage, remove],
]

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

/** Adds the pages of one service's records. */
export function servicePagesOf(app: FastifyInstance, services: PagesOfPictures, service: Service): void {
  const { path, resource, special, values } = service
  const reading = adminPages(app, [resource.privilege as Privilege, 'read'])
  const writing = adminPages(app, [resource.privilege as Privilege, 'write'])
  const pages = { read: reading, write: writing, 'take along': special.isFileProved ? reading.proved : reading }
  const seen =
    <Asked extends PageRequest, Result>(answer: Answer<Asked, Result>) =>
    (asked: Asked, reply: FastifyReply) =>
      answer(asked, seenBy(asked.caller.privileges, service), reply)
  const add = <Asked extends PageRequest>(framed: Framed<Asked>, row: Row<Asked>) => {
    const address = path + row[2]
    if (row[1] === 'form') framed.form(address, seen(row[4]), seen(row[3]))
    else if (row[1] === 'get') framed.get(address, seen(row[3]))
    else framed[row[1]](address, seen(row[3]))
  }
  const addAll = (rows: readonly Row<PageRequest>[], isThere = true) => {
    if (isThere) for (const row of rows) add(storePages(pages[row[0]], services), row)
  }
  const addOfOne = (rows: readonly Row<RecordRequest>[], isThere = true) => {
    if (isThere) for (const row of rows) add(recordPages(pages[row[0]], services, resource), row)
  }
  addAll(ofList)
  addAll(ofFields, resource.referrers.length > 0)
  addAll(ofPuttingBack, canBePutBack(resource))
  addAll(ofNew, canCreate(service))
  addAll(ofNewAgain, canCreate(service) && values.some(({ refersTo, field }) => refersTo !== null || field.isHtml))
  addOfOne([['read', 'page', special.recordPath, recordPage]])
  addOfOne(ofHtml, htmlValues(service).length > 0)
  addOfOne(ofEvents, kindsOf(service).length > 0)
  addOfOne(ofChanging, resource.methods.includes('PUT'))
  addOfOne(ofDeleting, resource.methods.includes('DELETE'))
  const { pictureIn } = resource
  if (pictureIn === undefined) return
  recordPages(writing, services, resource).upload(
    `${path}/:id/picture`,
    async ({ caller, id }, reply) => {
      await receivePicture(reply, services, caller.store.id, (picture) => {
        const body = { [pictureIn]: `${services.config.publicUrl}${picture}` }
        return changeRecord(caller, resource, { kind: 'update', id, body })
      })
      return `${path}/${id}?notice=record-saved`
    },
    (asked, reply) => seen(editPage)({ ...asked, typed: null }, reply),
  )
}
