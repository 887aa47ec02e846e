import { fileURLToPath } from 'node:url'
import { lintFromString, loadConfig } from '@redocly/openapi-core'
import type { RouteOptions } from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildApp, openApiDocument } from '../../../../src/app.ts'
import { eventKinds } from '../../../../src/engine/definition/event-kinds.ts'
import type { JsonSchema } from '../../../../src/engine/definition/json-schema.ts'
import type { Operation, PathItem } from '../../../../src/http/server/json/openapi.ts'
import type { Role } from '../../../../src/http/server/json/roles.ts'
import { servedResources } from '../../../../src/shop/registry.ts'
import { type Part, readOpenApi } from '../../../support/openapi.ts'
import { servicesOn } from '../../../support/services.ts'
import { sharedServer } from '../../../support/store.ts'
import { schemaFaults } from '../../../support/xml-schema.ts'
import { gapsOf } from './gaps.ts'

const publicUrl = 'https://api.store-platform.test'
const prefixes = ['/StoreWebAPI', '/OtherAPI']
const document = openApiDocument({ publicUrl, restPrefixes: prefixes })

const server = await sharedServer({ REST_PREFIXES: prefixes.join(',') })
const api = readOpenApi((await server.app.inject('/openapi.json')).json())

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
  test('passes the linter without an error or a warning, on an address of this machine too', async () => {
    const config = await loadConfig({ configPath: fileURLToPath(new URL('../../../../redocly.yaml', import.meta.url)) })
    const source = JSON.stringify(openApiDocument({ publicUrl: 'http://localhost:3000', restPrefixes: prefixes }))
    const problems = await lintFromString({ source, config, absoluteRef: `${publicUrl}/openapi.json` })

    expect(problems.map(({ ruleId, message, location: [at] }) => [ruleId, message, at?.pointer])).toEqual([])
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

  test('has nothing beside a reference, which programs for OpenAPI 3.0 would pass over', () => {
    const references: object[] = []
    JSON.parse(JSON.stringify(document), (_name, part) => {
      if (part?.$ref !== undefined) references.push(part)
      return part
    })
    expect(references.length).toBeGreaterThan(1000)
    expect(references.filter((one) => Object.keys(one).length > 1)).toEqual([])
  })

  test('names the kinds of event as constants of one type, by what each generator reads', () => {
    const { EventType, Webhook } = document.components.schemas as Record<string, JsonSchema>
    const names = eventKinds.map(({ name }) => name.replaceAll(' ', ''))
    expect(EventType).toEqual({
      type: 'integer',
      format: 'int32',
      enum: eventKinds.map(({ type }) => type),
      'x-enum-varnames': names,
      'x-enumNames': names,
    })
    expect(new Set(names.filter((name) => /^[A-Z][A-Za-z]+$/.test(name))).size).toBe(eventKinds.length)
    expect(Webhook?.properties).toMatchObject({ EventType: { allOf: [{ $ref: '#/components/schemas/EventType' }] } })
  })

  test('describes every operation and parameter in words of its own, with examples of everything sent', () => {
    const { numbers, ...gaps } = gapsOf(document)
    expect(numbers.operations).toBeGreaterThan(200)
    expect(gaps).toEqual(Object.fromEntries(Object.keys(gaps).map((gap) => [gap, []])))
  })

  test('has examples that are valid by their schemas in JSON and by /records.xsd in XML', async () => {
    const schema = (await server.app.inject('/records.xsd')).body
    const texts = new Set<string>()
    const pointers = new Map<string, string>()
    let count = 0
    for (const { pointer, type, media } of mediaIn(document, '')) {
      if (type === 'application/xml' && !pointer.includes('records.xsd')) texts.add(String(media.example))
      if (!/^application\/(\w+\+)?json$/.test(type) || pointer.includes('openapi.json')) continue
      count += 1
      // Compiling is what takes long, and most refusals have one schema.
      const text = JSON.stringify(media.schema)
      const first = pointers.get(text) ?? `${pointer}/schema`
      pointers.set(text, first)
      const part = { pointer: first, value: media.schema }
      expect(api.faults(part, media.example, false), pointer).toEqual([])
    }
    expect(count).toBeGreaterThan(300)
    expect(texts.size).toBeGreaterThan(120)
    const faults = await schemaFaults(schema, [...texts])
    expect(faults.flatMap((found, index) => found.map((fault) => [fault, [...texts][index]]))).toEqual([])
  })

  test('has an example of every member that is no record or list, most of them of the sandbox, and the form of every date', () => {
    const schemas = document.components.schemas as Record<string, { properties?: Record<string, JsonSchema> }>
    const members = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).map(([member, schema]) => ({ name: `${name}.${member}`, schema })),
    )
    const holds = ({ allOf, $ref, items, oneOf, properties, type }: JsonSchema): boolean => {
      const [target = $ref] = ((allOf ?? []) as JsonSchema[]).map((each) => each.$ref)
      if (target !== undefined) return holds(schemas[String(target).split('/').at(-1) ?? ''] as JsonSchema)
      return items !== undefined || oneOf !== undefined || properties !== undefined || type === 'object'
    }
    const simple = members.filter(({ schema }) => !holds(schema))
    expect(simple.length).toBeGreaterThan(1_500)
    expect(simple.filter(({ schema }) => schema.examples === undefined)).toEqual([])
    const [texts, made] = [simple.filter(({ schema }) => schema.type === 'string'), ['text']]
    expect(texts.filter(({ schema }) => made.includes(String((schema.examples as string[])[0]))).length).toBeLessThan(
      texts.length * 0.5,
    )
    expect(schemas.Product?.properties?.MFGID?.examples).toEqual(['HO15093'])
    const dates = simple.filter(({ schema }) => /LocalTime/.test(JSON.stringify(schema)))
    expect(dates.length).toBeGreaterThan(30)
    expect(dates.filter(({ schema }) => !String(schema.description).includes('yyyy-mm-ddThh:mm:ss'))).toEqual([])
  })

  test('has an example of every parameter that its schema takes', () => {
    for (const { path, method, operation } of operations) {
      const parameters = api.member(rootPart, ...placeOf(path, method), 'parameters')
      for (const [, parameter] of api.members(parameters)) {
        const schema = api.member(parameter, 'schema') as Part
        const { examples = [parameter.value.example] } = schema.value as { examples?: readonly unknown[] }
        for (const example of examples.filter((one) => one !== undefined)) {
          const faults = Array.isArray(example)
            ? api.faults(schema, example, false)
            : api.textFaults(schema, String(example))
          expect(faults, `${operation.operationId} ${parameter.value.name}`).toEqual([])
        }
      }
    }
  })

  test('has a webhook for every kind of event, with what is sent, and the three callbacks', () => {
    const { webhooks } = document
    expect(Object.keys(webhooks)).toEqual([...eventKinds.map(({ name }) => name), 'AUTHORIZE', 'REMOVE', 'REDACT'])
    for (const { post } of Object.values(webhooks)) {
      const names = post?.parameters?.flatMap((parameter) => ('in' in parameter ? parameter.name : []))
      expect(names?.slice(0, 3)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    }
    for (const { name, when } of eventKinds) {
      const text = String(webhooks[name]?.post?.description)
      expect(text).toContain(when)
      expect(text.includes('as it was last'), name).toBe(name.endsWith('Deleted'))
    }
  })

  test('gives lists as arrays, and their number at an address of its own', () => {
    const lists = operations.filter(({ path }) => operations.some((other) => other.path === `${path}/Count`))
    expect(lists.length).toBeGreaterThan(15)
    for (const { path, method, operation } of lists.filter((one) => one.method === 'GET')) {
      const schema = api.member(
        rootPart,
        ...placeOf(path, method),
        'responses',
        '200',
        'content',
        'application/json',
        'schema',
      )
      expect(schema?.value.type, operation.operationId).toBe('array')
    }
  })

  test('has an example for every operation that it names in the list of examples', async () => {
    const { examples } = await import('../../../../src/http/reference/examples.ts')
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

const rootPart: Part = { pointer: '', value: document as unknown as Part['value'] }

function placeOf(path: string, method: string): string[] {
  return ['paths', path, method.toLowerCase()]
}

interface Media {
  readonly schema: Part['value']
  readonly example?: unknown
}

/** Everything that is sent or answered, with the JSON pointer to it. */
function* mediaIn(value: unknown, pointer: string): Generator<{ pointer: string; type: string; media: Media }> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (name === 'content') {
      for (const [type, media] of Object.entries(member as Record<string, Media>)) {
        yield { pointer: `${at}/${type.replaceAll('/', '~1')}`, type, media }
      }
    } else if (name !== 'example' && name !== 'schemas') yield* mediaIn(member, at)
  }
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
