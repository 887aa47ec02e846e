import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { buildApp } from '../../../../src/app.ts'
import {
  attributeText,
  childElements,
  localName,
  readXmlDocument,
  type XmlElement,
} from '../../../../src/foundation/xml/read.ts'
import { readModel, writeWsdl } from '../../../../src/http/soap/model.ts'
import { operations } from '../../../../src/http/soap/operations/index.ts'
import { ofTest } from '../../../support/shared.ts'
import { openServer, type TestServer, type TestStore } from '../../../support/store.ts'
import { schemaFaults } from '../../../support/xml-schema.ts'
import { childrenNamed, defaultNamespace, envelope, faultOf, post, request, soapCall } from './support.ts'

// The WSDL, which old proxies were generated from (contract §4.4, soap-cartapi §1).

/** Contract §4.4: each operation with its own parameters, `?` where they may be left out. */
const contract: Readonly<Record<string, string>> = {
  getProduct: 'batchSize int, startNum int, productId string?',
  getCustomer: 'batchSize int, startNum int, customersFilter string?',
  editCustomer: 'customerData string?, action string?',
  getProductCount: '',
  getCustomerCount: '',
  getOrderStatus: 'invoiceNum string?',
  getProductInventory: 'productId string?',
  updateProductInventory: 'productId string?, quantity int, replaceStock boolean',
  updateOrderStatus: 'invoiceNum string?, newStatus string?',
  updateOrderShipment: 'invoiceNum string?, shipmentID string?, tracking string?, shipmentDate string?',
  getOrder:
    'batchSize int, startNum int, startFrom boolean, invoiceNum string?, status string?, dateFrom string?, dateTo string?',
  getOrderCount: 'startFrom boolean, invoiceNum string?, status string?, dateFrom string?, dateTo string?',
  getCustomerLoginToken: 'customerEmail string?, timeToLive int',
}

/** An element of the WSDL by its path of names and `name` attributes, such as `portType`, or `message:getProductSoapIn`. */
function at(element: XmlElement, ...path: string[]): XmlElement {
  const [step, ...rest] = path
  if (step === undefined) return element
  const [tag, name] = step.split(':')
  const fitting = childrenNamed(element, tag ?? '').filter(
    ({ attributes }) => name === undefined || attributes.get('name') === name,
  )
  const [found, ...others] = fitting
  if (found === undefined || others.length > 0) throw new Error(`${fitting.length} ${step} in ${element.name}`)
  return at(found, ...rest)
}

const namesOf = (elements: XmlElement[]) => elements.map(({ attributes }) => attributes.get('name'))

