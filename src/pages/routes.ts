import type { FastifyInstance } from 'fastify'
import { assetRoutes } from '../html/assets.ts'
import { answerUnknownAddress } from '../html/errors.ts'
import type { GuardServices } from '../html/guard.ts'
import { type AccountServices, accountRoutes } from './account/routes.ts'
import { type AdminServices, adminRoutes } from './admin/routes.ts'
import { type DeveloperServices, developerRoutes } from './developers/routes.ts'
import { startPage } from './start-page.ts'

export type PagesServices = GuardServices & AdminServices & DeveloperServices & AccountServices

/** Everything that people use by a browser. Who may use what stands in html/roles.ts. */
export async function pages(app: FastifyInstance, services: PagesServices): Promise<void> {
  app.register(assetRoutes)
  app.register(startPage)
  app.register(adminRoutes, services)
  app.register(developerRoutes, services)
  app.register(accountRoutes, services)
  for (const area of ['admin', 'developers', 'account']) app.get(`/${area}/*`, answerUnknownAddress)
}
