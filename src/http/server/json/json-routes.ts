// Declares a JSON route once. The Fastify route, its role check, the validation of its input, the format of its
// responses and its part of /openapi.json all derive from the declaration.

import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Schemas } from '../../../engine/definition/json-schema.ts'
import type { DataServices } from '../../../foundation/database/client.ts'
import { type ResultItem, resultItem } from '../../../foundation/values/failure.ts'
import { readInput } from '../../../foundation/values/input.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'
import { remembered } from '../../../foundation/values/remembered.ts'
import {
  type ApiPart,
  type Content,
  errorCode,
  jsonAnswer,
  type Operation,
  type Parameter,
  type PathItem,
  personToken,
  query as queryParameter,
  type Ref,
  type Response,
  ref,
  retryAfter,
} from './openapi.ts'
import { readIds } from './parameters.ts'
import { problemContent } from './problem.ts'
import { answerOnce, type Pending } from './retries.ts'
import type { Need, Roles } from './roles.ts'

/** The schema of a record in answers, and the mapping of a value to the record. */
export interface RecordType<From> {
  readonly name: string
  readonly schema: z.ZodType
  of(value: From): Readonly<Record<string, unknown>>
}

type Valued<From, T> = readonly [schema: z.ZodType<T>, of: (value: From) => NoInfer<T>]

/** The property of a member's name, such as `secureUrl` for SecureURL and `createdAt` for DateCreated. */
type PropertyOf<Name> = Name extends `Date${infer What}`
  ? `${Uncapitalize<What>}At`
  : Name extends `${infer What}URL`
    ? `${Uncapitalize<What>}Url`
    : Uncapitalize<Name & string>

/** Of each member its schema, and what its value is unless it is the property of its name. A Date is written as ISO 8601. */
type Members<From, T> = {
  readonly [Name in keyof T]:
    | Valued<From, T[Name]>
    | (From extends Readonly<Record<PropertyOf<Name>, T[Name] | (string extends T[Name] ? Date : never)>>
        ? z.ZodType<T[Name]>
        : never)
}

/** Declares a record by its members. Those that are undefined are left out. */
export function record<From>(name: string) {
  return <T extends object>(members: Members<From, T>): RecordType<From> => {
    const entries = Object.entries<z.ZodType | Valued<From, unknown>>(members).map(([member, given]) => {
      const [schema, of] = given instanceof z.ZodType ? [given, propertyOf<From>(member)] : given
      return { member, schema, of }
    })
    return {
      name,
      schema: z.strictObject(Object.fromEntries(entries.map(({ member, schema }) => [member, schema]))),
      of: (value) => Object.fromEntries(entries.map(({ member, of }) => [member, of(value)])),
    }
  }
}

function propertyOf<From>(member: string): (value: From) => unknown {
  const named = member.replace(/^Date(.*)$/, '$1At').replace(/URL$/, 'Url')
  const name = named.replace(/^./, (first) => first.toLowerCase()) as keyof From
  return (value) => (value[name] instanceof Date ? value[name].toISOString() : value[name])
}

/** A successful response: its description in the reference, and the mapping from the handler's result to the body. */
export interface JsonAnswer<Value> {
  readonly response: Response
  readonly type?: RecordType<never>
  write(value: Value): unknown
}

export function one<From>(description: string, type: RecordType<From>): JsonAnswer<From> {
  return { response: jsonAnswer(description, ref('schemas', type.name)), type, write: (value) => type.of(value) }
}

export function many<From>(
  description: string,
  type: RecordType<From>,
  headers: Response['headers'] = {},
): JsonAnswer<readonly From[]> {
  const response = jsonAnswer(description, { type: 'array', items: ref('schemas', type.name) }, headers)
  return { response, type, write: (values) => values.map((value) => type.of(value)) }
}

export function done(description: string): JsonAnswer<ResultItem> {
  return { response: jsonAnswer(description, ref('schemas', 'ArrayOfResponseInfo')), write: (item) => [item] }
}

export interface BodyType<Body, Services> {
  readonly isOptional?: boolean
  describe(schemas: Schemas): { readonly description?: string; readonly content: Content }
  /** Throws a 400 for an invalid body. */
  read(request: FastifyRequest, services: Services): Body
}

