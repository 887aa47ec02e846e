import { beforeAll, describe, expect, test } from 'vitest'
import { operatorKey } from '../../../support/services.ts'
import { merchantIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'

/** A password, and a key of the form that the server makes itself. */
const markers = ['Hunter2-is-MY-secret', '0badc0de0badc0de0badc0de0badc0de']

let cookie: string

const server = await sharedServer({ LOG_LEVEL: 'trace', TRUST_PROXY: '127.0.0.1', DEVELOPER_SIGNUP: 'open' })
const shop = await server.openStore()

beforeAll(async () => {
  const merchant = await merchantIn(server, shop.store)
  cookie = [...merchant.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
})

/** In its addresses and bodies, `*` is where the secret stands. */
type Door = readonly [
  name: string,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  urls: readonly string[],
  headers: () => Record<string, string>,
  contentType: string,
  bodies: readonly string[],
]

const asOperator = () => ({ authorization: `Bearer ${operatorKey}` })
const asProgram = () => ({ ...shop.credentials })
const asMerchant = () => ({ cookie, 'x-requested-with': 'a test', accept: 'application/json' })
const json = 'application/json'
const form = 'application/x-www-form-urlencoded'
const nobody = () => ({})

const under = (folder: string, paths: string) => paths.split(' ').map((path) => `${folder}${path}`)

const bodiesInJson = [
  '{"*": 1}',
  '["*"]',
  '"*"',
  '{"Name": {"*": {"*": "*"}}, "*": ["*"]}',
  '{"SKUInfo": {"*": 1, "SKU": {"*": "*"}}, "OptionSetList": [{"*": "*"}]}',
  '[{"SKUInfo": {"SKU": "*"}}, {"SKUInfo": {"SKU": "*", "Stock": "*"}}]',
  '{"OrderItemList": [{"*": 1, "ItemID": "*"}]}',
  '{"Email": "*", "Password": {"*": "*"}, "Store": "*", "*": "*"}',
  '{"SecureURL": "https://* *.example", "Throttle": {"*": 1}, "CartAPI": {"Addresses": ["*"], "*": 1}}',
  '* {',
  '{"a": * }',
  '{"a": "*',
]
const bodiesInXml = [
  '<*/>',
  '<Product><*>1</*></Product>',
  '<Product><SKUInfo><SKU>*</SKU></SKUInfo><OptionSetList><*/></OptionSetList></Product>',
  '<Product * = "*"><a b="*"></Product>',
  '<Product><SKUInfo><Name>&*;</Name></SKUInfo></Product>',
  '<!DOCTYPE * SYSTEM "*"><Product/>',
  '* <Product/> *',
  '<ArrayOfProduct><*/></ArrayOfProduct>',
]
const soapNamespaces = 'xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"'
function envelope(body: string, header = ''): string {
  return `<soap:Envelope ${soapNamespaces}>${header}<soap:Body>${body}</soap:Body></soap:Envelope>`
}
const namespace = 'xmlns="urn:store-platform:cartAPI"'
const login = () => `<storeUrl>${shop.store.secureUrl}</storeUrl><userKey>${shop.store.userKey}</userKey>`
/** `KEYS` is where storeUrl and userKey stand. */
const bodiesInSoap = [
  envelope(`<* ${namespace}/>`),
  envelope('<*:getProduct/>'),
  envelope('<getProduct xmlns="*"/>'),
  envelope(`<getProduct ${namespace}>KEYS<*>*</*></getProduct>`),
  envelope(`<getProduct ${namespace}><storeUrl>*</storeUrl><userKey>*</userKey></getProduct>`),
  envelope(`<getProduct ${namespace}>KEYS<productId>*</productId><batchSize>*</batchSize></getProduct>`),
  envelope(`<getProduct ${namespace}>KEYS<startNum>*</startNum></getProduct>`),
  envelope(`<getProduct ${namespace}>KEYS<productId>&*;</productId></getProduct>`),
  envelope(`<getProductInventory ${namespace}>KEYS<productId>*</productId></getProductInventory>`),
  envelope(
    `<updateProductInventory ${namespace}>KEYS<productId>*</productId><quantity>1</quantity><replaceStock>true</replaceStock></updateProductInventory>`,
  ),
  envelope(
    `<updateProductInventory ${namespace}>KEYS<productId>A</productId><quantity>*</quantity><replaceStock>*</replaceStock></updateProductInventory>`,
  ),
  envelope(`<getOrder ${namespace}>KEYS<status>*</status></getOrder>`),
  envelope(`<getOrder ${namespace}>KEYS<dateFrom>*</dateFrom></getOrder>`),
  envelope(`<getOrder ${namespace}>KEYS<invoiceNum>*</invoiceNum></getOrder>`),
  envelope(
    `<updateOrderStatus ${namespace}>KEYS<invoiceNum>*</invoiceNum><newStatus>*</newStatus></updateOrderStatus>`,
  ),
  envelope(`<getCustomer ${namespace}>KEYS<customersFilter>*=*</customersFilter></getCustomer>`),
  envelope(
    `<editCustomer ${namespace}>KEYS<customerData>*===*|||pass===*</customerData><action>update</action></editCustomer>`,
  ),
  envelope(`<editCustomer ${namespace}>KEYS<customerData>*</customerData><action>*</action></editCustomer>`),
  envelope(`<getProduct ${namespace}>KEYS<callBackURL>http://*:*@127.0.0.1:1/*?*=*</callBackURL></getProduct>`),
  envelope(`<getProduct ${namespace}/>`, '<soap:Header><* soap:mustUnderstand="1" xmlns="urn:*"/></soap:Header>'),
  '<*/>',
  '* <a>',
  envelope('<a></*>'),
]
const bodiesOfForms = ['*=1', '_csrf=*', 'Name=*&*=*', 'grant_type=*&code=*', 'client_id=*&client_secret=*&*=*']

const nothing: readonly string[] = []
const rest = '/StoreWebAPI/v1'
const readings = '/Products/* /* /Orders/*/* /Products?*=*&limit=*&$select=*&$orderby=* /Products/1/* /Events?after=*'
const pages =
  '/* /%2A* /*% /admin/* /admin/orders/*?*=* /assets/* /docs/* /admin/sign-in?next=*&store=* ' +
  '/oauth/authorize?client_id=*&redirect_uri=*&state=*&*=* /account/sign-in?token=* /metrics?*=* ' +
  `/${'*'.repeat(200)}`
const merchants =
  '/admin/settings /admin/orders /admin/webhooks /admin/webhooks/* /admin/account/password /admin/sign-in'
const forms =
  '/admin/sign-in /developers/sign-up /oauth/token /oauth/revoke /oauth/authorize?client_id=*&*=* /account/sign-in'
const additions =
  '/admin/stores /admin/developers /admin/applications /admin/stores/1/orders /admin/stores/*/users /admin/*'
const changes =
  '/admin/stores/* /admin/stores/1 /admin/stores/1/order-statuses /admin/developers/* /admin/stores/1/users/*'
const deletions = '/admin/stores/1/subscriptions/*?force=*&*=* /admin/stores/*/users/*'
const soap = 'text/xml; charset=utf-8'

const doors: readonly Door[] = [
  ['REST', 'GET', under(rest, readings), asProgram, json, nothing],
  ['REST with JSON', 'POST', under(rest, '/Products /Orders /Customers /*'), asProgram, json, bodiesInJson],
  ['REST with changes in JSON', 'PUT', under(rest, '/Products /Products/*'), asProgram, json, bodiesInJson],
  ['REST with XML', 'POST', under(rest, '/Products'), asProgram, 'application/xml', bodiesInXml],
  ['cartAPI', 'POST', under('', '/cart.asmx /cart.asmx?*=*'), nobody, soap, bodiesInSoap],
  ['the operator', 'POST', under('', additions), asOperator, json, bodiesInJson],
  ['the operator’s changes', 'PUT', under('', changes), asOperator, json, bodiesInJson],
  ['the operator’s deletions', 'DELETE', under('', deletions), asOperator, json, nothing],
  ['a merchant', 'POST', under('', merchants), asMerchant, json, bodiesInJson],
  ['forms', 'POST', under('', forms), asMerchant, form, bodiesOfForms],
  ['pages', 'GET', under('', pages), asMerchant, json, nothing],
]

/** `X-Request-Id` is not among them: it is logged and echoed by design. */
const oddHeaders: readonly ((secret: string) => Record<string, string>)[] = [
  (secret) => ({ [secret.toLowerCase()]: '1', 'x-odd': secret }),
  (secret) => ({ 'user-agent': secret, referer: `https://a.example/${secret}`, origin: `https://${secret}` }),
  (secret) => ({ host: secret, 'x-forwarded-host': secret, forwarded: secret }),
  (secret) => ({ 'x-forwarded-for': secret, 'x-forwarded-proto': secret }),
  (secret) => ({ authorization: secret }),
  (secret) => ({ authorization: `Bearer ${secret}` }),
  (secret) => ({ authorization: `Basic ${secret}` }),
  (secret) => ({ privatekey: secret }),
  (secret) => ({ token: secret }),
  (secret) => ({ secureurl: secret }),
  (secret) => ({ accept: secret, 'accept-language': secret, 'accept-encoding': secret }),
  (secret) => ({ 'content-type': `application/${secret}` }),
  (secret) => ({ 'content-type': secret }),
  (secret) => ({ 'content-encoding': secret }),
  (secret) => ({ 'if-match': secret, 'if-none-match': secret, 'idempotency-key': `"${secret} ${secret}"` }),
  (secret) => ({ soapaction: secret }),
  (secret) => ({ cookie: `merchant=${secret}; ${secret}=1; csrf=${secret}; devices=${secret}` }),
  (secret) => ({ expect: secret }),
  (secret) => ({ 'x-request-id': `${secret} ${secret}` }),
]

describe.each(markers)('%s', (secret) => {
  const filled = (text: string) => text.replaceAll('*', secret)

  test.each(doors)('sent to %s in odd places reaches neither the log nor the log of calls', async (...door) => {
    const [, method, urls, headersOf, contentType, bodies] = door
    const knock = (url: string, headers: Record<string, string>, body?: string) =>
      server.app.inject({
        method,
        url: filled(url),
        headers: { ...headersOf(), ...(body !== undefined && { 'content-type': contentType }), ...headers },
        ...(body !== undefined && { payload: filled(body).replace('KEYS', login()) }),
      })
    server.log.length = 0
    for (const url of urls) {
      await knock(url, {})
      for (const body of bodies) await knock(url, {}, body)
    }
    for (const odd of oddHeaders) await knock(urls[0] ?? '', odd(secret), bodies[0])
    await server.services.callLog.flush()

    const calls = await server.services.db.apiCall.findMany()
    const isTold = (line: string) => line.toLowerCase().includes(secret.toLowerCase())
    expect(server.log.length).toBeGreaterThan(urls.length)
    expect(server.log.filter(isTold)).toEqual([])
    expect(calls.map(({ path, message }) => `${path} ${message}`).filter(isTold)).toEqual([])
  })
})

test('the log of calls has what was wrong, and the address, all the same', async () => {
  const other = await server.openStore()
  await other.call('GET', '/Products/99')
  await other.call('GET', `/Products/${markers[1]}`)
  await server.services.callLog.flush()

  const calls = await server.services.db.apiCall.findMany({
    where: { subscription: { storeId: other.store.id } },
    orderBy: { id: 'asc' },
  })
  expect(calls.map(({ path, message }) => [path, message])).toEqual([
    ['/StoreWebAPI/v1/Products/99', 'There is no Product 99'],
    ['/StoreWebAPI/v1/Products/:id', 'catalogid must be a whole number from 1 to 2147483647; "…" was given'],
  ])
})
