import type { FastifyInstance } from 'fastify'
import type { KeyServices } from '../../access/application-keys.ts'
import type { CallbackServices } from '../../access/callback.ts'
import type { OwnApplicationServices } from '../../access/developer-applications.ts'
import type { SignUpServices } from '../../access/people.ts'
import type { Throttle } from '../../throttle.ts'
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
