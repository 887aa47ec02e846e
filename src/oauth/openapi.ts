import type { JsonSchema } from '../engine/json-schema.ts'
import {
  jsonAnswer,
  type Operation,
  type Parameter,
  type Ref,
  type Response,
  ref,
  requestId,
  retryAfter,
} from '../server/openapi.ts'

const text = { type: 'string' }

export const errorSchema: JsonSchema = {
  type: 'object',
  properties: {
    error: {
      enum: [
        'invalid_client',
        'invalid_grant',
        'invalid_request',
        'server_error',
        'temporarily_unavailable',
        'unsupported_grant_type',
        'unsupported_token_type',
      ],
    },
    error_description: { type: 'string' },
  },
  required: ['error', 'error_description'],
  additionalProperties: false,
}

export const refusals = {
  400: refusal('`invalid_request`, `invalid_grant`, `unsupported_grant_type` or `unsupported_token_type`.'),
  401: refusal('`invalid_client`: the keys are not those of an application.', {
    'WWW-Authenticate': { description: 'Basic', required: true, schema: { type: 'string' } },
  }),
  403: refusal('The request came over plain http, and the server takes https alone.'),
  413: refusal('The body is larger than 64 kB.'),
  415: refusal('The body is no form.'),
  429: refusal('Too many requests with wrong keys came from the address.', retryAfter),
  500: refusal('A defect of the server; the log has it under the request id.'),
  503: refusal('The database does not answer.', retryAfter),
}

function refusal(description: string, headers: Response['headers'] = {}): Response {
  return jsonAnswer(description, ref('schemas', 'OAuthError'), headers)
}

export const refused: Readonly<Record<string, Ref>> = Object.fromEntries(
  Object.keys(refusals).map((status) => [status, ref('responses', `OAuthRefusal${status}`)]),
)

const authorizeParameters: readonly Parameter[] = [
  query('client_id', 'The public key of the application.', { required: true }),
  query('redirect_uri', 'One of the redirect addresses of the application, character by character.', {
    required: true,
    schema: { type: 'string', format: 'uri' },
  }),
  query('response_type', 'What is asked for.', { required: true, schema: { const: 'code' } }),
  query('state', 'Comes back byte for byte.'),
  query('store_url', 'The address of the store, with or without scheme. Absent: the merchant is asked.'),
  query('code_challenge', 'PKCE (RFC 7636).', { schema: { type: 'string', pattern: '^[A-Za-z0-9._~-]{43,128}$' } }),
  query('code_challenge_method', 'PKCE; absent: plain.', { schema: { enum: ['S256', 'plain'] } }),
]

function query(name: string, description: string, more: Partial<Parameter> = {}): Parameter {
  return { name, in: 'query', description, schema: { type: 'string' }, ...more }
}

const page = { 'text/html': { schema: { type: 'string' } } }

function shown(description: string): Response {
  return { description, headers: requestId, content: page }
}

function ledOn(description: string): Response {
  const Location = { description: 'Where to.', required: true, schema: { type: 'string' } }
  return { description, headers: { ...requestId, Location } }
}

const backToApplication =
  'To the redirect address, with `code` or `error` and `error_description`, the `state`, and `iss` (RFC 9207).'

export const authorizeOperation: Operation = {
  operationId: 'askForCode',
  summary: 'Ask a merchant for a code',
  description:
    'For the browser of the merchant, who signs in, sees what the application may do then, and allows it or not.',
  tags: ['OAuth'],
  security: [],
  parameters: authorizeParameters,
  responses: {
    200: shown('The page that asks for the store, or for the consent.'),
    302: ledOn(`To the sign-in. Or, when the request is wrong otherwise: ${backToApplication}`),
    400: shown('An unknown application, a redirect address that it did not register, or no such store.'),
  },
}

export const decideOperation: Operation = {
  operationId: 'decideOnCode',
  summary: 'Allow or deny',
  description: 'The button of the page: programs cannot press it.',
  tags: ['OAuth'],
  security: [],
  parameters: authorizeParameters,
  responses: {
    200: jsonAnswer(
      'The same for the script of the page, which opens PostBackURL in a popup and goes on to Location.',
      {
        type: 'object',
        properties: { PostBackURL: text, Location: text },
        required: ['Location'],
        additionalProperties: false,
      },
    ),
    302: ledOn(backToApplication),
    303: ledOn('Back to the page, or to the sign-in.'),
    400: shown('As when the page was asked for.'),
    403: shown('The form is too old, or comes from elsewhere.'),
    409: shown('The application asks for other privileges by now.'),
    502: shown('`Server not Responding`: the application has a CallBackURL, and that did not answer 200.'),
  },
}
