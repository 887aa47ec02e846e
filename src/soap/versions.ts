export type SoapVersion = '1.1' | '1.2'

interface Version {
  /** Of the envelope. */
  readonly namespace: string
  readonly contentType: string
  /** The binding in the WSDL. */
  readonly binding: string
}

export const soapVersions: Readonly<Record<SoapVersion, Version>> = {
  '1.1': {
    namespace: 'http://schemas.xmlsoap.org/soap/envelope/',
    contentType: 'text/xml; charset=utf-8',
    binding: 'cartAPISoap',
  },
  '1.2': {
    namespace: 'http://www.w3.org/2003/05/soap-envelope',
    contentType: 'application/soap+xml; charset=utf-8',
    binding: 'cartAPISoap12',
  },
}

/** The version of an envelope's namespace; null: neither. */
export function versionOf(namespace: string): SoapVersion | null {
  if (namespace === soapVersions['1.1'].namespace) return '1.1'
  return namespace === soapVersions['1.2'].namespace ? '1.2' : null
}
