import { beforeAll, describe, expect, test } from 'vitest'
import type { ProjectedSubResource, RelatedSubResource, Resource } from '../../src/engine/define.ts'
import { allowHeader } from './access.ts'
import { expectNothing, expectRefusal, idsIn } from './answers.ts'
import { type FilterExample, givenBy } from './fixtures.ts'
import { nestedItems } from './nested-items.ts'
import { newRecord, nextSeed, readRecord } from './records.ts'
import { fixtureOf, type Stage, withPrivileges } from './stage.ts'

const HOUR_MS = 3_600_000
const UNKNOWN = 400_000
const PAST_THE_END = 'Offset amount exceeds the total number of records'

/** What stands below a service and its records (rest-resources 0.9, 1.5, 3.8). */
export function subResources(resource: Resource, stage: () => Stage): void {
  for (const [name, sub] of Object.entries(resource.subResources)) {
    describe(`/${name}`, () => {
      if (sub.kind === 'nested') nestedItems(resource, stage, name, sub)
      if (sub.kind === 'projected') projected(resource, stage, name, sub)
      if (sub.kind === 'related') related(resource, stage, name, sub)
    })
  }
}

function projected(resource: Resource, stage: () => Stage, name: string, sub: ProjectedSubResource): void {
  const { service } = resource

  /** The object out of each record of the store. */
  async function objectsOf(ids: readonly number[]): Promise<unknown[]> {
    const records = await Promise.all(ids.map((id) => readRecord(stage(), stage().shelf, id)))
    return records.map((record) => record[sub.object])
  }

  test('lists the object of every record, by id; of one record its own', async () => {
    const { shelf, a, b } = stage()
    const [ofA, ofB] = await objectsOf([a, b])

    expect((await shelf.call('GET', `/${service}/${name}?limit=500`)).json()).toEqual([ofA, ofB])
    expect((await shelf.call('GET', `/${service}/${b}/${name}`)).json()).toEqual([ofB])
    expect((await shelf.call('GET', `/${service.toLowerCase()}/${name.toUpperCase()}/?limit=1`)).json()).toEqual([ofA])
    expect((await shelf.call('GET', `/${service}/${name}?offset=2`)).json()).toEqual([ofB])
    expect((await shelf.call('GET', `/${service}/${name}?${resource.idParam}=${b}`)).json()).toEqual([ofB])
  })

  test('gives 10 by default, and never more than a list of the service', async () => {
    const { full } = stage()

    expect((await full.call('GET', `/${service}/${name}`)).json()).toHaveLength(10)
    expect((await full.call('GET', `/${service}/${name}?limit=1000`)).json()).toHaveLength(resource.maxRecords)
  })

  test('counts', async () => {
    const { shelf, a, full, fullIds } = stage()

    expect((await full.call('GET', `/${service}/${name}?countonly=1`)).body).toBe(`{"TotalCount":${fullIds.length}}`)
    expect((await shelf.call('GET', `/${service}/${a}/${name}?countonly=1`)).body).toBe('{"TotalCount":1}')
  })

  test.each(Object.keys(sub.filters))('filters by %s', async (filter) => {
    const { shelf, a, b } = stage()
    const [ofA, ofB] = await objectsOf([a, b])
    const example = fixtureOf(resource).filters[filter] ?? { kind: 'number', a: String(a) }
    const query = `${filter}=${encodeURIComponent(givenBy(example))}`

    expect((await shelf.call('GET', `/${service}/${name}?${query}`)).json()).toEqual(['a' in example ? ofA : ofB])
    const [inside, outside] = 'a' in example ? [a, b] : [b, a]
    expect((await shelf.call('GET', `/${service}/${inside}/${name}?${query}`)).statusCode).toBe(200)
    expectNothing(await shelf.call('GET', `/${service}/${outside}/${name}?${query}`))
    expectRefusal(await shelf.call('GET', `/${service}/${name}?${filter}=%00`), 400, filter)
  })

  test('is 404 without a body for an unknown record and another store’s, counted or not', async () => {
    const { shelf, fullIds } = stage()

    for (const id of [UNKNOWN, fullIds.at(-1)]) {
      expectNothing(await shelf.call('GET', `/${service}/${id}/${name}`))
      expectNothing(await shelf.call('GET', `/${service}/${id}/${name}?countonly=1`))
    }
  })

  test('takes no method but GET, and needs the privilege to read', async () => {
    const { server, shelf, a } = stage()
    const writer = await withPrivileges(server, shelf, { [resource.privilege]: ['write'] })

    for (const path of [`/${service}/${name}`, `/${service}/${a}/${name}`]) {
      for (const method of ['POST', 'PUT', 'DELETE'] as const) {
        const answer = await shelf.call(method, path, { body: {} })
        expectRefusal(answer, 405)
        expect(allowHeader(answer)).toEqual(['GET'])
      }
      expectRefusal(await writer('GET', path), 401)
    }
  })
}

