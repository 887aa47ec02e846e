/** What is used of strong-soap, which brings no types: the model of a WSDL. */
declare module 'strong-soap' {
  interface QName {
    readonly nsURI: string
    readonly name: string
  }

  interface ElementDescriptor {
    readonly qname: QName
    readonly type: QName | null
    readonly elements: readonly ElementDescriptor[]
  }

  interface BindingOperation {
    describe(definitions: Definitions): {
      readonly input: { readonly body: ElementDescriptor }
      readonly output: { readonly body: ElementDescriptor }
    }
  }

  interface PortTypeOperation {
    readonly children: readonly { readonly name: string; readonly $value?: string }[]
  }

  /** The operations of each binding or port type. */
  type Ports<Operation> = Readonly<Record<string, { readonly operations: Readonly<Record<string, Operation>> }>>

  interface Definitions {
    readonly portTypes: Ports<PortTypeOperation>
    readonly bindings: Ports<BindingOperation>
  }

  class WSDL {
    constructor(text: string, uri: string, options: object)
    readonly definitions: Definitions
    loadSync(): void
  }

  export const soap: { WSDL: typeof WSDL }
}
