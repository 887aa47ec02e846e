import { readFileSync } from 'node:fs'
import { type Definitions, type ElementDescriptor, soap } from 'strong-soap'
import { escapeAttribute, XML_DECLARATION } from '../xml/text.ts'
import { type SoapVersion, soapVersions } from './faults.ts'
import type { Xml } from './result.ts'

/** An operation as the WSDL declares it, in one binding and one namespace. */
export interface SoapOperation {
  readonly name: string
  /** A sentence. */
  readonly documentation: string
  readonly parameters: readonly { readonly name: string; readonly type: string }[]
  /** The envelope of an answer whose `XResult` has this content. */
  readonly answer: (content: Xml) => Buffer
}

type Operations = ReadonlyMap<string, SoapOperation>

export interface SoapModel {
  /** The WSDL with its first namespace and the public address filled in. */
  readonly wsdl: string
  readonly namespaces: readonly string[]
  /** For people: the parameters are those that not every operation has. */
  readonly operations: readonly Pick<SoapOperation, 'name' | 'documentation' | 'parameters'>[]
  /** The operations by name; null: the namespace is not accepted. */
  readonly operationsIn: (namespace: string, version: SoapVersion) => Operations | null
}

/** Declares the operations and their parameters: their code only asks for them by name. */
const source = readFileSync(new URL('../../wsdl/cartAPI.wsdl', import.meta.url), 'utf8')

/** Parameters of every operation. */
const common = ['storeUrl', 'userKey', 'callBackURL']

/**
 * Loads the WSDL once for each namespace; the first stands in the WSDL, all are accepted. `address` is that of both ports.
 * Throws for what could only be a mistake in the WSDL.
 */
export function createModel(options: { readonly namespaces: readonly string[]; readonly address: string }): SoapModel {
  const { namespaces, address } = options
  const bindings = new Map(
    namespaces.flatMap((namespace) => {
      const wsdl = new soap.WSDL(fill(namespace, address), 'cartAPI.wsdl', {})
      wsdl.loadSync()
      return (['1.1', '1.2'] as const).map(
        (version) => [`${version} ${namespace}`, operationsOf(wsdl, namespace, version)] as const,
      )
    }),
  )
  return {
    wsdl: fill(namespaces[0] ?? '', address),
    namespaces,
    operations: [...(bindings.values().next().value?.values() ?? [])].map((operation) => ({
      ...operation,
      parameters: operation.parameters.filter(({ name }) => !common.includes(name)),
    })),
    operationsIn: (namespace, version) => bindings.get(`${version} ${namespace}`) ?? null,
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

function operationsOf(
  { definitions, options }: InstanceType<typeof soap.WSDL>,
  namespace: string,
  version: SoapVersion,
): Operations {
  const handler = new soap.XMLHandler(definitions.schemas, options)
  const bound = Object.entries(definitions.bindings[soapVersions[version].binding]?.operations ?? {})
  const operations = bound.map(([name, operation]): SoapOperation => {
    const { input, output } = operation.describe(definitions)
    return {
      name,
      documentation: documentationOf(definitions, name),
      parameters: input.body.elements.map(({ qname, type }) => ({ name: qname.name, type: type?.name ?? '' })),
      answer: answerFrame(handler, output.body, namespace, version),
    }
  })
  return new Map(operations.map((operation) => [operation.name, operation]))
}

function documentationOf({ portTypes }: Definitions, operation: string): string {
  const children = portTypes.cartAPISoap?.operations[operation]?.children
  return children?.find(({ name }) => name === 'documentation')?.$value ?? ''
}

/** Stands for the content; neither the WSDL nor an answer holds it. */
const PLACEHOLDER = '\uF8FF'

/**
 * strong-soap marshals each operation's answer once, at the start, around a placeholder for the content, which the operations
 * write themselves: marshalling it would cost ten times as much (docs/decisions/soap.md). The names have no prefix except
 * `soap` for the envelope, in both versions, because some programs search for these very tags.
 */
function answerFrame(
  handler: InstanceType<typeof soap.XMLHandler>,
  response: ElementDescriptor,
  namespace: string,
  version: SoapVersion,
): (content: Xml) => Buffer {
  const [result] = response.elements
  if (!result) throw new Error(`${response.qname.name} has no result in the WSDL`)
  const envelope = soap.XMLHandler.createSOAPEnvelope('soap', soapVersions[version].namespace)
  envelope.doc
    .root()
    .attribute('xmlns:xsi', 'http://www.w3.org/2001/XMLSchema-instance')
    .attribute('xmlns:xsd', 'http://www.w3.org/2001/XMLSchema')
  envelope.header.remove()
  // Qualified by the default namespace, which strong-soap would not use by itself.
  response.form = 'unqualified'
  result.form = 'unqualified'
  const value = { $attributes: { xmlns: namespace }, [result.qname.name]: PLACEHOLDER }
  handler.jsonToXml(envelope.body, new soap.NamespaceContext(), response, value)
  const [before, after, ...more] = envelope.doc.root().toString({ pretty: false }).split(PLACEHOLDER)
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${response.qname.name} does not have one placeholder`)
  }
  const start = Buffer.from(XML_DECLARATION + before)
  const end = Buffer.from(after)
  return (content) => Buffer.concat([start, ...[content].flat().map((piece) => Buffer.from(piece)), end])
}
