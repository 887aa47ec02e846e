import { escapeAttribute, escapeXml, XML_DECLARATION } from '../xml/text.ts'
import { type SoapVersion, soapVersions } from './versions.ts'

/** By its name in SOAP 1.1; SOAP 1.2 says Sender and Receiver for the first two. */
export type FaultCode = 'Client' | 'Server' | 'VersionMismatch' | 'MustUnderstand'

export interface FaultOptions {
  /** 500 in both versions unless said: proxies of that time read a fault from nothing else. */
  readonly status?: number
  /** Whole seconds until it is worth another try. */
  readonly retryAfterSeconds?: number
  /** Header blocks that were to be understood, with their namespaces. */
  readonly notUnderstood?: readonly { readonly name: string; readonly namespace: string }[]
  /** The message for the log, where the message repeats something of the request. */
  readonly logMessage?: string
}

/**
 * A request that no operation answers: it cannot be read, names none, or cannot be carried out now. `message` says why, and the
 * caller sees it. What an operation finds wrong is a ResultError instead.
 */
export class SoapFault extends Error {
  readonly code: FaultCode
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  readonly notUnderstood: NonNullable<FaultOptions['notUnderstood']>
  readonly logMessage: string

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    const { status, retryAfterSeconds, notUnderstood, logMessage } = options
    super(message)
    this.name = 'SoapFault'
    this.code = code
    this.status = status ?? 500
    this.retryAfterSeconds = retryAfterSeconds
    this.notUnderstood = notUnderstood ?? []
    this.logMessage = logMessage ?? message
  }
}

const codes12: Readonly<Record<FaultCode, string>> = {
  Client: 'Sender',
  Server: 'Receiver',
  VersionMismatch: 'VersionMismatch',
  MustUnderstand: 'MustUnderstand',
}

/** The envelope of a fault. (strong-soap's faults lack `xml:lang`, which SOAP 1.2 demands.) */
export function writeFault(version: SoapVersion, fault: SoapFault): string {
  const { namespace } = soapVersions[version]
  const reason = escapeXml(fault.message)
  const body =
    version === '1.1'
      ? `<faultcode>soap:${fault.code}</faultcode><faultstring xml:lang="en">${reason}</faultstring>${detailOf(fault)}`
      : `<soap:Code><soap:Value>soap:${codes12[fault.code]}</soap:Value></soap:Code>` +
        `<soap:Reason><soap:Text xml:lang="en">${reason}</soap:Text></soap:Reason>`
  const header = version === '1.1' ? '' : headerOf(fault)
  return (
    `${XML_DECLARATION}<soap:Envelope xmlns:soap="${namespace}">${header}` +
    `<soap:Body><soap:Fault>${body}</soap:Fault></soap:Body></soap:Envelope>`
  )
}

/** SOAP 1.1, 4.4: it is there, empty or not, exactly if the fault has to do with the body. .NET takes the others for a header's. */
function detailOf({ code }: SoapFault): string {
  return code === 'Client' || code === 'Server' ? '<detail/>' : ''
}

/** SOAP 1.2 part 1, 5.4.7 and 5.4.8: which versions are spoken, and which header blocks were not understood. */
function headerOf({ code, notUnderstood }: SoapFault): string {
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
