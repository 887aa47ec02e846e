import type { FastifyInstance } from 'fastify'
import type { ResetServices } from '../../../access/people/reset.ts'
import { readInput } from '../../../foundation/values/input.ts'
import { answerUnknownAddress } from '../../html/errors.ts'
import { pagesFor } from '../../html/page-routes.ts'
import { areaPages } from '../people/account.ts'
import { auditPage, auditQuery } from '../people/audit.ts'
import { operatorPages as area } from '../people/sign-in.ts'
import { applicationPages } from './applications.ts'
import { operatorsPages } from './operators.ts'
import { type OverviewServices, overviewPages } from './overview.ts'
import { peoplePages } from './people.ts'
import { type StorePagesServices, storePages } from './stores.ts'
import { type TestStorePagesServices, testStorePages } from './test-stores.ts'
import { deliveriesPage, mailsPage } from './waiting.ts'

export type OperatorPagesServices = ResetServices & OverviewServices & StorePagesServices & TestStorePagesServices

/**
 * Adds the pages with which people run the installation. They show no secret of anybody: keys and tokens are replaced, never read, and mails
 * read in a sandbox alone. What programs do with OPERATOR_KEY is in src/http/operator.
 */
export function operatorAdministration(app: FastifyInstance, services: OperatorPagesServices): void {
  areaPages(app, services, area)
  overviewPages(app, services)
  storePages(app, services)
  testStorePages(app, services)
  applicationPages(app, services)
  peoplePages(app, services)
  operatorsPages(app, services)
  const { page, get, proved } = pagesFor(app, 'operator')
  page('/operator/deliveries', () => deliveriesPage(services))
  proved.page('/operator/mails', (request) => mailsPage(request, services))
  get('/operator/audit', (request, reply) =>
    auditPage(services, reply, readInput(auditQuery, request.query, 'The query')),
  )
  // Unknown addresses. The page keeps the navigation of somebody who is signed in.
  pagesFor(app, 'anyone', 'operator').get('/operator/*', (request, reply) => answerUnknownAddress(request, reply))
}
