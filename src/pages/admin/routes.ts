import type { FastifyInstance } from 'fastify'
import { registerRoutes } from '../../server/json-routes.ts'
import type { Subscribing } from '../../subscriptions/subscriptions.ts'
import { accountPages } from '../people/account.ts'
import { auditRoutes } from '../people/audit.ts'
import { administration, signInPages } from '../people/sign-in.ts'
import { changeStorePages } from './change-store.ts'
import { type CartApiServices, cartApiPages } from './modules/cartapi/routes.ts'
import { restApiPages } from './modules/rest-api/routes.ts'
import { orderPages } from './orders/routes.ts'
import { overviewPage } from './overview.ts'
import { productPages } from './products/routes.ts'
import { settingsPages } from './settings/routes.ts'
import { deliveryPages } from './webhooks/deliveries.ts'
import { webhookPages } from './webhooks/routes.ts'

export type AdminServices = CartApiServices & Subscribing

/** The pages of the store administration. */
export async function adminRoutes(app: FastifyInstance, services: AdminServices): Promise<void> {
  overviewPage(app, services)
  orderPages(app, services)
  productPages(app, services)
  restApiPages(app, services)
  cartApiPages(app, services)
  webhookPages(app, services)
  deliveryPages(app, services)
  settingsPages(app, services)
  registerRoutes(app, auditRoutes, services)
  signInPages(app, services, administration)
  accountPages(app, services, administration)
  changeStorePages(app, services)
}
