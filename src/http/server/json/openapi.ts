import type { JsonSchema } from '../../../engine/definition/json-schema.ts'
import { resultItem } from '../../../foundation/values/failure.ts'
import { ERROR_CODE } from '../requests/headers.ts'

/** `{"$ref": "#/components/…"}` */
export type Ref = { readonly $ref: string }

export type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>

export interface Header {
  readonly description: string
  readonly required?: boolean
  readonly schema: JsonSchema
}

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Header | Ref>>
  readonly content?: Content
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly required?: boolean
  /** False: the values of a list have commas between them. */
  readonly explode?: false
  readonly schema: JsonSchema
  readonly example?: unknown
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly (Parameter | Ref)[]
  readonly requestBody?: { readonly required: boolean; readonly description?: string; readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Ref>>
}

export type HttpMethod = 'get' | 'put' | 'post' | 'delete'

export type PathItem = Partial<Record<HttpMethod, Operation>> & {
  readonly servers?: readonly { readonly url: string; readonly description: string }[]
}

export interface Components {
  readonly schemas?: Readonly<Record<string, JsonSchema>>
  readonly responses?: Readonly<Record<string, Response>>
  readonly parameters?: Readonly<Record<string, Parameter>>
  readonly headers?: Readonly<Record<string, Header>>
  readonly securitySchemes?: Readonly<Record<string, object>>
}

/** One part of the server's description. All parts together are the document of `/openapi.json`. */
export interface ApiPart {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /** Relative to every REST prefix and version. */
  readonly servicePaths?: Readonly<Record<string, PathItem>>
  /** Requests that the server makes, by name. */
  readonly webhooks?: Readonly<Record<string, PathItem>>
  /** Relative to the server's root. */
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: Components
}

/** Requests to try on a new sandbox, by operationId: the identifiers of the address, and the body. */
export type Examples = Readonly<
  Record<string, { readonly path?: Readonly<Record<string, string | number>>; readonly body?: unknown }>
>

/** The schema of an object that has all of these members, of which some are optional, and no others. */
export function closedObject(
  properties: Readonly<Record<string, JsonSchema>>,
  description?: string,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', ...(description && { description }), properties, required, additionalProperties: false }
}

/** An operation of the server itself, for anyone. */
export function openOperation(
  operationId: string,
  summary: string,
  description: string,
  responses: Operation['responses'],
): Operation {
  const unreadable = jsonAnswer(
    'No request that HTTP allows, such as one without Host.',
    ref('schemas', 'ArrayOfResponseInfo'),
    errorCode,
    [resultItem('Error', '', 400, 'The header Host is missing')],
  )
  const forAnyone = { tags: ['Server'], security: [] }
  return { operationId, summary, description, ...forAnyone, responses: { 400: unreadable, ...responses } }
}

export function query(name: string, description: string, schema: JsonSchema, isRequired = false): Parameter {
  return { name, in: 'query', description, schema, ...(isRequired && { required: true }) }
}

export function ref(kind: keyof Components, name: string): Ref {
  return { $ref: `#/components/${kind}/${name}` }
}

/** The name of what a schema refers to; empty: it is no reference. */
export function nameIn({ $ref = '' }: JsonSchema | Ref): string {
  return String($ref).split('/').at(-1) ?? ''
}

export const requestId = { 'X-Request-Id': ref('headers', 'X-Request-Id') }

/** Of every refusal. */
export const errorCode = { [ERROR_CODE]: ref('headers', ERROR_CODE) }

const seconds = { type: 'integer', minimum: 1 }
export const retryAfter = {
  'Retry-After': { description: 'Seconds to wait before retrying.', required: true, schema: seconds },
}

export function jsonAnswer(
  description: string,
  schema: JsonSchema,
  headers: Response['headers'] = {},
  example?: unknown,
): Response {
  const content = { 'application/json': { schema, ...(example !== undefined && { example }) } }
  return { description, headers: { ...requestId, ...headers }, content }
}

/** The security scheme of routes that people's tokens reach. */
export const personToken = {
  type: 'http',
  scheme: 'bearer',
  description:
    'A token of a person, `spt_` and 43 characters, made on the account page or at `/account/tokens` and `/developers/account/tokens`. Not beside the cookie of a session.',
}