describe('the WSDL', () => {
  let server: TestServer
  let shop: TestStore
  let wsdl: string
  let definitions: XmlElement
  beforeAll(async () => {
    server = await openServer({
      PUBLIC_URL: 'https://api.shop.example/base',
      SOAP_PATH: '/legacy/Cart.asmx',
      SOAP_NAMESPACES: 'http://first.example/,urn:second',
    })
    shop = await server.openStore()
    const answer = await server.app.inject('/legacy/cart.asmx?WSDL')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('text/xml; charset=utf-8')
    wsdl = answer.body
    definitions = readXmlDocument(wsdl)
  })
  afterAll(() => server.close())

  test('is given for the query WSDL in any case, whatever its value, and never the page', async () => {
    for (const query of ['wsdl', 'Wsdl', 'WSDL', 'WsDl', 'wsdl=', 'WSDL=1', 'x=1&wsdl', 'wsdl=a&wsdl=b']) {
      const answer = await server.app.inject(`/legacy/cart.asmx?${query}`)
      expect([query, answer.statusCode, answer.body]).toEqual([query, 200, wsdl])
    }
    for (const query of ['', '?', '?wsdl2', '?x=wsdl', '?op=getProduct']) {
      const answer = await server.app.inject(`/legacy/cart.asmx${query}`)
      expect([query, answer.headers['content-type']]).toEqual([query, 'text/html; charset=utf-8'])
    }
  })

  test('is asked for without its content, and again only when it changed', async () => {
    const head = await server.app.inject({ method: 'HEAD', url: '/legacy/cart.asmx?WSDL' })
    expect([head.statusCode, head.body]).toEqual([200, ''])
    const { etag } = head.headers
    const again = await server.app.inject({ url: '/legacy/cart.asmx?WSDL', headers: { 'if-none-match': String(etag) } })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })

  test('is well-formed XML for another reader too, with nothing left to fill in', async () => {
    const { valid, errors } = await validateXML({
      xml: [{ fileName: 'cartAPI.wsdl', contents: wsdl }],
      normalization: 'c14n',
    })
    expect(errors).toEqual([])
    expect(valid).toBe(true)
    expect(wsdl).not.toMatch(/[{}]/)
  })

  test('has the first namespace, and both ports at the public address', () => {
    expect(attributeText(definitions, 'targetNamespace')).toBe('http://first.example/')
    expect(definitions.attributes.get('xmlns:tns')).toBe('http://first.example/')
    expect(at(definitions, 'types', 'schema').attributes.get('targetNamespace')).toBe('http://first.example/')
    const service = at(definitions, 'service')
    expect(service.attributes.get('name')).toBe('cartAPI')
    const ports = childrenNamed(service, 'port').map((port) => {
      const address = at(port, 'address')
      return [
        port.attributes.get('name'),
        port.attributes.get('binding'),
        address.name,
        address.attributes.get('location'),
      ]
    })
    expect(ports).toEqual([
      ['cartAPISoap', 'tns:cartAPISoap', 'soap:address', 'https://api.shop.example/base/legacy/Cart.asmx'],
      ['cartAPISoap12', 'tns:cartAPISoap12', 'soap12:address', 'https://api.shop.example/base/legacy/Cart.asmx'],
    ])
    expect(definitions.attributes.get('xmlns:soap')).toBe('http://schemas.xmlsoap.org/wsdl/soap/')
    expect(definitions.attributes.get('xmlns:soap12')).toBe('http://schemas.xmlsoap.org/wsdl/soap12/')
  })

  test.each([
    ['cartAPISoap', 'soap'],
    ['cartAPISoap12', 'soap12'],
  ])('has in %s each operation, document and literal, with its action', (name, prefix) => {
    const binding = at(definitions, `binding:${name}`)
    expect(binding.attributes.get('type')).toBe('tns:cartAPISoap')
    const transport = at(binding, 'binding')
    expect([transport.name, transport.attributes.get('style')]).toEqual([`${prefix}:binding`, 'document'])
    expect(transport.attributes.get('transport')).toBe('http://schemas.xmlsoap.org/soap/http')
    expect(namesOf(childrenNamed(binding, 'operation'))).toEqual(Object.keys(contract))
    for (const each of Object.keys(contract)) {
      const operation = at(binding, `operation:${each}`, 'operation')
      expect(operation.name).toBe(`${prefix}:operation`)
      expect(operation.attributes.get('soapAction')).toBe(`http://first.example/${each}`)
      expect(operation.attributes.get('style')).toBe('document')
      for (const direction of ['input', 'output']) {
        const body = at(binding, `operation:${each}`, direction, 'body')
        expect([body.name, body.attributes.get('use')]).toEqual([`${prefix}:body`, 'literal'])
      }
    }
  })

  test.each(Object.entries(contract))(
    '%s takes storeUrl, userKey, its own, callBackURL, in this order',
    (name, own) => {
      const expected = [
        'storeUrl string?',
        'userKey string?',
        ...own.split(', ').filter(Boolean),
        'callBackURL string?',
      ]
      const sequence = at(definitions, 'types', 'schema', `element:${name}`, 'complexType', 'sequence')
      const parameters = childrenNamed(sequence, 'element').map(({ attributes }) => {
        expect(attributes.get('maxOccurs')).toBe('1')
        const [, type] = (attributes.get('type') ?? '').split(':')
        return `${attributes.get('name')} ${type}${attributes.get('minOccurs') === '0' ? '?' : ''}`
      })
      expect(parameters).toEqual(expected)
    },
  )

  test.each(Object.keys(contract))('%s answers with one optional result that holds any XML', (name) => {
    const sequence = at(definitions, 'types', 'schema', `element:${name}Response`, 'complexType', 'sequence')
    const result = at(sequence, `element:${name}Result`)
    expect([result.attributes.get('minOccurs'), result.attributes.get('maxOccurs')]).toEqual(['0', '1'])
    const type = at(result, 'complexType')
    expect(type.attributes.get('mixed')).toBe('true')
    expect(childElements(at(type, 'sequence')).map((child) => localName(child.name))).toEqual(['any'])
  })

  test('has a schema that requests, results and error documents are valid against', async () => {
    const namespace = 'http://first.example/'
    const schema = schemaIn(wsdl)
    const asked = request(shop, 'getProductCount', { callBackURL: 'http://x.example/' }, namespace)
    const full = request(shop, 'getProduct', { batchSize: 1, startNum: 1, productId: 'A' }, namespace)
    const misplaced = request(shop, 'getProductCount', { unknown: 1 }, namespace)
    expect((await schemaFaults(schema, [asked, full, misplaced])).map(({ length }) => length)).toEqual([0, 0, 1])

    const answers: string[] = []
    for (const parameters of [{}, { userKey: 'wrong' }]) {
      const payload = envelope(request(shop, 'getProductCount', parameters, namespace))
      const answer = await server.app.inject({
        method: 'POST',
        url: '/legacy/cart.asmx',
        headers: { 'content-type': 'text/xml' },
        payload,
      })
      answers.push(/<soap:Body>(.*)<\/soap:Body>/s.exec(answer.body)?.[1] ?? '')
    }
    expect(answers[1]).toContain('<Error xmlns="">')
    expect(await schemaFaults(schema, answers)).toEqual([[], []])
  })
})