/** `schemaFor`: where the schema depends on settings; `sent` returns the value to validate. */
export function jsonBody<S extends z.ZodType, Services extends object = object>(
  schema: S,
  example: unknown,
  {
    isOptional = false,
    schemaFor = () => schema,
    sent = ({ body }) => body,
  }: { isOptional?: boolean; schemaFor?: (services: Services) => S; sent?: (request: FastifyRequest) => unknown } = {},
): BodyType<z.output<S>, Services> {
  const schemaOf = remembered(schemaFor)
  return {
    isOptional,
    describe: () => {
      const described = withoutDialect(z.toJSONSchema(schema, { io: 'input' }))
      return { content: { 'application/json': { schema: described, example } } }
    },
    read: (request, services) => readInput(schemaOf(services), sent(request)),
  }
}

/** The argument of a route's handler. Identifiers and query have been validated. */
export interface JsonCall<Ids extends string, Query, Body, Value> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly ids: Readonly<Record<Ids, number>>
  readonly query: Query
  /** Returns the validated body, or throws a 400. Lazy: a handler can answer 404 for a missing record first. */
  readonly body: () => Body
  /**
   * For a route that `storesAnswer`: makes the answer to store in the transaction of the change, from what the change
   * results in. Undefined without an Idempotency-Key.
   */
  readonly pending: Pending<Value>
}

type IdsIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | IdsIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** At least one. */
type Answers =
  | { readonly 200: JsonAnswer<never>; readonly 201?: JsonAnswer<never> }
  | { readonly 200?: JsonAnswer<never>; readonly 201: JsonAnswer<never> }
type ValueOf<A extends Answers> = {
  [Status in keyof A]: A[Status] extends JsonAnswer<infer Value> ? Value : never
}[keyof A]

export type Declaration<Status, Ids extends string, Query extends z.ZodType, Body, A extends Answers, Services> = {
  readonly roles: Roles
  /** What merchants among `roles` must be privileged to. */
  readonly needs?: readonly Need[]
  /** Whether people must have shown a password or passkey in the last 15 minutes. Omitted: `needs` decides. */
  readonly proof?: boolean
  /** Whether people's tokens reach it, where it answers JSON. Omitted: none does. */
  readonly tokens?: boolean
  /** `operationId` in the reference. */
  readonly id: string
  readonly summary: string
  readonly description: string
  /** Errors other than those of every route and those that its method and identifiers imply. */
  readonly refusals?: readonly Status[]
  /** Bodies are streams, and the handler sends the response. */
  readonly isStreamed?: boolean
  /**
   * The handler stores the answer of a request with an Idempotency-Key, by `pending`, because it makes transactions of
   * its own. Omitted: with a key, all of the handler is one transaction.
   */
  readonly storesAnswer?: boolean
  /** The query parameters, each with its description. Omitted: the query is ignored. */
  readonly query?: Query
  readonly body?: BodyType<Body, Services>
  /** The successful responses. If there are several, the handler sets the status. */
  readonly answers: A
  /** Returns the value that `answers` maps to the body, or the reply after sending something else, such as a page. */
  readonly run: (
    call: JsonCall<Ids, z.output<Query>, Body, ValueOf<A>>,
    services: Services,
  ) => Promise<ValueOf<A> | FastifyReply>
  // `ids` describes each identifier in the address.
} & Pick<FastifyContextConfig, 'forOwners' | 'whenClosed'> &
  ([Ids] extends [never] ? { readonly ids?: never } : { readonly ids: Readonly<Record<Ids, string>> })

/** A group of routes for one kind of principal with one security scheme. */
export interface RouteGroup {
  readonly tag: string
  readonly description: string
  /** `isOptional`: its parts may also be sent in the body. */
  readonly credential: { readonly name: string; readonly scheme: object; readonly isOptional?: boolean }
  /** By status. */
  readonly refusals: Readonly<Record<number, Response>>
  /** `refusals` are whole answers, instead of items and problem details. */
  readonly hasOwnRefusals?: boolean
  /** A header required for changes without a body. */
  readonly bodilessHeader?: Parameter
  /** The principal whose Idempotency-Keys count. Omitted: the routes ignore the header. */
  readonly principalOf?: (request: FastifyRequest) => readonly unknown[]
}

