import type { InjectOptions } from 'fastify'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readModel } from '../../../../src/http/soap/model.ts'
import { operations } from '../../../../src/http/soap/operations/index.ts'
import { ofTest } from '../../../support/shared.ts'
import { openServer, sharedServer, type TestStore } from '../../../support/store.ts'
import { defaultNamespace, envelope, errorDocument, faultOf, post, request, soapCall } from './support.ts'

// How a request is understood, and what an answer looks like (soap-cartapi §1.1).

const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/'
const soap12 = 'http://www.w3.org/2003/05/soap-envelope'
const count = '<GetProductCountResponse xmlns=""><ProductQuantity>1</ProductQuantity></GetProductCountResponse>'

const server = await sharedServer({ SOAP_NAMESPACES: `${defaultNamespace},http://3dcart.com/` })
const shop = await server.openStore()
await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'A-1', Name: 'One' } } })
beforeEach(() => {
  // Long enough for every bucket to be empty.
  server.clock.ms += 60_000
})

const answered = (namespace: string, body = count) =>
  '<?xml version="1.0" encoding="utf-8"?>' +
  `<soap:Envelope xmlns:soap="${namespace}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">` +
  `<soap:Body><getProductCountResponse xmlns="${defaultNamespace}"><getProductCountResult>${body}</getProductCountResult></getProductCountResponse></soap:Body></soap:Envelope>`

describe('an answer', () => {
  test.each([
    ['1.1', soap11, 'text/xml; charset=utf-8'],
    ['1.2', soap12, 'application/soap+xml; charset=utf-8'],
  ] as const)('of version %s is byte for byte what old programs look for', async (version, namespace, contentType) => {
    const answer = await post(server, envelope(request(shop, 'getProductCount'), version), { version })
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe(answered(namespace))
    expect(answer.headers['content-type']).toBe(contentType)
    expect(answer.headers['content-length']).toBe(String(answer.rawPayload.length))
    expect(answer.headers['x-error-reason']).toBeUndefined()
  })

  test('is UTF-8, whatever characters it holds', async () => {
    const receiver = 'http://10.0.0.5/Ä😀'
    const operation = '<Größe_價格 xmlns="urn:store-platform:cartAPI"/>'
    const { rawPayload } = await post(server, envelope(operation))
    expect(new TextDecoder('utf-8', { fatal: true }).decode(rawPayload)).toContain('There is no operation Größe_價格;')
    const refused = await post(server, envelope(request(shop, 'getProductCount', { callBackURL: receiver })))
    expect(refused.headers['x-error-reason']).toMatch(/^[\x20-\x7e]+$/)
  })
})

describe('the version is the envelope’s', () => {
  const headers11 = { 'content-type': 'text/xml; charset=utf-8', soapaction: `"${defaultNamespace}/getProductCount"` }
  const headers12 = { 'content-type': 'application/soap+xml; charset=utf-8' }
  test.each([
    ['a 1.1 envelope in the content type of 1.2', '1.1', soap11, headers12],
    ['a 1.2 envelope in the content type of 1.1', '1.2', soap12, headers11],
    ['a 1.1 envelope as application/xml', '1.1', soap11, { 'content-type': 'application/xml' }],
    ['a 1.2 envelope as application/xml', '1.2', soap12, { 'content-type': 'application/xml' }],
  ] as const)('%s', async (_name, version, namespace, headers) => {
    const answer = await post(server, envelope(request(shop, 'getProductCount'), version), { headers })
    expect(answer.body).toBe(answered(namespace))
    expect(answer.headers['content-type']).toBe(
      version === '1.1' ? 'text/xml; charset=utf-8' : 'application/soap+xml; charset=utf-8',
    )
    const unknown = await post(server, envelope('<nothing/>', version), { headers })
    expect(faultOf(unknown)).toMatchObject({ version, code: version === '1.1' ? 'Client' : 'Sender' })
  })

  test.each([
    'http://schemas.xmlsoap.org/soap/envelope',
    'http://www.w3.org/2001/12/soap-envelope',
    'http://www.w3.org/2002/06/soap-envelope',
    'urn:other',
    '',
  ])('an Envelope in the namespace %j is a VersionMismatch, which names both', async (namespace) => {
    const payload = `<e:Envelope xmlns:e="${namespace}"><e:Body/></e:Envelope>`
    const bare = payload.replaceAll('e:', '').replace('xmlns:e=""', '')
    const reason = `The namespace of the Envelope must be ${soap11} or ${soap12}`
    const sent = namespace === '' ? bare : payload
    expect(faultOf(await post(server, sent))).toEqual({
      status: 500,
      version: '1.1',
      code: 'VersionMismatch',
      reason,
      header: '',
    })
    expect(faultOf(await post(server, sent, { version: '1.2' }))).toEqual({
      status: 500,
      version: '1.2',
      code: 'VersionMismatch',
      reason,
      header:
        `<soap:Upgrade><soap:SupportedEnvelope qname="s:Envelope" xmlns:s="${soap12}"/>` +
        `<soap:SupportedEnvelope qname="s:Envelope" xmlns:s="${soap11}"/></soap:Upgrade>`,
    })
  })

  test('what is no envelope at all is answered in the version of its content type, in any case', async () => {
    for (const payload of ['<html/>', '<', `<Body xmlns="${soap12}"/>`]) {
      expect(faultOf(await post(server, payload))).toMatchObject({ version: '1.1', code: 'Client' })
      const headers = { 'content-type': 'Application/SOAP+XML' }
      expect(faultOf(await post(server, payload, { headers }))).toMatchObject({ version: '1.2', code: 'Sender' })
    }
  })
})