test('every operation of the WSDL has a function, and every function is an operation', async () => {
  const model = await readModel({ namespaces: [defaultNamespace], address: 'http://localhost/cart.asmx' })
  expect(model.operations.map(({ name }) => name)).toEqual(Object.keys(contract))
  expect(Object.keys(operations).sort()).toEqual(Object.keys(contract).sort())
  for (const run of Object.values(operations)) expect(run).toBeTypeOf('function')
  for (const version of ['1.1', '1.2'] as const) {
    const declared = model.operationsIn(defaultNamespace, version)
    expect([...(declared?.keys() ?? [])]).toEqual(Object.keys(contract))
    expect(declared?.get('getProduct')?.parameters).toEqual([
      { name: 'storeUrl', type: 'string' },
      { name: 'userKey', type: 'string' },
      { name: 'batchSize', type: 'int' },
      { name: 'startNum', type: 'int' },
      { name: 'productId', type: 'string' },
      { name: 'callBackURL', type: 'string' },
    ])
  }
  expect(model.operationsIn('urn:other', '1.1')).toBeNull()
})

test('while strong-soap fails, every call is a fault, the log says why once, and everything else goes on', async () => {
  const server = await ofTest(openServer())
  const shop = await server.openStore()
  const { services, log } = server
  const app = await ofTest(buildApp({ ...services, config: { ...services.config, soapNamespaces: [] } }))
  const payload = envelope(request(shop, 'getProductCount'), '1.2')
  const call = () =>
    app.inject({ method: 'POST', url: '/cart.asmx', headers: { 'content-type': 'application/soap+xml' }, payload })
  for (const answer of [...(await Promise.all([call(), call()])), await call()]) {
    expect(faultOf(answer)).toEqual({
      status: 500,
      version: '1.2',
      code: 'Receiver',
      reason: 'cartAPI is out of order; the log of the server says why',
      header: '',
    })
  }
  expect(log.filter((line) => line.includes('strong-soap cannot read the WSDL'))).toHaveLength(1)
  const { credentials: headers } = shop
  expect((await app.inject({ url: '/StoreWebAPI/v1/Products?countonly=1', headers })).statusCode).toBe(200)
  expect((await app.inject('/cart.asmx?wsdl')).statusCode).toBe(200)
})

