import type { JsonSchema } from '../../engine/json-schema.ts'
import { type Content, type Ref, type Response, ref } from '../../server/openapi.ts'
import { PROBLEM_TYPE } from '../format.ts'
import { bucketHeaders, type HeaderName, headerRefs, headers } from './headers.ts'

export const resultSchemas: Readonly<Record<string, JsonSchema>> = {
  ResponseInfo: {
    type: 'object',
    description: 'What became of one record.',
    properties: {
      Key: { type: 'string', description: 'The name of the identifier, or `Error`.' },
      Value: {
        type: 'string',
        description: 'The identifier; of an error the field, parameter, header or identifier at fault, or nothing.',
      },
      Status: { type: 'string', pattern: String.raw`^\d{3}$`, description: 'As an HTTP status.' },
      Message: { type: 'string', description: 'What was done, or what is wrong and what is allowed.' },
    },
    required: ['Key', 'Value', 'Status', 'Message'],
    additionalProperties: false,
    xml: { name: 'ResponseInfo' },
  },
  ArrayOfResponseInfo: {
    type: 'array',
    items: ref('schemas', 'ResponseInfo'),
    minItems: 1,
    xml: { name: 'ArrayOfResponseInfo', wrapped: true },
  },
  CountOnly: {
    type: 'object',
    description: 'The answer to `countonly=1`.',
    properties: { TotalCount: { type: 'integer', format: 'int32', minimum: 0 } },
    required: ['TotalCount'],
    additionalProperties: false,
    xml: { name: 'CountOnly' },
  },
  Problem: {
    type: 'object',
    description: 'Problem details (RFC 9457).',
    properties: {
      type: {
        type: 'string',
        format: 'uri',
        pattern: String.raw`^urn:store-platform:problem:\d{3}$`,
        description: 'The same for every refusal of its kind.',
      },
      title: { type: 'string' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: { type: 'string', description: 'What was wrong with this request.' },
      errors: {
        type: 'array',
        description: 'One for each record that was refused.',
        items: ref('schemas', 'ProblemError'),
      },
      requestId: { type: 'string', description: 'Also in the header X-Request-Id, and in the log.' },
    },
    required: ['type', 'title', 'status', 'detail', 'errors', 'requestId'],
    additionalProperties: false,
  },
  ProblemError: {
    type: 'object',
    properties: {
      index: { type: 'integer', minimum: 0, description: 'The place of the record in the request, from 0.' },
      field: { type: 'string', description: 'The field, parameter or header at fault, or nothing.' },
      status: { type: 'integer', minimum: 200, maximum: 599 },
      detail: { type: 'string' },
    },
    required: ['index', 'field', 'status', 'detail'],
    additionalProperties: false,
  },
}

interface Refusal {
  readonly name: string
  readonly description: string
  /** Headers of this refusal besides X-Request-Id. */
  readonly headers: readonly HeaderName[]
  /** Headers that it may have. */
  readonly optional: readonly HeaderName[]
  /** `empty`: no body, except problem details on request; `json`: refused before the protocol is known. */
  readonly body: 'results' | 'empty' | 'json'
}

function refusal(
  name: string,
  description: string,
  { headers = bucketHeaders, optional = [], body = 'results' }: Partial<Refusal> = {},
): Refusal {
  return { name, description, headers, optional, body }
}

const replayable = { optional: ['Idempotency-Replayed'] } as const

/** Refusals of operations, by status. */
const refusals = {
  400: refusal(
    'BadRequest',
    'Something cannot be taken. `Value` names the field, parameter or identifier, `Message` says what is allowed.',
    replayable,
  ),
  401: refusal(
    'Unauthorized',
    'The credentials are missing, which `Message` names, or not valid together; or the application lacks the privilege that the operation needs.',
    { headers: [...bucketHeaders, 'WWW-Authenticate'] },
  ),
  403: refusal('InsecureTransport', 'The request came over plain http, and the server takes https alone.', {
    headers: [],
  }),
  404: refusal('NotFound', 'No such record, or none in the list. The body is empty.', { ...replayable, body: 'empty' }),
  408: refusal('BodyTimeout', 'The body was not sent within 60 seconds.', { body: 'json' }),
  409: refusal(
    'Conflict',
    'The change contradicts what is stored; or the first request with this Idempotency-Key is still in progress.',
    { optional: ['Idempotency-Replayed', 'Retry-After'] },
  ),
  410: refusal('Gone', 'What was asked for was deleted because of its age. `Message` says how to go on.'),
  412: refusal('PreconditionFailed', 'The record is not the one that If-Match or If-None-Match asks for.', replayable),
  413: refusal('BodyTooLarge', 'The body is larger than 10 MB.'),
  415: refusal('UnsupportedMediaType', 'The body is neither JSON nor XML in UTF-8, or it is compressed.'),
  422: refusal('KeyReused', 'The Idempotency-Key came with another body before.'),
  429: refusal('TooManyRequests', 'The bucket is full.', { headers: [...bucketHeaders, 'Retry-After'] }),
  500: refusal('InternalError', 'A defect of the server; the log has it under the request id.'),
  503: refusal('Unavailable', 'The database does not answer.', { headers: [...bucketHeaders, 'Retry-After'] }),
} as const satisfies Readonly<Record<number, Refusal>>

/** Refusals outside operations (unknown address or method), by status. */
const outside = {
  404: refusal(
    'UnknownAddress',
    'No service, no version, or not the shape of an address. Where the service is unknown, `Message` lists those that exist.',
    { headers: [] },
  ),
  405: refusal('MethodNotAllowed', 'The address does not take the method.', { headers: [...bucketHeaders, 'Allow'] }),
} as const satisfies Readonly<Record<number, Refusal>>

export type RefusalStatus = keyof typeof refusals

export function refusalRefs(statuses: readonly RefusalStatus[]): Readonly<Record<string, Ref>> {
  return Object.fromEntries(statuses.map((status) => [status, ref('responses', refusals[status].name)]))
}

export function refusalResponses(): Readonly<Record<string, Response>> {
  const all: readonly Refusal[] = [...Object.values(refusals), ...Object.values(outside)]
  return Object.fromEntries(all.map((one) => [one.name, responseOf(one)]))
}

function responseOf({ description, headers: names, optional, body }: Refusal): Response {
  const maybe = optional.map((name) => [name, { ...headers[name], required: false }])
  return {
    description,
    headers: { ...headerRefs(['X-Request-Id', ...names]), ...Object.fromEntries(maybe) },
    content: contents[body],
  }
}

const results = { schema: ref('schemas', 'ArrayOfResponseInfo') }
const problem: Content = { [PROBLEM_TYPE]: { schema: ref('schemas', 'Problem') } }

const contents: Readonly<Record<Refusal['body'], Content>> = {
  results: { 'application/json': results, 'application/xml': results, ...problem },
  empty: problem,
  json: { 'application/json': results },
}
