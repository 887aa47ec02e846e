import { created, deleted, updated } from '../../engine/change.ts'
import { accessOf, type Resource } from '../../engine/define.ts'
import type { Endpoint, Operation as EndpointOperation } from '../../engine/endpoints.ts'
import type { Schemas } from '../../engine/json-schema.ts'
import { servedResources } from '../../registry.ts'
import {
  type ApiPart,
  type Examples,
  type HttpMethod,
  type Operation,
  type PathItem,
  type Response,
  ref,
  type Tag,
} from '../../server/openapi.ts'
import { RECORDS_MAX } from '../body.ts'
import { endpointsOf } from '../endpoints.ts'
import { givenSchema, inBothFormats, takenContent } from './bodies.ts'
import { bucketHeaders, type HeaderName, headerRefs, headers } from './headers.ts'
import { inWords, type Method, operationName } from './names.ts'
import { operationParameters, pathParameters, sharedParameters } from './parameters.ts'
import { type RefusalStatus, refusalRefs, refusalResponses, resultSchemas } from './refusals.ts'

/**
 * Describes the REST services in OpenAPI 3.1, from the definitions that serve them; paths begin with the service.
 * `examples` are shown for their operations.
 */
export function describeRest(examples: Examples): ApiPart {
  const schemas: Schemas = new Map(Object.entries(resultSchemas))
  const paths: Record<string, PathItem> = {}
  for (const resource of servedResources) {
    const endpoints = endpointsOf(resource)
    for (const endpoint of endpoints) {
      paths[addressOf(resource, endpoint)] = pathItem(schemas, examples, { resource, endpoints, endpoint })
    }
  }
  return {
    tags: servedResources.map(tagOf),
    servicePaths: paths,
    paths: { '/records.xsd': { get: recordSchemaRoute } },
    components: {
      schemas: Object.fromEntries(schemas),
      responses: refusalResponses(),
      parameters: sharedParameters,
      headers,
      securitySchemes,
    },
  }
}

const securitySchemes = {
  SecureURL: {
    type: 'apiKey',
    in: 'header',
    name: 'SecureURL',
    description: 'The secure address of the store, such as `https://shop.example`; its host counts.',
  },
  PrivateKey: { type: 'apiKey', in: 'header', name: 'PrivateKey', description: 'The private key of the application.' },
  Token: {
    type: 'apiKey',
    in: 'header',
    name: 'Token',
    description: 'The token of the application in the store, or an OAuth access token.',
  },
  Bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An OAuth access token, alone. The token of a subscription may come as Bearer as well, with PrivateKey and SecureURL beside it.',
  },
}

const recordSchemaRoute: Operation = {
  operationId: 'showRecordSchema',
  summary: 'The XML records as an XML Schema',
  tags: ['Server'],
  security: [],
  parameters: [ref('parameters', 'ReadIfNoneMatch')],
  responses: {
    200: {
      description: 'The schema of all XML that the services take and give.',
      headers: headerRefs(['X-Request-Id', 'ETag']),
      content: { 'application/xml': { schema: { type: 'string' } } },
    },
    304: { description: 'The caller has it already.', headers: headerRefs(['X-Request-Id', 'ETag']) },
  },
}

/** An endpoint and its service. */
interface Place {
  readonly resource: Resource
  /** All endpoints of the service. */
  readonly endpoints: readonly Endpoint[]
  readonly endpoint: Endpoint
}

/** `/:id/Features/:itemId` → `/Products/{catalogid}/Features/{featureid}` */
function addressOf({ service }: Resource, { root = service, path, params }: Endpoint): string {
  const named = path.replace(/:(\w+)/g, (_colon, key: string) => `{${params[key]?.name}}`)
  return `/${root}${named}`
}

function tagOf(resource: Resource): Tag {
  const { service, names, privilege, typeName, maxRecords } = resource
  const [, ...aliases] = names
  const also = aliases.map((alias) => ` Also at \`/${alias}\`.`).join('')
  return {
    name: service,
    description: `Privilege \`${privilege}\`; at most ${maxRecords} records a page; \`${typeName}\` in XML.${also}`,
  }
}

function pathItem(schemas: Schemas, examples: Examples, place: Place): PathItem {
  const item: Partial<Record<HttpMethod, Operation>> = {}
  for (const [method, operation] of Object.entries(place.endpoint.operations) as [Method, EndpointOperation][]) {
    item[method.toLowerCase() as HttpMethod] = describeOperation(schemas, examples, place, method, operation)
  }
  return item
}

