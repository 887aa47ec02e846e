import { beforeAll, describe, expect, test } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import type { Sql } from '../../../src/foundation/database/sql.ts'
import { productTexts } from '../../../src/http/soap/records/product.ts'
import { servedResources } from '../../../src/shop/registry.ts'
import { products } from '../../../src/shop/resources/products/products.ts'
import { openClient } from '../../support/client.ts'
import { cloneDatabase } from '../../support/database.ts'
import { shared } from '../../support/shared.ts'
import { listTables } from '../../support/version-guard.ts'

// What a record shows of other rows than its own and those of its lists has a version, which triggers raise.

interface Trigger {
  readonly table: string
  readonly events: string
  /** Of UPDATE; empty: all. */
  readonly columns: readonly string[]
}

let triggers: readonly Trigger[]
const database = await shared(cloneDatabase())

beforeAll(async () => {
  const client = await openClient(database.url)
  const { rows } = await client.query<Trigger>(`
    SELECT c.relname AS "table", concat(CASE WHEN tgtype & 4 > 0 THEN 'INSERT ' END, CASE WHEN tgtype & 8 > 0 THEN 'DELETE ' END,
        CASE WHEN tgtype & 16 > 0 THEN 'UPDATE ' END) AS "events",
      ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = tgrelid AND attnum = ANY (tgattr)) AS "columns"
    FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
    WHERE tgfoid = '"raiseReferencedVersion"'::regproc AND tgenabled = 'O' AND tgtype & 1 > 0`)
  triggers = rows
  await client.end()
})

const kept: [name: string, resource: Resource, select: Sql][] = [
  ...servedResources.flatMap((resource: Resource) => [
    [resource.service, resource, resource.reader.select] as [string, Resource, Sql],
    ...[...resource.projections.values()].flatMap(({ keptAs, reader }): [string, Resource, Sql][] =>
      keptAs === null ? [] : [[keptAs, resource, reader.select]],
    ),
  ]),
  ['getProduct', products, productTexts.select],
]

function namesIn({ sql }: Sql, pattern: RegExp): string[] {
  return [...new Set([...sql.matchAll(pattern)].map(([, name = '']) => name))]
}

describe.each(kept)('%s', (_name, { table: own }, select) => {
  test('reads other tables only if a trigger raises their version', () => {
    const ofLists = listTables.filter(({ recordTable }) => recordTable === own).map(({ table }) => table)
    const tables = namesIn(select, /(?:FROM|JOIN)\s+"(\w+)"/g)
    const watched = triggers.filter(({ events, columns }) => events.includes('UPDATE') && columns.length === 0)
    expect(watched.map(({ table }) => table)).toEqual(
      expect.arrayContaining(tables.filter((table) => !ofLists.includes(table))),
    )
  })

  test('reads columns of the store only if a change of them raises its version', () => {
    const store = triggers.find(({ table }) => table === 'Store')
    expect(store?.columns).toEqual(expect.arrayContaining(namesIn(select, /\bs\."(\w+)"/g)))
  })
})

test('something is read of other tables, and of the store', () => {
  const all = kept.map(([, , { sql }]) => sql).join('\n')
  for (const text of ['FROM "Manufacturer"', 'FROM "Distributor"', 's."currency"', 's."timeZone"', 's."secureUrl"']) {
    expect(all).toContain(text)
  }
})

test('a payment method that is added counts too, since orders name it by a text', () => {
  const events = triggers.filter(({ table }) => table === 'PaymentMethod').map((trigger) => trigger.events.trim())
  expect(events.toSorted()).toEqual(['INSERT DELETE', 'UPDATE'])
})