/** A declared route, with the types of its parts erased. */
export interface JsonRoute<Services>
  extends Omit<Declaration<number, string, z.ZodType, unknown, Answers, unknown>, 'run'> {
  readonly group: RouteGroup
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly run: (call: JsonCall<string, unknown, unknown, unknown>, services: Services) => Promise<unknown>
}

/** What of a route its description is derived from. */
export type DescribedRoute = Omit<JsonRoute<never>, 'run' | 'roles'>

/** Returns a function that declares routes of the group, at addresses such as `GET /admin/stores/:id`. */
export function routesOf<const Group extends RouteGroup>(group: Group) {
  return <
    At extends `${JsonRoute<never>['method']} /${string}`,
    A extends Answers,
    Query extends z.ZodType = z.ZodUnknown,
    Body = unknown,
    Services = unknown,
  >(
    address: At,
    declaration: Declaration<keyof Group['refusals'], IdsIn<At>, Query, Body, A, Services>,
  ): JsonRoute<Services> => {
    const [method, path] = address.split(' ')
    return { ids: {}, ...declaration, group, method, path } as unknown as JsonRoute<Services>
  }
}

export type ServicesOf<Route> = [Route] extends [JsonRoute<infer Services>] ? Services : never

export function registerRoutes<Route extends JsonRoute<never>>(
  app: FastifyInstance,
  routes: readonly Route[],
  services: ServicesOf<Route> & DataServices,
): void {
  for (const route of routes) {
    const { method, path, roles, needs, proof, isStreamed = false } = route
    const { tokens = false, forOwners = false, whenClosed = false } = route
    const who = { tokens, forOwners, whenClosed }
    app.route({
      method,
      url: path,
      exposeHeadRoute: !isStreamed,
      config: { roles, ...(needs && { needs }), ...(proof !== undefined && { proof }), ...who, streamed: isStreamed },
      handler: handlerOf(route, services),
    })
  }
}

function handlerOf(route: JsonRoute<never>, services: DataServices) {
  const { group, method, path, ids, query, body, answers, storesAnswer = false } = route
  const idNames = Object.keys(ids)
  const [status, other] = Object.keys(answers).map(Number)
  const principalOf = takesKey(route) ? group.principalOf : undefined
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const call = {
      request,
      reply,
      ids: readIds(request.params, ...idNames),
      query: query && readInput(query, request.query, 'The query'),
      body: () => body?.read(request, services),
    }
    const run = (using: DataServices, pending: Pending<unknown>) => route.run({ ...call, pending }, using as never)
    const write = (value: unknown) => {
      // The handler sent a reply: awaiting it yields undefined.
      if (value === undefined) return
      if (status !== undefined && other === undefined) reply.code(status)
      return answers[reply.statusCode as 200]?.write(value as never)
    }
    const { 'idempotency-key': header } = request.headers
    if (!principalOf || header === undefined) return write(await run(services, () => undefined))
    const scope = [...principalOf(request), method, path, call.ids]
    return answerOnce<DataServices>(services, { header, reply, scope, storesAnswer, run, write })
  }
}

function takesKey({ group, method, isStreamed }: DescribedRoute): boolean {
  return group.principalOf !== undefined && method !== 'GET' && !isStreamed
}

export function describeRoutes(routes: readonly DescribedRoute[]): ApiPart {
  const groups = [...new Set(routes.map(({ group }) => group))]
  const schemas: Schemas = new Map()
  const paths: Record<string, PathItem> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(route, schemas) }
  }
  return {
    tags: groups.map(({ tag, description }) => ({ name: tag, description })),
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      responses: Object.assign({}, ...groups.map(refusalsOf)),
      securitySchemes: {
        ...Object.fromEntries(groups.map(({ credential: { name, scheme } }) => [name, scheme])),
        ...(routes.some(({ tokens }) => tokens) && { personToken }),
      },
    },
  }
}

