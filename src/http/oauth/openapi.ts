import type { JsonSchema } from '../../engine/definition/json-schema.ts'
import {
  type ApiPart,
  closedObject,
  jsonAnswer,
  type Operation,
  query,
  type Response,
  ref,
  requestId,
  retryAfter,
} from '../server/json/openapi.ts'
import { endpointErrors } from './refusal.ts'
import { metadataOf } from './routes.ts'

// What the reference says of OAuth's addresses. Names and values are those of the RFCs that they follow; the standard clients
// know them.

const text = { type: 'string' }

const errorSchema = closedObject({
  error: { enum: endpointErrors, description: 'What is wrong, for programs (RFC 6749).' },
  error_description: { ...text, description: 'What is wrong and what to do, for people.' },
})

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
    {
      'WWW-Authenticate': { description: 'Basic', required: true, schema: { type: 'string' } },
    },
  ),
  403: refusal(
    'The request came over plain http, and the server accepts only https.',
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
  return jsonAnswer(description, ref('schemas', 'OAuthError'), headers, { error, error_description: text })
}

const refused = Object.fromEntries(
  Object.keys(refusals).map((status) => [status, ref('responses', `OAuthRefusal${status}`)]),
)

const address = { type: 'string', format: 'uri' }
const challenge = { type: 'string', pattern: '^[A-Za-z0-9._~-]{43,128}$' }
const authorizeParameters = [
  query('client_id', 'The public key of the application.', text, true),
  query('redirect_uri', 'One of the redirect addresses of the application, character by character.', address, true),
  query('response_type', 'What is asked for.', { const: 'code' }, true),
  query('state', 'Returned unchanged.', text),
  query('store_url', 'The address of the store, with or without scheme. Absent: the merchant is asked.', text),
  query('code_challenge', 'PKCE (RFC 7636). Required of a new application, except in a sandbox.', challenge),
  query('code_challenge_method', 'PKCE; absent: plain. A new application must send S256.', { enum: ['S256', 'plain'] }),
]

const byClient = { tags: ['OAuth'], security: [{ ClientKeys: [] }, {}] }
const byBrowser = { tags: ['OAuth'], security: [], parameters: authorizeParameters }

function shown(description: string): Response {
  return { description, headers: requestId, content: { 'text/html': { schema: text } } }
}

function ledOn(description: string): Response {
  const Location = { description: 'Where to.', required: true, schema: { type: 'string' } }
  return { description, headers: { ...requestId, Location } }
}

const backToApplication =
  'To the redirect address, with `code` or `error` and `error_description`, the `state`, and `iss` (RFC 9207).'

const authorizeOperation: Operation = {
  operationId: 'askForCode',
  summary: 'Ask a merchant for a code',
  description:
    'For the merchant’s browser: the merchant signs in, sees what the application would be allowed to do, and allows or denies it.',
  ...byBrowser,
  responses: {
    200: shown('The page that asks for the store, or for the consent.'),
    302: ledOn(`To the sign-in. Or, for any other invalid request: ${backToApplication}`),
    400: shown('An unknown application, a redirect address that it did not register, or no such store.'),
  },
}

const decideOperation: Operation = {
  operationId: 'decideOnCode',
  summary: 'Allow or deny',
  description: 'Submitted by the button of the page; not for programs.',
  ...byBrowser,
  responses: {
    200: jsonAnswer(
      'The same for the script of the page, which opens PostBackURL in a popup and continues to Location.',
      {
        type: 'object',
        properties: {
          PostBackURL: { ...text, description: 'The address to which the application asks to send the merchant next.' },
          Location: { ...text, description: 'The address to which the browser continues.' },
        },
        required: ['Location'],
        additionalProperties: false,
      },
    ),
    302: ledOn(backToApplication),
    303: ledOn('Back to the page, or to the sign-in.'),
    400: shown('As for GET.'),
    403: shown('The form is too old, or comes from elsewhere.'),
    409: shown('The application has changed the privileges it asks for.'),
    502: shown('`Server not Responding`: the application has a CallBackURL, and that did not answer 200.'),
  },
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
})

