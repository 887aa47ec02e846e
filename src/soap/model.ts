import { readFileSync } from 'node:fs'
import { type Definitions, soap } from 'strong-soap'
import { escapeAttribute, XML_DECLARATION } from '../xml/text.ts'
import type { Xml } from './operation.ts'
import { type SoapVersion, soapVersions } from './versions.ts'

/** An operation as the WSDL has it, in one binding and one namespace. */
export interface SoapOperation {
  readonly name: string
  /** A sentence. */
  readonly documentation: string
  readonly parameters: readonly { readonly name: string; readonly type: string }[]
  /** The envelope of an answer whose `XResult` holds this content, which is XML. */
  readonly answer: (content: Xml) => Buffer
}

/** cartAPI as one namespace and one version of SOAP have it. */
export interface SoapBinding {
  readonly operations: ReadonlyMap<string, SoapOperation>
}

export interface SoapModel {
  /** The WSDL with its first namespace and the public address filled in. */
  readonly wsdl: string
  readonly namespaces: readonly string[]
  /** For a person; of parameters, those that are the operation's own. */
  readonly operations: readonly Pick<SoapOperation, 'name' | 'documentation' | 'parameters'>[]
  /** Null: a namespace that is not accepted. */
  readonly binding: (namespace: string, version: SoapVersion) => SoapBinding | null
}

/** What there is to call, with which parameters in which order: the operations' own code only asks for them by name. */
const source = readFileSync(new URL('../../wsdl/cartAPI.wsdl', import.meta.url), 'utf8')

export interface ModelOptions {
  /** The first stands in the WSDL, all are accepted. */
  readonly namespaces: readonly string[]
  /** The address of both ports. */
  readonly address: string
}

/** Loads the WSDL once for each namespace. Throws for what could only be a mistake in it. */
export function createModel({ namespaces, address }: ModelOptions): SoapModel {
  const bindings = new Map(
    namespaces.flatMap((namespace) => {
      const wsdl = new soap.WSDL(fill(namespace, address), 'cartAPI.wsdl', {})
      wsdl.loadSync()
      return versions.map((version) => [`${version} ${namespace}`, bindingOf(wsdl, namespace, version)] as const)
    }),
  )
  return {
    wsdl: fill(namespaces[0] ?? '', address),
    namespaces,
    operations: [...(bindings.values().next().value?.operations.values() ?? [])].map((operation) => ({
      ...operation,
      parameters: operation.parameters.filter(({ name }) => !common.includes(name)),
    })),
    binding: (namespace, version) => bindings.get(`${version} ${namespace}`) ?? null,
  }
}

/** Parameters of every operation. */
const common = ['storeUrl', 'userKey', 'callBackURL']

const versions: readonly SoapVersion[] = ['1.1', '1.2']

/** A SOAP action is the namespace, one slash and the operation. */
function fill(namespace: string, address: string): string {
  const values: Readonly<Record<string, string>> = {
    soap_url: address,
    soap_namespace: namespace,
    soap_action_base: namespace.endsWith('/') ? namespace : `${namespace}/`,
  }
  return source.replace(/\{(\w+)\}/g, (_, name: string) => escapeAttribute(values[name] ?? ''))
}

function bindingOf(wsdl: InstanceType<typeof soap.WSDL>, namespace: string, version: SoapVersion): SoapBinding {
  const { definitions, options } = wsdl
  const handler = new soap.XMLHandler(definitions.schemas, options)
  const operations = Object.entries(definitions.bindings[soapVersions[version].binding]?.operations ?? {})
  return {
    operations: new Map(
      operations.map(([name, operation]) => {
        const { input, output } = operation.describe(definitions)
        const parameters = input.body.elements.map(({ qname, type }) => ({ name: qname.name, type: type?.name ?? '' }))
        const documentation = documentationOf(definitions, name)
        return [
          name,
          { name, documentation, parameters, answer: answerFrame(handler, output.body, namespace, version) },
        ]
      }),
    ),
  }
}

function documentationOf({ portTypes }: Definitions, operation: string): string {
  const children = portTypes.cartAPISoap?.operations[operation]?.children
  return children?.find(({ name }) => name === 'documentation')?.$value ?? ''
}

/** Stands for the content; no WSDL and no answer holds it. */
const PLACE = '\uF8FF'

/**
 * strong-soap marshals each operation's answer once, at the start, around a place for the content, which the operations write
 * themselves: marshalled by strong-soap it would cost ten times as much (docs/decisions/soap.md). The names have no prefix but
 * `soap` for the envelope, in both versions: some programs search for these very tags.
 */
function answerFrame(
  handler: InstanceType<typeof soap.XMLHandler>,
  response: Parameters<typeof handler.jsonToXml>[2],
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
  const value = { $attributes: { xmlns: namespace }, [result.qname.name]: PLACE }
  handler.jsonToXml(envelope.body, new soap.NamespaceContext(), response, value)
  const [before, after, ...more] = envelope.doc.root().toString({ pretty: false }).split(PLACE)
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`No place in ${response.qname.name}`)
  const start = Buffer.from(XML_DECLARATION + before)
  const end = Buffer.from(after)
  return (content) => Buffer.concat([start, ...[content].flat().map((piece) => Buffer.from(piece)), end])
}
