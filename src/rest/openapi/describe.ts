import { accessOf } from '../../engine/caller.ts'
import { created, deleted, updated } from '../../engine/changing/change-requests.ts'
import type { Method, Resource } from '../../engine/definition/define.ts'
import { describeRecord, type JsonSchema, type Schemas } from '../../engine/definition/json-schema.ts'
import type {
  Endpoint,
  Operation as EndpointOperation,
  Given,
  RecordType,
  Taken,
} from '../../engine/reading/endpoints.ts'
import { servedResources } from '../../registry.ts'
import {
  type ApiPart,
  type Content,
  type Examples,
  type Operation,
  type PathItem,
  type Response,
  ref,
} from '../../server/openapi.ts'
import { RECORDS_MAX } from '../body.ts'
import { endpointsOf } from '../endpoints.ts'
import { recordsToXml } from '../xml.ts'
import {
  bucketHeaders,
  type HeaderName,
  handlingHeaders,
  headerRefs,
  headers,
  type RefusalStatus,
  refusalRefs,
  refusalResponses,
  resultSchemas,
} from './answers.ts'
import { operationName, summaryOf } from './names.ts'
import { type Operating, operationParameters, pathParameters, sharedParameters } from './parameters.ts'

/** An operation, its address and its service. */
export interface Place extends Operating {
  /** All endpoints of the service. */
  readonly endpoints: readonly Endpoint[]
}

/** Describes the REST services from the definitions that serve them. `examples` are shown for their operations. */
export function describeRest(examples: Examples): ApiPart {
  const schemas: Schemas = new Map(Object.entries(resultSchemas))
  const paths: Record<string, PathItem> = {}
  for (const resource of servedResources) {
    const endpoints = endpointsOf(resource)
    for (const endpoint of endpoints) {
      const operations = Object.entries(endpoint.operations) as [Method, EndpointOperation][]
      paths[addressOf(resource, endpoint)] = Object.fromEntries(
        operations.map(([method, operation]) => {
          const place = { resource, endpoints, endpoint, method, operation }
          return [method.toLowerCase(), describeOperation(schemas, examples, place)]
        }),
      )
    }
  }
  return {
    tags: servedResources.map(({ service, names: [, ...aliases], privilege, typeName, maxRecords }) => {
      const also = aliases.map((alias) => ` Also at \`/${alias}\`.`).join('')
      const description = `Privilege \`${privilege}\`; at most ${maxRecords} records a page; \`${typeName}\` in XML.${also}`
      return { name: service, description }
    }),
    servicePaths: paths,
    paths: { '/records.xsd': { get: recordSchemaRoute } },
    components: {
      schemas: Object.fromEntries(schemas),
      responses: refusalResponses(),
      parameters: sharedParameters,
      headers,
      securitySchemes: {
        SecureURL: keyHeader(
          'SecureURL',
          'The secure address of the store, such as `https://shop.example`; its host counts.',
        ),
        PrivateKey: keyHeader('PrivateKey', 'The private key of the application.'),
        Token: keyHeader('Token', 'The token of the application in the store, or an OAuth access token.'),
        Bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An OAuth access token, which needs no other header. The token of a subscription may come as Bearer as well, with PrivateKey and SecureURL beside it. An unknown Bearer beside three valid headers is ignored.',
        },
      },
    },
  }
}

function keyHeader(name: string, description: string) {
  return { type: 'apiKey', in: 'header', name, description }
}

const recordSchemaRoute: Operation = {
  operationId: 'showRecordSchema',
  summary: 'The XML records as an XML Schema',
  tags: ['Server'],
  security: [],
  parameters: [ref('parameters', 'ReadIfNoneMatch')],
  responses: {
    200: {
      description: 'The schema of all XML that the services accept and return.',
      headers: headerRefs(['X-Request-Id', 'ETag']),
      content: { 'application/xml': { schema: { type: 'string' } } },
    },
    304: { description: 'The caller already has the current version.', headers: headerRefs(['X-Request-Id', 'ETag']) },
  },
}

/** `/:id/Features/:itemId` → `/Products/{catalogid}/Features/{featureid}` */
function addressOf({ service }: Resource, { root = service, path, params }: Endpoint): string {
  const named = path.replace(/:(\w+)/g, (_colon, key: string) => `{${params[key]?.name}}`)
  return `/${root}${named}`
}

