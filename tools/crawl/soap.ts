import type { Sent } from './browser.ts'
import type { Report } from './report.ts'
import type { Scene } from './scene.ts'

const NAMESPACE = 'urn:store-platform:cartAPI'
const envelopes = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
}

export type Version = keyof typeof envelopes

/** A call of cartAPI as a program writes it. */
export function soapCall(
  operation: string,
  parameters: Readonly<Record<string, string>>,
  version: Version = '1.1',
): Sent {
  const inner = Object.entries(parameters).map(([name, value]) => `<${name}>${value}</${name}>`)
  const call = `<${operation} xmlns="${NAMESPACE}">${inner.join('')}</${operation}>`
  const action = `${NAMESPACE}/${operation}`
  const headers: Record<string, string> =
    version === '1.1'
      ? { 'content-type': 'text/xml; charset=utf-8', soapaction: `"${action}"` }
      : { 'content-type': `application/soap+xml; charset=utf-8; action="${action}"` }
  const body = `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="${envelopes[version]}"><soap:Body>${call}</soap:Body></soap:Envelope>`
  return { method: 'POST', path: '/cart.asmx', headers, body }
}

const versions: readonly Version[] = ['1.1', '1.2']

/** What a parameter of an operation is given, right and, after it, wrong. */
const values: Readonly<Record<string, readonly string[]>> = {
  batchSize: ['3', '0', 'abc', '100000'],
  startNum: ['1', '-1', 'abc', '100000'],
  startFrom: ['true', 'maybe'],
  replaceStock: ['false', 'maybe'],
  quantity: ['2', 'abc', '99999999999'],
  productId: ['', 'NONE', '1'],
  invoiceNum: ['AB-1093', 'NONE', ''],
  status: ['', '1', 'Shipped', 'abc'],
  newStatus: ['Shipped', 'NONE', ''],
  shipmentID: ['0', '999999', 'abc'],
  tracking: ['1Z999', ''],
  shipmentDate: ['11/18/2026', '2026-13-45'],
  dateFrom: ['', '01/01/2026', '2026-13-45'],
  dateTo: ['', '12/31/2026', '2026-13-45'],
  customersFilter: ['', 'firstname=Ann', 'nonsense'],
  customerData: ['email===made@soap.example|||billing_lastname===Made', 'nonsense', ''],
  action: ['insert', 'update', 'delete', 'nonsense'],
  customerEmail: ['buyer@customers.example', 'nobody@customers.example', ''],
  timeToLive: ['60', '0', 'abc'],
  callBackURL: ['', 'not an address'],
}

/** Calls each operation of the WSDL, right and wrong, in both versions of SOAP; returns the number of calls. */
export async function crawlSoap({ client, server }: Scene, report: Report): Promise<number> {
  const wsdl = (await client.send({ method: 'GET', path: '/cart.asmx?WSDL' })).text
  const { secureUrl: storeUrl, userKey } = server.sandbox.store
  let count = 0
  for (const [, operation = '', inner = ''] of wsdl.matchAll(
    /<s:element name="(\w+)(?<!Response)">\s*<s:complexType>\s*<s:sequence>([\s\S]*?)<\/s:sequence>/g,
  )) {
    const names = [...inner.matchAll(/name="(\w+)"/g)].map(([, name = '']) => name)
    const right = Object.fromEntries(names.map((name) => [name, values[name]?.[0] ?? '']))
    const call = { ...right, storeUrl, userKey }
    const own = names.filter((name) => name in values)
    const calls = [
      call,
      { ...call, userKey: 'f'.repeat(32) },
      { ...call, storeUrl: 'https://nobody.example' },
      ...own.map((name) => Object.fromEntries(Object.entries(call).filter(([one]) => one !== name))),
      ...own.flatMap((name) => (values[name] ?? []).slice(1).map((value) => ({ ...call, [name]: value }))),
      { ...call, nonsense: '1' },
    ]
    for (const version of versions) {
      for (const parameters of calls) {
        const { headers, ...sent } = soapCall(operation, parameters, version)
        const network = { 'x-forwarded-for': `192.0.2.${++count % 250}` }
        const answer = await client.send({ ...sent, headers: { ...headers, ...network } })
        report.add(`soap/${operation}.txt`, `${version} ${new URLSearchParams(parameters)}`, answer)
      }
    }
  }
  return count
}
