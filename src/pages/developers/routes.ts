import type { FastifyInstance } from 'fastify'
import type { CallbackServices } from '../../applications/callback.ts'
import type { KeyServices } from '../../applications/keys.ts'
import type { OwnApplicationServices } from '../../applications/own-applications.ts'
import type { Throttle } from '../../applications/throttle.ts'
import type { SignUpServices } from '../../people/accounts.ts'
import { developerAccountPages } from '../people/routes.ts'
import { applicationRoutes } from './applications.ts'
import { callbackTestRoutes } from './callback-test.ts'
import { keyRoutes } from './keys.ts'
import { storeRoutes } from './stores.ts'

export type DeveloperServices = OwnApplicationServices &
  KeyServices &
  CallbackServices &
  SignUpServices & { throttle: Throttle; config: { readonly publicUrl: string } }

/** A developer's applications: their settings, keys, callbacks and stores. Pages, and the same as JSON. */
export async function developerRoutes(app: FastifyInstance, services: DeveloperServices): Promise<void> {
  app.get('/developers', async (_request, reply) => reply.redirect('/developers/applications', 303))
  app.register(applicationRoutes, services)
  app.register(keyRoutes, services)
  app.register(callbackTestRoutes, services)
  app.register(storeRoutes, services)
  app.register(developerAccountPages, services)
}
