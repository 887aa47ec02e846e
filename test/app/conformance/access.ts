import { expect, test } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import type { Stage } from './stage.ts'

/** How the credentials may be spelt (contract §5, rest-protocol §2). */
export function access({ service }: Resource, stage: () => Stage): void {
  test('any letter case of the headers will do, and the store’s address in any of its forms', async () => {
    const { server, shelf, a } = stage()
    const { secureurl, privatekey, token } = shelf.credentials
    const host = new URL(secureurl).host
    for (const address of [secureurl, `${secureurl}/`, host, host.toUpperCase(), `www.${host}`, `http://${host}`]) {
      const headers = { SecureUrl: address, PRIVATEKEY: privatekey, Token: token }
      const answer = await server.app.inject({ url: `/StoreWebAPI/v1/${service}/${a}`, headers })
      expect({ address, status: answer.statusCode }).toEqual({ address, status: 200 })
    }
  })
}
