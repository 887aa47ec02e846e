import { createConfig, lintFromString } from '@redocly/openapi-core'
import type { RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildApp, openApiDocument } from '../../../src/app.ts'
import { servedResources } from '../../../src/registry.ts'
import type { Operation, PathItem } from '../../../src/server/openapi.ts'
import type { Role } from '../../../src/server/roles.ts'
import { type OpenApi, readOpenApi } from '../../support/openapi.ts'
import { servicesOn } from '../../support/services.ts'
import { openServer, type TestServer } from '../../support/store.ts'
import { schemaFaults } from '../../support/xml-schema.ts'

const publicUrl = 'https://api.store-platform.test'
const prefixes = ['/StoreWebAPI', '/OtherAPI']
const document = openApiDocument({ publicUrl, restPrefixes: prefixes })

let server: TestServer
let api: OpenApi
beforeAll(async () => {
  server = await openServer({ REST_PREFIXES: prefixes.join(',') })
  api = readOpenApi((await server.app.inject('/openapi.json')).json())
})
afterAll(() => server?.close())

interface Described {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

const operations: readonly Described[] = Object.entries(document.paths).flatMap(([path, { servers, ...item }]) =>
  Object.entries(item as PathItem).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation: operation as Operation,
  })),
)

describe('the document', () => {
  test('passes the linter without an error or a warning', async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      rules: {
        // The program has no public licence.
        'info-license': 'off',
        'info-license-strict': 'off',
        // /healthz and its like refuse nothing.
        'operation-4xx-response': 'off',
        // Takes examples in XML for wrong; the next test holds them against the schemas of both formats.
        'no-invalid-media-type-examples': 'off',
      },
    })
    const source = JSON.stringify(document)
    const problems = await lintFromString({ source, config, absoluteRef: `${publicUrl}/openapi.json` })

    // What addresses and methods answer that are no operations.
    const unused = ['UnknownAddress', 'MethodNotAllowed'].map((name) => `Component: "${name}" is never used.`)
    expect(problems.map(({ message }) => message).toSorted()).toEqual(unused.toSorted())
  })

  test('is what /openapi.json answers to anyone, with the addresses of PUBLIC_URL, and 304 to who has it', async () => {
    const given = openApiDocument(server.services.config)
    const answer = await server.app.inject('/openapi.json')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toEqual(JSON.parse(JSON.stringify(given)))
    expect(given.servers.map(({ url }) => url)).toEqual(
      prefixes.map((prefix) => `${server.services.config.publicUrl}${prefix}/{version}`),
    )
    const again = await server.app.inject({
      url: '/openapi.json',
      headers: { 'if-none-match': String(answer.headers.etag) },
    })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })

  test('has an example for every body, valid by its schema in JSON and by /records.xsd in XML', async () => {
    const schema = (await server.app.inject('/records.xsd')).body
    const texts: string[] = []
    for (const { operationId, requestBody, tags } of operations.map(({ operation }) => operation)) {
      // OAuth's are forms, by the names of its RFCs; an import is a file.
      const isOther = tags.includes('OAuth') || operationId === 'importStore'
      if (requestBody === undefined || isOther) continue
      const { 'application/json': json, 'application/xml': xml } = requestBody.content
      expect(json?.example, operationId).toBeDefined()
      expect(faultsOf(json?.schema, json?.example), operationId).toEqual([])
      if (xml !== undefined) texts.push(String(xml.example))
    }
    expect(texts.length).toBeGreaterThan(60)
    const faults = await schemaFaults(schema, texts)
    expect(faults.flatMap((found, index) => found.map((fault) => [fault, texts[index]]))).toEqual([])
  })

  test('has an example for every operation that it names in the list of examples', async () => {
    const { examples } = await import('../../../src/reference/examples.ts')
    const names = operations.map(({ operation }) => operation.operationId)
    expect(Object.keys(examples).filter((name) => !names.includes(name))).toEqual([])
  })

  test('gives every refusal of a service as result items in JSON and XML and as problem details', () => {
    for (const { operation } of operations) {
      if (!servedResources.some(({ service }) => operation.tags.includes(service))) continue
      const refusals = Object.keys(operation.responses).filter((status) => status >= '400')
      expect(refusals, operation.operationId).toEqual(
        expect.arrayContaining(['400', '401', '403', '429', '500', '503']),
      )
    }
  })
})

