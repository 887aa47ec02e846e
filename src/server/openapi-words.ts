import { z } from 'zod'
import type { JsonSchema } from '../engine/json-schema.ts'
import { INT32_MAX } from '../values/int32.ts'
import { jsonAnswer, type Operation, type Parameter, type Response, ref, retryAfter } from './openapi.ts'
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from './parameters.ts'

// What the descriptions of the JSON routes are made of.

/** Those that any route may answer. */
const always = [400, 401, 403, 429, 500, 503] as const
/** Those of routes that take a body. */
export const ofBody = [408, 413, 415] as const

/** The words for the routes of one kind of caller, who is known by the security scheme `credential`. */
export function routesOf<Status extends number>(
  tag: string,
  credential: string,
  refusals: Readonly<Record<Status | (typeof always)[number], Response>>,
) {
  const nameOf = (status: number | string) => `${tag}Refusal${status}`

  function operation(
    operationId: string,
    summary: string,
    rest: Omit<Operation, 'operationId' | 'summary' | 'tags'>,
  ): Operation {
    return { operationId, summary, tags: [tag], security: [{ [credential]: [] }], ...rest }
  }

  /** `others`: the refusals that not every route has. */
  function answers(
    status: number,
    description: string,
    schema: JsonSchema,
    others: readonly Status[] = [],
  ): Operation['responses'] {
    return { [status]: jsonAnswer(description, schema), ...refused(others) }
  }

  function refused(others: readonly Status[]): Operation['responses'] {
    return Object.fromEntries([...always, ...others].map((status) => [status, ref('responses', nameOf(status))]))
  }

  const responses = Object.fromEntries(
    Object.entries<Response>(refusals).map(([status, response]) => [nameOf(status), response]),
  )
  return { operation, answers, refused, responses }
}

export function refusal(description: string, headers: Response['headers'] = {}): Response {
  return jsonAnswer(description, ref('schemas', 'ArrayOfResponseInfo'), headers)
}

/** Those that mean the same to every caller. */
export const commonRefusals = {
  400: refusal('Something cannot be taken: `Value` names the property, `Message` says what is allowed.'),
  408: refusal('The body was not sent within 60 seconds.'),
  413: refusal('The body is larger than 1 MB.'),
  415: refusal('The body is of another media type.'),
  500: refusal('A defect of the server; the log has it under the request id.'),
  503: refusal('The database does not answer.', retryAfter),
}

export function idParameter(name: string, description: string): Parameter {
  const schema = { type: 'integer', minimum: 1, maximum: INT32_MAX }
  return { name, in: 'path', description, required: true, schema, example: 1 }
}

export function limitParameter(description: string, standard = PAGE_LIMIT_DEFAULT): Parameter {
  const schema = { type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, default: standard }
  return { name: 'limit', in: 'query', description, schema }
}

/** A number that says where the page begins. */
export function startParameter(name: string, description: string): Parameter {
  const schema = { type: 'integer', minimum: 0, maximum: INT32_MAX, default: 0 }
  return { name, in: 'query', description, schema }
}

export function bodySchema(schema: z.ZodType): JsonSchema {
  const { $schema, ...described } = z.toJSONSchema(schema, { io: 'input' })
  return described
}

export function jsonBody(schema: JsonSchema, example: unknown) {
  return { required: true, content: { 'application/json': { schema, example } } }
}

export function answerSchemas(named: Readonly<Record<string, z.ZodType>>): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => {
      const { $schema, ...described } = z.toJSONSchema(schema)
      return [name, described]
    }),
  )
}

/** Privileges as answers have them; `services`: those that they may name. */
export function privilegesSchema(services: readonly string[]) {
  const access = z.array(z.enum(['read', 'write'])).optional()
  return z.strictObject(Object.fromEntries(services.map((service) => [service, access]))).nullable()
}

export function listOf(name: string): JsonSchema {
  return { type: 'array', items: ref('schemas', name) }
}
