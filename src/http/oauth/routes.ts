import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  exchangeCode,
  type IssuedToken,
  refreshAccess,
  revokeToken,
} from '../../access/applications/tokens/access-tokens.ts'
import type { OAuthClient } from '../../access/applications/tokens/oauth-clients.ts'
import type { Actor } from '../../access/audit/audit.ts'
import type { AccessServices } from '../../access/stores/access-changes.ts'
import { type FailureKind, StoreFailure } from '../../foundation/values/failure.ts'
import type { GuardServices } from '../html/guard.ts'
import { openPages } from '../html/page-routes.ts'
import { plainHttpFault } from '../server/requests/plain-http.ts'
import { receiveBytes } from '../server/requests/receive.ts'
import { type AuthorizeServices, authorizePages } from './authorize.ts'
import { authenticateClient, type ClientServices } from './client-authentication.ts'
import { formOfMultipart } from './multipart.ts'
import { Parameters, queryOf } from './parameters.ts'
import { answerRefusal, notForm, type OAuthError, OAuthRefusal } from './refusal.ts'

export type OAuthServices = GuardServices & AuthorizeServices & AccessServices & ClientServices

/** OAuth 2 (contract §4.3): pages for merchants, and what applications call by themselves. */
export async function oauth(app: FastifyInstance, services: OAuthServices): Promise<void> {
  app.register(async (scope) => {
    await openPages(scope, services)
    await authorizePages(scope, services)
  })
  app.register(async (scope) => {
    await openEndpoints(scope, services)
    tokenRoutes(scope, services)
    metadataRoute(scope, services.config)
  })
}

const BODY_BYTES_MAX = 16 * 1024

/** Prepares the scope of what applications call: forms as bodies, answers that no cache stores, refusals in OAuth's form. */
async function openEndpoints(
  app: FastifyInstance,
  { config: { publicUrl }, throttle }: Pick<GuardServices, 'config' | 'throttle'>,
): Promise<void> {
  app.setErrorHandler(answerRefusal)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const fault = plainHttpFault(publicUrl, request)
    if (fault !== null) throw new OAuthRefusal('invalid_request', fault, { status: 403 })
    if (request.method === 'POST') throttle.requireAnonymous(request.ip)
  })
  app.removeAllContentTypeParsers()
  const receive = (payload: Readable) => receiveBytes(payload, BODY_BYTES_MAX)
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (_request: FastifyRequest, payload: Readable) => ({
      form: String(await receive(payload)),
    }),
  )
  // Clients that send all in the query name any type for their empty body.
  app.addContentTypeParser('*', async ({ headers }: FastifyRequest, payload: Readable) => {
    const body = await receive(payload)
    if (body.length === 0) return
    const { 'content-type': type = '' } = headers
    if (!/^multipart\/form-data\s*(;|$)/i.test(type.trim())) throw notForm()
    return { form: await formOfMultipart(type, body) }
  })
}

function tokenRoutes(app: FastifyInstance, services: AccessServices & ClientServices): void {
  // Contract §4.3, rest-protocol §9.2: an access token for a code or a refresh token.
  app.post('/oauth/token', async (request) => {
    const parameters = parametersOf(request)
    const client = await authenticateClient(services, request, parameters)
    const by = { client, actor: actorOf(client, request) }
    const grantType = parameters.required('grant_type')
    if (grantType === 'refresh_token') return tokenAnswer(await refreshed(services, parameters, by))
    if (grantType !== 'authorization_code') throw unsupportedGrant(client)
    const exchange = {
      ...by,
      code: parameters.required('code'),
      redirectUri: parameters.value('redirect_uri'),
      verifier: parameters.value('code_verifier'),
    }
    return tokenAnswer(await exchangeCode(services, exchange).catch(refusingAs('bad-request', 'invalid_grant')))
  })

  // RFC 7009. A token of another client gets the same answer as an unknown one.
  app.post('/oauth/revoke', async (request) => {
    const parameters = parametersOf(request)
    const client = await authenticateClient(services, request, parameters)
    const change = { client, token: parameters.required('token'), actor: actorOf(client, request) }
    await revokeToken(services, change).catch(refusingAs('conflict', 'unsupported_token_type'))
    return {}
  })
}

function tokenAnswer({ token, userId, refresh }: IssuedToken) {
  return {
    access_token: token,
    token_type: 'bearer',
    ...(refresh && { expires_in: refresh.expiresInSeconds, refresh_token: refresh.token }),
    user_id: userId,
  }
}

/** An existing application that has no grant is answered as before there were any. */
async function refreshed(
  services: AccessServices,
  parameters: Parameters,
  by: { readonly client: OAuthClient; readonly actor: Actor },
): Promise<IssuedToken> {
  const sent = by.client.isNew ? parameters.required('refresh_token') : parameters.value('refresh_token')
  const refresh = { ...by, refreshToken: sent ?? '' }
  const issued = await refreshAccess(services, refresh).catch(refusingAs('bad-request', 'invalid_grant'))
  if (issued !== null) return issued
  if (!by.client.isNew) throw unsupportedGrant(by.client)
  throw new OAuthRefusal('invalid_grant', 'This refresh token was not issued to this client, or its access has ended')
}

function unsupportedGrant({ isNew }: OAuthClient): OAuthRefusal {
  const allowed = isNew ? 'authorization_code or refresh_token' : 'authorization_code'
  return new OAuthRefusal('unsupported_grant_type', `grant_type must be ${allowed}`)
}

/** The parameters of the form, else of the query (rest-protocol §9.2). The OAuth library of Ruby always sends grant_type twice. */
function parametersOf({ body, url }: FastifyRequest): Parameters {
  const query = new Parameters(queryOf({ url }), { areRepeatsTaken: true })
  const { form } = (body ?? {}) as { readonly form?: string }
  return form === undefined ? query : new Parameters(form, { areRepeatsTaken: true, fallback: query })
}

function actorOf({ name }: OAuthClient, { ip }: FastifyRequest): Actor {
  return { kind: 'application', name, address: ip }
}

function refusingAs(kind: FailureKind, code: OAuthError) {
  return (error: unknown): never => {
    throw error instanceof StoreFailure && error.kind === kind ? new OAuthRefusal(code, error.message) : error
  }
}

const WELL_KNOWN = '/.well-known/oauth-authorization-server'

/** RFC 8414 §3.1: a PUBLIC_URL with a path has a second address, which a proxy for several programs hands on. */
function metadataRoute(app: FastifyInstance, { publicUrl }: { readonly publicUrl: string }): void {
  const { pathname } = new URL(publicUrl)
  const paths = pathname === '/' ? [WELL_KNOWN] : [WELL_KNOWN, WELL_KNOWN + pathname.replaceAll(':', '::')]
  for (const path of paths) app.get(path, async () => metadataOf(publicUrl))
}

export function metadataOf(publicUrl: string) {
  const authentication = ['client_secret_basic', 'client_secret_post']
  return {
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/oauth/authorize`,
    token_endpoint: `${publicUrl}/oauth/token`,
    revocation_endpoint: `${publicUrl}/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256', 'plain'],
    token_endpoint_auth_methods_supported: authentication,
    revocation_endpoint_auth_methods_supported: authentication,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${publicUrl}/docs`,
  }
}