const tokenOperation: Operation = {
  operationId: 'exchangeCode',
  summary: 'Exchange a code or a refresh token for an access token',
  description:
    'Names match without regard to case (`Code`). Parameters missing from the form are read from the query. A parameter that is repeated with the same value counts once. A code works once; using it again revokes the token issued for it. The access tokens of a new application expire after an hour: exchange the `refresh_token` of the last answer for the next ones. A refresh token works once; for 30 seconds its repetition gets the same answer, and after that it revokes the access. To refresh, the form is `grant_type=refresh_token&refresh_token=…` with the same keys.',
  ...byClient,
  requestBody: form(
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
  responses: {
    200: jsonAnswer(
      'The token. It ends with the subscription, or when it is revoked. That of an existing application does not expire; that of a new one comes with `expires_in` and `refresh_token`.',
      { oneOf: [tokenSchema, expiringTokenSchema] },
      {},
      {
        access_token: '0123456789abcdef0123456789abcdef',
        token_type: 'bearer',
        user_id: 1,
        expires_in: 3_600,
        refresh_token: '0123456789abcdef'.repeat(4),
      },
    ),
    ...refused,
  },
}

const revokeOperation: Operation = {
  operationId: 'revokeToken',
  summary: 'Revoke an access token or a refresh token',
  description:
    'RFC 7009. Of a new application, a refresh token or an access token ends the access that the merchant agreed to, with all its tokens. A token that is unknown or belongs to another client stays unchanged; the answer is the same.',
  ...byClient,
  requestBody: form(
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
  responses: { 200: jsonAnswer('The token is revoked. An empty object.', closedObject({})), ...refused },
}

function form(properties: JsonSchema, required: readonly string[], example: object) {
  const schema = { type: 'object', properties, required }
  const content = { schema, example }
  return {
    required: true,
    content: { 'application/x-www-form-urlencoded': content, 'multipart/form-data': content },
  }
}

const metadataWords: Readonly<Record<keyof ReturnType<typeof metadataOf>, string>> = {
  issuer: 'The name of this server, which redirects carry as `iss`.',
  authorization_endpoint: 'The page where the merchant gives consent.',
  token_endpoint: 'The address that exchanges a code for a token.',
  revocation_endpoint: 'The address that revokes a token.',
  response_types_supported: 'The allowed values of `response_type`.',
  response_modes_supported: 'The part of the redirect address that carries the code.',
  grant_types_supported: 'The allowed values of `grant_type`.',
  code_challenge_methods_supported: 'The allowed values of `code_challenge_method`.',
  token_endpoint_auth_methods_supported: 'The ways to send the application’s keys for a token.',
  revocation_endpoint_auth_methods_supported: 'The ways to send the application’s keys to revoke a token.',
  authorization_response_iss_parameter_supported: 'Whether redirects carry `iss` (RFC 9207).',
  service_documentation: 'The documentation for developers.',
}

const metadataOperation: Operation = {
  operationId: 'describeOAuth',
  summary: 'What this server can do (RFC 8414)',
  description: 'The addresses and capabilities from which OAuth libraries configure themselves.',
  tags: ['OAuth'],
  security: [],
  responses: {
    200: jsonAnswer('The endpoints and capabilities. `issuer` is PUBLIC_URL.', {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(metadataOf('')).map(([name, value]) => [
          name,
          schemaOf(name as keyof typeof metadataWords, value),
        ]),
      ),
      required: ['issuer', 'authorization_endpoint', 'token_endpoint'],
    }),
    403: ref('responses', 'OAuthRefusal403'),
  },
}

function schemaOf(name: keyof typeof metadataWords, value: string | boolean | readonly string[]): JsonSchema {
  const type = typeof value === 'object' ? { type: 'array', items: { type: 'string' } } : { type: typeof value }
  return { ...type, description: metadataWords[name] }
}

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
