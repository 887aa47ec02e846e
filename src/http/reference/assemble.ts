import { readFileSync } from 'node:fs'
import type {
  ApiPart,
  Components,
  Content,
  Operation,
  Parameter,
  PathItem,
  Ref,
  Response,
} from '../server/json/openapi.ts'
import { type ExampleSources, exampleOf, withMemberExamples } from '../server/json/openapi-examples.ts'

export interface DocumentOptions {
  /** PUBLIC_URL */
  readonly publicUrl: string
  readonly restPrefixes: readonly string[]
}

/**
 * Merges the parts. Where they have no example of a parameter or an answer in JSON, the schema and `samples` give one, and of a member
 * `values`, by the names of records. Throws when two parts describe one thing differently, and for a duplicate operationId.
 */
export function assembleDocument(
  { publicUrl, restPrefixes }: DocumentOptions,
  { samples, values }: { readonly samples: ExampleSources['samples']; readonly values: ExampleSources['samples'] },
  parts: readonly ApiPart[],
) {
  const program = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  const servers = [{ url: publicUrl, description: 'The server' }]
  const ownPaths = parts.flatMap(({ paths }) =>
    Object.entries(paths).map(([path, item]) => ({ [path]: { servers, ...item } })),
  )
  const described = merge<PathItem>([...parts.map(({ servicePaths = {} }) => servicePaths), ...ownPaths])
  const webhooks = merge<PathItem>(parts.map((part) => part.webhooks ?? {}))
  checkOperationIds([...Object.values(described), ...Object.values(webhooks)])
  const all = parts.map(({ components }) => components)
  const kinds = new Set(all.flatMap((components) => Object.keys(components) as (keyof Components)[]))
  const components: Components = Object.fromEntries(
    [...kinds].map((kind) => [kind, merge(all.map((part) => part[kind] ?? {}))]),
  )
  const schemas = new Map(Object.entries(components.schemas ?? {}))
  const sources = { samples, schemas }
  const paths = mapValues<PathItem, PathItem>(described, ({ servers: own, ...operations }) => ({
    ...(own && { servers: own }),
    ...mapValues(operations, (operation) => exemplified(sources, operation)),
  }))
  return {
    openapi: '3.1.1',
    info: {
      title: program.name,
      version: program.version,
      summary: program.description,
      description: 'The REST services of a store, in JSON and XML, its notifications, and the routes around them.',
    },
    externalDocs: { url: `${publicUrl}/docs`, description: 'Guides, conventions, and what may change' },
    servers: serversOf(publicUrl, restPrefixes),
    security: [
      { SecureURL: [], PrivateKey: [], Token: [] },
      { Bearer: [] },
      { SecureURL: [], PrivateKey: [], Bearer: [] },
    ],
    tags: parts.flatMap(({ tags }) => tags),
    ...withoutSiblings({
      paths,
      webhooks,
      components: { ...components, schemas: withMemberExamples(schemas, values, sentIn(described)) },
    }),
  }
}

/** The descriptions differ, because generators name servers after them. */
function serversOf(publicUrl: string, restPrefixes: readonly string[]) {
  return restPrefixes.map((prefix, index) => ({
    url: `${publicUrl}${prefix}/{version}`,
    description: `The REST services${index === 0 ? '' : ` at ${prefix}`}`,
    variables: {
      version: {
        enum: ['v1', 'v2'],
        default: 'v1',
        description: 'They differ only past the last page of `offset`: 400 in v1, 404 in v2.',
      },
    },
  }))
}

/** The members of all bodies that examples send. */
function sentIn(paths: Readonly<Record<string, PathItem>>): Readonly<Record<string, unknown>> {
  const sent = operationsOf(Object.values(paths)).flatMap(
    ({ requestBody }) => requestBody?.content['application/json']?.example ?? [],
  )
  return Object.assign({}, ...sent.flat())
}

/**
 * Writes references that have other keywords beside them as `allOf`: programs that know OpenAPI 3.0 pass over what stands beside
 * `$ref`.
 */
function withoutSiblings<T>(described: T): T {
  return JSON.parse(JSON.stringify(described), (_name, part) => {
    if (part?.$ref === undefined || Object.keys(part).length === 1) return part
    const { $ref, ...others } = part
    return { allOf: [{ $ref }], ...others }
  })
}

function exemplified(sources: ExampleSources, { parameters, responses, ...operation }: Operation): Operation {
  return {
    ...operation,
    ...(parameters && { parameters: parameters.map((one) => parameterWithExample(sources, one)) }),
    responses: mapValues(responses, (one) => responseWithExample(sources, one)),
  }
}

function parameterWithExample(sources: ExampleSources, parameter: Parameter | Ref): Parameter | Ref {
  if ('$ref' in parameter || parameter.example !== undefined || 'examples' in parameter.schema) return parameter
  const { name, schema } = parameter
  return { ...parameter, schema: { ...schema, examples: [exampleOf(schema, sources, name)] } }
}

function responseWithExample(sources: ExampleSources, response: Response | Ref): Response | Ref {
  if ('$ref' in response || response.content === undefined) return response
  const content = mapValues<Content[string], Content[string]>(response.content, ({ schema, example }, type) => {
    const shown = example === undefined && type === 'application/json' ? exampleOf(schema, sources) : example
    return { schema, ...(shown !== undefined && { example: shown }) }
  })
  return { ...response, content }
}

function mapValues<From, To>(values: Readonly<Record<string, From>>, map: (value: From, name: string) => To) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]))
}

function merge<T>(all: readonly Readonly<Record<string, T>>[]): Readonly<Record<string, T>> {
  const merged: Record<string, T> = {}
  for (const [name, value] of all.flatMap(Object.entries<T>)) {
    const known = merged[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(value)) {
      throw new Error(`${name} is described twice`)
    }
    merged[name] = value
  }
  return merged
}

function operationsOf(items: readonly PathItem[]): Operation[] {
  return items.flatMap(({ servers, ...byMethod }) => Object.values(byMethod))
}

function checkOperationIds(items: readonly PathItem[]): void {
  const ids = operationsOf(items).map(({ operationId }) => operationId)
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index)
  if (repeated !== undefined) throw new Error(`two operations are named ${repeated}`)
}