describe('the action', () => {
  const action = `${defaultNamespace}/getProductCount`
  const call = (version: '1.1' | '1.2', headers: Record<string, string>) =>
    post(server, envelope(request(shop, 'getProductCount'), version), { version, headers })

  test.each([
    ['quoted', `"${action}"`],
    ['bare', action],
    ['in single quotes', `'${action}'`],
    ['with blanks around', ` "${action}" `],
    ['with blanks inside', `" ${action} "`],
    ['empty', ''],
    ['empty in quotes', '""'],
    ['the operation alone', 'getProductCount'],
    ['with a #', `"${defaultNamespace}#getProductCount"`],
    ['with a slash and a #', `"${defaultNamespace}/#getProductCount"`],
    ['with two slashes', `"http://3dcart.com//getProductCount"`],
    ['in another namespace that is accepted', '"http://3dcart.com/getProductCount"'],
    ['in a namespace that is not', '"http://tempuri.org/getProductCount"'],
    ['of a namespace alone', '"http://3dcart.com/"'],
  ])('of SOAPAction may be %s', async (_name, soapaction) => {
    expect((await call('1.1', { soapaction })).body).toBe(answered(soap11))
  })

  test.each([
    ['quoted', `application/soap+xml; charset=utf-8; action="${action}"`],
    ['bare', `application/soap+xml; charset=utf-8; action=${action}`],
    ['before the charset', `application/soap+xml;action="${action}";charset=utf-8`],
    ['with blanks around =', `application/soap+xml; action = "${action}"`],
    ['in capitals', `application/soap+xml; ACTION="${action}"`],
    ['empty', 'application/soap+xml; charset=utf-8; action=""'],
    ['empty and bare', 'application/soap+xml; charset=utf-8; action='],
    ['in another namespace', 'application/soap+xml; charset=utf-8; action="http://3dcart.com/getProductCount"'],
    ['with a #', `application/soap+xml; charset=utf-8; action="${defaultNamespace}#getProductCount"`],
  ])('of the content type may be %s', async (_name, contentType) => {
    expect((await call('1.2', { 'content-type': contentType })).body).toBe(answered(soap12))
  })

  test.each([
    defaultNamespace,
    `${defaultNamespace}/`,
    'http://tempuri.org',
    `${defaultNamespace}:getProductCount`,
    `${defaultNamespace}/GetProductCount`,
    `"${defaultNamespace}/runQuery"`,
    'ns#getproductcount',
  ])('may name no operation at all: %s', async (soapaction) => {
    expect((await call('1.1', { soapaction })).statusCode).toBe(200)
  })

  test('is not looked for in other parameters of the content type', async () => {
    const contentType = 'application/soap+xml; charset=utf-8; start-action="urn:x/getCustomerCount"'
    expect((await call('1.2', { 'content-type': contentType })).statusCode).toBe(200)
  })

  test.each([
    ['1.1', { soapaction: `"${defaultNamespace}/getCustomerCount"` }, 'getCustomerCount'],
    ['1.1', { soapaction: `"${defaultNamespace}#getCustomerCount"` }, 'getCustomerCount'],
    ['1.1', { soapaction: 'getCustomerCount' }, 'getCustomerCount'],
    ['1.1', { soapaction: `"${defaultNamespace}:getCustomerCount"` }, 'getCustomerCount'],
    ['1.2', { 'content-type': `application/soap+xml; action="${defaultNamespace}/getProduct"` }, 'getProduct'],
    ['1.2', { 'content-type': `application/soap+xml; action=${defaultNamespace}/getProduct` }, 'getProduct'],
    ['1.2', { 'content-type': `application/soap+xml ;  ACTION = "${defaultNamespace}/getProduct"` }, 'getProduct'],
    // Some programs send both.
    ['1.2', { soapaction: `"${defaultNamespace}/getOrder"` }, 'getOrder'],
    ['1.1', { 'content-type': `text/xml; charset=utf-8; action="${defaultNamespace}/getOrder"` }, 'getOrder'],
  ] as const)('that contradicts the body is refused: %s %o', async (version, headers, named) => {
    expect(faultOf(await call(version, { ...headers }))).toEqual({
      status: 500,
      version,
      code: version === '1.1' ? 'Client' : 'Sender',
      reason: `SOAPAction names ${named}, and the Body getProductCount`,
      header: '',
    })
  })
})