function describe(route: DescribedRoute, schemas: Schemas): Operation {
  const { group, id, summary, description, body } = route
  const answers = Object.entries<JsonAnswer<never>>(route.answers)
  for (const [, { type }] of answers) if (type) schemas.set(type.name, withoutDialect(z.toJSONSchema(type.schema)))
  const refused = refusalStatuses(route).map((status) => [status, ref('responses', `${group.tag}Refusal${status}`)])
  const parameters = parametersOf(route)
  const headersOf = (response: Response) => ({ ...response.headers, ...(takesKey(route) && replayed) })
  const answered = answers.map(([status, { response }]) => [status, { ...response, headers: headersOf(response) }])
  return {
    operationId: id,
    summary,
    description,
    tags: [group.tag],
    security: [
      { [group.credential.name]: [] },
      ...(route.tokens ? [{ personToken: [] }] : []),
      ...(group.credential.isOptional ? [{}] : []),
    ],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !body.isOptional, ...body.describe(schemas) } }),
    responses: Object.fromEntries([...answered, ...refused]),
  }
}

function refusalsOf({ tag, refusals, hasOwnRefusals = false }: RouteGroup) {
  return Object.fromEntries(
    Object.entries(refusals).map(([status, response]) => {
      if (hasOwnRefusals) return [`${tag}Refusal${status}`, response]
      const { description, headers } = response
      const example = [resultItem('Error', '', Number(status), description.split(/[.;:] /, 1)[0] ?? '')]
      const answer = jsonAnswer(description, ref('schemas', 'ArrayOfResponseInfo'), headers, example)
      const details = problemContent({ status: Number(status), items: example })
      return [`${tag}Refusal${status}`, { ...answer, content: { ...answer.content, ...details } }]
    }),
  )
}

function refusalStatuses(route: DescribedRoute): readonly number[] {
  const { method, ids, isStreamed, refusals = [] } = route
  const ofIds = Object.keys(ids).length > 0 ? [404] : []
  const ofBody = method === 'GET' ? [] : isStreamed ? [415] : [408, 413, 415]
  const ofKey = takesKey(route) ? [409, 422] : []
  const all = new Set([400, 401, 403, 429, 500, 503, ...ofIds, ...ofBody, ...ofKey, ...refusals])
  return [...all].filter((status) => status in route.group.refusals)
}

function parametersOf(route: DescribedRoute): (Parameter | Ref)[] {
  const { method, ids, query, body } = route
  const { bodilessHeader } = route.group
  const ofIds = Object.entries(ids).map(([name, description]): Parameter => {
    const schema = { type: 'integer', minimum: 1, maximum: INT32_MAX }
    return { name, in: 'path', description, required: true, schema, example: 1 }
  })
  const { properties = {} } = query ? z.toJSONSchema(query) : {}
  const ofQuery = Object.entries(properties).map(([name, property]) => {
    const { description = '', ...schema } = property as z.core.JSONSchema.JSONSchema
    // A list is taken with commas between its values.
    return { ...queryParameter(name, description, schema), ...(schema.type === 'array' && { explode: false as const }) }
  })
  const isBodiless = method !== 'GET' && (!body || body.isOptional === true)
  const ofKey = takesKey(route) ? [ref('parameters', 'IdempotencyKey')] : []
  const ofNoBody = bodilessHeader && isBodiless ? [{ ...bodilessHeader, required: !body }] : []
  return [...ofIds, ...ofQuery, ...ofKey, ...ofNoBody]
}

function withoutDialect({ $schema, ...schema }: z.core.JSONSchema.BaseSchema) {
  return schema
}

export function refusal(description: string, headers: Response['headers'] = {}): Response {
  return jsonAnswer(description, ref('schemas', 'ArrayOfResponseInfo'), { ...errorCode, ...headers })
}

/** The answer to a request with an Idempotency-Key may be a replay. */
export const replayed = { 'Idempotency-Replayed': ref('headers', 'Idempotency-Replayed') }

/** Errors with the same meaning for every caller. */
export const commonRefusals = {
  400: refusal('Something in the request is invalid: `Value` names the property, `Message` says what is allowed.'),
  408: refusal('The body arrived more slowly than 4 kB/s.'),
  413: refusal('The body is larger than 1 MB.'),
  415: refusal('The body is of another media type.'),
  500: refusal('A defect of the server; the log has it under the request id.'),
  503: refusal('The database does not answer.', retryAfter),
}
