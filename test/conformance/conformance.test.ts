import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { openServer, type TestServer } from '../support/store.ts'
import { creating } from './creating.ts'
import { services } from './fixtures.ts'
import { reading } from './reading.ts'
import { fixtureOf, openStage, type Stage } from './stage.ts'

// What the contract and rest-resources 0 promise of every service alike, asked of each through the front door. A service
// brings a fixture: how its records are made, and an example for each of its filters.
import { updating } from './updating.ts'

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

  test('every filter has an example', () => {
    expect(Object.keys(fixtureOf(resource).filters)).toEqual(Object.keys(resource.filters))
  })

  reading(resource, stage)
  if (resource.methods.includes('POST')) creating(resource, stage)
  if (resource.methods.includes('PUT')) updating(resource, stage)
})
