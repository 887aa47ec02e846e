import type { Sent } from './browser.ts'

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
