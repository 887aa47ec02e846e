import type { FastifyInstance } from 'fastify'
import type { RegisterApplication, UpdateApplication } from '../applications/applications.ts'
import type { Subscribing } from '../subscriptions/subscriptions.ts'
import { applicationRoutes } from './applications.ts'
import { orderRoutes } from './orders.ts'
import { peopleRoutes } from './people.ts'
import { type StoreServices, storeRoutes } from './stores.ts'
import { subscriptionRoutes } from './subscriptions.ts'
import { type TransferServices, transferRoutes } from './transfer.ts'

export type OperatorServices = StoreServices & RegisterApplication & UpdateApplication & Subscribing & TransferServices

/** The JSON routes by which an operator runs the installation, and a merchant's programs some of one store. */
export async function operatorRoutes(app: FastifyInstance, services: OperatorServices): Promise<void> {
  app.register(storeRoutes, services)
  app.register(applicationRoutes, services)
  app.register(subscriptionRoutes, services)
  app.register(orderRoutes, services)
  app.register(transferRoutes, services)
  app.register(peopleRoutes, services)
}