describe('header blocks', () => {
  const call = (version: '1.1' | '1.2', header: string) =>
    post(server, envelope(request(shop, 'getProductCount'), version, header), { version })
  const next11 = 'http://schemas.xmlsoap.org/soap/actor/next'
  const [next12, ultimate12] = [`${soap12}/role/next`, `${soap12}/role/ultimateReceiver`]

  test.each([
    ['1.1', '<w:x xmlns:w="urn:w" soap:mustUnderstand="1">y</w:x>'],
    ['1.1', '<w:x xmlns:w="urn:w" soap:mustUnderstand=" true "/>'],
    ['1.1', `<w:x xmlns:w="urn:w" soap:mustUnderstand="1" soap:actor="${next11}"/>`],
    ['1.1', '<w:x xmlns:w="urn:w" soap:mustUnderstand="1" soap:actor=""/>'],
    ['1.1', `<w:x xmlns:w="urn:w" soap:mustUnderstand="1" soap:actor=" ${next11}\n"/>`],
    ['1.1', `<w:x xmlns:w="urn:w" xmlns:e="${soap11}" e:mustUnderstand="&#49;"/>`],
    ['1.2', '<w:x xmlns:w="urn:w" soap:mustUnderstand="true"/>'],
    ['1.2', '<w:x xmlns:w="urn:w" soap:mustUnderstand="1"/>'],
    ['1.2', `<w:x xmlns:w="urn:w" soap:mustUnderstand="1" soap:role="${next12}"/>`],
    ['1.2', `<w:x xmlns:w="urn:w" soap:mustUnderstand="1" soap:role="${ultimate12}"/>`],
    ['1.2', '<w:x xmlns:w="urn:w" soap:mustUnderstand="1" soap:role=""/>'],
    ['1.2', '<x xmlns="urn:w" soap:mustUnderstand="1"/>'],
  ] as const)('that must be understood are not, in %s: %s', async (version, header) => {
    expect(faultOf(await call(version, header))).toEqual({
      status: 500,
      version,
      code: 'MustUnderstand',
      reason: 'Header blocks that must be understood are not: x',
      header: version === '1.1' ? '' : '<soap:NotUnderstood qname="n:x" xmlns:n="urn:w"/>',
    })
  })

  test.each([
    ['1.1', '<w:x xmlns:w="urn:w" soap:mustUnderstand="0"/>'],
    ['1.1', '<w:x xmlns:w="urn:w" soap:mustUnderstand=""/>'],
    ['1.1', '<w:x xmlns:w="urn:w"><w:y soap:mustUnderstand="1"/></w:x>'],
    ['1.1', '<w:x xmlns:w="urn:w" mustUnderstand="1"/>'],
    ['1.1', `<x xmlns="${soap11}" mustUnderstand="1"/>`],
    ['1.1', `<w:x xmlns:w="urn:w" xmlns:e="${soap12}" e:mustUnderstand="1"/>`],
    ['1.1', '<w:x xmlns:w="urn:w" soap:mustUnderstand="1" soap:actor="urn:a-proxy"/>'],
    ['1.2', '<w:x xmlns:w="urn:w" soap:mustUnderstand="false"/>'],
    ['1.2', '<w:x xmlns:w="urn:w" soap:mustUnderstand="1" soap:role="urn:a-proxy"/>'],
    ['1.2', `<w:x xmlns:w="urn:w" soap:mustUnderstand="1" soap:role="${soap12}/role/none"/>`],
    // What Visual Studio's debugger adds.
    [
      '1.1',
      '<VsDebuggerCausalityData xmlns="http://schemas.microsoft.com/vstudio/diagnostics/servicemodelsink">uIDPo</VsDebuggerCausalityData>',
    ],
    ['1.1', '<!-- nothing -->'],
    ['1.2', ' \r\n'],
  ] as const)('that need not be are passed over, in %s: %s', async (version, header) => {
    expect((await call(version, header)).body).toBe(answered(version === '1.1' ? soap11 : soap12))
  })

  test('may be none: an empty Header', async () => {
    for (const header of ['<soap:Header/>', '<soap:Header></soap:Header>']) {
      const payload = envelope(request(shop, 'getProductCount')).replace('<soap:Body>', `${header}<soap:Body>`)
      expect((await post(server, payload)).body).toBe(answered(soap11))
    }
  })

  test('of WS-Addressing, as WCF sends them, are named, each with its namespace', async () => {
    const addressing = 'http://www.w3.org/2005/08/addressing'
    const header =
      `<a:Action xmlns:a="${addressing}" soap:mustUnderstand="1">${defaultNamespace}/getProductCount</a:Action>` +
      `<a:MessageID xmlns:a="${addressing}">urn:uuid:1</a:MessageID>` +
      `<a:ReplyTo xmlns:a="${addressing}"><a:Address>${addressing}/anonymous</a:Address></a:ReplyTo>` +
      `<a:To xmlns:a="${addressing}" soap:mustUnderstand="1">http://localhost/cart.asmx</a:To>`
    expect(faultOf(await call('1.2', header))).toMatchObject({
      code: 'MustUnderstand',
      reason: 'Header blocks that must be understood are not: Action, To',
      header:
        `<soap:NotUnderstood qname="n:Action" xmlns:n="${addressing}"/>` +
        `<soap:NotUnderstood qname="n:To" xmlns:n="${addressing}"/>`,
    })
  })

  test('are named ten at most, and without a prefix where they have no namespace', async () => {
    const blocks = Array.from({ length: 11 }, (_, index) => `<b${index} soap:mustUnderstand="1"/>`).join('')
    const { reason, header } = faultOf(await call('1.2', blocks))
    const names = Array.from({ length: 10 }, (_, index) => `b${index}`)
    expect(reason).toBe(`Header blocks that must be understood are not: ${names.join(', ')}`)
    expect(header).toBe(names.map((name) => `<soap:NotUnderstood qname="${name}"/>`).join(''))
  })

  test('keep their namespace in the answer, whatever it is', async () => {
    const { header } = faultOf(await call('1.2', `<w:x xmlns:w='a"&lt;>&amp;' soap:mustUnderstand="1"/>`))
    expect(header).toBe('<soap:NotUnderstood qname="n:x" xmlns:n="a&quot;&lt;&gt;&amp;"/>')
  })

  test('that must be understood are seen in every Header, and nothing is done', async () => {
    const block = '<soap:Header><w:x xmlns:w="urn:w" soap:mustUnderstand="1"/></soap:Header>'
    const payload = envelope(request(shop, 'getProductCount'))
    for (const sent of [
      payload.replace('<soap:Body>', `<soap:Header/>${block}<soap:Body>`),
      payload.replace('</soap:Body>', `</soap:Body>${block}`),
    ]) {
      expect(faultOf(await post(server, sent)).code).toBe('MustUnderstand')
    }
  })
})

