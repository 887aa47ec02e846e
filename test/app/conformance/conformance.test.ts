import { beforeAll, describe, expect, test } from 'vitest'
import { servedResources } from '../../../src/shop/registry.ts'
import { sharedServer } from '../../support/store.ts'
import { access } from './access.ts'
import { belowOrders } from './below-orders.ts'
import { belowWebhooks } from './below-webhooks.ts'
import { contract } from './contract.ts'
import { creating } from './creating.ts'
import { deleting } from './deleting.ts'
import { described } from './described.ts'
import { digits } from './digits.ts'
import { everywhere } from './everywhere.ts'
import { filtering } from './filtering.ts'
import { inXml } from './in-xml.ts'
import { listing } from './listing.ts'
import { nestedLists } from './nested-lists.ts'
import { references } from './references.ts'
import { sameRecord } from './same-record.ts'
import { fixtureOf, openStage, type Stage } from './stage.ts'
import { strayNames } from './stray-names.ts'
import { subResources } from './sub-resources.ts'
import { timeZone } from './time-zone.ts'
import { updating } from './updating.ts'
import { validating } from './validating.ts'

// What the contract and rest-resources §0 promise of every service alike, asked of each through the front door. A service
// brings a fixture: how its records are made, and an example for each of its filters.

const server = await sharedServer({ REST_PREFIXES: '/StoreWebAPI,/api/3dCartWebAPI' })

everywhere()

describe.each(servedResources)('$service', (resource) => {
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

  contract(resource, stage)
  sameRecord(resource, stage)
  listing(resource, stage)
  filtering(resource, stage)
  if (resource.methods.includes('POST')) creating(resource, stage)
  if (resource.methods.includes('PUT')) {
    updating(resource, stage)
    validating(resource, stage)
    digits(resource, stage)
    strayNames(resource, stage)
    nestedLists(resource, stage)
    references(resource, stage)
    timeZone(resource, stage)
  }
  if (resource.methods.includes('DELETE')) deleting(resource, stage)
  subResources(resource, stage)
  if (resource.service === 'Orders') belowOrders(stage)
  if (resource.service === 'Webhooks') belowWebhooks(stage)
  access(resource, stage)
  inXml(resource, stage)
})

describe('the reference', () => {
  // What it says of each answer, and of each request that was taken, was held against them as they came.
  test('has a success of every operation', () => {
    expect(server.check.unanswered()).toEqual([])
  })

  test('has a schema by which all XML is valid: that of the answers, and of the requests that were taken', async () => {
    const schema = await server.app.inject('/records.xsd')

    expect(await server.check.xmlFaults(schema.body)).toEqual([])
  })
})
