import { created, deleted, updated } from '../../../engine/changing/requests.ts'
import type {
  Endpoint,
  Operation as EndpointOperation,
  Given,
  RecordType,
  Taken,
} from '../../../engine/definition/endpoints.ts'
import { describeRecord, type Schemas } from '../../../engine/definition/json-schema.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { PICTURE_TYPES } from '../../../foundation/pictures/bounds.ts'
import type { ResultItem } from '../../../foundation/values/failure.ts'
import { servedResources } from '../../../shop/registry.ts'
import {
  type ApiPart,
  type Content,
  type Examples,
  type Operation,
  openOperation,
  type PathItem,
  type Response,
  ref,
} from '../../server/json/openapi.ts'
import type { ExampleSources } from '../../server/json/openapi-examples.ts'
import { RECORDS_MAX } from '../body.ts'
import { endpointsOf, isOfOne, type Place, placesAt } from '../endpoints.ts'
import { countToXml, exampleXml, recordsToXml, resultsToXml } from '../xml.ts'
import {
  both,
  bucketHeaders,
  describedHeaders,
  type HeaderName,
  handlingHeaders,
  headerRefs,
  type RecordSources,
  type RefusalStatus,
  recordsContent,
  refusalRefs,
  refusalResponses,
  resultSchemas,
} from './answers.ts'
import { descriptionOf } from './descriptions.ts'
import { operationName, summaryOf } from './names.ts'
import { describeNotifications } from './notifications.ts'
import { operationParameters, pathParameters, sharedParameters } from './parameters.ts'

/**
 * Describes the REST services from the definitions that serve them. `examples` are shown for their operations, `samples` in
 * answers: records by their names in XML, and values by the names of members.
 */
