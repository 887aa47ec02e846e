import type { FastifyInstance } from 'fastify'
import type { CsvImports } from '../../../../shop/csv/apply/runner.ts'
import type { Privilege } from '../../../../shop/staff/roles.ts'
import { adminPages } from '../../../html/page-routes.ts'
import type { CallerServices } from '../../../html/request.ts'
import { takeUploads } from '../../../html/upload.ts'
import { readRequest, storePages } from '../../frame/pages.ts'
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
  app.register(async (scope) => {
    takeUploads(scope)
    for (const service of shopServices.filter(canImport)) uploadPages(scope, services, service)
    // Which service's records an import changes is known by its id alone: the pages look.
    const { get, page, form, pair } = storePages(adminPages(scope), services)
    const address = '/admin/csv/:id'
    page('/admin/csv', importsPage)
    page(address, importPage)
    get(`${address}/problems`, sendProblems)
    pair(`${address}/columns`, mappingPage, assignColumns)
    form(`${address}/apply`, (asked, reply) => applyChanges(asked, reply, services.csvImports), importPage)
    form(`${address}/back`, putImportBack, importPage)
    form(`${address}/cancel`, cancel, importPage)
  })
}

function uploadPages(scope: FastifyInstance, services: CsvServices, service: Service): void {
  const { resource, path: home, special } = service
  const pages = adminPages(scope, [resource.privilege as Privilege, 'write'])
  const admitted = special.isFileProved ? pages.proved : pages
  const { get, page } = storePages(admitted, services)
  const path = `${home}/csv`
  page(path, (asked) => uploadPage(asked, service))
  get(`${path}/template`, (asked, reply) => sendTemplate(asked, service, reply))
  admitted.upload(
    path,
    (request, reply) => upload(readRequest(request, services), service, reply),
    (request) => uploadPage(readRequest(request, services), service),
  )
}
