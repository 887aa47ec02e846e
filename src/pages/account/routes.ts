import type { FastifyInstance } from 'fastify'
import { type OrderPagesServices, orderPages } from './order-pages.ts'
import { customerSignInPages } from './sign-in.ts'

export type AccountServices = OrderPagesServices

/** What a store's customers see, after a link that the store gave them. */
export async function accountRoutes(app: FastifyInstance, services: AccountServices): Promise<void> {
  customerSignInPages(app, services)
  orderPages(app, services)
}