export function describeRest(examples: Examples, samples: ExampleSources['samples']): ApiPart {
  const schemas: Schemas = new Map(Object.entries(resultSchemas))
  const sources = { schemas, samples }
  const paths: Record<string, PathItem> = {}
  for (const resource of servedResources) {
    const endpoints = endpointsOf(resource)
    for (const endpoint of endpoints) {
      const places = placesAt(resource, endpoints, endpoint)
      const described = places.map((place) => [place.method.toLowerCase(), describeOperation(sources, examples, place)])
      paths[addressOf(resource, endpoint)] = Object.fromEntries(described)
    }
  }
  const webhooks = describeNotifications(sources)
  return {
    webhooks,
    tags: servedResources.flatMap(tagsOf),
    servicePaths: paths,
    paths: { '/records.xsd': { get: { ...recordSchemaRoute, parameters: [ref('parameters', 'ReadIfNoneMatch')] } } },
    components: {
      schemas: Object.fromEntries(schemas),
      responses: refusalResponses(),
      parameters: sharedParameters,
      headers: describedHeaders,
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

function tagsOf(resource: Resource) {
  const { service, names, privilege, typeName, maxRecords, description: what, createdBy } = resource
  const [, ...aliases] = names
  const creation = createdBy === undefined ? '' : ` ${createdBy}.`
  const also = aliases.map((alias) => ` Also at \`/${alias}\`.`).join('')
  const description = `${what}${creation} Privilege \`${privilege}\`; at most ${maxRecords} records a page; \`${typeName}\` in XML.${also}`
  return [{ name: service, description }, ...new Set(endpointsOf(resource).flatMap(({ tag }) => tag ?? []))]
}

function keyHeader(name: string, description: string) {
  return { type: 'apiKey', in: 'header', name, description }
}

const recordSchemaRoute: Operation = openOperation(
  'showRecordSchema',
  'The XML records as an XML Schema',
  'For generators of classes. It changes only with the program.',
  {
    200: {
      description: 'The schema of all XML that the services accept and return.',
      headers: headerRefs(['X-Request-Id', 'ETag']),
      content: { 'application/xml': { schema: { type: 'string' } } },
    },
    304: { description: 'The caller already has the current version.', headers: headerRefs(['X-Request-Id', 'ETag']) },
  },
)

/** `/:id/Features/:itemId` → `/Products/{catalogid}/Features/{featureid}` */
function addressOf({ service }: Resource, { root = service, path, params }: Endpoint): string {
  const named = path.replace(/:(\w+)/g, (_colon, key: string) => `{${params[key]?.name}}`)
  return `/${root}${named}`
}

function describeOperation(sources: RecordSources, examples: Examples, place: Place): Operation {
  const { resource, operation } = place
  const operationId = operationName(place)
  const example = examples[operationId] ?? {}
  const { takes, gives } = operation
  const addressed = pathParameters(place).map((parameter) => ({
    ...parameter,
    example: example.path?.[parameter.name] ?? (parameter.schema.type === 'string' ? 'CODE' : 1),
  }))
  const isOfRecords = gives.kind === 'list' || gives.kind === 'count'
  const sample = isOfRecords ? sources.samples[gives.type.typeName] : undefined
  const parameters = [...addressed, ...operationParameters(place, sample)]
  return {
    operationId,
    summary: summaryOf(place),
    description: descriptionOf(place),
    tags: [place.endpoint.tag?.name ?? resource.service],
    ...(parameters.length > 0 && { parameters }),
    ...(takes !== undefined && {
      requestBody: {
        required: !takes.isOptional,
        ...(takes.many && { description: 'Each record of a list succeeds or fails by itself.' }),
        content: takenContent(sources.schemas, takes, example.body),
      },
    }),
    responses: responsesOf(sources, place),
  }
}

const READ: readonly RefusalStatus[] = [400, 401, 403, 404, 429, 500, 503]
const WRITE: readonly RefusalStatus[] = [400, 401, 403, 404, 408, 409, 412, 413, 415, 422, 429, 500, 503]

function responsesOf(sources: RecordSources, { operation, endpoint, endpoints, method }: Place) {
  const { gives } = operation
  if (gives.kind === 'count') {
    const content = both(ref('schemas', 'CountOnly'), { TotalCount: 25 }, countToXml(25))
    return { 200: success('The number.', [], content), ...refusalRefs(READ) }
  }
  if (gives.kind === 'results') return resultResponses(operation, method === 'POST' && endpoint.path === '')
  const isOne = isOfOne(endpoint, endpoints)
  const hasOne = isOne || gives.kind === 'record' || (gives.kind === 'own' && gives.size === 'one')
  const content = recordsContent(sources, gives.type, hasOne)
  if (isOne) return { 200: success('A list of one record.', [], content), ...refusalRefs(READ) }
  if (gives.kind === 'list') {
    const counted: HeaderName[] = gives.filters === null ? [] : ['X-Total-Count']
    return { 200: success('The records.', ['Link', ...counted], content), ...refusalRefs(READ) }
  }
  if (gives.kind === 'record') {
    const unmodified = success('The caller has this representation already.', ['ETag'])
    return { 200: success('A list of one record.', ['ETag'], content), 304: unmodified, ...refusalRefs(READ) }
  }
  const description = gives.size === 'one' ? 'A list of one record.' : 'The records.'
  if (method === 'POST')
    return { [gives.isNew ? 201 : 200]: success(description, replayed, content), ...refusalRefs(WRITE) }
  const own: HeaderName[] = gives.size === 'paged' ? ['Link'] : []
  return { 200: success(description, own, content), ...refusalRefs([...READ, ...(gives.refusals ?? [])]) }
}

const replayed: HeaderName[] = ['Idempotency-Replayed']

function resultResponses({ gives, takes }: EndpointOperation, isNew: boolean): Operation['responses'] {
  const { key, change } = gives as Extract<Given, { kind: 'results' }>
  const done = items[change](key)(1)
  // Of new records no identifier is read.
  const refused =
    change === 'created'
      ? { Key: 'Error', Value: '', Status: '400', Message: 'The record must be an object with fields' }
      : { Key: 'Error', Value: key, Status: '400', Message: `${key} must be a whole number from 1 to 2147483647` }
  const results = (...shown: readonly ResultItem[]) =>
    both(ref('schemas', 'ArrayOfResponseInfo'), shown, resultsToXml(shown))
  const each = `A result item for each record, \`Key\` being \`${key}\`.`
  const some = 'Some of the records failed: a result item for each, in order.'
  return {
    [change === 'created' ? 201 : 200]: success(each, replayed, results(done)),
    ...(takes?.many && { 206: success(some, ['X-Error-Code', ...replayed], results(done, refused)) }),
    ...refusalRefs(isNew ? WRITE.filter((status) => status !== 404) : WRITE),
  }
}

const items = { created, updated, deleted }

function success(description: string, names: readonly HeaderName[], content?: Content): Response {
  const headers = headerRefs(['X-Request-Id', ...bucketHeaders, ...handlingHeaders, ...names])
  return { description, headers, ...(content && { content }) }
}

/** The content of a request body: one record, or up to 100 in a list. */
function takenContent(schemas: Schemas, { type, mode, many, takesPicture }: Taken, example: unknown): Content {
  const record = describeRecord(schemas, type, 'kind' in type ? 'item' : mode)
  const xml = { name: `ArrayOf${type.typeName}`, wrapped: true }
  const list = { type: 'array', items: record, minItems: 1, maxItems: RECORDS_MAX, xml }
  const schema = many ? { oneOf: mode === 'create' ? [record, list] : [list, record] } : record
  return {
    'application/json': { schema, ...(example !== undefined && { example }) },
    'application/xml': { schema, ...(example !== undefined && { example: xmlExample(type, example) }) },
    ...(takesPicture && pictureContent(type)),
  }
}

/** A picture by itself, or in a form beside texts of the record. */
function pictureContent({ fields }: RecordType): Content {
  const picture = { schema: { type: 'string', format: 'binary' } }
  const texts = fields.shown.entries.filter(
    ([, field]) => field.kind === 'text' && !field.isImage && field.access === 'rw',
  )
  const members = texts.map(([name, field]) => [name, { type: 'string', description: field.description }])
  const properties = { ...Object.fromEntries(members), file: { ...picture.schema, description: 'The picture.' } }
  return {
    ...Object.fromEntries(PICTURE_TYPES.map((type) => [type, picture])),
    'multipart/form-data': { schema: { type: 'object', required: ['file'], properties } },
  }
}

function xmlExample(type: RecordType, example: unknown): string {
  const records = Array.isArray(example) ? example : [example]
  const texts = records.map((record) => JSON.stringify(record))
  const list = exampleXml(recordsToXml(texts, type))
  return Array.isArray(example) ? list : list.replace(/<\/?ArrayOf\w+>\n?/g, '').trimEnd()
}
