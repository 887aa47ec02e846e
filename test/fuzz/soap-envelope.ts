export const SOAP_NAMESPACE = 'urn:store-platform:cartAPI'

const envelopes = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
}

/** A call of cartAPI as a program writes it. Names and values are written as they are: values may hold markup that is meant. */
export function envelope(
  operation: string,
  parameters: readonly (readonly [name: string, value: string])[],
  version: '1.1' | '1.2' = '1.1',
) {
  const inner = parameters.map(([name, value]) => `<${name}>${value}</${name}>`).join('')
  const call = `<${operation} xmlns="${SOAP_NAMESPACE}">${inner}</${operation}>`
  const text = `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="${envelopes[version]}"><soap:Body>${call}</soap:Body></soap:Envelope>`
  const action = `${SOAP_NAMESPACE}/${operation}`
  const headers: [string, string][] =
    version === '1.1'
      ? [
          ['content-type', 'text/xml; charset=utf-8'],
          ['soapaction', `"${action}"`],
        ]
      : [['content-type', `application/soap+xml; charset=utf-8; action="${action}"`]]
  return { headers, body: Buffer.from(text) }
}
