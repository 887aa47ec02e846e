import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { openApiDocument } from '../../../../src/app.ts'
import type { HttpMethod, Operation, Parameter, PathItem } from '../../../../src/http/server/json/openapi.ts'
import { type Method, sharedServer, type TestStore } from '../../../support/store.ts'
import { openSandbox } from './sandbox-store.ts'

interface Example {
  readonly operationId: string
  readonly path: string
  readonly method: HttpMethod
  readonly operation: Operation
}

const document = openApiDocument({ publicUrl: 'http://localhost:3000', restPrefixes: ['/StoreWebAPI'] })
const order: readonly HttpMethod[] = ['post', 'get', 'put', 'delete']

/** Of the services: what creates first, what deletes last. */
const examples: readonly Example[] = order.flatMap((method) =>
  Object.entries(document.paths).flatMap(([path, item]: [string, PathItem]) => {
    const operation = item[method]
    if (operation === undefined || item.servers !== undefined) return []
    return [{ operationId: operation.operationId, path, method, operation }]
  }),
)

/** Of what the sandbox has none: one has the number that its creation answered. */
const createdFirst: Readonly<Record<string, { by: string; param: string; key: string; example: number }>> = {
  updateProductSerials: { by: 'createProductSerial', param: 'serialid', key: 'SerialID', example: 1 },
  updateProductSerial: { by: 'createProductSerial', param: 'serialid', key: 'SerialID', example: 1 },
  updateCategoryOptionSets: { by: 'createCategoryOptionSet', param: 'optionsetid', key: 'OptionSetID', example: 1 },
  redeliverWebhookDelivery: { by: 'testWebhook', param: 'deliveryid', key: 'DeliveryID', example: 1 },
  getWebhookDelivery: { by: 'testWebhook', param: 'deliveryid', key: 'DeliveryID', example: 1 },
  updateCategoryOptionSet: { by: 'createCategoryOptionSet', param: 'optionsetid', key: 'OptionSetID', example: 1 },
}

const server = await sharedServer()

describe.each(['application/json', 'application/xml'])(
  'in %s every example does on the sandbox what it says',
  (type) => {
    let store: TestStore
    const created = new Map<string, string>()
    beforeAll(async () => {
      store = await openSandbox(server)
    })

    test('there is one for each operation', () => {
      expect(examples.length).toBeGreaterThan(100)
    })

    test.each(examples)('$operationId', async ({ operationId, path, method, operation }) => {
      const known = createdFirst[operationId]
      const number = known && created.get(known.by)
      let address = path
      for (const { name, example } of (operation.parameters ?? []).filter((one): one is Parameter => 'in' in one)) {
        const value = known?.param === name ? number : example
        address = address.replace(`{${name}}`, encodeURIComponent(String(value)))
      }
      const media = operation.requestBody?.content[type]
      const text = typeof media?.example === 'string' ? media.example : JSON.stringify(media?.example)
      const sent = known && text?.replace(new RegExp(`(${known.key}\\W+)${known.example}\\b`), `$1${number}`)
      const answer = await store.call(method.toUpperCase() as Method, address, {
        accept: type,
        ...(operationId === 'createOrder' && { headers: { 'idempotency-key': type } }),
        ...(media && { contentType: type, body: sent ?? text }),
      })

      const [success] = Object.keys(operation.responses)
      expect([answer.statusCode, answer.statusCode < 300 || answer.body]).toEqual([Number(success), true])
      expect(answer.headers['content-type']).toBe(`${type}; charset=utf-8`)
      if (method === 'post') created.set(operationId, /Value\W+(\d+)/.exec(answer.body)?.[1] ?? '')
    })
  },
)

/** Fills in what a schema says as the default of what a value lacks, at any depth. */
const defaults = new Ajv2020({ strict: false, useDefaults: true, validateFormats: false, logger: false })
defaults.addSchema(document, 'document')

describe('every example is taken strictly with all defaults of its schema filled in', () => {
  let store: TestStore
  beforeAll(async () => {
    store = await openSandbox(server)
  })

  const creating = examples.filter(({ method, operation }) => method === 'post' && operation.requestBody !== undefined)
  test.each(creating)('$operationId', async ({ path, operation }) => {
    const { schema, example } = operation.requestBody?.content['application/json'] ?? { schema: {} }
    const body = structuredClone(example)
    const part = `/paths/${path.replaceAll('/', '~1')}/post/requestBody/content/application~1json/schema`
    defaults.validate({ $ref: `document#${encodeURI(part)}${'oneOf' in schema ? '/oneOf/0' : ''}` }, body)
    const address = (operation.parameters ?? [])
      .filter((one): one is Parameter => 'in' in one && one.in === 'path')
      .reduce((made, { name, example: id }) => made.replace(`{${name}}`, encodeURIComponent(String(id))), path)
    const answer = await store.call('POST', address, {
      body,
      headers: { prefer: 'handling=strict', 'idempotency-key': path },
    })
    expect([answer.statusCode, answer.statusCode < 300 || answer.body]).toEqual([expect.any(Number), true])
  })
})
