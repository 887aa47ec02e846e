import { readFileSync } from 'node:fs'
import { soap } from 'strong-soap'
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

function operationsOf(text: string) {
  const wsdl = new soap.WSDL(text, 'cartAPI.wsdl', {})
  wsdl.loadSync()
  const { bindings, portTypes } = wsdl.definitions
  return Object.entries(bindings.cartAPISoap?.operations ?? {}).map(([name, operation]) => {
    const { input, output } = operation.describe(wsdl.definitions)
    const response = output.body.qname.name
    const result = output.body.elements[0]?.qname.name
    if (result === undefined) throw new Error(`${response} has no result in the WSDL`)
    const children = portTypes.cartAPISoap?.operations[name]?.children
    return {
      name,
      documentation: children?.find((child) => child.name === 'documentation')?.$value ?? '',
      parameters: input.body.elements.map(({ qname, type }) => ({ name: qname.name, type: type?.name ?? '' })),
      response,
      result,
    }
  })
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
  return (content) => Buffer.concat([start, ...[content].flat().map((piece) => Buffer.from(piece)), end])
}
