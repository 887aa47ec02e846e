import type { FastifyInstance } from 'fastify'
import type { GuardServices } from '../html/guard.ts'
import { openPages } from '../html/scope.ts'
import type { TokenServices } from '../subscriptions/access-tokens.ts'
import { type AuthorizeServices, authorizePages } from './authorize.ts'
import type { ClientServices } from './client-authentication.ts'
import { metadataRoute } from './metadata.ts'
import { revokeRoute } from './revoke.ts'
import { openEndpoints } from './scope.ts'
import { tokenRoute } from './token.ts'

export type OAuthServices = GuardServices & AuthorizeServices & TokenServices & ClientServices

/** OAuth 2 (contract §4.3): pages for merchants, and what applications call by themselves. */
export async function oauth(app: FastifyInstance, services: OAuthServices): Promise<void> {
  app.register(async (scope) => {
    await openPages(scope, services)
    await authorizePages(scope, services)
  })
  app.register(async (scope) => {
    await openEndpoints(scope, services.config)
    await tokenRoute(scope, services)
    await revokeRoute(scope, services)
    await metadataRoute(scope, services.config)
  })
}
