import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { OAuthClient } from '../applications/oauth-clients.ts'
import type { Actor } from '../audit/audit.ts'
import type { JsonSchema } from '../engine/json-schema.ts'
import { jsonAnswer, type Operation, ref, requestId } from '../server/openapi.ts'
import type { AccessServices } from '../subscriptions/access-changes.ts'
import { exchangeCode, revokeAccessToken } from '../subscriptions/access-tokens.ts'
import { type FailureKind, StoreFailure } from '../values/failure.ts'
import { authenticateClient, type ClientServices } from './client-authentication.ts'
import { refused } from './openapi.ts'
import { Parameters, queryOf } from './parameters.ts'
import { type OAuthError, OAuthRefusal } from './refusal.ts'

// What applications call by themselves, each with what the reference says of it.

/** `POST /oauth/token` (contract §4.3, rest-protocol §9.2): an access token for a code. */
export async function tokenRoute(app: FastifyInstance, services: AccessServices & ClientServices): Promise<void> {
  app.post('/oauth/token', async (request) => {
    const parameters = parametersOf(request)
    const client = await authenticateClient(services, request, parameters)
    if (parameters.required('grant_type') !== 'authorization_code') {
      throw new OAuthRefusal('unsupported_grant_type', 'grant_type may only be authorization_code')
    }
    const { token, userId } = await exchangeCode(services, {
      client,
      code: parameters.required('code'),
      redirectUri: parameters.value('redirect_uri'),
      verifier: parameters.value('code_verifier'),
      actor: actorOf(client, request),
    }).catch(refusingAs('bad-request', 'invalid_grant'))
    return { access_token: token, token_type: 'bearer', user_id: userId }
  })
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

const keyFields = {
  client_id: { type: 'string', description: 'The public key; not needed with Basic.' },
  client_secret: { type: 'string', description: 'The private key; not needed with Basic.' },
}

export const tokenOperation: Operation = {
  operationId: 'exchangeCode',
  summary: 'Exchange a code for an access token',
  description:
    'Names match without regard to case (`Code`). What the form lacks is taken from the query. A parameter that is repeated with the same value counts once. A code has one try; used again, it revokes what it gave.',
  tags: ['OAuth'],
  security: [{ ClientKeys: [] }, {}],
  requestBody: form(
    {
      grant_type: { const: 'authorization_code' },
      code: { type: 'string' },
      redirect_uri: { type: 'string', description: 'Where it is sent, it must be the one that the code came to.' },
      code_verifier: { type: 'string', description: 'PKCE; required where the code was asked for with a challenge.' },
      ...keyFields,
    },
    ['grant_type', 'code'],
    { grant_type: 'authorization_code', code: 'the code', client_id: 'public key', client_secret: 'private key' },
  ),
  responses: {
    200: jsonAnswer('The token. It does not expire; it ends with the subscription, or when it is revoked.', {
      type: 'object',
      properties: {
        access_token: { type: 'string', pattern: '^[0-9a-f]{32}$' },
        token_type: { const: 'bearer' },
        user_id: { type: 'integer', minimum: 1, description: 'The account of the merchant who agreed.' },
      },
      required: ['access_token', 'token_type', 'user_id'],
      additionalProperties: false,
    }),
    ...refused,
  },
}

/** `POST /oauth/revoke` (RFC 7009). A token of another client gets the same answer as an unknown one. */
export async function revokeRoute(app: FastifyInstance, services: AccessServices & ClientServices): Promise<void> {
  app.post('/oauth/revoke', async (request, reply) => {
    const parameters = parametersOf(request)
    const client = await authenticateClient(services, request, parameters)
    const change = { client, token: parameters.required('token'), actor: actorOf(client, request) }
    await revokeAccessToken(services, change).catch(refusingAs('conflict', 'unsupported_token_type'))
    return reply.send()
  })
}

export const revokeOperation: Operation = {
  operationId: 'revokeToken',
  summary: 'Revoke an access token',
  description: 'RFC 7009. A token that there is not, or that is not the client’s, is left alone, with the same answer.',
  tags: ['OAuth'],
  security: [{ ClientKeys: [] }, {}],
  requestBody: form(
    { token: { type: 'string' }, token_type_hint: { type: 'string', description: 'Not needed.' }, ...keyFields },
    ['token'],
    { token: 'the access token', client_id: 'public key', client_secret: 'private key' },
  ),
  responses: { 200: { description: 'It does not work any more.', headers: requestId }, ...refused },
}

function form(properties: JsonSchema, required: readonly string[], example: object) {
  const schema = { type: 'object', properties, required }
  return { required: true, content: { 'application/x-www-form-urlencoded': { schema, example } } }
}

const WELL_KNOWN = '/.well-known/oauth-authorization-server'

/**
 * RFC 8414. Where PUBLIC_URL, the issuer, has a path, clients ask for it behind that of the document (3.1): a proxy that
 * serves several programs hands that address on.
 */
export async function metadataRoute(
  app: FastifyInstance,
  { publicUrl }: { readonly publicUrl: string },
): Promise<void> {
  const { pathname } = new URL(publicUrl)
  const paths = pathname === '/' ? [WELL_KNOWN] : [WELL_KNOWN, WELL_KNOWN + pathname.replaceAll(':', '::')]
  for (const path of paths) app.get(path, async () => metadataOf(publicUrl))
}

function metadataOf(publicUrl: string) {
  const authentication = ['client_secret_basic', 'client_secret_post']
  return {
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/oauth/authorize`,
    token_endpoint: `${publicUrl}/oauth/token`,
    revocation_endpoint: `${publicUrl}/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    code_challenge_methods_supported: ['S256', 'plain'],
    token_endpoint_auth_methods_supported: authentication,
    revocation_endpoint_auth_methods_supported: authentication,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${publicUrl}/docs`,
  }
}

export const metadataOperation: Operation = {
  operationId: 'describeOAuth',
  summary: 'What this server can do (RFC 8414)',
  tags: ['OAuth'],
  security: [],
  responses: {
    200: jsonAnswer('The addresses and abilities. `issuer` is PUBLIC_URL.', {
      type: 'object',
      properties: Object.fromEntries(Object.entries(metadataOf('')).map(([name, value]) => [name, schemaOf(value)])),
      required: ['issuer', 'authorization_endpoint', 'token_endpoint'],
    }),
    403: ref('responses', 'OAuthRefusal403'),
  },
}

function schemaOf(value: string | boolean | readonly string[]): JsonSchema {
  return typeof value === 'object' ? { type: 'array', items: { type: 'string' } } : { type: typeof value }
}
