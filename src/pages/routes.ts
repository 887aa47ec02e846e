import type { FastifyInstance } from 'fastify'
import { assetRoutes } from '../html/assets.ts'
import { answerUnknownAddress } from '../html/errors.ts'
import type { GuardServices } from '../html/guard.ts'
import { sendPage } from '../html/page.ts'
import { pagesFor } from '../html/page-routes.ts'
import { type AccountServices, accountRoutes } from './account/routes.ts'
import { type AdminServices, adminRoutes } from './admin/routes.ts'
import { type DeveloperServices, registerDeveloperRoutes } from './developers/routes.ts'

export type PagesServices = GuardServices & AdminServices & DeveloperServices & AccountServices

/** Adds all pages for browsers. */
export async function pages(app: FastifyInstance, services: PagesServices): Promise<void> {
  app.register(assetRoutes)
  // Links to the areas of merchants, developers and customers.
  pagesFor(app, 'anyone').get('/', async (_request, reply) => {
    return sendPage(reply, { template: '/pages/start-page', title: 'Welcome' })
  })
  app.register(adminRoutes, services)
  app.register(registerDeveloperRoutes, services)
  app.register(accountRoutes, services)
  // Unknown addresses. The page keeps the navigation of a signed-in person.
  pagesFor(app, 'anyone', 'merchant').get('/admin/*', answerUnknownAddress)
  pagesFor(app, 'anyone', 'developer').get('/developers/*', answerUnknownAddress)
  pagesFor(app, 'anyone', 'customer').get('/account/*', answerUnknownAddress)
}
