import strongSoap, { type Descriptor, type WsdlOperation } from 'strong-soap'
import { type FaultCode, faultCodes, type SoapVersion, soapVersions } from './faults.ts'

// To load strong-soap takes a third of a second and 60 MB: only the worker of model.ts imports this (docs/decisions/soap.md).

const { NamespaceContext, WSDL, XMLHandler } = strongSoap.soap

export interface DeclaredOperation {
  readonly name: string
  readonly documentation: string
  readonly parameters: readonly { readonly name: string; readonly type: string }[]
}

/** What strong-soap makes of the port of one version of SOAP. */
export interface Port {
  readonly operations: readonly DeclaredOperation[]
  /** The envelopes of answers with the text `content`, by operation. */
  readonly answers: Readonly<Record<string, string>>
  /** The envelopes of faults with the text `reason`. */
  readonly faults: Readonly<Record<FaultCode, string>>
}

/** Reads a WSDL. Throws for a mistake in it. */
export async function readPorts(text: string): Promise<Readonly<Record<SoapVersion, Port>>> {
  const wsdl = new WSDL(text, 'cartAPI.wsdl', {})
  await new Promise<void>((resolve, reject) => wsdl.load((error) => (error ? reject(error) : resolve())))
  const { definitions, schemas } = wsdl
  const bindings = Object.values(definitions.services.cartAPI?.ports ?? {}).map(({ binding }) =>
    Object.entries(binding.operations),
  )
  const portOf = (version: SoapVersion): Port => {
    const operations = bindings.find(([first]) => first?.[1].soapVersion === version) ?? []
    const [[, any] = []] = operations
    if (any === undefined) throw new Error(`The WSDL has no operation of SOAP ${version}`)
    const write = writerOf(schemas, version)
    const described = operations.map(([name, operation]) => ({ name, operation, ...operation.describe(definitions) }))
    const answers = described.map(({ name, output: { body } }) => {
      return [name, write(body, { [body.elements[0]?.qname.name ?? '']: 'content' })] as const
    })
    return {
      operations: described.map(({ name, operation, input }) => ({
        name,
        documentation: operation.operation.children.find(({ name }) => name === 'documentation')?.$value ?? '',
        parameters: input.body.elements.map(({ qname, type }) => ({ name: qname.name, type: type?.name ?? '' })),
      })),
      answers: Object.fromEntries(answers),
      faults: writeFaults(version, (value) => write(faultOf(any), value)),
    }
  }
  return { '1.1': portOf('1.1'), '1.2': portOf('1.2') }
}

function writerOf(schemas: object, version: SoapVersion): (descriptor: Descriptor, value: object) => string {
  const { namespace } = soapVersions[version]
  return (descriptor, value) => {
    const namespaces = new NamespaceContext()
    namespaces.declareNamespace('soap', namespace)
    const { body, doc } = XMLHandler.createSOAPEnvelope('soap', namespace)
    new XMLHandler(schemas, {}).jsonToXml(body, namespaces, descriptor, value)
    return doc.end({ pretty: false })
  }
}

/** Made by `describe`. */
function faultOf({ descriptor }: WsdlOperation): Descriptor {
  const fault = descriptor.faultEnvelope.elements[0]?.elements[1]?.elements[0]
  if (fault === undefined) throw new Error('strong-soap describes no fault')
  return fault
}

function writeFaults(version: SoapVersion, write: (value: object) => string): Port['faults'] {
  const faultWith = (code: FaultCode): object => {
    if (version === '1.2') return { Code: { Value: `soap:${faultCodes[code]}` }, Reason: { Text: 'reason' } }
    // SOAP 1.1 §4.4: a detail exactly where the fault concerns the body. .NET takes other faults for a header's.
    const detail = code === 'Client' || code === 'Server' ? { detail: '' } : {}
    return { faultcode: `soap:${code}`, faultstring: 'reason', ...detail }
  }
  const codes = Object.keys(faultCodes) as FaultCode[]
  return Object.fromEntries(codes.map((code) => [code, write(faultWith(code))])) as Record<FaultCode, string>
}
