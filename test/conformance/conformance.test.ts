import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { openServer, type TestServer } from '../support/store.ts'
import { access } from './access.ts'
import { creating } from './creating.ts'
import { deleting } from './deleting.ts'
import { described } from './described.ts'
import { filtering } from './filtering.ts'
import { services } from './fixtures.ts'
import { inXml } from './in-xml.ts'
import { listing } from './listing.ts'
import { nestedLists } from './nested-lists.ts'
import { reading } from './reading.ts'
import { references } from './references.ts'
import { fixtureOf, openStage, type Stage } from './stage.ts'
import { subResources } from './sub-resources.ts'
import { timeZone } from './time-zone.ts'
import { updating } from './updating.ts'
import { validating } from './validating.ts'

// What the contract and rest-resources 0 promise of every service alike, asked of each through the front door. A service
// brings a fixture: how its records are made, and an example for each of its filters.

let server: TestServer

beforeAll(async () => {
  server = await openServer()
})

afterAll(() => server.close())

test('every service of the registry has a fixture, and every fixture a service', () => {
  expect(resources.map(({ service }) => service)).toEqual(services)
})

describe.each(resources)('$service', (resource) => {
  let opened: Stage
  const stage = () => opened

  beforeAll(async () => {
    opened = await openStage(server, resource)
  })

  test('has its addresses, filters and fields as they are written down: names, order, types, bounds, access', async () => {
    await expect(described(resource)).toMatchFileSnapshot(`services/${resource.service}.txt`)
  })

  test('every filter has an example', () => {
    expect(Object.keys(fixtureOf(resource).filters)).toEqual(Object.keys(resource.filters))
  })

  reading(resource, stage)
  listing(resource, stage)
  filtering(resource, stage)
  if (resource.methods.includes('POST')) creating(resource, stage)
  if (resource.methods.includes('PUT')) {
    updating(resource, stage)
    validating(resource, stage)
    nestedLists(resource, stage)
    references(resource, stage)
    timeZone(resource, stage)
  }
  if (resource.methods.includes('DELETE')) deleting(resource, stage)
  subResources(resource, stage)
  access(resource, stage)
  inXml(resource, stage)
})
