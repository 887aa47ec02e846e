import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import { registerApplication } from '../../src/access/applications.ts'
import { subscribe } from '../../src/access/subscriptions.ts'
import type { Resource } from '../../src/engine/define.ts'
import type { CallOptions, Method, TestServer, TestStore } from '../support/store.ts'
import { type FilterExample, type Fixture, fixtures, type References, type Service } from './fixtures.ts'
import { at } from './paths.ts'
import { type Overrides, sample, type Wire } from './samples.ts'

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

/** Noon in New York, where the stores are: `a` is made then, `b` a day later. */
const START_MS = Date.parse('2026-03-10T16:00:00Z')
const DAY_MS = 86_400_000
const FIRST_FOREIGN_ID = 500_000

export async function openStage(server: TestServer, resource: Resource): Promise<Stage> {
  const fixture = fixtureOf(resource)
  server.clock.ms = START_MS
  const [home, shelf] = [await openShop(server, fixture), await openShop(server, fixture)]
  const a = await newRecord({ server, resource, fixture }, shelf, fixture.a)
  server.clock.ms += DAY_MS
  const b = await newRecord({ server, resource, fixture }, shelf, fixture.b, a)
  const full = await openShop(server, fixture, FIRST_FOREIGN_ID)
  const fullIds = await fill(server, resource, fixture, full)
  return { server, resource, fixture, home, shelf, a, b, full, fullIds }
}

export function fixtureOf({ service }: Resource): Fixture {
  return fixtures[service as Service]
}

export async function openShop(server: TestServer, fixture: Fixture, idsAbove = 0, timeZone?: string): Promise<Shop> {
  const shop = await server.openStore(timeZone === undefined ? {} : { timeZone })
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

type Ground = Pick<Stage, 'server' | 'resource' | 'fixture'>

/**
 * A record with these values: posted, or where the service takes no POST made by the fixture and then changed. Of a service
 * that takes neither, the first one that the store has, other than `butNot`.
 */
export async function newRecord(ground: Ground, shop: Shop, body: Wire, butNot = 0): Promise<number> {
  const { server, resource, fixture } = ground
  if (resource.methods.includes('POST')) return resultId(await shop.call('POST', `/${resource.service}`, { body }))
  if (fixture.make === undefined) return butNot + 1
  const id = await fixture.make(server, shop, shop.references)
  if (Object.keys(body).length > 0) {
    const answer = await shop.call('PUT', `/${resource.service}/${id}`, { body })
    expect(answer.statusCode, answer.body).toBe(200)
  }
  return id
}

/** A record of `home` with every field set, each to another value than `fullBody` gives for an even seed. */
export async function newWholeRecord(stage: Stage): Promise<{ id: number; record: Wire }> {
  const { home } = stage
  const id = await newRecord(stage, home, fullBody(stage, home, nextSeed('odd')))
  return { id, record: await readRecord(stage, home, id) }
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

let seeds = 0

/** Seeds of samples, each used once in the whole suite: `odd` ones set booleans to the opposite of their default. */
export function nextSeed(parity: 'odd' | 'even'): number {
  seeds += 2
  return parity === 'odd' ? seeds + 1 : seeds
}

/** A body with every writable field. */
export function fullBody(
  { resource, fixture }: Ground,
  { references }: Shop,
  seed: number,
  textLengthMax?: number,
): Wire {
  return sample(resource.fields, {
    seed,
    overrides: overridesOf(fixture, references, seed),
    ...(textLengthMax !== undefined && { textLengthMax }),
  })
}

export function overridesOf(fixture: Fixture, references: References, seed: number): Overrides {
  return fixture.overrides?.(references, seed) ?? {}
}

/** The record as GET answers it. */
export async function readRecord(
  { resource }: Pick<Stage, 'resource'>,
  shop: TestStore,
  id: number | string,
): Promise<Wire> {
  const answer = await shop.call('GET', `/${resource.service}/${id}`)
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
  const records = answer.json()
  expect(records).toHaveLength(1)
  return records[0]
}

/** Changes a record, and expects it to succeed. */
export async function change(
  { resource }: Pick<Stage, 'resource'>,
  shop: TestStore,
  id: number,
  body: unknown,
  options: CallOptions = {},
): Promise<void> {
  const answer = await shop.call('PUT', `/${resource.service}/${id}`, { body, ...options })
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
}

/** The value that an example gives to its filter. */
export function givenBy(example: FilterExample): string {
  return 'a' in example ? example.a : example.b
}

/** The id in the one result item of an answer that created something. */
export function resultId(answer: LightMyRequestResponse): number {
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(201)
  return Number(answer.json()[0].Value)
}

/** A refusal as rest-protocol 5.2 says: an array of one result item, whose Value names what is wrong. */
export function expectRefusal(answer: LightMyRequestResponse, status: number, value?: string): void {
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(status)
  expect(answer.json()).toEqual([
    { Key: 'Error', Value: value ?? expect.any(String), Status: String(status), Message: expect.stringMatching(/\S/) },
  ])
}

/** Nothing there: 404 without a body. */
export function expectNothing(answer: LightMyRequestResponse): void {
  expect({ status: answer.statusCode, body: answer.body.slice(0, 500) }).toEqual({ status: 404, body: '' })
}

export async function countOf({ resource }: Pick<Stage, 'resource'>, shop: TestStore, query = ''): Promise<number> {
  const answer = await shop.call('GET', `/${resource.service}?countonly=1${query}`)
  expect(answer.statusCode, answer.body).toBe(200)
  expect(Object.keys(answer.json())).toEqual(['TotalCount'])
  return answer.json().TotalCount
}

/** The identifiers in a list. */
export function idsIn({ resource }: Pick<Stage, 'resource'>, answer: LightMyRequestResponse): number[] {
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
  return (answer.json() as Wire[]).map((record) => idIn({ resource }, record))
}

export function idIn({ resource }: Pick<Stage, 'resource'>, record: Wire): number {
  return at(record, idPath(resource)) as number
}

/** Where the identifier stands in a record, such as `SKUInfo.CatalogID`. */
export function idPath({ fields, resultKey }: Resource): string {
  if (fields.get(resultKey) !== undefined) return resultKey
  const [holder] = fields.entries.find(([, field]) => field.kind === 'object' && field.fields.get(resultKey)) ?? []
  return `${holder}.${resultKey}`
}

/** The same store, called with an application of these privileges. */
export async function withPrivileges(
  { services }: TestServer,
  shop: TestStore,
  privileges: Record<string, string[]>,
): Promise<TestStore['call']> {
  const application = await registerApplication(services, {
    Name: 'Restricted',
    Throttle: { Capacity: 100_000, LeakPerSecond: 1_000 },
    Privileges: privileges,
  })
  const { token } = await subscribe(services, { storeId: shop.store.id, publicKey: application.publicKey })
  const headers = { privatekey: application.privateKey, token }
  return (method: Method, path: string, options: CallOptions = {}) =>
    shop.call(method, path, { ...options, headers: { ...headers, ...options.headers } })
}
