import type { ObjectType } from '../../../engine/definition/fields.ts'
import { describeRecord, type JsonSchema, type Schemas } from '../../../engine/definition/json-schema.ts'
import { errorCodes, resultItem } from '../../../foundation/values/failure.ts'
import {
  type Content,
  closedObject,
  type Header,
  nameIn,
  type Ref,
  type Response,
  ref,
  retryAfter,
} from '../../server/json/openapi.ts'
import { type ExampleSources, exampleOf } from '../../server/json/openapi-examples.ts'
import { problemContent } from '../../server/json/problem.ts'
import { ERROR_CODE } from '../../server/requests/headers.ts'
import { exampleXml, recordsToXml, resultsToXml } from '../xml.ts'

function always(description: string, schema: JsonSchema) {
  return { description, required: true, schema }
}

const number = { type: 'integer', minimum: 0 }
const challenges = ['Bearer', 'Bearer error="invalid_token"', 'Bearer error="insufficient_scope"']

function matching(pattern: string): JsonSchema {
  return { type: 'string', pattern }
}

export const headers = {
  'X-Request-Id': always(
    'Names the request; the log has it. A short one that was sent is kept.',
    matching('^[A-Za-z0-9._-]{1,64}$'),
  ),
  'X-RateLimit-Limit': always('How many requests the bucket of application and store holds.', number),
  'X-RateLimit-Remaining': always('Requests left in the current burst.', number),
  'RateLimit-Policy': always(
    'The same bucket: `q` requests, empty after `w` seconds without any.',
    matching(String.raw`^"default";q=\d+;w=\d+$`),
  ),
  RateLimit: always(
    'The same state: `r` requests remain; after `t` seconds there are more.',
    matching(String.raw`^"default";r=\d+;t=\d+$`),
  ),
  [ERROR_CODE]: always(
    'Of every refusal, and of a list of which a record was refused: the code of the first one. Each has a page at `/docs/errors/{code}`.',
    ref('schemas', 'ErrorCode'),
  ),
  ...retryAfter,
  'WWW-Authenticate': {
    description:
      'Where an Authorization header was refused, or no credentials at all were sent; with `error` for a Bearer token that was refused, or whose application lacks the privilege.',
    schema: { type: 'string', enum: challenges },
  },
  Allow: always('The methods that the address takes.', { type: 'string' }),
  ETag: always('Of this representation of the record, compressed or not, strong.', matching('^"[^"]+"$')),
  Link: {
    description: 'The address of the next page, by its cursor; absent: this is the last page.',
    schema: matching('^<[^>]+>; rel="next"$'),
  },
  'X-Total-Count': {
    description: 'The total number of matches, if `Prefer: count=exact` asked for it.',
    schema: number,
  },
  'Preference-Applied': {
    description:
      'What of `Prefer` was followed: `handling`, `notify=none` of a change, and `count=exact` with X-Total-Count.',
    schema: matching('^(handling=(strict|lenient)|(handling=(strict|lenient), )?(count=exact|notify=none))$'),
  },
  'X-Ignored': {
    description:
      'What is ignored of a lenient request: parameters and members that nobody knows, members that are read only and differ from what is stored, and numbers of which rounding to four decimals left nothing. Names alone, percent-encoded, separated by commas; at most 20 and 1 kB. A replay by Idempotency-Key has none.',
    schema: { ...matching(String.raw`^[^,\s]+(, [^,\s]+)*$`), maxLength: 1_024 },
  },
  'Idempotency-Replayed': {
    description: 'This is the stored answer of the first request with the Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
} satisfies Readonly<Record<string, Header>>

export type HeaderName = keyof typeof headers

/** Those of operations: only a 405, which is the answer to no operation, has Allow. */
const { Allow: _, ...described } = headers
export const describedHeaders: Readonly<Record<string, Header>> = described

/** Headers of every answer to a request counted in the bucket. */
export const bucketHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'RateLimit-Policy', 'RateLimit'] as const

/** Headers that every answer to an admitted request may have. */
export const handlingHeaders: readonly HeaderName[] = ['Preference-Applied', 'X-Ignored']

export function headerRefs(names: readonly HeaderName[]): Readonly<Record<string, Ref>> {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name)]))
}

const forNew = 'and only to new applications; everybody has it of the first error in X-Error-Code.'

