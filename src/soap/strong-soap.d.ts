/** What is used of strong-soap, which brings no types: the model of a WSDL, and the marshalling of an answer. */
declare module 'strong-soap' {
  interface QName {
    readonly nsURI: string
    readonly name: string
  }

  export interface ElementDescriptor {
    readonly qname: QName
    readonly type: QName | null
    /** Whether its name has a prefix. */
    form: 'qualified' | 'unqualified'
    readonly elements: readonly ElementDescriptor[]
  }

  interface BindingOperation {
    readonly soapAction: string
    readonly soapVersion: '1.1' | '1.2'
    describe(definitions: Definitions): {
      readonly input: { readonly body: ElementDescriptor }
      readonly output: { readonly body: ElementDescriptor }
    }
  }

  interface PortTypeOperation {
    readonly children: readonly { readonly name: string; readonly $value?: string }[]
  }

  interface Definitions {
    readonly schemas: object
    readonly portTypes: Readonly<Record<string, { readonly operations: Readonly<Record<string, PortTypeOperation>> }>>
    readonly bindings: Readonly<Record<string, { readonly operations: Readonly<Record<string, BindingOperation>> }>>
  }

  interface XmlNode {
    attribute(name: string, value: string): XmlNode
    remove(): void
    root(): XmlNode
    toString(options: { pretty: boolean }): string
  }

  class NamespaceContext {}

  class WSDL {
    constructor(text: string, uri: string, options: object)
    readonly definitions: Definitions
    readonly options: object
    loadSync(): void
  }

  class XMLHandler {
    constructor(schemas: object, options: object)
    jsonToXml(node: XmlNode, context: NamespaceContext, descriptor: ElementDescriptor, value: object): void
    static createSOAPEnvelope(prefix: string, uri: string): { doc: XmlNode; header: XmlNode; body: XmlNode }
  }

  export const soap: {
    WSDL: typeof WSDL
    XMLHandler: typeof XMLHandler
    NamespaceContext: typeof NamespaceContext
  }
}
