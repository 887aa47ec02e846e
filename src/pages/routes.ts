import type { FastifyInstance } from 'fastify'
import { assetRoutes } from '../html/assets.ts'
import { answerUnknownAddress } from '../html/errors.ts'
import type { GuardServices } from '../html/guard.ts'
import { pagesFor } from '../html/page-routes.ts'
import { customerOrders } from './account/orders.ts'
import { customerSignInPages } from './account/sign-in.ts'
import { type AdminServices, adminRoutes } from './admin/routes.ts'
import { type DeveloperServices, registerDeveloperRoutes } from './developers/routes.ts'

export type PagesServices = GuardServices & AdminServices & DeveloperServices

/** Adds all pages for browsers. */
export async function pages(app: FastifyInstance, services: PagesServices): Promise<void> {
  assetRoutes(app)
  // Links to the areas of merchants, developers and customers.
  pagesFor(app, 'anyone').page('/', () => ({ template: '/pages/start-page', title: 'Welcome' }))
  app.register(adminRoutes, services)
  app.register(registerDeveloperRoutes, services)
  customerSignInPages(app, services)
  customerOrders(app, services)
  // Unknown addresses. The page keeps the navigation of a signed-in person.
  pagesFor(app, 'anyone', 'merchant').get('/admin/*', answerUnknownAddress)
  pagesFor(app, 'anyone', 'developer').get('/developers/*', answerUnknownAddress)
  pagesFor(app, 'anyone', 'customer').get('/account/*', answerUnknownAddress)
}
