import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AccessServices } from '../../access/stores/access-changes.ts'
import type { GuardServices } from '../html/guard.ts'
import { openPages } from '../html/page-routes.ts'
import { record } from '../server/json/json-routes.ts'
import { plainHttpFault } from '../server/requests/plain-http.ts'
import { receiveBytes } from '../server/requests/receive.ts'
import { type AuthorizeServices, authorizePages } from './authorize.ts'
import type { ClientServices } from './client-authentication.ts'
import { endpoints } from './endpoints.ts'
import { formOfMultipart } from './multipart.ts'
import { answerRefusal, notForm, OAuthRefusal } from './refusal.ts'

export type OAuthServices = GuardServices & AuthorizeServices & AccessServices & ClientServices

/** OAuth 2 (contract §4.3): pages for merchants, and what applications call by themselves. */
export async function oauth(app: FastifyInstance, services: OAuthServices): Promise<void> {
  app.register(async (scope) => {
    await openPages(scope, services)
    await authorizePages(scope, services)
  })
  app.register(async (scope) => {
    await openEndpoints(scope, services)
    for (const { path, answer } of endpoints) scope.post(path, (request) => answer(request, services))
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
    async (_request: FastifyRequest, payload: Readable) => ({ form: String(await receive(payload)) }),
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

const WELL_KNOWN = '/.well-known/oauth-authorization-server'

/** RFC 8414 §3.1: a PUBLIC_URL with a path has a second address, which a proxy for several programs hands on. */
function metadataRoute(app: FastifyInstance, { publicUrl }: { readonly publicUrl: string }): void {
  const { pathname } = new URL(publicUrl)
  const paths = pathname === '/' ? [WELL_KNOWN] : [WELL_KNOWN, WELL_KNOWN + pathname.replaceAll(':', '::')]
  for (const path of paths) app.get(path, async () => metadata.of(publicUrl))
}

const text = (words: string) => z.string().describe(words)
const texts = (words: string) => z.array(z.string()).describe(words)
const ways = () => ['client_secret_basic', 'client_secret_post']

/** What this server can do, by its PUBLIC_URL. */
export const metadata = record<string>('OAuthMetadata')({
  issuer: [text('The name of this server, which redirects carry as `iss`.'), (url) => url],
  authorization_endpoint: [text('The page where the merchant gives consent.'), (url) => `${url}/oauth/authorize`],
  token_endpoint: [text('The address that exchanges a code for a token.'), (url) => `${url}/oauth/token`],
  revocation_endpoint: [text('The address that revokes a token.'), (url) => `${url}/oauth/revoke`],
  response_types_supported: [texts('The allowed values of `response_type`.'), () => ['code']],
  response_modes_supported: [texts('The part of the redirect address that carries the code.'), () => ['query']],
  grant_types_supported: [texts('The allowed values of `grant_type`.'), () => ['authorization_code', 'refresh_token']],
  code_challenge_methods_supported: [texts('The allowed values of `code_challenge_method`.'), () => ['S256', 'plain']],
  token_endpoint_auth_methods_supported: [texts('The ways to send the application’s keys for a token.'), ways],
  revocation_endpoint_auth_methods_supported: [
    texts('The ways to send the application’s keys to revoke a token.'),
    ways,
  ],
  authorization_response_iss_parameter_supported: [
    z.boolean().describe('Whether redirects carry `iss` (RFC 9207).'),
    () => true,
  ],
  service_documentation: [text('The documentation for developers.'), (url) => `${url}/docs`],
})
