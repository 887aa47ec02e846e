import type { FastifyInstance } from 'fastify'
import type { RegisterApplication, UpdateApplication } from '../../access/applications.ts'
import type { Subscribing } from '../../access/subscriptions.ts'
import { merchantPages } from '../people/routes.ts'
import { applicationRoutes } from './applications.ts'
import { auditRoutes } from './audit.ts'
import { changeStorePages } from './change-store.ts'
import { type CartApiServices, cartApiRoutes } from './modules/cartapi/routes.ts'
import { restApiRoutes } from './modules/rest-api/routes.ts'
import { orderRoutes } from './orders/json.ts'
import { orderPages } from './orders/routes.ts'
import { overviewRoutes } from './overview.ts'
import { peopleRoutes } from './people.ts'
import { productPages } from './products/routes.ts'
import { settingsRoutes } from './settings/routes.ts'
import { type StoreServices, storeRoutes } from './stores.ts'
import { subscriptionRoutes } from './subscriptions.ts'
import { type TransferServices, transferRoutes } from './transfer.ts'
import { deliveryPages } from './webhooks/deliveries.ts'
import { webhookPages } from './webhooks/routes.ts'

export type AdminServices = StoreServices &
  RegisterApplication &
  UpdateApplication &
  Subscribing &
  TransferServices &
  CartApiServices

/** The operator's JSON routes (design.md, "Fixed names"), and the pages of the store administration. */
export async function adminRoutes(app: FastifyInstance, services: AdminServices) {
  app.register(storeRoutes, services)
  app.register(applicationRoutes, services)
  app.register(subscriptionRoutes, services)
  app.register(orderRoutes, services)
  app.register(transferRoutes, services)
  app.register(cartApiRoutes, services)
  app.register(settingsRoutes, services)
  app.register(orderPages, services)
  app.register(productPages, services)
  app.register(overviewRoutes, services)
  app.register(restApiRoutes, services)
  app.register(webhookPages, services)
  app.register(deliveryPages, services)
  app.register(peopleRoutes, services)
  app.register(auditRoutes, services)
  app.register(merchantPages, services)
  app.register(changeStorePages, services)
}
