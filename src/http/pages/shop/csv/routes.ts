import type { FastifyInstance } from 'fastify'
import type { Secrets } from '../../../../foundation/values/secrets.ts'
import type { CsvImports } from '../../../../shop/csv/apply/runner.ts'
import { customers } from '../../../../shop/resources/customers/customers.ts'
import type { Privilege } from '../../../../shop/staff/roles.ts'
import { adminPages } from '../../../html/page-routes.ts'
import type { CallerServices } from '../../../html/request.ts'
import { services as allServices, canImport } from '../../records/services.ts'
import { sendProblems, sendTemplate } from './files.ts'
import { applyChanges, cancel, importPage, importsPage, putImportBack } from './import-page.ts'
import { assignColumns, mappingPage } from './mapping-page.ts'
import { takeUploads } from './upload.ts'
import { upload, uploadPage } from './upload-page.ts'

export interface CsvServices extends CallerServices {
  readonly secrets: Secrets
  readonly csvImports: Pick<CsvImports, 'wake' | 'soon'>
}

/** Adds the pages that take CSV files in: a form for each service, and what a file would change or has changed. */
export function csvPages(app: FastifyInstance, services: CsvServices): void {
  app.register(async (scope) => {
    takeUploads(scope)
    for (const service of allServices.filter(canImport)) {
      const pages = adminPages(scope, [service.resource.privilege as Privilege, 'write'])
      const { get, page, upload: uploadForm } = service.resource === customers ? pages.proved : pages
      const path = `${service.path}/csv`
      page(path, (request) => uploadPage(request, services, service))
      get(`${path}/template`, (request, reply) => sendTemplate(request, reply, services, service))
      uploadForm(
        path,
        (request, reply) => upload(request, reply, services, service),
        (request) => uploadPage(request, services, service),
      )
    }
    // Which service's records an import changes is known by its id alone: the pages look.
    const { get, page, form } = adminPages(scope)
    page('/admin/csv', (request) => importsPage(request, services))
    page('/admin/csv/:id', (request) => importPage(request, services))
    get('/admin/csv/:id/problems', (request, reply) => sendProblems(request, reply, services))
    page('/admin/csv/:id/columns', (request) => mappingPage(request, services))
    form(
      '/admin/csv/:id/columns',
      (request) => assignColumns(request, services),
      (request) => mappingPage(request, services),
    )
    form(
      '/admin/csv/:id/apply',
      (request) => applyChanges(request, services),
      (request) => importPage(request, services),
    )
    form(
      '/admin/csv/:id/back',
      (request) => putImportBack(request, services),
      (request) => importPage(request, services),
    )
    form(
      '/admin/csv/:id/cancel',
      (request) => cancel(request, services),
      (request) => importPage(request, services),
    )
  })
}