describe('a request is understood', () => {
  const { raw } = String
  const urlAndKey = () => ({ url: shop.store.secureUrl, key: shop.store.userKey })
  const forms: Record<string, (given: { url: string; key: string }) => string> = {
    'with any prefix': ({ url, key }) =>
      `<S:Envelope xmlns:S="${soap11}" xmlns:n1="${defaultNamespace}"><S:Body><n1:getProductCount><n1:storeUrl>${url}</n1:storeUrl><n1:userKey>${key}</n1:userKey></n1:getProductCount></S:Body></S:Envelope>`,
    'with the envelope in the default namespace': ({ url, key }) =>
      `<Envelope xmlns="${soap11}"><Body><getProductCount xmlns="${defaultNamespace}"><storeUrl>${url}</storeUrl><userKey>${key}</userKey></getProductCount></Body></Envelope>`,
    'with a prefix that is declared anew inside': ({ url, key }) =>
      `<a:Envelope xmlns:a="${soap11}"><a:Body><a:getProductCount xmlns:a="${defaultNamespace}"><a:storeUrl>${url}</a:storeUrl><a:userKey>${key}</a:userKey></a:getProductCount></a:Body></a:Envelope>`,
    'with parameters in no namespace, as Perl sends them': ({ url, key }) =>
      `<soap:Envelope xmlns:soap="${soap11}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" soap:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><soap:Body><n:getProductCount xmlns:n="${defaultNamespace}"><storeUrl xsi:type="xsd:string">${url}</storeUrl><userKey xsi:type="xsd:string">${key}</userKey></n:getProductCount></soap:Body></soap:Envelope>`,
    'with parameters in any order, and others beside them': ({ url, key }) =>
      envelope(
        `<getProductCount xmlns="${defaultNamespace}"><productsFilter><x>1</x></productsFilter><userKey>${key}</userKey><x/><storeUrl>${url}</storeUrl><x/></getProductCount>`,
      ),
    'with blanks, line ends, comments and instructions everywhere': ({ url, key }) =>
      `<?xml version="1.0"?>\r\n<?pi <Envelope> ?>\r\n<!-- <a> -->\r\n<soap:Envelope\r\n\txmlns:soap = '${soap11}' >\r\n<!-- x --> <soap:Body > <?x?>\r\n<getProductCount xmlns="${defaultNamespace}" >\r\n <storeUrl >\r\n ${url}\r\n</storeUrl\t>\r\n<!-- <userKey>no</userKey> --><userKey>${key.slice(0, 9)}<!-- x -->${key.slice(9, 15)}<?y z?>${key.slice(15)} </userKey></getProductCount>\r\n</soap:Body>\r\n</soap:Envelope>\r\n<!-- end -->\r\n`,
    'with CDATA and references': ({ url, key }) =>
      envelope(
        `<getProductCount xmlns="${defaultNamespace}"><storeUrl><![CDATA[${url}]]></storeUrl><userKey><![CDATA[${key.slice(0, 5)}]]>${key.slice(5, 9)}<![CDATA[]]>&#000000000${key.charCodeAt(9)};&#x${key.charCodeAt(10).toString(16)};&#x0000000${key.charCodeAt(11).toString(16)};${key.slice(12)}</userKey></getProductCount>`,
      ),
    'with attributes that say nothing here': ({ url, key }) =>
      envelope(
        `<getProductCount xmlns="${defaultNamespace}" id="o1" a='>' href="#x" SOAP-ENC="y"><storeUrl id="__proto__" xml:lang="en">${url}</storeUrl><userKey xsi:type="xsd:string" xsi:nil="false">${key}</userKey></getProductCount>`,
      ),
    'with text beside the operation': ({ url, key }) =>
      envelope(
        `text <![CDATA[<a/>]]><getProductCount xmlns="${defaultNamespace}">text <storeUrl>${url}</storeUrl> text<userKey>${key}</userKey></getProductCount>`,
      ),
    'with a Body before its Header, and elements of others around': ({ url, key }) =>
      `<soap:Envelope xmlns:soap="${soap11}"><o:Body xmlns:o="urn:o"/><soap:Body><getProductCount xmlns="${defaultNamespace}"><storeUrl>${url}</storeUrl><userKey>${key}</userKey></getProductCount></soap:Body><soap:Header/></soap:Envelope>`,
    'with what is nil, and with a nil beside the value': ({ url, key }) =>
      `<soap:Envelope xmlns:soap="${soap11}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><soap:Body><getProductCount xmlns="${defaultNamespace}"><storeUrl i:nil="1"/><storeUrl>${url}</storeUrl><userKey>${key}</userKey><userKey i:nil="true"/><callBackURL i:nil=" true ">string</callBackURL></getProductCount></soap:Body></soap:Envelope>`,
    'with a callBackURL of blanks': ({ url, key }) =>
      envelope(
        `<getProductCount xmlns="${defaultNamespace}"><storeUrl>${url}</storeUrl><userKey>${key}</userKey><callBackURL> \n </callBackURL></getProductCount>`,
      ),
    'in two lines without a declaration': ({ url, key }) =>
      envelope(
        `<getProductCount xmlns="${defaultNamespace}">\n<storeUrl>${url}</storeUrl><userKey>${key}</userKey></getProductCount>`,
      ).replace(/^<\?xml.*?\?>/, ''),
    'with an end of CDATA as text': ({ url, key }) =>
      envelope(
        raw`<getProductCount xmlns="${defaultNamespace}"><storeUrl>${url}</storeUrl><userKey>${key}</userKey><x>]]&gt; &lt;a&gt;</x></getProductCount>`,
      ),
  }
  test.each(Object.keys(forms))('%s', async (name) => {
    const payload = forms[name]?.(urlAndKey()) ?? ''
    const { body } = await post(server, payload)
    expect(body).toBe(answered(soap11))
  })

  test('of which a parameter is nil or absent as one that is not given', async () => {
    for (const userKey of ['', '<userKey/>', '<userKey> </userKey>', '<userKey xsi:nil="true">x</userKey>']) {
      const inside = `<storeUrl>${shop.store.secureUrl}</storeUrl>${userKey}`
      const payload = envelope(`<getProductCount xmlns="${defaultNamespace}">${inside}</getProductCount>`)
      expect((await post(server, payload)).body).toContain('<Id>1</Id>')
    }
  })
})

