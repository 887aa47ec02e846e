import { readFileSync } from 'node:fs'
import { attributeText, childrenNamed, localName, readXmlDocument, textOf, type XmlElement } from '../xml/read.ts'
import { escapeAttribute, SCHEMA_NAMESPACES, XML_DECLARATION } from '../xml/text.ts'
import { type SoapVersion, soapVersions } from './faults.ts'
import type { Xml } from './result.ts'

/** An operation as the WSDL declares it, with answers in one version and one namespace. */
export interface SoapOperation {
  readonly name: string
  readonly documentation: string
  readonly parameters: readonly { readonly name: string; readonly type: string }[]
  /** The envelope of an answer whose `XResult` has this content. */
  readonly answer: (content: Xml) => Buffer
}

export type SoapModel = ReturnType<typeof createModel>

/** Declares the operations and their parameters: their code only asks for them by name. */
const source = readFileSync(new URL('../../wsdl/cartAPI.wsdl', import.meta.url), 'utf8')

/** Parameters of every operation. */
const common = ['storeUrl', 'userKey', 'callBackURL']

/** Reads the WSDL with its first namespace; all are accepted. Throws for a mistake in the WSDL. */
export function createModel({
  namespaces,
  address,
}: {
  readonly namespaces: readonly string[]
  readonly address: string
}) {
  const wsdl = fill(namespaces[0] ?? '', address)
  const declared = operationsOf(wsdl)
  const bound = (namespace: string, version: SoapVersion): [string, ReadonlyMap<string, SoapOperation>] => {
    const operations = declared.map((each) => ({ ...each, answer: answerFrame(each, namespace, version) }))
    return [`${version} ${namespace}`, new Map(operations.map((each) => [each.name, each]))]
  }
  const bindings = new Map(namespaces.flatMap((namespace) => [bound(namespace, '1.1'), bound(namespace, '1.2')]))
  return {
    /** With its first namespace and the public address filled in. */
    wsdl,
    namespaces,
    /** For people: the parameters are those that not every operation has. */
    operations: declared.map(({ name, documentation, parameters }) => ({
      name,
      documentation,
      parameters: parameters.filter((parameter) => !common.includes(parameter.name)),
    })),
    /** The operations by name; null: the namespace is not accepted. */
    operationsIn: (namespace: string, version: SoapVersion) => bindings.get(`${version} ${namespace}`) ?? null,
  }
}

/** A SOAP action is the namespace, one slash and the operation. */
function fill(namespace: string, address: string): string {
  const values: Readonly<Record<string, string>> = {
    soap_url: address,
    soap_namespace: namespace,
    soap_action_base: namespace.endsWith('/') ? namespace : `${namespace}/`,
  }
  return source.replace(/\{(\w+)\}/g, (_, name: string) => escapeAttribute(values[name] ?? ''))
}

/** The path from an element of the schema to its members. */
const members = 'complexType/sequence/element'

/** Of the port type: the operations of both bindings. Throws for what leads nowhere. */
function operationsOf(wsdl: string) {
  const definitions = readXmlDocument(wsdl)
  const messageOf = named(definitions, 'message')
  const elementOf = named(definitions, 'types/schema/element')
  return all(definitions, 'portType/operation').map((operation) => {
    const elementIn = (direction: string) => {
      const message = messageOf(reference(one(operation, direction), 'message'))
      return elementOf(reference(one(message, 'part'), 'element'))
    }
    const response = elementIn('output')
    return {
      name: attributeText(operation, 'name'),
      documentation: all(operation, 'documentation')
        .map((text) => textOf(text, 'documentation'))
        .join(''),
      parameters: all(elementIn('input'), members).map((member) => ({
        name: attributeText(member, 'name'),
        type: reference(member, 'type'),
      })),
      response: attributeText(response, 'name'),
      result: attributeText(one(response, members), 'name'),
    }
  })
}

/** The elements at a path of local names. */
function all(from: XmlElement, path: string): XmlElement[] {
  const step = (found: XmlElement[], name: string) => found.flatMap((element) => childrenNamed(element, name))
  return path.split('/').reduce(step, [from])
}

function one(from: XmlElement, path: string): XmlElement {
  const [first] = all(from, path)
  if (first === undefined) throw new Error(`The WSDL lacks ${path} in ${from.name} ${attributeText(from, 'name')}`)
  return first
}

/** Finds the element of a name among those at a path. */
function named(from: XmlElement, path: string): (name: string) => XmlElement {
  const known = new Map(all(from, path).map((element) => [attributeText(element, 'name'), element]))
  return (name) => {
    const found = known.get(name)
    if (found === undefined) throw new Error(`The WSDL has no ${path} ${name}`)
    return found
  }
}

/** The local name that an attribute refers to. */
function reference(element: XmlElement, attribute: string): string {
  return localName(attributeText(element, attribute))
}

/** The names have no prefix except `soap`, in both versions, because some programs search for these very tags. */
function answerFrame(
  { response, result }: { readonly response: string; readonly result: string },
  namespace: string,
  version: SoapVersion,
): SoapOperation['answer'] {
  const envelope = `<soap:Envelope xmlns:soap="${soapVersions[version].namespace}" ${SCHEMA_NAMESPACES}>`
  const inside = `<${response} xmlns="${escapeAttribute(namespace)}"><${result}>`
  const start = Buffer.from(`${XML_DECLARATION}${envelope}<soap:Body>${inside}`)
  const end = Buffer.from(`</${result}></${response}></soap:Body></soap:Envelope>`)
  const bytesOf = (piece: string | Buffer) => (typeof piece === 'string' ? Buffer.from(piece) : piece)
  return (content) => Buffer.concat([start, ...[content].flat().map(bytesOf), end])
}
