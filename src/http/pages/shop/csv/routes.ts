import type { FastifyInstance } from 'fastify'
import type { CsvImports } from '../../../../shop/csv/apply/runner.ts'
import type { Privilege } from '../../../../shop/staff/roles.ts'
import { adminPages } from '../../../html/page-routes.ts'
import type { CallerServices } from '../../../html/request.ts'
import { storePages } from '../../frame/pages.ts'
import { canImport, type Service } from '../../records/services.ts'
import { shopServices } from '../services.ts'
import { sendProblems, sendTemplate } from './files.ts'
import { applyChanges, cancel, importPage, importsPage, putImportBack } from './import-page.ts'
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
  form(`${address}/apply`, (asked, reply) => applyChanges(asked, reply, services.csvImports), importPage)
  form(`${address}/back`, putImportBack, importPage)
  form(`${address}/cancel`, cancel, importPage)
}

function uploadPages(app: FastifyInstance, services: CsvServices, service: Service): void {
  const { resource, path: home, special } = service
  const pages = adminPages(app, [resource.privilege as Privilege, 'write'])
  const { get, page, upload: form } = storePages(special.isFileProved ? pages.proved : pages, services)
  const path = `${home}/csv`
  page(path, (asked) => uploadPage(asked, service))
  get(`${path}/template`, (asked, reply) => sendTemplate(asked, service, reply))
  form(
    path,
    (asked, reply) => upload(asked, service, reply),
    (asked) => uploadPage(asked, service),
  )
}