describe('numbers and booleans', () => {
  let store: TestStore
  beforeAll(async () => {
    store = await server.openStore()
    await store.call('POST', '/Products', { body: { SKUInfo: { SKU: 'N-1', Name: 'One' } } })
  })
  const set = (quantity: string, replaceStock: string) =>
    soapCall(server, store, 'updateProductInventory', { productId: 'N-1', quantity, replaceStock })
  const stock = (value: number) =>
    `<UpdateInventoryResponse xmlns=""><ProductID>N-1</ProductID><NewInventory>${value}</NewInventory></UpdateInventoryResponse>`

  test.each([
    ['5', 5],
    [' 5\n', 5],
    ['+5', 5],
    ['-5', -5],
    ['0', 0],
    ['-0', 0],
    ['007', 7],
    ['00000000000000000008', 8],
    ['2147483647', 2_147_483_647],
    ['-2147483648', -2_147_483_648],
  ])('%j is a whole number', async (quantity, value) => {
    expect(await set(quantity, 'true')).toBe(stock(value))
  })

  test.each([
    '2147483648',
    '-2147483649',
    '99999999999',
    '1.0',
    '1e3',
    '0x10',
    '1,000',
    '5 5',
    '--5',
    '+',
    'five',
    'NaN',
    'Infinity',
    '٥',
    `1${'0'.repeat(1_000)}`,
  ])('%j is none', async (quantity) => {
    expect(await set(quantity, 'true')).toBe(errorDocument(32, 'Data Error'))
  })

  test('none, or an empty one, is startNum 1, and so is 0, as a proxy sends what nobody set; batchSize has no default', async () => {
    for (const startNum of [{}, { startNum: '' }, { startNum: 0 }]) {
      const page = await soapCall(server, store, 'getProduct', { batchSize: 1, ...startNum })
      expect(page).toContain('<ProductID>N-1</ProductID>')
    }
    for (const batchSize of [{}, { batchSize: '' }]) {
      expect(await soapCall(server, store, 'getProduct', batchSize)).toBe(errorDocument(5, 'XML file error'))
    }
    expect(await soapCall(server, store, 'getProduct', { batchSize: 0 })).toBe(errorDocument(33, 'Data Error'))
  })

  test.each(['true', 'TRUE', 'True', '1', ' true '])('%j is true', async (replaceStock) => {
    await set('3', 'true')
    expect(await set('4', replaceStock)).toBe(stock(4))
  })

  test.each(['false', 'FALSE', 'False', '0', '', ' '])('%j is false', async (replaceStock) => {
    await set('3', 'true')
    expect(await set('4', replaceStock)).toBe(stock(7))
  })

  test.each(['yes', '2', '-1', 'true false', 'on', 'null'])('%j is neither', async (replaceStock) => {
    await set('3', 'true')
    expect(await set('4', replaceStock)).toBe(errorDocument(43, 'Data Error'))
    expect(await set('0', 'false')).toBe(stock(3))
  })
})

