import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller } from '../../src/caller.ts'
import type { Db } from '../../src/database/client.ts'
import { importRecords, type TransferLine } from '../../src/engine/transfer.ts'
import { exportRecords } from '../../src/engine/transfer-export.ts'
import { numberLines } from '../../src/engine/transfer-lines.ts'
import { resources } from '../../src/resources/index.ts'
import { generateSandbox } from '../../src/sandbox/generate.ts'
import { newStore, openAccess } from '../access/fixture.ts'

let access: Awaited<ReturnType<typeof openAccess>>
let caller: Caller & { db: Db }

beforeAll(async () => {
  access = await openAccess()
  const { db, now } = access.services
  caller = { store: await newStore(access.services), application: null, privileges: null, actor: 'operator', db, now }
})
afterAll(() => access?.drop())

test('a store takes every record of the sandbox in one transaction, and gives it back as it was generated', async () => {
  const given = [...generateSandbox()]
  const refuse = (refusal: object) => {
    throw new Error(JSON.stringify(refusal))
  }
  const counts = await access.services.db.$transaction(
    (tx) => importRecords({ ...caller, db: tx }, resources, numberLines(given), { refused: refuse }),
    { timeout: 60_000 },
  )
  expect(counts).toEqual({ lines: given.length, stored: given.length, refused: 0 })

  const kept = await exported()
  for (const { service, record, private: hidden = {} } of given) {
    const line = kept.get(nameOf(service, record))
    expect(line?.record, nameOf(service, record)).toMatchObject(record)
    expect(line?.private ?? {}, nameOf(service, record)).toMatchObject(hidden)
  }
}, 60_000)

async function exported(): Promise<Map<string, TransferLine>> {
  let text = ''
  await exportRecords(caller, resources, async (chunk) => {
    text += chunk
  })
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TransferLine)
  return new Map(lines.filter(({ record }) => record).map((line) => [nameOf(line.service, line.record), line]))
}

/** A record's id is its service's, wherever it stands. */
function nameOf(service: string, record: Record<string, unknown>): string {
  const { SKUInfo, CategoryID, ManufacturerID, DistributorID, CustomerGroupID, CustomerID, OrderID } = record
  const ids: Record<string, unknown> = {
    Category: CategoryID,
    Manufacturers: ManufacturerID,
    Distributors: DistributorID,
    CustomerGroups: CustomerGroupID,
    Products: (SKUInfo as { CatalogID: number } | undefined)?.CatalogID,
    Customers: CustomerID,
    Orders: OrderID,
  }
  return `${service} ${ids[service]}`
}
