import type { FastifyRequest } from 'fastify'
import { childElements, isNil, localName, shown, textOf, type XmlElement } from '../xml/read.ts'
import { contentTypeParameter } from './body.ts'
import { readEnvelope } from './envelope.ts'
import { SoapFault } from './faults.ts'
import type { SoapModel, SoapOperation } from './model.ts'
import { Parameters } from './operation.ts'

/** Reads which operation a request calls, with which parameters. Sets the version of the answer. Throws SoapFault. */
export function readCall(
  request: FastifyRequest,
  model: SoapModel,
): { operation: SoapOperation; parameters: Parameters } {
  const { body } = request
  if (typeof body !== 'string' || body === '') {
    throw new SoapFault('Client', 'The body is empty; an Envelope is expected')
  }
  const called = readEnvelope(body, (version) => {
    request.soapVersion = version
  })
  const operations = model.operationsIn(called.namespace, request.soapVersion)
  if (operations === null) {
    const rule = `must be ${model.namespaces.join(' or ')}`
    const logMessage = `The namespace of the operation ${rule}`
    throw new SoapFault('Client', `The namespace of ${shown(called.name)} ${rule}`, { logMessage })
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

/**
 * SOAPAction (1.1) or the action of Content-Type (1.2) may be anything except the name of another operation: old programs
 * cannot be taught a better one.
 */
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

/**
 * Order, namespace and further elements do not matter, because old proxies differ in all of that. A parameter that is sent
 * twice or holds an element is refused.
 */
function readParameters(request: XmlElement, operation: SoapOperation): Parameters {
  const sent = new Map<string, string>()
  for (const child of childElements(request)) {
    const name = localName(child.name)
    if (!operation.parameters.some((parameter) => parameter.name === name) || isNil(child)) continue
    if (sent.has(name)) throw new SoapFault('Client', `${name} is given twice`)
    sent.set(name, textOf(child, name).trim())
  }
  return new Parameters(sent)
}