const model = await readModel({ namespaces: ['urn:x'], address: 'http://localhost/' })

describe('a request is a Client fault that says why', () => {
  const inBody = (body: string) => envelope(body)
  const withParameters = (inside: string) =>
    inBody(`<getProductCount xmlns="${defaultNamespace}">${inside}</getProductCount>`)
  const known = model.operations.map(({ name }) => name).join(', ')
  const ofNamespace = (name: string) => `The namespace of ${name} must be ${defaultNamespace} or http://3dcart.com/`
  const oneElement = 'The Body must hold one element, named after the operation'
  const oneBody = 'The Envelope must have one Body'
  test.each([
    ['a parameter twice', withParameters('<userKey>a</userKey><userKey>a</userKey>'), 'userKey is given twice'],
    [
      'a parameter twice, in two namespaces',
      withParameters('<storeUrl>a</storeUrl><x:storeUrl xmlns:x="urn:x">a</x:storeUrl>'),
      'storeUrl is given twice',
    ],
    [
      'an element in a parameter',
      withParameters('<userKey><a/></userKey>'),
      'userKey must be text; it holds an element',
    ],
    [
      'a reference that XML does not know',
      withParameters('<userKey>&nbsp;</userKey>'),
      'userKey holds &nbsp;, which stands for no character in XML',
    ],
    [
      'an unknown operation',
      inBody(`<getShoes xmlns="${defaultNamespace}"/>`),
      `There is no operation getShoes; there are ${known}`,
    ],
    [
      'an operation in other capitals',
      inBody(`<GetProductCount xmlns="${defaultNamespace}"/>`),
      `There is no operation GetProductCount; there are ${known}`,
    ],
    [
      'the name of an answer',
      inBody(`<getProductCountResponse xmlns="${defaultNamespace}"/>`),
      `There is no operation getProductCountResponse; there are ${known}`,
    ],
    [
      'another namespace',
      inBody('<getProductCount xmlns="http://tempuri.org/"/>'),
      `${ofNamespace('getProductCount')}. To serve http://tempuri.org/, add it to SOAP_NAMESPACES`,
    ],
    [
      'a namespace but for its slash',
      inBody('<getProductCount xmlns="http://3dcart.com"/>'),
      `${ofNamespace('getProductCount')}. To serve http://3dcart.com, add it to SOAP_NAMESPACES`,
    ],
    ['no namespace', inBody('<getProductCount/>'), ofNamespace('getProductCount')],
    ['a namespace that is taken away', inBody('<a:b xmlns:a="urn:x"/>'), ofNamespace('b')],
    [
      'a prefix that is not declared',
      inBody('<n:getProductCount/>'),
      'The prefix of n:getProductCount is not declared',
    ],
    ['an empty Body', inBody(''), oneElement],
    ['a Body of text', inBody('getProductCount'), oneElement],
    [
      'two operations',
      inBody(`<getProductCount xmlns="${defaultNamespace}"/><getProductCount xmlns="${defaultNamespace}"/>`),
      oneElement,
    ],
    ['no Body', `<soap:Envelope xmlns:soap="${soap11}"/>`, oneBody],
    ['two bodies', `<s:Envelope xmlns:s="${soap11}"><s:Body><a/></s:Body><s:Body><b/></s:Body></s:Envelope>`, oneBody],
    [
      'a Body of the other version',
      `<s:Envelope xmlns:s="${soap11}"><o:Body xmlns:o="${soap12}"><a/></o:Body></s:Envelope>`,
      oneBody,
    ],
    [
      'a Body without Envelope',
      `<s:Body xmlns:s="${soap11}"><a/></s:Body>`,
      'The root element must be a SOAP Envelope',
    ],
    ['an envelope in other capitals', `<s:envelope xmlns:s="${soap11}"/>`, 'The root element must be a SOAP Envelope'],
    ['nothing', '', 'The body is empty; an Envelope is expected'],
  ])('%s', async (_name, payload, reason) => {
    const fault = { status: 500, version: '1.1', code: 'Client', reason, header: '' }
    expect(faultOf(await post(server, payload))).toEqual(fault)
  })

  test('with names cut where they are long', async () => {
    const long = 'x'.repeat(1_000)
    for (const body of [
      `<${long} xmlns="${defaultNamespace}"/>`,
      `<${long}/>`,
      `<${long}:a/>`,
      `<a:${long} xmlns:a="urn:a"/>`,
    ]) {
      const { reason } = faultOf(await post(server, envelope(body)))
      expect(reason).toContain(`${'x'.repeat(70)}`)
      expect(reason.length).toBeLessThan(500)
    }
  })
})

