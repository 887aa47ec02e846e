import { attributeText, childElements, localName, readXmlDocument, shown, type XmlElement } from '../xml/read.ts'
import { SoapFault } from './faults.ts'
import { type SoapVersion, soapVersions, versionOf } from './versions.ts'

/** What an envelope asks for: the one element of its body. */
export interface SoapRequest {
  /** Without a prefix. */
  readonly name: string
  readonly namespace: string
  readonly element: XmlElement
}

/** A call has forty, and what programs put into a header some more. */
const TAGS_MAX = 2_000

/**
 * Reads an envelope of either version. Throws SoapFault for what is none (VersionMismatch for an envelope of another
 * version), for a body that holds anything but one element, and for header blocks that must be understood: there are none
 * that are. `told` is given the version as soon as it is known, also where the rest is refused.
 */
export function readEnvelope(text: string, told: (version: SoapVersion) => void): SoapRequest {
  const root = qualified(readXmlDocument(text, { tagsMax: TAGS_MAX }), new Map())
  const version = versionOf(root.namespace)
  if (root.name !== 'Envelope') throw new SoapFault('Client', 'The root element must be a SOAP Envelope')
  if (version === null) {
    const known = Object.values(soapVersions).map(({ namespace }) => namespace)
    throw new SoapFault('VersionMismatch', `The namespace of the Envelope must be ${known.join(' or ')}`)
  }
  told(version)
  const { namespace } = soapVersions[version]
  const parts = childrenOf(root).filter((part) => part.namespace === namespace)
  const headers = parts.filter(({ name }) => name === 'Header')
  const [body, ...others] = parts.filter(({ name }) => name === 'Body')
  if (body === undefined || others.length > 0) throw new SoapFault('Client', 'The Envelope must have one Body')
  refuseMandatory(headers.flatMap(childrenOf), version)
  const [request, ...more] = childrenOf(body)
  if (request === undefined || more.length > 0) {
    throw new SoapFault('Client', 'The Body must hold one element, named after the operation')
  }
  return request
}

/** An element with what its name means. */
interface Qualified {
  readonly name: string
  /** Empty: none. */
  readonly namespace: string
  readonly element: XmlElement
  readonly scope: Scope
}

/** Namespaces by prefix; the empty one for names without. */
type Scope = ReadonlyMap<string, string>

function qualified(element: XmlElement, outer: Scope): Qualified {
  const declared = [...element.attributes.keys()].flatMap((name): [string, string][] => {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) return []
    return [[name.slice('xmlns:'.length), attributeText(element, name)]]
  })
  const scope = declared.length === 0 ? outer : new Map([...outer, ...declared])
  return { name: localName(element.name), namespace: namespaceOf(element.name, scope), element, scope }
}

function childrenOf({ element, scope }: Qualified): Qualified[] {
  return childElements(element).map((child) => qualified(child, scope))
}

function namespaceOf(name: string, scope: Scope): string {
  const prefix = name.slice(0, Math.max(0, name.indexOf(':')))
  const namespace = scope.get(prefix)
  if (namespace === undefined && prefix !== '') {
    const logMessage = 'A prefix is not declared'
    throw new SoapFault('Client', `The prefix of ${shown(name)} is not declared`, { logMessage })
  }
  return namespace ?? ''
}

/** Header blocks for somebody else on the way do not count (SOAP 1.1 4.2.2, SOAP 1.2 2.2). */
const own = [
  'http://schemas.xmlsoap.org/soap/actor/next',
  'http://www.w3.org/2003/05/soap-envelope/role/next',
  'http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver',
]

/** Of the blocks that are not understood, so many are named. */
const BLOCKS_TOLD_MAX = 10

function refuseMandatory(blocks: readonly Qualified[], version: SoapVersion): void {
  const { namespace } = soapVersions[version]
  const role = version === '1.1' ? 'actor' : 'role'
  const mandatory = blocks.filter((block) => {
    const attribute = (wanted: string) => {
      const name = [...block.element.attributes.keys()].find(
        (each) => each.includes(':') && localName(each) === wanted && namespaceOf(each, block.scope) === namespace,
      )
      return name && attributeText(block.element, name)
    }
    const receiver = attribute(role)?.trim()
    const isForUs = receiver === undefined || receiver === '' || own.includes(receiver)
    return isForUs && /^\s*(1|true)\s*$/.test(attribute('mustUnderstand') ?? '')
  })
  if (mandatory.length === 0) return
  const notUnderstood = mandatory.slice(0, BLOCKS_TOLD_MAX).map(({ name, namespace }) => ({ name, namespace }))
  const names = notUnderstood.map(({ name }) => shown(name)).join(', ')
  const logMessage = 'Header blocks that must be understood are not'
  throw new SoapFault('MustUnderstand', `${logMessage}: ${names}`, { notUnderstood, logMessage })
}
