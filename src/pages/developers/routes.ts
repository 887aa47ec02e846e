import type { FastifyInstance } from 'fastify'
import { pagesFor } from '../../html/page-routes.ts'
import type { SignUpServices } from '../../people/accounts.ts'
import { registerRoutes, type ServicesOf } from '../../server/json-routes.ts'
import { developerAccountPages } from '../people/routes.ts'
import { applicationForms, applicationRoutes } from './applications.ts'
import { secretRoutes } from './secrets.ts'
import { usingStoreRoutes } from './using-stores.ts'

export const developerRoutes = [...applicationRoutes, ...secretRoutes, ...usingStoreRoutes]

export type DeveloperServices = ServicesOf<(typeof developerRoutes)[number]> & SignUpServices

/** Adds a developer's applications: their settings, keys, callbacks and stores, as pages and JSON. */
export async function registerDeveloperRoutes(app: FastifyInstance, services: DeveloperServices): Promise<void> {
  pagesFor(app, 'developer').get('/developers', async (_request, reply) =>
    reply.redirect('/developers/applications', 303),
  )
  registerRoutes(app, developerRoutes, services)
  app.register(applicationForms, services)
  app.register(developerAccountPages, services)
}
