import { attributeText, childElements, localName, readXmlDocument, shown, type XmlElement } from '../xml/read.ts'
import { SoapFault, type SoapVersion, soapVersions } from './faults.ts'

/** An element with its name's meaning. */
export interface QualifiedElement {
  /** Without a prefix. */
  readonly name: string
  /** Empty: none. */
  readonly namespace: string
  readonly element: XmlElement
  /** Namespaces by prefix; the empty prefix for names without one. */
  readonly scope: ReadonlyMap<string, string>
}

/** A call has forty tags, and programs add some to the header. */
const TAGS_MAX = 2_000

/**
 * Reads an envelope of either version and returns the one element of its body. `onVersion` learns the version as soon as it is
 * known, also where the rest is refused. Throws SoapFault for what is no envelope (VersionMismatch for another version), for a
 * body that does not hold exactly one element, and for every header block that must be understood, because none is.
 */
export function readEnvelope(text: string, onVersion: (version: SoapVersion) => void): QualifiedElement {
  const root = qualified(readXmlDocument(text, { tagsMax: TAGS_MAX }), new Map())
  if (root.name !== 'Envelope') throw new SoapFault('Client', 'The root element must be a SOAP Envelope')
  const version = (['1.1', '1.2'] as const).find((each) => soapVersions[each].namespace === root.namespace)
  if (version === undefined) {
    const known = Object.values(soapVersions).map(({ namespace }) => namespace)
    throw new SoapFault('VersionMismatch', `The namespace of the Envelope must be ${known.join(' or ')}`)
  }
  onVersion(version)
  const parts = childrenOf(root).filter(({ namespace }) => namespace === root.namespace)
  const [body, ...others] = parts.filter(({ name }) => name === 'Body')
  if (body === undefined || others.length > 0) throw new SoapFault('Client', 'The Envelope must have one Body')
  refuseMandatory(parts.filter(({ name }) => name === 'Header').flatMap(childrenOf), version)
  const [request, ...more] = childrenOf(body)
  if (request === undefined || more.length > 0) {
    throw new SoapFault('Client', 'The Body must hold one element, named after the operation')
  }
  return request
}

function qualified(element: XmlElement, outer: QualifiedElement['scope']): QualifiedElement {
  const declared = [...element.attributes.keys()]
    .filter((name) => name === 'xmlns' || name.startsWith('xmlns:'))
    .map((name): [string, string] => [name.slice('xmlns:'.length), attributeText(element, name)])
  const scope = declared.length === 0 ? outer : new Map([...outer, ...declared])
  return { name: localName(element.name), namespace: namespaceOf(element.name, scope), element, scope }
}

function childrenOf({ element, scope }: QualifiedElement): QualifiedElement[] {
  return childElements(element).map((child) => qualified(child, scope))
}

function namespaceOf(name: string, scope: QualifiedElement['scope']): string {
  const prefix = name.slice(0, Math.max(0, name.indexOf(':')))
  const namespace = scope.get(prefix)
  if (namespace === undefined && prefix !== '') {
    const logMessage = 'A prefix is not declared'
    throw new SoapFault('Client', `The prefix of ${shown(name)} is not declared`, { logMessage })
  }
  return namespace ?? ''
}

/** Header blocks for other receivers on the way do not count (SOAP 1.1 §4.2.2, SOAP 1.2 §2.2). */
const ownRoles = [
  '',
  'http://schemas.xmlsoap.org/soap/actor/next',
  'http://www.w3.org/2003/05/soap-envelope/role/next',
  'http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver',
]

const BLOCKS_NAMED_MAX = 10

function refuseMandatory(blocks: readonly QualifiedElement[], version: SoapVersion): void {
  const attributeOf = ({ element, scope }: QualifiedElement, wanted: string): string => {
    const name = [...element.attributes.keys()].find(
      (each) =>
        each.includes(':') &&
        localName(each) === wanted &&
        namespaceOf(each, scope) === soapVersions[version].namespace,
    )
    return name === undefined ? '' : attributeText(element, name).trim()
  }
  const mandatory = blocks.filter((block) => {
    const role = attributeOf(block, version === '1.1' ? 'actor' : 'role')
    return ownRoles.includes(role) && ['1', 'true'].includes(attributeOf(block, 'mustUnderstand'))
  })
  if (mandatory.length === 0) return
  const notUnderstood = mandatory.slice(0, BLOCKS_NAMED_MAX)
  const logMessage = 'Header blocks that must be understood are not'
  const names = notUnderstood.map(({ name }) => shown(name)).join(', ')
  throw new SoapFault('MustUnderstand', `${logMessage}: ${names}`, { notUnderstood, logMessage })
}
