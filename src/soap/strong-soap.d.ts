/** What is used of strong-soap, which brings no types: the model of a WSDL. */
declare module 'strong-soap' {
  interface ElementDescriptor {
    readonly qname: { readonly name: string }
    readonly type: { readonly name: string } | null
    readonly elements: readonly ElementDescriptor[]
  }

  /** The operations of each binding or port type. */
  type Ports<Operation> = Readonly<Record<string, { readonly operations: Readonly<Record<string, Operation>> }>>

  interface Definitions {
    readonly portTypes: Ports<{ readonly children: readonly { readonly name: string; readonly $value?: string }[] }>
    readonly bindings: Ports<{
      describe(definitions: Definitions): {
        readonly input: { readonly body: ElementDescriptor }
        readonly output: { readonly body: ElementDescriptor }
      }
    }>
  }

  class WSDL {
    constructor(text: string, uri: string, options: object)
    readonly definitions: Definitions
    loadSync(): void
  }

  export const soap: { WSDL: typeof WSDL }
}
