import type { FastifyInstance } from 'fastify'
import { pagesFor } from '../../html/page-routes.ts'
import type { SignUpServices } from '../../people/accounts.ts'
import { registerRoutes, type ServicesOf } from '../../server/json-routes.ts'
import { accountPages } from '../people/account.ts'
import { developerAudit } from '../people/audit.ts'
import { developerPages, signInPages, signUpPages } from '../people/sign-in.ts'
import { applicationForms, applicationRoutes } from './applications.ts'
import { secretRoutes } from './secrets.ts'
import { usingStoreRoutes } from './using-stores.ts'

export const developerRoutes = [...applicationRoutes, ...secretRoutes, ...usingStoreRoutes]

export type DeveloperServices = ServicesOf<(typeof developerRoutes)[number]> & SignUpServices

/** Adds a developer's applications and account, as pages and JSON. */
export async function registerDeveloperRoutes(app: FastifyInstance, services: DeveloperServices): Promise<void> {
  pagesFor(app, 'developer').get('/developers', async (_request, reply) =>
    reply.redirect('/developers/applications', 303),
  )
  registerRoutes(app, developerRoutes, services)
  applicationForms(app, services)
  const area = developerPages(services)
  signUpPages(app, services)
  signInPages(app, services, area)
  accountPages(app, services, area)
  developerAudit(app, services)
}