function describeOperation(
  schemas: Schemas,
  examples: Examples,
  { resource, endpoints, endpoint }: Place,
  method: Method,
  operation: EndpointOperation,
): Operation {
  const operationId = operationName(resource, endpoints, endpoint, method)
  const example = examples[operationId] ?? {}
  const { takes, gives } = operation
  const addressed = pathParameters(endpoint).map((parameter) => ({
    ...parameter,
    example: example.path?.[parameter.name] ?? (parameter.schema.type === 'string' ? 'CODE' : 1),
  }))
  const parameters = [
    ...addressed,
    ...operationParameters(listedResource(resource, gives), endpoint, operation, method),
  ]
  return {
    operationId,
    summary: summaryOf(operationId),
    ...describedBy(endpoint, method, operation),
    tags: [resource.service],
    ...(parameters.length > 0 && { parameters }),
    ...(takes !== undefined && {
      requestBody: {
        required: !takes.isOptional,
        ...(takes.many && { description: `One record, or a list of up to ${RECORDS_MAX}, each changed for itself.` }),
        content: takenContent(schemas, takes, example.body),
      },
    }),
    responses: responsesOf(schemas, operation, endpoint, method),
  }
}

/** The service whose filters a list has: for related records, their own. */
function listedResource(resource: Resource, gives: EndpointOperation['gives']): Resource {
  if (gives.kind !== 'list') return resource
  return servedResources.find((other) => other === gives.type) ?? resource
}

/** `updateProductFeatures` → `Update product features` */
function summaryOf(operationId: string): string {
  const words = inWords(operationId)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function describedBy({ privileges }: Endpoint, method: Method, { named }: EndpointOperation): { description?: string } {
  if (named !== undefined) return { description: named.description }
  if (privileges.length < 2) return {}
  return { description: `Needs the ${accessOf(method)} privilege of ${privileges.join(' and ')}.` }
}

const READ: readonly RefusalStatus[] = [400, 401, 403, 404, 429, 500, 503]
const WRITE: readonly RefusalStatus[] = [400, 401, 403, 404, 408, 409, 412, 413, 415, 422, 429, 500, 503]

function responsesOf(
  schemas: Schemas,
  operation: EndpointOperation,
  endpoint: Endpoint,
  method: Method,
): Operation['responses'] {
  const { gives, takes } = operation
  const content = inBothFormats(givenSchema(schemas, gives))
  if (gives.kind === 'list') {
    const counted: HeaderName[] = gives.filters === null ? [] : ['X-Total-Count', 'Preference-Applied']
    return { 200: success('The records.', ['Link', ...counted], content), ...refusalRefs(READ) }
  }
  if (gives.kind === 'record') {
    return {
      200: success('A list of one record.', ['ETag'], content),
      304: { description: 'The caller has this representation already.', headers: successHeaders(['ETag']) },
      ...refusalRefs(READ),
    }
  }
  const replayed: HeaderName[] = ['Idempotency-Replayed']
  if (gives.kind === 'own') {
    const own: HeaderName[] = gives.size === 'paged' ? ['Link'] : []
    return {
      200: success(
        gives.size === 'one' ? 'A list of one record.' : 'The records.',
        method === 'POST' ? replayed : own,
        content,
      ),
      ...refusalRefs(method === 'POST' ? WRITE : [...READ, ...(gives.refusals ?? [])]),
    }
  }
  const status = gives.change === 'created' ? 201 : 200
  const done = items[gives.change](gives.key)(1)
  const isNew = method === 'POST' && endpoint.path === ''
  return {
    [status]: success(`A result item for each record, \`Key\` being \`${gives.key}\`.`, replayed, {
      ...content,
      'application/json': { schema: ref('schemas', 'ArrayOfResponseInfo'), example: [done] },
    }),
    ...(takes?.many && {
      206: success('Some of the records failed: a result item for each, in order.', replayed, content),
    }),
    ...refusalRefs(isNew ? WRITE.filter((refused) => refused !== 404) : WRITE),
  }
}

const items = { created, updated, deleted }

function success(description: string, names: readonly HeaderName[], content: Response['content']): Response {
  return { description, headers: successHeaders(names), ...(content && { content }) }
}

function successHeaders(names: readonly HeaderName[]) {
  return headerRefs(['X-Request-Id', ...bucketHeaders, ...names])
}
