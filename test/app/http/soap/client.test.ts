import type { AddressInfo } from 'node:net'
import strongSoap from 'strong-soap'
import { describe, expect, test } from 'vitest'
import { operations } from '../../../../src/http/soap/operations/index.ts'
import { sharedServer } from '../../../support/store.ts'

// A client that reads the WSDL and does the rest by itself: strong-soap's own, over a real connection.

type ClientError = Error & { readonly response?: { readonly statusCode: number } }

/** Calls an operation; with what came back as it was. */
type Call = (parameters: object, done: (error: ClientError | null, result: unknown, envelope: string) => void) => void

interface Client {
  readonly cartAPI: Readonly<Record<string, Readonly<Record<string, Call>>>>
  readonly lastRequest: string
  setEndpoint(url: string): void
  addSoapHeader(header: unknown, name: string, prefix: string, namespace: string): void
}

const { createClient } = strongSoap.soap as unknown as {
  createClient(url: string, options: object, done: (error: Error | null, client: Client) => void): void
}

const server = await sharedServer({ SOAP_NAMESPACES: 'http://3dcart.com/' })
const shop = await server.openStore()
await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'A-1', Name: 'One', Stock: 10 } } })
await server.app.listen({ host: '127.0.0.1', port: 0 })
const address = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}/cart.asmx`

function open(options: object = {}): Promise<Client> {
  return new Promise((resolve, reject) => {
    createClient(`${address}?WSDL`, options, (error, client) => {
      if (error) return reject(error)
      // The WSDL names the public address.
      client.setEndpoint(address)
      resolve(client)
    })
  })
}

/** The result, or the error with what came back. */
function call(client: Client, port: string, operation: string, parameters: Record<string, unknown>) {
  return new Promise<{ error: ClientError | null; result: unknown; envelope: string }>((resolve, reject) => {
    const run = client.cartAPI[port]?.[operation]
    if (!run) return reject(new Error(`The client has no ${port}.${operation}`))
    run(parameters, (error, result, envelope) => resolve({ error, result, envelope }))
  })
}

const credentials = () => ({ storeUrl: shop.store.secureUrl, userKey: shop.store.userKey })

const ways = [
  ['1.1', 'cartAPISoap', {}],
  ['1.2 by its port', 'cartAPISoap12', {}],
  ['1.2 by force', 'cartAPISoap', { forceSoapVersion: '1.2' }],
] as const

describe.each(ways)('over %s', (_name, port, options) => {
  const namespace =
    port === 'cartAPISoap12' || 'forceSoapVersion' in options
      ? '2003/05/soap-envelope'
      : 'schemas.xmlsoap.org/soap/envelope'

  test('it finds all operations in the WSDL', async () => {
    const client = await open(options)
    expect(Object.keys(client.cartAPI)).toEqual(['cartAPISoap', 'cartAPISoap12'])
    expect(Object.keys(client.cartAPI[port] ?? {})).toHaveLength(Object.keys(operations).length)
  })

  test('it calls operations and reads their results', async () => {
    const client = await open(options)
    const products = await call(client, port, 'getProductCount', credentials())
    expect(products.error).toBeNull()
    expect(products.result).toEqual({
      getProductCountResult: { GetProductCountResponse: { ProductQuantity: '1' } },
    })
    expect(products.envelope).toContain(namespace)
    expect(client.lastRequest).toContain(namespace)
    const customers = await call(client, port, 'getCustomerCount', credentials())
    expect(customers.result).toEqual({ getCustomerCountResult: { CustomerCountResponse: { CustomerCount: '0' } } })
  })

  test('it gives numbers and booleans, and null for what it does not give', async () => {
    const client = await open(options)
    const before = (await shop.call('GET', '/Products/1')).json()[0].SKUInfo.Stock
    const parameters = { ...credentials(), productId: 'A-1', quantity: -3, replaceStock: false, callBackURL: null }
    const { error, result } = await call(client, port, 'updateProductInventory', parameters)
    expect(error).toBeNull()
    expect(result).toEqual({
      updateProductInventoryResult: {
        UpdateInventoryResponse: { ProductID: 'A-1', NewInventory: String(before - 3) },
      },
    })
  })

  test('it reads an error document as a result', async () => {
    const client = await open(options)
    const { error, result } = await call(client, port, 'getProductCount', { ...credentials(), userKey: 'wrong' })
    expect(error).toBeNull()
    expect(result).toEqual({ getProductCountResult: { Error: { Id: '17', Description: 'Login Error' } } })
  })

  test('it reads a fault', async () => {
    const client = await open(options)
    client.addSoapHeader('<w:a xmlns:w="urn:w" soap:mustUnderstand="1">x</w:a>', '', '', '')
    const { error, envelope } = await call(client, port, 'getProductCount', credentials())
    expect(error).toBeInstanceOf(Error)
    expect(error?.response?.statusCode).toBe(500)
    expect(envelope).toContain(namespace)
    const reason = 'Header blocks that must be understood are not: a'
    expect(error?.message.trim()).toBe(
      namespace.startsWith('2003')
        ? `Code: {"Value":"soap:MustUnderstand"} Reason: {"Text":{"$attributes":{"lang":"en"},"$value":"${reason}"}}`
        : `faultcode: soap:MustUnderstand faultstring: ${reason}`,
    )
  })
})
