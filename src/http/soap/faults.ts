import { escapeAttribute, escapeXml, XML_DECLARATION } from '../../foundation/xml/text.ts'
import type { SoapModel } from './model.ts'

/** The versions of SOAP: namespace of the envelope, type of the answer. */
export const soapVersions = {
  '1.1': { namespace: 'http://schemas.xmlsoap.org/soap/envelope/', contentType: 'text/xml; charset=utf-8' },
  '1.2': { namespace: 'http://www.w3.org/2003/05/soap-envelope', contentType: 'application/soap+xml; charset=utf-8' },
} as const

export type SoapVersion = keyof typeof soapVersions

/** The codes of SOAP 1.1, with their names in SOAP 1.2. */
export const faultCodes = {
  Client: 'Sender',
  Server: 'Receiver',
  VersionMismatch: 'VersionMismatch',
  MustUnderstand: 'MustUnderstand',
}

export type FaultCode = keyof typeof faultCodes

interface FaultOptions {
  /** Default: 500 in both versions, because old proxies read a fault from nothing else. */
  readonly status?: number
  readonly notUnderstood?: readonly { readonly name: string; readonly namespace: string }[]
  /** The message for the log, where the message repeats something of the request. */
  readonly logMessage?: string
}

/** A request that no operation answers. The caller sees `message`. What an operation refuses is a ResultError instead. */
export class SoapFault extends Error {
  readonly code: FaultCode
  readonly options: FaultOptions

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message)
    this.name = 'SoapFault'
    this.code = code
    this.options = options
  }
}

/** The envelope of a fault in three pieces: a header may follow the first, and the reason the second. */
export interface FaultFrame {
  readonly envelope: string
  readonly start: string
  readonly end: string
}

/** The envelope of a fault. `model` null: the WSDL cannot be read, which makes everything a fault of the server. */
export function writeFault(model: SoapModel | null, version: SoapVersion, fault: SoapFault): string {
  const { envelope, start, end } = model?.faultFrame(fault.code, version) ?? serverFaults[version]
  const header = version === '1.2' ? headerOf(fault) : ''
  return envelope + header + start + escapeXml(fault.message) + end
}

const serverFaults: Readonly<Record<SoapVersion, FaultFrame>> = {
  '1.1': frameOf('1.1', '<faultcode>soap:Server</faultcode><faultstring xml:lang="en">', '</faultstring><detail/>'),
  '1.2': frameOf(
    '1.2',
    '<soap:Code><soap:Value>soap:Receiver</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="en">',
    '</soap:Text></soap:Reason>',
  ),
}

function frameOf(version: SoapVersion, start: string, end: string): FaultFrame {
  return {
    envelope: `${XML_DECLARATION}<soap:Envelope xmlns:soap="${soapVersions[version].namespace}">`,
    start: `<soap:Body><soap:Fault>${start}`,
    end: `${end}</soap:Fault></soap:Body></soap:Envelope>`,
  }
}

/** SOAP 1.2 part 1 §5.4.7 and §5.4.8: the supported versions, or the header blocks that were not understood. */
function headerOf({ code, options: { notUnderstood = [] } }: SoapFault): string {
  if (code === 'VersionMismatch') {
    const versions = Object.values(soapVersions).toReversed()
    const supported = versions.map(
      ({ namespace }) => `<soap:SupportedEnvelope qname="s:Envelope" xmlns:s="${namespace}"/>`,
    )
    return `<soap:Header><soap:Upgrade>${supported.join('')}</soap:Upgrade></soap:Header>`
  }
  const blocks = notUnderstood.map(({ name, namespace }) =>
    // No prefix can stand for no namespace.
    namespace === ''
      ? `<soap:NotUnderstood qname="${name}"/>`
      : `<soap:NotUnderstood qname="n:${name}" xmlns:n="${escapeAttribute(namespace)}"/>`,
  )
  return blocks.length === 0 ? '' : `<soap:Header>${blocks.join('')}</soap:Header>`
}