function faultsOf(schema: unknown, value: unknown): readonly string[] {
  return api.faults({ pointer: pointerTo(schema), value: schema as Record<string, unknown> }, value, false)
}

/** Where the schema stands in the document: examples lie beside their schemas. */
function pointerTo(schema: unknown): string {
  for (const { path, method, operation } of operations) {
    for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
      if (media.schema !== schema) continue
      const names = ['paths', path, method.toLowerCase(), 'requestBody', 'content', type, 'schema']
      return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    }
  }
  throw new Error('no such schema')
}

describe('the routes of the server', () => {
  /** Described by its WSDL. */
  const soapPaths = ['/cart.asmx', '/cart_advanced.asmx']
  const catchAlls = prefixes.flatMap((prefix) => [prefix, `${prefix}/*`])
  let routes: { url: string; methods: string[]; roles: readonly Role[] | undefined }[]

  beforeAll(async () => {
    const app = buildApp({ ...servicesOn(server.database.db, { REST_PREFIXES: prefixes.join(',') }) })
    routes = []
    app.addHook('onRoute', ({ url, method, config }: RouteOptions) => {
      routes.push({ url, methods: [method].flat(), roles: config?.roles })
    })
    await app.ready()
    await app.close()
  })

  /** For people with a browser, by way of forms; what of them answers programs too is in the document. */
  const isPage = (url: string) => {
    const of = routes.filter((route) => route.url === url)
    return of.every(({ roles }) => roles !== undefined && !roles.includes('operator-key'))
  }

  test('are in the document, each one but pages, and what is no address of a service', () => {
    expect(routes.length).toBeGreaterThan(250)
    const known = new Set(api.addresses.flatMap(({ path, item }) => fullPaths(path, item.value)))
    const urls = new Set(
      routes.map(({ url }) => url).filter((url) => ![...catchAlls, ...soapPaths].includes(url) && !isPage(url)),
    )
    const unknown = [...urls].filter((url) => !known.has(shapeOf(withoutAlias(url))))
    expect(unknown).toEqual([])
  })

  test('are all that the document has', () => {
    const urls = new Map(routes.map(({ url }) => [shapeOf(url), new Set<string>()]))
    for (const { url, methods } of routes) for (const method of methods) urls.get(shapeOf(url))?.add(method)
    const missing = api.addresses.flatMap(({ path, item, operations: described }) =>
      fullPaths(path, item.value).flatMap((full) =>
        [...described.keys()].filter((method) => !urls.get(full)?.has(method)).map((method) => `${method} ${full}`),
      ),
    )
    expect(missing).toEqual([])
  })

  test('of the operator and of the process have the methods that the document has, HEAD and OPTIONS aside', () => {
    const own = routes.filter(
      ({ url }) => !prefixes.some((prefix) => url.startsWith(prefix)) && !soapPaths.includes(url) && !isPage(url),
    )
    expect(own.length).toBeGreaterThan(12)
    for (const { url, methods } of own) {
      const address = api.addresses.find(({ path }) => shapeOf(path) === shapeOf(url))
      const unknown = methods.filter(
        (method) => !['HEAD', 'OPTIONS'].includes(method) && !address?.operations.has(method),
      )
      expect(unknown, url).toEqual([])
    }
  })
})

/** `/Products/:id` and `/Products/{catalogid}` are one address. */
function shapeOf(path: string): string {
  return path.replace(/:\w+|\{\w+\}/g, '{}')
}

function withoutAlias(url: string): string {
  const segments = url.split('/')
  const resource = servedResources.find(({ names }) => names.includes(segments[3] ?? ''))
  return resource === undefined ? url : segments.with(3, resource.service).join('/')
}

/** With every prefix and version, or as it is where it has a server of its own. */
function fullPaths(path: string, item: { servers?: unknown }): string[] {
  if (item.servers !== undefined) return [shapeOf(path)]
  return prefixes.flatMap((prefix) => ['v1', 'v2'].map((version) => `${prefix}/${version}${shapeOf(path)}`))
}