test.each([
  ['http://shop.example', 'http://shop.example/getProduct'],
  ['http://shop.example/', 'http://shop.example/getProduct'],
  ['urn:shop', 'urn:shop/getProduct'],
  ["http://shop.example/?a=1&b='2'", "http://shop.example/?a=1&b='2'/getProduct"],
])('an action is the namespace, one slash and the operation: %s', (namespace, action) => {
  const wsdl = writeWsdl({ namespaces: [namespace, 'urn:other'], address: 'http://localhost/a&b' })
  const definitions = readXmlDocument(wsdl)
  expect(attributeText(definitions, 'targetNamespace')).toBe(namespace)
  for (const binding of childrenNamed(definitions, 'binding')) {
    expect(attributeText(at(binding, 'operation:getProduct', 'operation'), 'soapAction')).toBe(action)
  }
  const addresses = childrenNamed(at(definitions, 'service'), 'port').map((port) =>
    attributeText(at(port, 'address'), 'location'),
  )
  expect(addresses).toEqual(['http://localhost/a&b', 'http://localhost/a&b'])
})

test('without settings the WSDL is at /cart.asmx of the public address, in the namespace of this server', async () => {
  const server = await ofTest(openServer())
  const definitions = readXmlDocument((await server.app.inject('/cart.asmx?wsdl')).body)
  expect(attributeText(definitions, 'targetNamespace')).toBe('urn:store-platform:cartAPI')
  const port = at(definitions, 'service', 'port:cartAPISoap', 'address')
  expect(attributeText(port, 'location')).toBe('http://localhost:3000/cart.asmx')
})

describe('namespaces', () => {
  const namespaces = [
    'http://3dcart.com/',
    'http://3dcart.com',
    'urn:store-platform:cartAPI',
    "http://s.example/?a&b='c'",
  ]
  let server: TestServer
  let shop: TestStore
  beforeAll(async () => {
    server = await openServer({ SOAP_NAMESPACES: namespaces.join() })
    shop = await server.openStore()
  })
  afterAll(() => server.close())

  test.each(namespaces)('a request in %s is answered in it, in both versions', async (namespace) => {
    for (const version of ['1.1', '1.2'] as const) {
      const payload = envelope(request(shop, 'getProductCount', {}, namespace.replaceAll('&', '&amp;')), version)
      const { statusCode, body } = await post(server, payload, { version })
      expect(statusCode, body).toBe(200)
      const [, , response] = /<soap:Body>(<(getProductCountResponse [^>]*)>)/.exec(body) ?? []
      expect(response).toBe(`getProductCountResponse xmlns="${namespace.replaceAll('&', '&amp;')}"`)
    }
  })

  test('each has the operations to itself: its own answer, whatever came before', async () => {
    for (const namespace of ['http://3dcart.com/', 'http://3dcart.com', 'http://3dcart.com/']) {
      await soapCall(server, shop, 'getCustomerCount', {}, { namespace })
    }
  })
})

/** The schema of the WSDL as a document of its own. */
function schemaIn(wsdl: string): string {
  const [schema = ''] = /<s:schema[\s\S]*<\/s:schema>/.exec(wsdl) ?? []
  return schema.replace('<s:schema ', '<s:schema xmlns:s="http://www.w3.org/2001/XMLSchema" ')
}