function text(description: string): JsonSchema {
  return { type: 'string', description }
}

export const resultSchemas: Readonly<Record<string, JsonSchema>> = {
  ErrorCode: {
    type: 'string',
    enum: errorCodes,
    description: 'Why something was refused, for programs to decide by. Later versions may add codes.',
  },
  ResponseInfo: {
    ...closedObject(
      {
        Key: text('The name of the identifier, or `Error`.'),
        Value: text('The identifier; of an error the field, parameter, header or identifier at fault, or nothing.'),
        Status: { ...matching(String.raw`^\d{3}$`), description: 'The HTTP status.' },
        Message: text('What was done; or what is wrong and what is allowed.'),
        Code: { ...ref('schemas', 'ErrorCode'), description: `Of an error, ${forNew}` },
      },
      'What became of one record.',
      ['Code'],
    ),
    xml: { name: 'ResponseInfo' },
  },
  ArrayOfResponseInfo: {
    type: 'array',
    items: ref('schemas', 'ResponseInfo'),
    minItems: 1,
    xml: { name: 'ArrayOfResponseInfo', wrapped: true },
  },
  CountOnly: {
    ...closedObject(
      { TotalCount: { type: 'integer', format: 'int32', minimum: 0, description: 'How many records match.' } },
      'The answer of `/Count`, and of a list to `countonly=1`.',
    ),
    xml: { name: 'CountOnly' },
  },
  Problem: closedObject(
    {
      type: {
        type: 'string',
        format: 'uri',
        pattern: String.raw`^(urn:store-platform:problem:\d{3}|https?://.+/docs/errors/[a-z-]+)$`,
        description: 'The same for all errors of a kind: of a new application the page of the code.',
      },
      code: { ...ref('schemas', 'ErrorCode'), description: `Why it was refused, ${forNew}` },
      title: text('The status in English words.'),
      status: { type: 'integer', minimum: 400, maximum: 599, description: 'The same as that of the answer.' },
      detail: text('What was wrong with this request.'),
      errors: {
        type: 'array',
        description:
          'One for each record that was refused; of a strict request one for everything that is wrong with it.',
        items: ref('schemas', 'ProblemError'),
      },
      requestId: text('Also in the header X-Request-Id, and in the log.'),
    },
    'Problem details (RFC 9457).',
    ['code'],
  ),
  ProblemError: closedObject(
    {
      index: { type: 'integer', minimum: 0, description: 'The index of the record in the request, from 0.' },
      field: text('The field, parameter or header at fault, or nothing.'),
      status: { type: 'integer', minimum: 200, maximum: 599, description: 'What became of this record alone.' },
      code: { ...ref('schemas', 'ErrorCode'), description: `Of an error, ${forNew}` },
      detail: text('What is wrong with the record and what is allowed; or what was done.'),
    },
    undefined,
    ['code'],
  ),
}

interface Refusal {
  readonly name: string
  readonly description: string
  /** `Value` and `Message` of the example. */
  readonly shown: readonly [value: string, message: string]
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
  shown: Refusal['shown'],
  { headers = [...bucketHeaders, ...handlingHeaders], optional = [], body = 'results' }: Partial<Refusal> = {},
): Refusal {
  return { name, description, shown, headers, optional, body }
}

const replayable = { optional: ['Idempotency-Replayed'] } as const

