import type { FastifyInstance } from 'fastify'
import type { RegisterApplication, UpdateApplication } from '../applications/applications.ts'
import type { PeopleServices } from '../people/accounts.ts'
import { registerRoutes } from '../server/json-routes.ts'
import type { ChangeStore, CreateStore } from '../stores/stores.ts'
import type { Subscribing } from '../subscriptions/subscriptions.ts'
import { accountRoutes } from './accounts.ts'
import { applicationRoutes } from './applications.ts'
import { storeRoutes } from './stores.ts'
import { subscriptionRoutes } from './subscriptions.ts'
import { streamBodies, transferRoutes } from './transfer.ts'

export type OperatorServices = CreateStore &
  ChangeStore &
  RegisterApplication &
  UpdateApplication &
  Subscribing &
  PeopleServices

const plainRoutes = [...storeRoutes, ...subscriptionRoutes, ...applicationRoutes, ...accountRoutes]

/** The JSON routes by which an operator runs the installation, and a merchant's programs some of one store. */
export const operatorRoutes = [...plainRoutes, ...transferRoutes]

export async function registerOperatorRoutes(app: FastifyInstance, services: OperatorServices): Promise<void> {
  registerRoutes(app, plainRoutes, services)
  app.register(async (scope) => {
    streamBodies(scope)
    registerRoutes(scope, transferRoutes, services)
  })
}
