import { expect, test } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { differences } from './differences.ts'
import { valuesOf } from './paths.ts'
import { change, fullBody, newRecord, nextSeed, readRecord } from './records.ts'
import { fixtureOf, openShop, type Stage } from './stage.ts'

/** Dates are written and read in the zone of the store (rest-protocol §8.2). */
export function timeZone(resource: Resource, stage: () => Stage): void {
  const { fields } = resource
  const hasDates = valuesOf(fields).some(({ field }) => field.kind === 'date')
  if (fields.get('LastUpdate') === undefined && !hasDates) return

  test('dates are in the zone of the store, which may be any', async () => {
    const { server, fixture } = stage()
    const shop = await openShop(server, fixtureOf(resource), 0, 'Asia/Kolkata')
    server.clock.ms = Date.parse('2026-03-20T20:45:30Z')
    const id = await newRecord(stage(), shop, fixture.minimal(nextSeed('odd')))
    const body = fullBody(stage(), shop, nextSeed('odd'))

    await change(stage(), shop, id, body)

    const record = await readRecord(stage(), shop, id)
    if (fields.get('LastUpdate') !== undefined) {
      expect(differences(record, { LastUpdate: '2026-03-21T02:15:30' })).toEqual([])
    }
    for (const { path } of valuesOf(fields).filter(({ field }) => field.kind === 'date')) {
      const [name = ''] = path.split('[')
      expect({ path, differences: differences(record[name], body[name]) }).toEqual({ path, differences: [] })
    }
    if (resource.filters.lastupdatestart === undefined) return
    const listed = async (query: string) => (await shop.call('GET', `/${resource.service}?countonly=1&${query}`)).json()
    expect(await listed('lastupdatestart=03/21/2026 02:15:30&lastupdateend=03/21/2026')).toEqual({ TotalCount: 1 })
    expect(await listed('lastupdatestart=03/21/2026 02:15:31')).toEqual({ TotalCount: 0 })
  })
}
