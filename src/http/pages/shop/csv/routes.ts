import type { FastifyInstance } from 'fastify'
import type { CsvImports } from '../../../../shop/csv/apply/runner.ts'
import { cancelImport } from '../../../../shop/csv/lines/imports.ts'
import { putBack } from '../../../../shop/csv/undo/back.ts'
import type { Privilege } from '../../../../shop/staff/roles.ts'
import { adminPages } from '../../../html/page-routes.ts'
import type { CallerServices } from '../../../html/request.ts'
import { type PageRequest, storePages } from '../../frame/pages.ts'
import { canImport, type Service } from '../../records/services.ts'
import { shopServices } from '../services.ts'
import { sendProblems, sendTemplate } from './files.ts'
import { applyChanges, importOf, importPage, importsPage } from './import-page.ts'
import { assignColumns, mappingPage } from './mapping-page.ts'
import { upload, uploadPage } from './upload-page.ts'

export interface CsvServices extends CallerServices {
  readonly csvImports: Pick<CsvImports, 'wake' | 'soon'>
}

/** Adds the pages that take CSV files in: a form for each service, and what a file would change or has changed. */
export function csvPages(app: FastifyInstance, services: CsvServices): void {
  for (const service of shopServices.filter(canImport)) uploadPages(app, services, service)
  // Which service's records an import changes is known by its id alone: the pages look.
  const { get, page, form, pair } = storePages(adminPages(app), services)
  const address = '/admin/csv/:id'
  page('/admin/csv', importsPage)
  page(address, importPage)
  get(`${address}/problems`, sendProblems)
  pair(`${address}/columns`, mappingPage, assignColumns)
  form(`${address}/apply`, importPage, (asked, reply) => applyChanges(asked, reply, services.csvImports))
  // Leads to the preview of what puts the change back.
  form(`${address}/back`, importPage, async (asked, reply) => {
    const { found } = await importOf(asked, reply)
    return `/admin/csv/${await putBack(asked.caller, found)}`
  })
  form(`${address}/cancel`, importPage, async (asked, reply) => {
    const { id } = (await importOf(asked, reply)).found
    await cancelImport(asked.caller, id)
    return `/admin/csv/${id}`
  })
}

function uploadPages(app: FastifyInstance, services: CsvServices, service: Service): void {
  const { resource, path: home, special } = service
  const pages = adminPages(app, [resource.privilege as Privilege, 'write'])
  const { get, page, upload: form } = storePages(special.isFileProved ? pages.proved : pages, services)
  const path = `${home}/csv`
  const show = (asked: PageRequest) => uploadPage(asked, service)
  page(path, show)
  form(path, show, (asked, reply) => upload(asked, service, reply))
  get(`${path}/template`, (asked, reply) => sendTemplate(asked, service, reply))
}
