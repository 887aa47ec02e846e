import type { FastifyRequest } from 'fastify'
import {
  exchangeCode,
  type IssuedToken,
  refreshAccess,
  revokeToken,
} from '../../access/applications/tokens/access-tokens.ts'
import type { OAuthClient } from '../../access/applications/tokens/oauth-clients.ts'
import type { Actor } from '../../access/audit/audit.ts'
import type { AccessServices } from '../../access/stores/access-changes.ts'
import type { JsonSchema } from '../../engine/definition/json-schema.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import type { DescribedRoute, RouteGroup } from '../server/json/json-routes.ts'
import { closedObject, errorCode, jsonAnswer, type Response, ref, retryAfter } from '../server/json/openapi.ts'
import { authenticateClient, type ClientServices } from './client-authentication.ts'
import { Parameters, queryOf } from './parameters.ts'
import { type OAuthError, OAuthRefusal } from './refusal.ts'

// What applications call by themselves. Names and values are those of the RFCs that they follow; the standard clients know them.

const refusals = {
  400: refusal(
    '`invalid_request`, `invalid_grant`, `unsupported_grant_type` or `unsupported_token_type`.',
    'invalid_grant',
    'The code is unknown or was used',
  ),
  401: refusal(
    '`invalid_client`: the keys are not those of an application.',
    'invalid_client',
    'The keys are not valid',
    { 'WWW-Authenticate': { description: 'Basic', required: true, schema: { type: 'string' } } },
  ),
  403: refusal(
    'The request came over plain http, and the server accepts only https; or the store is closed, and codes and tokens stay as they are.',
    'invalid_request',
    'Send requests by https',
  ),
  413: refusal('The body is larger than 16 kB.', 'invalid_request', 'The body is larger than 16 kB'),
  415: refusal('The body is not a form.', 'invalid_request', 'The body must be a form'),
  429: refusal(
    'Too many requests, or too many with wrong keys, came from the address.',
    'temporarily_unavailable',
    'Too many requests',
    retryAfter,
  ),
  500: refusal('A defect of the server; the log has it under the request id.', 'server_error', 'Internal error'),
  503: refusal('The database does not answer.', 'temporarily_unavailable', 'The database does not answer', retryAfter),
}

function refusal(description: string, error: string, text: string, headers: Response['headers'] = {}): Response {
  const example = { error, error_description: text }
  return jsonAnswer(description, ref('schemas', 'OAuthError'), { ...errorCode, ...headers }, example)
}

const group: RouteGroup = {
  tag: 'OAuth',
  description: 'A token for a store, by the merchant’s consent (RFC 6749, PKCE).',
  credential: {
    name: 'ClientKeys',
    isOptional: true,
    scheme: {
      type: 'http',
      scheme: 'basic',
      description: 'The public and the private key of the application; or send them as client_id and client_secret.',
    },
  },
  refusals,
  hasOwnRefusals: true,
}

const keyFields = {
  client_id: { type: 'string', description: 'The public key; not needed with Basic.' },
  client_secret: { type: 'string', description: 'The private key; not needed with Basic.' },
}

const tokenMembers = {
  access_token: {
    type: 'string',
    pattern: '^[0-9a-f]{32}$',
    description:
      'The token by which the application reaches the store: send it as `Authorization: Bearer`, or as the header Token.',
  },
  token_type: { const: 'bearer', description: 'The scheme by which the token is sent (RFC 6750).' },
  user_id: { type: 'integer', minimum: 1, description: 'The account of the merchant who agreed.' },
}

const tokenSchema = closedObject(tokenMembers)

const expiringTokenSchema = closedObject({
  ...tokenMembers,
  expires_in: {
    type: 'integer',
    minimum: 0,
    maximum: 3_600,
    description: 'The seconds for which the access token works.',
  },
  refresh_token: {
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
    description: 'The token to exchange for the next access token. It works once, and within 90 days.',
  },
  store_url: { type: 'string', description: 'The address of the store that the token is for, its SecureURL.' },
})

/** What an application posts a form to. `answer` returns the body. */
interface Endpoint extends DescribedRoute {
  readonly answer: (request: FastifyRequest, services: AccessServices & ClientServices) => Promise<object>
}

type Declared = Pick<Endpoint, 'path' | 'id' | 'summary' | 'description' | 'body' | 'answer'> & {
  readonly answered: Response
}

function endpoint({ answered, ...declared }: Declared): Endpoint {
  const answers: Endpoint['answers'] = { 200: { response: answered, write: (body) => body } }
  return { ...declared, group, method: 'POST', ids: {}, answers }
}