function describeOperation(schemas: Schemas, examples: Examples, place: Place): Operation {
  const { resource, endpoint, method, operation } = place
  const operationId = operationName(place)
  const example = examples[operationId] ?? {}
  const { takes, named } = operation
  const addressed = pathParameters(endpoint).map((parameter) => ({
    ...parameter,
    example: example.path?.[parameter.name] ?? (parameter.schema.type === 'string' ? 'CODE' : 1),
  }))
  const parameters = [...addressed, ...operationParameters(place)]
  const { privileges } = endpoint
  const both = privileges.length < 2 ? '' : `Needs the ${accessOf(method)} privilege of ${privileges.join(' and ')}.`
  const description = named?.description ?? both
  return {
    operationId,
    summary: summaryOf(operationId),
    ...(description !== '' && { description }),
    tags: [resource.service],
    ...(parameters.length > 0 && { parameters }),
    ...(takes !== undefined && {
      requestBody: {
        required: !takes.isOptional,
        ...(takes.many && {
          description: `One record, or a list of up to ${RECORDS_MAX}, each changed independently.`,
        }),
        content: takenContent(schemas, takes, example.body),
      },
    }),
    responses: responsesOf(schemas, place),
  }
}

const READ: readonly RefusalStatus[] = [400, 401, 403, 404, 429, 500, 503]
const WRITE: readonly RefusalStatus[] = [400, 401, 403, 404, 408, 409, 412, 413, 415, 422, 429, 500, 503]

function responsesOf(schemas: Schemas, { operation, endpoint, method }: Place): Operation['responses'] {
  const { gives, takes } = operation
  const schema = givenSchema(schemas, gives)
  // Both formats share one schema; its `xml` members name the elements.
  const content: Content = { 'application/json': { schema }, 'application/xml': { schema } }
  if (gives.kind === 'list') {
    const counted: HeaderName[] = gives.filters === null ? [] : ['X-Total-Count']
    return { 200: success('The records.', ['Link', ...counted], content), ...refusalRefs(READ) }
  }
  if (gives.kind === 'record') {
    const unmodified = success('The caller has this representation already.', ['ETag'])
    return { 200: success('A list of one record.', ['ETag'], content), 304: unmodified, ...refusalRefs(READ) }
  }
  const replayed: HeaderName[] = ['Idempotency-Replayed']
  if (gives.kind === 'own') {
    const description = gives.size === 'one' ? 'A list of one record.' : 'The records.'
    if (method === 'POST') return { 200: success(description, replayed, content), ...refusalRefs(WRITE) }
    const own: HeaderName[] = gives.size === 'paged' ? ['Link'] : []
    return { 200: success(description, own, content), ...refusalRefs([...READ, ...(gives.refusals ?? [])]) }
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

function success(description: string, names: readonly HeaderName[], content?: Content): Response {
  return {
    description,
    headers: headerRefs(['X-Request-Id', ...bucketHeaders, ...handlingHeaders, ...names]),
    ...(content && { content }),
  }
}

function givenSchema(schemas: Schemas, gives: Given): JsonSchema {
  if (gives.kind === 'results') return ref('schemas', 'ArrayOfResponseInfo')
  const items = describeRecord(schemas, gives.type, 'read')
  const name = `ArrayOf${String(items.$ref).split('/').at(-1)}`
  schemas.set(name, { type: 'array', items, xml: { name: `ArrayOf${gives.type.typeName}`, wrapped: true } })
  const list = ref('schemas', name)
  const isOne = gives.kind === 'record' || (gives.kind === 'own' && gives.size === 'one')
  if (isOne) return { ...list, type: 'array', minItems: 1, maxItems: 1 }
  if (gives.kind === 'own') return list
  return gives.filters === null ? list : { oneOf: [list, ref('schemas', 'CountOnly')] }
}

/** The content of a request body: one record, or up to 100 in a list. */
function takenContent(schemas: Schemas, { type, mode, many }: Taken, example: unknown): Content {
  const isItem = 'kind' in type
  const record = describeRecord(schemas, type, isItem ? 'item' : mode)
  const list = {
    type: 'array',
    items: record,
    minItems: 1,
    maxItems: RECORDS_MAX,
    xml: { name: `ArrayOf${type.typeName}`, wrapped: true },
  }
  const schema = many ? { oneOf: mode === 'create' ? [record, list] : [list, record] } : record
  return {
    'application/json': { schema, ...(example !== undefined && { example }) },
    'application/xml': { schema, ...(example !== undefined && { example: xmlExample(type, example) }) },
  }
}

/** The XML that answers have, with a line for each element. */
function xmlExample(type: RecordType, example: unknown): string {
  const records = Array.isArray(example) ? example : [example]
  const texts = records.map((record) => JSON.stringify(record))
  const list = recordsToXml(texts, type).replace(/ xmlns:\w+="[^"]*"/g, '')
  const text = Array.isArray(example) ? list : list.replace(/<\/?ArrayOf\w+>/g, '')
  return text.replaceAll('><', '>\n<')
}
