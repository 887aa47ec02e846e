/** What is used of strong-soap, which brings no types: its model of a WSDL, and what it writes answers with. */
declare module 'strong-soap' {
  /** The schema of an element, as the WSDL and the version of SOAP have it. */
  export interface Descriptor {
    readonly qname: { readonly name: string }
    readonly type?: { readonly name: string }
    readonly elements: readonly Descriptor[]
  }

  interface WsdlElement {
    readonly name: string
    readonly $value?: string
    readonly children: readonly WsdlElement[]
  }

  export interface WsdlOperation {
    readonly soapVersion: '1.1' | '1.2'
    /** Of the port type. */
    readonly operation: WsdlElement
    /** Made by `describe`. */
    readonly descriptor: { readonly faultEnvelope: Descriptor }
    describe(definitions: Wsdl['definitions']): {
      readonly input: { readonly body: Descriptor }
      readonly output: { readonly body: Descriptor }
    }
  }

  interface Port {
    readonly binding: { readonly operations: Readonly<Record<string, WsdlOperation>> }
  }

  interface Wsdl {
    readonly definitions: {
      readonly services: Readonly<Record<string, { readonly ports: Readonly<Record<string, Port>> }>>
    }
    readonly schemas: object
    load(done: (error: Error | null) => void): void
  }

  interface NamespaceContext {
    declareNamespace(prefix: string, uri: string): void
  }

  interface XmlHandler {
    jsonToXml(into: object, namespaces: NamespaceContext, descriptor: Descriptor, value: object): void
  }

  const strongSoap: {
    readonly soap: {
      readonly WSDL: new (xml: string, uri: string, options: object) => Wsdl
      readonly NamespaceContext: new () => NamespaceContext
      readonly XMLHandler: {
        new (schemas: object, options: object): XmlHandler
        createSOAPEnvelope(
          prefix: string,
          uri: string,
        ): { readonly body: object; readonly doc: { end(options: object): string } }
      }
    }
  }
  export default strongSoap
}