const refusals = {
  400: refusal(
    'BadRequest',
    'Something in the request is invalid. `Value` names the field, parameter or identifier, `Message` says what is allowed.',
    ['limit', 'limit must be a whole number; "ten" was given'],
    replayable,
  ),
  401: refusal(
    'Unauthorized',
    'The credentials are missing, which `Message` names, or not valid together; or the application lacks the privilege that the operation needs.',
    ['', 'Authentication failed'],
    { headers: [...bucketHeaders, 'WWW-Authenticate'] },
  ),
  403: refusal(
    'InsecureTransport',
    'The request came over plain http, and the server accepts only https; or the store is closed: the same request works once one of its owners has opened it again.',
    ['', 'Send requests by https'],
    { headers: [] },
  ),
  404: refusal('NotFound', 'No such record, or none in the list. The body is empty.', ['', 'There is no such record'], {
    ...replayable,
    body: 'empty',
  }),
  408: refusal('BodyTimeout', 'The body arrived more slowly than 4 kB/s.', ['', 'The body took too long'], {
    body: 'json',
  }),
  409: refusal(
    'Conflict',
    'The change conflicts with what is stored; or the first request with this Idempotency-Key is still in progress.',
    ['SKU', 'SKU "MUG-ENAMEL" belongs to another product'],
    { optional: ['Idempotency-Replayed', 'Retry-After'] },
  ),
  410: refusal('Gone', 'What was asked for was deleted because of its age. `Message` says how to go on.', [
    'after',
    'The events after 17 were deleted; read on from 4096',
  ]),
  412: refusal(
    'PreconditionFailed',
    'The record is not the one that If-Match or If-None-Match asks for.',
    ['If-Match', 'The record has been changed'],
    replayable,
  ),
  413: refusal('BodyTooLarge', 'The body is larger than 10 MB.', ['', 'The body is larger than 10 MB']),
  415: refusal('UnsupportedMediaType', 'The body is neither JSON nor XML in UTF-8, or it is compressed.', [
    'Content-Type',
    'Unsupported media type: Content-Type is not one',
  ]),
  422: refusal('KeyReused', 'The Idempotency-Key was used with a different body before.', [
    'Idempotency-Key',
    'Idempotency-Key was used for another request',
  ]),
  429: refusal(
    'TooManyRequests',
    'The bucket is full, or too many bytes of the application are in flight.',
    ['', 'Too many requests'],
    { headers: [...bucketHeaders, 'Retry-After'] },
  ),
  500: refusal('InternalError', 'A defect of the server; the log has it under the request id.', ['', 'Internal error']),
  503: refusal(
    'Unavailable',
    'The database does not answer, or others kept what was needed for too long.',
    ['', 'The database does not answer'],
    { headers: [...bucketHeaders, ...handlingHeaders, 'Retry-After'] },
  ),
} as const satisfies Readonly<Record<number, Refusal>>

export type RefusalStatus = keyof typeof refusals

export function refusalRefs(statuses: readonly RefusalStatus[]): Readonly<Record<string, Ref>> {
  return Object.fromEntries(statuses.map((status) => [status, ref('responses', refusals[status].name)]))
}

export function refusalResponses(): Readonly<Record<string, Response>> {
  const all = Object.entries<Refusal>(refusals)
  return Object.fromEntries(
    all.map(([status, refused]) => {
      const { name, description, headers: names, optional } = refused
      const maybe = Object.fromEntries(optional.map((each) => [each, { ...headers[each], required: false }]))
      const sent = { ...headerRefs(['X-Request-Id', ERROR_CODE, ...names]), ...maybe }
      return [name, { description, headers: sent, content: refusedContent(Number(status), refused) }]
    }),
  )
}

function refusedContent(status: number, { shown: [field, message], body }: Refusal): Content {
  const items = [resultItem('Error', field, status, message)]
  const schema = ref('schemas', 'ArrayOfResponseInfo')
  if (body === 'empty') return problemContent({ status, items: [] })
  if (body === 'json') return { 'application/json': { schema, example: items } }
  return { ...both(schema, items, resultsToXml(items)), ...problemContent({ status, items }) }
}

/** Both formats share one schema; its `xml` members name the elements. */
export function both(schema: JsonSchema, example: unknown, xml: string): Content {
  return { 'application/json': { schema, example }, 'application/xml': { schema, example: exampleXml(xml) } }
}

export type RecordSources = ExampleSources & { readonly schemas: Schemas }

/** Records that are sent: by a reference to their list, and by itself where it has exactly one, since its bounds are its own. */
export function recordsContent(sources: RecordSources, type: ObjectType, isOne: boolean): Content {
  const items = describeRecord(sources.schemas, type, 'read')
  const list = { type: 'array', items, xml: { name: `ArrayOf${type.typeName}`, wrapped: true } }
  const name = `ArrayOf${nameIn(items)}`
  if (!isOne) sources.schemas.set(name, list)
  const schema = isOne ? { ...list, minItems: 1, maxItems: 1 } : ref('schemas', name)
  const records = exampleOf(schema, sources) as readonly object[]
  const texts = records.map((record) => JSON.stringify(record))
  return both(schema, records, recordsToXml(texts, type))
}
