import type { FastifyRequest } from 'fastify'
import { isNamespace } from '../../foundation/process/setting-forms.ts'
import {
  attributeText,
  childElements,
  isNil,
  localName,
  shown,
  textOf,
  type XmlElement,
} from '../../foundation/xml/read.ts'
import { readShortXml } from '../../foundation/xml/read-short.ts'
import { contentTypeParameter } from './body.ts'
import { SoapFault, type SoapVersion, soapVersions } from './faults.ts'
import type { SoapModel, SoapOperation } from './model.ts'
import { Parameters } from './operation.ts'

/**
 * Reads which operation a request calls, with which parameters. Sets the version of the answer. Throws SoapFault. `advise`
 * (`settingAdvice`) is asked about a namespace that SOAP_NAMESPACES lacks.
 */
export async function readCall(
  request: FastifyRequest,
  model: SoapModel,
  advise: (request: FastifyRequest, namespace: string) => string,
) {
  const { body } = request
  if (typeof body !== 'string' || body === '') {
    throw new SoapFault('Client', 'The body is empty; an Envelope is expected')
  }
  const called = await readEnvelope(request, body)
  const operations = model.operationsIn(called.namespace, request.soapVersion)
  if (operations === null) {
    const rule = `must be ${model.namespaces.join(' or ')}`
    const logMessage = `The namespace of the operation ${rule}`
    const isCall = model.operations.some(({ name }) => name === called.name) && isNamespace(called.namespace)
    const advice = isCall ? advise(request, called.namespace) : ''
    throw new SoapFault('Client', `The namespace of ${shown(called.name)} ${rule}${advice}`, { logMessage })
  }
  const operation = operations.get(called.name)
  if (operation === undefined) {
    const known = [...operations.keys()].join(', ')
    const message = `There is no operation ${shown(called.name)}; there are ${known}`
    throw new SoapFault('Client', message, { logMessage: 'There is no such operation' })
  }
  request.operation = operation.name
  checkAction(request.headers, operation.name, operations.keys())
  return { operation, parameters: readParameters(called.element, operation) }
}

/** SOAPAction (1.1) or action (1.2) may be anything but another operation, because old programs cannot be changed. */
function checkAction(headers: FastifyRequest['headers'], operation: string, operations: Iterable<string>): void {
  const soapAction = [headers.soapaction].flat()[0] ?? ''
  const action = contentTypeParameter(headers['content-type'] ?? '', 'action')
  // Programs put a slash, two, a # or a colon between namespace and operation, and quotes around both, or not.
  const words = [soapAction, action].flatMap((text) => text.split(/[\s"'/#:;=]/))
  for (const other of operations) {
    if (other !== operation && words.includes(other)) {
      throw new SoapFault('Client', `SOAPAction names ${other}, and the Body ${operation}`)
    }
  }
}

/** Ignores order, namespaces and further elements, because old proxies differ in them. Refuses a parameter sent twice. */
function readParameters(called: XmlElement, operation: SoapOperation): Parameters {
  const sent = new Parameters()
  for (const child of childElements(called)) {
    const name = localName(child.name)
    if (!operation.parameters.some((parameter) => parameter.name === name) || isNil(child)) continue
    if (sent.has(name)) throw new SoapFault('Client', `${name} is given twice`)
    sent.set(name, textOf(child, name).trim())
  }
  return sent
}

/** An element with its name's meaning. */
interface QualifiedElement {
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
 * Reads an envelope of either version and returns the one element of its body. The version of the answer is that of the
 * envelope, also where the rest is refused. Throws SoapFault for what is no envelope (VersionMismatch for another version), for a
 * body that does not hold exactly one element, and for every header block that must be understood, because none is.
 */
export async function readEnvelope(request: FastifyRequest, text: string): Promise<QualifiedElement> {
  const root = qualified(await readShortXml(text, { tagsMax: TAGS_MAX }), new Map())
  if (root.name !== 'Envelope') throw new SoapFault('Client', 'The root element must be a SOAP Envelope')
  const version = (['1.1', '1.2'] as const).find((each) => soapVersions[each].namespace === root.namespace)
  if (version === undefined) {
    const known = Object.values(soapVersions).map(({ namespace }) => namespace)
    throw new SoapFault('VersionMismatch', `The namespace of the Envelope must be ${known.join(' or ')}`)
  }
  request.soapVersion = version
  const parts = childrenOf(root).filter(({ namespace }) => namespace === root.namespace)
  const [body, ...others] = parts.filter(({ name }) => name === 'Body')
  if (body === undefined || others.length > 0) throw new SoapFault('Client', 'The Envelope must have one Body')
  refuseMandatory(parts.filter(({ name }) => name === 'Header').flatMap(childrenOf), version)
  const [called, ...more] = childrenOf(body)
  if (called === undefined || more.length > 0) {
    throw new SoapFault('Client', 'The Body must hold one element, named after the operation')
  }
  return called
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
