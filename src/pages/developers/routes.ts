import type { FastifyInstance } from 'fastify'
import type { CallbackServices } from '../../applications/callback.ts'
import type { KeyServices } from '../../applications/keys.ts'
import type { OwnApplicationServices } from '../../applications/own-applications.ts'
import type { Throttle } from '../../applications/throttle.ts'
import { pagesFor } from '../../html/page-routes.ts'
import type { SignUpServices } from '../../people/accounts.ts'
import { registerRoutes } from '../../server/json-routes.ts'
import { developerAccountPages } from '../people/routes.ts'
import { applicationForms, applicationRoutes } from './applications.ts'
import { secretRoutes } from './secrets.ts'
import { usingStoreRoutes } from './using-stores.ts'

export type DeveloperServices = OwnApplicationServices &
  KeyServices &
  CallbackServices &
  SignUpServices & { throttle: Throttle; config: { readonly publicUrl: string } }

export const developerRoutes = [...applicationRoutes, ...secretRoutes, ...usingStoreRoutes]

/** A developer's applications: their settings, keys, callbacks and stores. Pages, and the same as JSON. */
export async function registerDeveloperRoutes(app: FastifyInstance, services: DeveloperServices): Promise<void> {
  pagesFor(app, 'developer').get('/developers', async (_request, reply) =>
    reply.redirect('/developers/applications', 303),
  )
  registerRoutes(app, developerRoutes, services)
  app.register(applicationForms, services)
  app.register(developerAccountPages, services)
}
