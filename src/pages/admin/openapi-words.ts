import { z } from 'zod'
import { type Header, type JsonSchema, type Operation, type Parameter, type Response, ref } from '../../openapi.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../parameters.ts'

// What the descriptions of the operator's routes are made of.

export function operation(
  operationId: string,
  summary: string,
  rest: Omit<Operation, 'operationId' | 'summary' | 'tags'>,
): Operation {
  return { operationId, summary, tags: ['Operator'], security: [{ OperatorKey: [] }], ...rest }
}

const INT32_MAX = 2_147_483_647

export function idParameter(name: string, description: string, example: number): Parameter {
  const schema = { type: 'integer', minimum: 1, maximum: INT32_MAX }
  return { name, in: 'path', description, required: true, schema, example }
}

export const storeId = idParameter('id', 'The store.', 1)

export const paging: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'The most records of the page.',
    schema: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT },
  },
  {
    name: 'offset',
    in: 'query',
    description: 'The records to pass over.',
    schema: { type: 'integer', minimum: 0, maximum: INT32_MAX, default: 0 },
  },
]

export function bodySchema(schema: z.ZodType): JsonSchema {
  const { $schema, ...described } = z.toJSONSchema(schema, { io: 'input' })
  return described
}

export function jsonBody(schema: JsonSchema, example: unknown) {
  return { required: true, content: { 'application/json': { schema, example } } }
}

export function listOf(name: string): JsonSchema {
  return { type: 'array', items: ref('schemas', name) }
}

export function answerSchema(schema: z.ZodType): JsonSchema {
  const { $schema, ...described } = z.toJSONSchema(schema)
  return described
}

export const requestId = { 'X-Request-Id': ref('headers', 'X-Request-Id') }

export function jsonAnswer(description: string, schema: JsonSchema): Response {
  return { description, headers: requestId, content: { 'application/json': { schema } } }
}

type RefusalStatus = keyof typeof refusals

const always: readonly RefusalStatus[] = [400, 401, 403, 429, 500, 503]
export const ofBody: readonly RefusalStatus[] = [408, 413, 415]

export function answers(
  status: number,
  description: string,
  schema: JsonSchema,
  others: readonly RefusalStatus[] = [],
): Operation['responses'] {
  return { [status]: jsonAnswer(description, schema), ...refused(others) }
}

export function refused(others: readonly RefusalStatus[]): Operation['responses'] {
  return Object.fromEntries([...always, ...others].map((status) => [status, ref('responses', refusalName(status))]))
}

export function refusalName(status: number | string): string {
  return `OperatorRefusal${status}`
}

export const refusals = {
  400: refusal('Something cannot be taken: `Value` names the property, `Message` says what is allowed.'),
  401: refusal('The key is not that of the operator.', {
    'WWW-Authenticate': { description: 'Bearer', required: true, schema: { type: 'string' } },
  }),
  403: refusal('The request came over plain http, and the server takes https alone.'),
  404: refusal('No such store, application, subscription or account.'),
  408: refusal('The body was not sent within 60 seconds.'),
  409: refusal(
    'What is stored contradicts it: another store has the host, another account the e-mail address, or the goods are out of stock; it is the last account of a store; or another request is asking the application for very long.',
  ),
  413: refusal('The body is larger than 1 MB.'),
  415: refusal('The body is of another media type.'),
  429: refusal('Too many requests without the key came from the address.', retryAfter()),
  500: refusal('A defect of the server; the log has it under the request id.'),
  502: refusal('The application did not answer 200, or not in time: `Server not Responding`.'),
  503: refusal('The database does not answer.', retryAfter()),
} as const

function refusal(description: string, headers: Readonly<Record<string, Header>> = {}): Response {
  return {
    description,
    headers: { ...requestId, ...headers },
    content: { 'application/json': { schema: ref('schemas', 'ArrayOfResponseInfo') } },
  }
}

export function retryAfter() {
  const schema = { type: 'integer', minimum: 1 }
  return { 'Retry-After': { description: 'Seconds to wait before the next try.', required: true, schema } }
}
