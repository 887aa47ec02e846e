import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import type { GuardServices } from '../html/guard.ts'
import { openPages } from '../html/page-routes.ts'
import type { ApiPart } from '../server/openapi.ts'
import { plainHttpFault } from '../server/plain-http.ts'
import type { AccessServices } from '../subscriptions/access-changes.ts'
import { type AuthorizeServices, authorizePages } from './authorize.ts'
import type { ClientServices } from './client-authentication.ts'
import {
  metadataOperation,
  metadataRoute,
  revokeOperation,
  revokeRoute,
  tokenOperation,
  tokenRoute,
} from './endpoints.ts'
import { authorizeOperation, decideOperation, errorSchema, refusals } from './openapi.ts'
import { answerRefusal, notForm, OAuthRefusal } from './refusal.ts'

export type OAuthServices = GuardServices & AuthorizeServices & AccessServices & ClientServices

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

const BODY_LIMIT_BYTES = 65_536

/**
 * Makes `app` the scope of what applications call by themselves: no cookies, forms as bodies, answers that are not stored,
 * refusals in OAuth's form, and https alone where PUBLIC_URL is https.
 */
async function openEndpoints(app: FastifyInstance, { publicUrl }: { readonly publicUrl: string }): Promise<void> {
  app.setErrorHandler(answerRefusal)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const fault = plainHttpFault(publicUrl, request)
    if (fault !== null) throw new OAuthRefusal('invalid_request', fault, { status: 403 })
  })
  app.removeAllContentTypeParsers()
  await app.register(formbody, { bodyLimit: BODY_LIMIT_BYTES, parser: (form) => ({ form }) })
  // Clients that send all in the query name any type for their empty body.
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) => {
    done(body === '' ? null : notForm(), undefined)
  })
}

/** OAuth's addresses. Names and values are those of the RFCs that they follow; the standard clients know them. */
export function describeOAuth(): ApiPart {
  return {
    tags: [{ name: 'OAuth', description: 'A token for a store, by the merchant’s consent (RFC 6749, PKCE).' }],
    paths: {
      '/oauth/authorize': { get: authorizeOperation, post: decideOperation },
      '/oauth/token': { post: tokenOperation },
      '/oauth/revoke': { post: revokeOperation },
      '/.well-known/oauth-authorization-server': { get: metadataOperation },
    },
    components: {
      schemas: { OAuthError: errorSchema },
      responses: Object.fromEntries(Object.entries(refusals).map(([status, one]) => [`OAuthRefusal${status}`, one])),
      securitySchemes: {
        ClientKeys: {
          type: 'http',
          scheme: 'basic',
          description:
            'The public and the private key of the application; or send them as client_id and client_secret.',
        },
      },
    },
  }
}