function related(resource: Resource, stage: () => Stage, name: string, sub: RelatedSubResource): void {
  const { service } = resource
  const other = sub.resource()
  const fixture = fixtureOf(other)
  const examples = Object.entries(fixture.filters as Record<string, FilterExample>)
  let owner: number
  let childless: number
  let a: number
  let b: number

  beforeAll(async () => {
    const { server, home } = stage()
    const ground = { server, resource: other, fixture }
    const belong = fixtureOf(resource).related?.[name]
    if (belong === undefined) throw new Error(`The fixture of ${service} does not say what belongs to /${name}`)
    owner = await newRecord(stage(), home, fixtureOf(resource).minimal(nextSeed('odd')))
    childless = await newRecord(stage(), home, fixtureOf(resource).minimal(nextSeed('odd')))
    a = await newRecord(ground, home, { ...fixture.a, ...belong(owner) })
    server.clock.ms += 24 * HOUR_MS
    b = await newRecord(ground, home, { ...fixture.b, ...belong(owner) })
    await newRecord(ground, home, fixture.minimal(nextSeed('odd')))
  })

  const path = (id: number, query = '') => `/${service}/${id}/${name}${query}`

  test(`lists the ${other.service} that belong to the record, whole and by id`, async () => {
    const { home } = stage()
    const records = [await readRecord({ resource: other }, home, a), await readRecord({ resource: other }, home, b)]

    expect((await home.call('GET', path(owner))).json()).toEqual(records)
    expect((await home.call('GET', path(owner, '?limit=1&offset=2'))).json()).toEqual(records.slice(1))
    expect((await home.call('GET', path(owner, '?limit=1'))).json()).toEqual(records.slice(0, 1))
    const past = await home.call('GET', path(owner, '?offset=3'))
    expect(past.json()).toMatchObject([{ Status: '400', Message: PAST_THE_END }])
  })

  test('counts them, also none', async () => {
    const { home } = stage()

    expect((await home.call('GET', path(owner, '?countonly=1'))).body).toBe('{"TotalCount":2}')
    expect((await home.call('GET', path(childless, '?countonly=1'))).body).toBe('{"TotalCount":0}')
  })

  test.each(examples)(`filters by %s as ${other.service} does`, async (filter, example) => {
    const { home } = stage()
    const answer = await home.call('GET', path(owner, `?${filter}=${encodeURIComponent(filterValue(example))}`))

    expect(idsIn({ resource: other }, answer)).toEqual(['a' in example ? a : b])
    expectRefusal(await home.call('GET', path(owner, `?${filter}=%00`)), 400, filter)
  })

  /** The fixture's days are those of its own stage; here the records were made on others. */
  function filterValue(example: FilterExample): string {
    if (example.kind !== 'date') return givenBy(example)
    const { server } = stage()
    const day = new Date(server.clock.ms - ('a' in example ? 24 * HOUR_MS : 0))
    return day.toISOString().slice(0, 10)
  }

  test('is 404 without a body for none, an unknown record and another store’s', async () => {
    const { home, fullIds } = stage()
    const foreign = fullIds.at(-1) as number

    expectNothing(await home.call('GET', path(childless)))
    for (const query of ['', '?countonly=1']) {
      expectNothing(await home.call('GET', path(UNKNOWN, query)))
      expectNothing(await home.call('GET', path(foreign, query)))
    }
  })

  test('takes no method but GET', async () => {
    const { home } = stage()

    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      const answer = await home.call(method, path(owner), { body: {} })
      expectRefusal(answer, 405)
      expect(allowHeader(answer)).toEqual(['GET'])
    }
  })

  test('needs the privilege to read both services', async () => {
    const { server, home } = stage()
    const [own, others] = [resource.privilege, other.privilege]
    const both = await withPrivileges(server, home, { [own]: ['read'], [others]: ['read'] })
    const first = await withPrivileges(server, home, { [own]: ['read', 'write'], [others]: ['write'] })
    const second = await withPrivileges(server, home, { [own]: ['write'], [others]: ['read', 'write'] })

    expect((await both('GET', path(owner))).statusCode).toBe(200)
    expectRefusal(await first('GET', path(owner)), 401)
    expectRefusal(await second('GET', path(owner)), 401)
  })
}