test('a header block that is not understood is named, cut where the name is long', async () => {
  const payload = envelope(request(shop, 'getProductCount'), '1.1', `<${'x'.repeat(100)} soap:mustUnderstand="1"/>`)
  const reason = `Header blocks that must be understood are not: ${'x'.repeat(80)}…`
  expect(faultOf(await post(server, payload)).reason).toBe(reason)
})

describe('the address', () => {
  test.each(['/cart.asmx', '/Cart.ASMX', '/cart.asmx/', '//cart.asmx', '/cart.asmx?WSDL', '/cart.asmx?op=getOrder'])(
    'POST %s is a call',
    async (url) => {
      const payload = envelope(request(shop, 'getProductCount'))
      const answer = await server.app.inject({ method: 'POST', url, headers: { 'content-type': 'text/xml' }, payload })
      expect(answer.body).toBe(answered(soap11))
    },
  )

  test('GET shows a person the address, the namespaces and all operations with what is their own', async () => {
    const { statusCode, headers, body } = await server.app.inject('/cart.asmx')
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(body).toContain('<code>http://localhost:3000/cart.asmx</code>')
    expect(body).toContain('href="http://localhost:3000/cart.asmx?WSDL"')
    expect(body).toContain('<code>urn:store-platform:cartAPI</code>, <code>http://3dcart.com/</code>')
    const shown = body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
    expect(model.operations).toHaveLength(Object.keys(operations).length)
    for (const { name, documentation } of model.operations)
      expect(shown).toContain(` ${name} ${documentation.replaceAll("'", '&#39;')} `)
    expect(shown).toContain(' productId (string), quantity (int), replaceStock (boolean) ')
    expect((await server.app.inject({ method: 'HEAD', url: '/cart.asmx' })).statusCode).toBe(200)
  })

  test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'QUERY'] as const)(
    '%s is refused, with what is allowed, whatever it carries',
    async (method) => {
      for (const carried of [{}, { payload: { a: 1 } }, { payload: '<', headers: { 'content-type': 'nonsense' } }]) {
        const answer = await server.app.inject({ method, url: '/cart.asmx', ...carried } as InjectOptions)
        expect(faultOf(answer)).toEqual({
          status: 405,
          version: '1.1',
          code: 'Client',
          reason: 'This address takes POST, and GET for the WSDL',
          header: '',
        })
        expect(answer.headers.allow).toBe('GET, HEAD, POST')
      }
    },
  )

  test('is that of SOAP_PATH, in any case, and no other', async () => {
    const settings = { SOAP_PATH: '/Legacy/Shop.asmx', REST_PREFIXES: '/Legacy/Shop.asmx/rest,/StoreWebAPI' }
    const moved = await ofTest(openServer(settings))
    const other = await moved.openStore()
    const payload = envelope(request(other, 'getProductCount'))
    const call = (url: string) =>
      moved.app.inject({ method: 'POST', url, headers: { 'content-type': 'text/xml' }, payload })
    for (const url of ['/Legacy/Shop.asmx', '/legacy/shop.asmx/']) {
      expect((await call(url)).body).toContain('<ProductQuantity>0</ProductQuantity>')
    }
    expect((await call('/cart.asmx')).statusCode).toBe(404)
    expect(faultOf(await call('/Legacy/Shop_advanced.asmx')).reason).toContain('is not offered')
    expect((await call('/cart_advanced.asmx')).headers['content-type']).toContain('json')
    expect((await moved.app.inject('/cart.asmx?WSDL')).statusCode).toBe(404)
    expect((await moved.app.inject('/LEGACY/SHOP.ASMX')).body).toContain('http://localhost:3000/Legacy/Shop.asmx')
    // REST may lie below it.
    const rest = await moved.app.inject({
      url: '/Legacy/Shop.asmx/rest/v1/Products?countonly=1',
      headers: other.credentials,
    })
    expect(rest.statusCode).toBe(200)
  })

  test('is answered over plain http though the public address is https: old programs have no other', async () => {
    const secure = await ofTest(openServer({ PUBLIC_URL: 'https://api.shop.example' }))
    const other = await secure.openStore().catch(() => null)
    expect(other).not.toBeNull()
    if (other) await soapCall(secure, other, 'getProductCount')
    expect((await secure.app.inject('/cart.asmx?wsdl')).statusCode).toBe(200)
  })
})

