import type { FastifyInstance } from 'fastify'
import { registerRoutes } from '../../server/json-routes.ts'
import type { Subscribing } from '../../subscriptions/subscriptions.ts'
import { auditRoutes } from '../people/audit.ts'
import { merchantPages } from '../people/routes.ts'
import { changeStorePages } from './change-store.ts'
import { type CartApiServices, cartApiRoutes } from './modules/cartapi/routes.ts'
import { restApiRoutes } from './modules/rest-api/routes.ts'
import { orderPages } from './orders/routes.ts'
import { overviewRoutes } from './overview.ts'
import { productPages } from './products/routes.ts'
import { settingsRoutes } from './settings/routes.ts'
import { deliveryPages } from './webhooks/deliveries.ts'
import { webhookPages } from './webhooks/routes.ts'

export type AdminServices = CartApiServices & Subscribing

/** The pages of the store administration. */
export async function adminRoutes(app: FastifyInstance, services: AdminServices) {
  app.register(cartApiRoutes, services)
  app.register(settingsRoutes, services)
  app.register(orderPages, services)
  app.register(productPages, services)
  app.register(overviewRoutes, services)
  app.register(restApiRoutes, services)
  app.register(webhookPages, services)
  app.register(deliveryPages, services)
  registerRoutes(app, auditRoutes, services)
  app.register(merchantPages, services)
  app.register(changeStorePages, services)
}
