import type { FastifyInstance } from 'fastify'
import type { RegisterApplication, UpdateApplication } from '../../access/applications.ts'
import type { CreateStore } from '../../access/stores.ts'
import { applicationRoutes } from './applications.ts'
import { answerFailure } from './errors.ts'
import { type OperatorGuard, operatorGuard } from './guard.ts'
import { readJsonBodies } from './json-body.ts'
import { orderRoutes } from './orders.ts'
import { storeRoutes } from './stores.ts'
import { subscriptionRoutes } from './subscriptions.ts'
import { type TransferServices, transferRoutes } from './transfer.ts'

export type AdminServices = CreateStore & RegisterApplication & UpdateApplication & OperatorGuard & TransferServices

/** The operator's JSON routes (design.md, "Fixed names"). Every file of routes that is registered here stands behind the operator's key. */
export async function adminRoutes(app: FastifyInstance, services: AdminServices) {
  app.addHook('onRequest', operatorGuard(services))
  app.setErrorHandler(answerFailure)
  readJsonBodies(app)
  app.register(storeRoutes, services)
  app.register(applicationRoutes, services)
  app.register(subscriptionRoutes, services)
  app.register(orderRoutes, services)
  app.register(transferRoutes, services)
}
