import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { openServer, type TestServer, type TestStore } from '../../../../support/store.ts'

export interface Scene {
  readonly server: TestServer
  readonly shop: TestStore
  readonly merchant: TestPerson
}

/** A server for the file with these settings, with a store and its merchant for each test, of which `enter` is told. */
export function withMerchant(enter: (scene: Scene) => unknown, settings: Record<string, string> = {}): void {
  let server: TestServer
  beforeAll(async () => {
    server = await openServer(settings)
  })
  afterAll(() => server?.close())
  beforeEach(async () => {
    const shop = await server.openStore()
    await enter({ server, shop, merchant: await merchantIn(server, shop.store) })
  })
}
