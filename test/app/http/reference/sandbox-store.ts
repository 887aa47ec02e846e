import { fillSandbox } from '../../../../src/operations/sandbox/records.ts'
import { allPrivileges } from '../../../../src/shop/registry.ts'
import type { TestServer, TestStore } from '../../../support/store.ts'

/** A store with the records of the sandbox as it is created. */
export async function openSandbox(server: TestServer): Promise<TestStore> {
  const store = await server.openStore({ privileges: allPrivileges })
  await server.database.db.$transaction((tx) => fillSandbox({ ...store.caller, db: tx }), { timeout: 60_000 })
  return store
}
