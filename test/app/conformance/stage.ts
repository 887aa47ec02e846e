import type { Resource } from '../../../src/engine/definition/resource.ts'
import type { Service } from '../../../src/shop/registry.ts'
import { allPrivileges } from '../../../src/shop/registry.ts'
import type { TestServer, TestStore } from '../../support/store.ts'
import { dayOfA, dayOfB, type Fixture, fixtures, type References } from './fixtures.ts'
import { newRecord } from './records.ts'

/** A store in which one service is tried. */
export interface Shop extends TestStore {
  readonly references: References
}

/** What the tests of one service share. Tests may add records to `home`, and change nothing else. */
export interface Stage {
  readonly server: TestServer
  readonly resource: Resource
  readonly fixture: Fixture
  readonly home: Shop
  /** Holds the fixture's records `a` and `b`; nothing in it is ever changed. */
  readonly shelf: Shop
  readonly a: number
  readonly b: number
  /** Another merchant's, with more records than one list may have, none of whose ids occurs in the other stores. */
  readonly full: Shop
  /** The ids of all its records, ascending. */
  readonly fullIds: readonly number[]
}

/** Noon in New York, where the stores are. */
const noonOf = (day: string) => Date.parse(`${day}T12:00:00-04:00`)
const FIRST_FOREIGN_ID = 500_000

export async function openStage(server: TestServer, resource: Resource): Promise<Stage> {
  const fixture = fixtureOf(resource)
  server.clock.ms = noonOf(dayOfA)
  const [home, shelf] = [await openShop(server, fixture), await openShop(server, fixture)]
  const a = await newRecord({ server, resource, fixture }, shelf, fixture.a)
  server.clock.ms = noonOf(dayOfB)
  const b = await newRecord({ server, resource, fixture }, shelf, fixture.b)
  const full = await openShop(server, fixture, FIRST_FOREIGN_ID)
  const fullIds = await fill(server, resource, fixture, full)
  return { server, resource, fixture, home, shelf, a, b, full, fullIds }
}

export function fixtureOf({ service }: Resource): Fixture {
  return fixtures[service as Service]
}

export async function openShop(server: TestServer, fixture: Fixture, idsAbove = 0, timeZone?: string): Promise<Shop> {
  const shop = await server.openStore({ privileges: allPrivileges, ...(timeZone !== undefined && { timeZone }) })
  if (idsAbove > 0) await raiseCounters(server, shop, idsAbove)
  return { ...shop, references: (await fixture.prepare?.(shop)) ?? {} }
}

/** All ids that the store gives out from now on are greater. */
async function raiseCounters({ database }: TestServer, { store }: TestStore, ids: number): Promise<void> {
  await database.db.$executeRawUnsafe(
    `INSERT INTO "Counter" ("storeId", "name", "value")
     SELECT $1::int, table_name, $2::int FROM information_schema.tables WHERE table_schema = 'public'
     UNION ALL SELECT $1::int, 'row', $2::int`,
    store.id,
    ids,
  )
}

/** Copies of one record, by SQL: to make hundreds one by one would take the suite's time. */
async function fill(server: TestServer, resource: Resource, fixture: Fixture, shop: Shop): Promise<number[]> {
  const origin = await newRecord({ server, resource, fixture }, shop, fixture.minimal(0))
  const changes = Object.entries({ id: 'n', ...fixture.columnsOfCopies })
  const { db } = server.database
  await db.$executeRawUnsafe(
    `INSERT INTO "${resource.table}" SELECT (json_populate_record(t, json_build_object(${changes
      .map(([column, sql]) => `'${column}', ${sql}`)
      .join(', ')}))).* FROM "${resource.table}" t, generate_series($3::int, $4::int) n
     WHERE t."storeId" = $1::int AND t."id" = $2::int`,
    shop.store.id,
    origin,
    2 * FIRST_FOREIGN_ID,
    2 * FIRST_FOREIGN_ID + resource.maxRecords,
  )
  const rows = await db.$queryRawUnsafe<{ id: number }[]>(
    `SELECT "id" FROM "${resource.table}" WHERE "storeId" = $1::int ORDER BY "id"`,
    shop.store.id,
  )
  return rows.map(({ id }) => id)
}
