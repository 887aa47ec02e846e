/** What is used of strong-soap, which brings no types: its client. */
declare module 'strong-soap' {
  /** Calls an operation; with what came back as it was. */
  type Call = (
    parameters: Record<string, unknown>,
    done: (error: ClientError | null, result: unknown, envelope: string) => void,
    options?: null,
    headers?: Record<string, unknown>,
  ) => void

  export interface ClientError extends Error {
    readonly response?: { readonly statusCode: number }
  }

  export interface Client {
    readonly cartAPI: Readonly<Record<string, Readonly<Record<string, Call>>>>
    readonly lastRequest: string
    setEndpoint(url: string): void
    addSoapHeader(header: unknown, name: string, prefix: string, namespace: string): void
  }

  const strongSoap: {
    readonly soap: {
      createClient(url: string, options: object, done: (error: Error | null, client: Client) => void): void
    }
  }
  export default strongSoap
}