describe('the service beside cartAPI that runs SQL', () => {
  const reason =
    '/cart_advanced.asmx (runQuery) is not offered by this server; cartAPI is at http://localhost:3000/cart.asmx'
  const send = (method: 'GET' | 'HEAD' | 'POST' | 'PUT', options: InjectOptions = {}) =>
    server.app.inject({ method, url: '/cart_advanced.asmx', ...options })
  const query = '<runQuery xmlns="http://3dcart.com/"><sqlStatement>select 1</sqlStatement></runQuery>'

  test.each([
    ['1.1', 'text/xml', 'Client'],
    ['1.2', 'application/soap+xml', 'Sender'],
  ] as const)('is not offered: a fault that says so, in SOAP %s', async (version, contentType, code) => {
    const answer = await send('POST', { headers: { 'content-type': contentType }, payload: envelope(query, version) })
    expect(faultOf(answer)).toEqual({ status: 500, version, code, reason, header: '' })
    // The envelope says the version, whatever the content type says.
    const mixed = await send('POST', { headers: { 'content-type': 'application/soap+xml' }, payload: envelope(query) })
    expect(faultOf(mixed)).toMatchObject({ status: 500, version: '1.1', reason })
  })

  test('has no WSDL, and a page for a person that says so', async () => {
    for (const url of ['/cart_advanced.asmx?WSDL', '/Cart_Advanced.asmx', '/cart_advanced.asmx/?op=runQuery']) {
      expect(faultOf(await send('GET', { url }))).toMatchObject({ status: 404, version: '1.1', reason })
    }
    expect(faultOf(await send('PUT'))).toMatchObject({ status: 404, reason })
    expect((await send('HEAD')).statusCode).toBe(404)
    const page = await send('GET', { headers: { accept: 'text/html,*/*' } })
    expect([page.statusCode, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(page.body).toContain(reason)
  })
})

test('the counts are those of all records that the store has, hidden ones too, and of no other store', async () => {
  const [one, other] = [await server.openStore(), await server.openStore()]
  const counts = async (store: TestStore) => [
    await soapCall(server, store, 'getProductCount'),
    await soapCall(server, store, 'getCustomerCount', {}, { version: '1.2' }),
  ]
  const expected = (products: number, customers: number) => [
    `<GetProductCountResponse xmlns=""><ProductQuantity>${products}</ProductQuantity></GetProductCountResponse>`,
    `<CustomerCountResponse xmlns=""><CustomerCount>${customers}</CustomerCount></CustomerCountResponse>`,
  ]
  expect(await counts(one)).toEqual(expected(0, 0))
  await one.call('POST', '/Products', { body: { SKUInfo: { SKU: 'S-1', Name: 'x' } } })
  await one.call('POST', '/Products', { body: { SKUInfo: { SKU: 'S-2', Name: 'x' }, Hide: true } })
  await one.call('POST', '/Customers', { body: { Email: 'a@customer.example', Password: 'long enough' } })
  expect(await counts(one)).toEqual(expected(2, 1))
  expect(await counts(other)).toEqual(expected(0, 0))
  await one.call('DELETE', '/Products/1')
  expect((await counts(one))[0]).toBe(expected(1, 1)[0])
})
