import { z } from 'zod'
import { describeRoutes } from '../server/json/json-routes.ts'
import {
  type ApiPart,
  closedObject,
  jsonAnswer,
  type Operation,
  query,
  type Response,
  ref,
  requestId,
} from '../server/json/openapi.ts'
import { endpoints } from './endpoints.ts'
import { endpointErrors } from './refusal.ts'
import { metadata } from './routes.ts'

// What the reference says of OAuth's addresses. Names and values are those of the RFCs that they follow; the standard clients
// know them.

const text = { type: 'string' }

const errorSchema = closedObject({
  error: { enum: endpointErrors, description: 'What is wrong, for programs (RFC 6749).' },
  error_description: { ...text, description: 'What is wrong and what to do, for people.' },
})

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
      closedObject(
        {
          PostBackURL: { ...text, description: 'The address to which the application asks to send the merchant next.' },
          Location: { ...text, description: 'The address to which the browser continues.' },
        },
        undefined,
        ['PostBackURL'],
      ),
    ),
    302: ledOn(backToApplication),
    303: ledOn('Back to the page, or to the sign-in.'),
    400: shown('As for GET.'),
    403: shown('The form is too old, or comes from elsewhere.'),
    409: shown('The application has changed the privileges it asks for.'),
    502: shown('`Server not Responding`: the application has a CallBackURL, and that did not answer 200.'),
  },
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
      properties: z.toJSONSchema(metadata.schema).properties,
      required: ['issuer', 'authorization_endpoint', 'token_endpoint'],
    }),
    403: ref('responses', 'OAuthRefusal403'),
  },
}

export function describeOAuth(): ApiPart {
  const { tags, paths, components } = describeRoutes(endpoints)
  return {
    tags,
    paths: {
      '/oauth/authorize': { get: authorizeOperation, post: decideOperation },
      ...paths,
      '/.well-known/oauth-authorization-server': { get: metadataOperation },
    },
    components: { ...components, schemas: { ...components.schemas, OAuthError: errorSchema } },
  }
}