/** The parameters of a form, in either encoding. The endpoints read them by themselves. */
function form(properties: JsonSchema, required: readonly string[], example: object) {
  const schema = { type: 'object', properties, required }
  const content = { schema, example }
  return {
    describe: () => ({ content: { 'application/x-www-form-urlencoded': content, 'multipart/form-data': content } }),
    read: () => undefined,
  }
}

/** The endpoints of contract §4.3 and rest-protocol §9.2. */
export const endpoints: readonly Endpoint[] = [
  // An access token for a code or a refresh token.
  endpoint({
    path: '/oauth/token',
    id: 'exchangeCode',
    summary: 'Exchange a code or a refresh token for an access token',
    description:
      'Names match without regard to case (`Code`). Parameters missing from the form are read from the query. A parameter that is repeated with the same value counts once. A code works once; using it again revokes the token issued for it. The access tokens of a new application expire after an hour: exchange the `refresh_token` of the last answer for the next ones. A refresh token works once; for 30 seconds its repetition gets the same answer, and after that it revokes the access. To refresh, the form is `grant_type=refresh_token&refresh_token=…` with the same keys.',
    body: form(
      {
        grant_type: {
          enum: ['authorization_code', 'refresh_token'],
          description: 'The kind of grant: a code, or a refresh token, for an access token.',
        },
        code: {
          type: 'string',
          description:
            'The code with which the merchant was sent to the redirect address. Required with `authorization_code`.',
        },
        refresh_token: {
          type: 'string',
          description: 'The refresh token of the last answer. Required with `refresh_token`.',
        },
        redirect_uri: { type: 'string', description: 'If sent, it must be the address the code was sent to.' },
        code_verifier: { type: 'string', description: 'PKCE; required if the code was requested with a challenge.' },
        ...keyFields,
      },
      ['grant_type'],
      { grant_type: 'authorization_code', code: 'the code', client_id: 'public key', client_secret: 'private key' },
    ),
    answered: jsonAnswer(
      'The token. It ends with the subscription, or when it is revoked. That of an existing application does not expire; that of a new one comes with `expires_in`, `refresh_token` and `store_url`.',
      { oneOf: [tokenSchema, expiringTokenSchema] },
      {},
      {
        access_token: '0123456789abcdef0123456789abcdef',
        token_type: 'bearer',
        user_id: 1,
        expires_in: 3_600,
        refresh_token: '0123456789abcdef'.repeat(4),
        store_url: 'https://shop.example',
      },
    ),
    answer: async (request, services) => {
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
      return tokenAnswer(await exchangeCode(services, exchange).catch(refusingAs(400, 'invalid_grant')))
    },
  }),
  // RFC 7009. A token of another client gets the same answer as an unknown one.
  endpoint({
    path: '/oauth/revoke',
    id: 'revokeToken',
    summary: 'Revoke an access token or a refresh token',
    description:
      'RFC 7009. Of a new application, a refresh token or an access token ends the access that the merchant agreed to, with all its tokens. A token that is unknown or belongs to another client stays unchanged; the answer is the same.',
    body: form(
      {
        token: { type: 'string', description: 'The access token or the refresh token to revoke.' },
        token_type_hint: {
          type: 'string',
          description: 'A hint at the kind of token. Not needed: every token of the client is found without it.',
        },
        ...keyFields,
      },
      ['token'],
      { token: 'the access token', client_id: 'public key', client_secret: 'private key' },
    ),
    answered: jsonAnswer('The token is revoked. An empty object.', closedObject({})),
    answer: async (request, services) => {
      const parameters = parametersOf(request)
      const client = await authenticateClient(services, request, parameters)
      const change = { client, token: parameters.required('token'), actor: actorOf(client, request) }
      await revokeToken(services, change).catch(refusingAs(409, 'unsupported_token_type'))
      return {}
    },
  }),
]

function tokenAnswer({ token, userId, refresh }: IssuedToken) {
  return {
    access_token: token,
    token_type: 'bearer',
    ...(refresh && { expires_in: refresh.expiresInSeconds, refresh_token: refresh.token, store_url: refresh.storeUrl }),
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
  const issued = await refreshAccess(services, refresh).catch(refusingAs(400, 'invalid_grant'))
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

function refusingAs(status: number, code: OAuthError) {
  return (error: unknown): never => {
    throw error instanceof StoreFailure && error.status === status ? new OAuthRefusal(code, error.message) : error
  }
}
