import type { FastifyInstance } from 'fastify'
import { registerRoutes, type ServicesOf } from '../server/json/json-routes.ts'
import { accountRoutes } from './accounts.ts'
import { applicationRoutes } from './applications.ts'
import { erasureRoutes } from './erasure.ts'
import { mailRoutes } from './mails.ts'
import { namedOperatorRoutes } from './operators.ts'
import { pictureRoutes } from './pictures.ts'
import { storeRoutes } from './stores.ts'
import { subscriptionRoutes } from './subscriptions.ts'
import { switchRoutes } from './switches.ts'
import { streamBodies, transferRoutes } from './transfer.ts'

const plainRoutes = [
  ...storeRoutes,
  ...subscriptionRoutes,
  ...applicationRoutes,
  ...accountRoutes,
  ...namedOperatorRoutes,
  ...switchRoutes,
  ...mailRoutes,
  ...pictureRoutes,
  ...erasureRoutes,
]

/** The JSON routes with which an operator runs the installation, and a merchant's programs manage one store. */
export const operatorRoutes = [...plainRoutes, ...transferRoutes]

export type OperatorServices = ServicesOf<(typeof operatorRoutes)[number]>

export async function registerOperatorRoutes(app: FastifyInstance, services: OperatorServices): Promise<void> {
  registerRoutes(app, plainRoutes, services)
  app.register(async (scope) => {
    streamBodies(scope)
    registerRoutes(scope, transferRoutes, services)
  })
}
