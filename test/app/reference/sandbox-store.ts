import { importRecords } from '../../../src/engine/transfer/import.ts'
import { numberLines } from '../../../src/engine/transfer/lines.ts'
import { resources } from '../../../src/registry.ts'
import { generateSandbox } from '../../../src/sandbox/generate.ts'
import type { TestServer, TestStore } from '../../support/store.ts'

/** A store with the records of the sandbox as it is created. */
export async function openSandbox(server: TestServer): Promise<TestStore> {
  const store = await server.openStore()
  const refused = (refusal: object) => {
    throw new Error(JSON.stringify(refusal))
  }
  await importRecords(store.caller, resources, numberLines(generateSandbox()), { refused })
  return store
}
