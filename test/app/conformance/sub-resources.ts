import { beforeAll, describe, expect, test } from 'vitest'
import type {
  ComputedSubResource,
  ProjectedSubResource,
  RelatedSubResource,
  Resource,
} from '../../../src/engine/definition/resource.ts'
import { expectNothing, expectRefusal, idsIn } from './answers.ts'
import { type FilterExample, givenBy } from './fixtures.ts'
import { nestedItems } from './nested-items.ts'
import { shownBelow } from './places.ts'
import { newRecord, nextSeed, readRecord } from './records.ts'
import { belonging } from './scene.ts'
import { fixtureOf, type Stage } from './stage.ts'

const HOUR_MS = 3_600_000

/** What stands below a service and its records (rest-resources §0.9, §1.5, §3.8). */
export function subResources(resource: Resource, stage: () => Stage): void {
  const { service, idParam } = resource
  for (const [name, sub] of Object.entries(resource.subResources)) {
    if (sub.kind === 'nested') nestedItems(resource, stage, name, sub)
    if (sub.kind === 'projected' || sub.kind === 'computed') {
      describe(`GET /${service}/${name}`, () => projected(resource, stage, name, sub))
    }
    if (sub.kind === 'related') {
      describe(`GET /${service}/{${idParam}}/${name}`, () => related(resource, stage, name, sub))
    }
  }
}

function projected(
  resource: Resource,
  stage: () => Stage,
  name: string,
  sub: ProjectedSubResource | ComputedSubResource,
): void {
  const { service } = resource

  /** The object out of each of these records. */
  async function objectsOf(ids: readonly number[]): Promise<unknown[]> {
    const records = await Promise.all(ids.map((id) => readRecord(stage(), stage().shelf, id)))
    return records.map((record) => shownBelow(resource, name, sub, record))
  }

  test('lists the object of every record, by id; of one record its own', async () => {
    const { shelf, b } = stage()
    const objects = await objectsOf(idsIn(stage(), await shelf.call('GET', `/${service}?limit=500`)))
    const [ofB] = await objectsOf([b])

    expect((await shelf.call('GET', `/${service}/${name}?limit=500`)).json()).toEqual(objects)
    expect((await shelf.call('GET', `/${service}/${b}/${name}`)).json()).toEqual([ofB])
    expect((await shelf.call('GET', `/${service.toLowerCase()}/${name.toUpperCase()}/?limit=1`)).json()).toEqual([
      objects[0],
    ])
    expect((await shelf.call('GET', `/${service}/${name}?limit=1&offset=2`)).json()).toEqual([objects[1]])
    expect((await shelf.call('GET', `/${service}/${name}?${resource.idParam}=${b}`)).json()).toEqual([ofB])
  })

  test('gives 10 by default, and never more than a list of the service', async () => {
    const { full } = stage()

    expect((await full.call('GET', `/${service}/${name}`)).json()).toHaveLength(10)
    expect((await full.call('GET', `/${service}/${name}?limit=1000`)).json()).toHaveLength(resource.maxRecords)
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
}

function related(resource: Resource, stage: () => Stage, name: string, sub: RelatedSubResource): void {
  const { service } = resource
  const other = sub.resource()
  const fixture = fixtureOf(other)
  // All of the list belong to the record that its address names.
  const examples = Object.entries(fixture.filters as Record<string, FilterExample>).filter(
    ([filter]) => filter !== resource.idParam,
  )
  let owner: number
  let a: number
  let b: number

  beforeAll(async () => {
    const { server, home } = stage()
    const ground = { server, resource: other, fixture }
    await fixture.prepare?.(home)
    owner = await newRecord(stage(), home, fixtureOf(resource).minimal(nextSeed('odd')))
    a = await newRecord(ground, home, { ...fixture.a, ...belonging(resource, name, owner) })
    server.clock.ms += 24 * HOUR_MS
    b = await newRecord(ground, home, { ...fixture.b, ...belonging(resource, name, owner) })
    await newRecord(ground, home, fixture.minimal(nextSeed('odd')))
  })

  const path = (id: number, query = '') => `/${service}/${id}/${name}${query}`

  test(`lists those that belong to the record, and no others, by id`, async () => {
    const { home } = stage()
    const records = [await readRecord({ resource: other }, home, a), await readRecord({ resource: other }, home, b)]

    expect((await home.call('GET', path(owner))).json()).toEqual(records)
    expect((await home.call('GET', path(owner, '?limit=1&offset=2'))).json()).toEqual(records.slice(1))
    expect((await home.call('GET', path(owner, '?limit=1'))).json()).toEqual(records.slice(0, 1))
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
}
