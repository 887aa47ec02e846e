import { describe, expect, test } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { countOf, expectNothing } from './answers.ts'
import { change, fullBody, newRecord, nextSeed, readRecord } from './records.ts'
import type { Stage } from './stage.ts'

/** What DELETE takes away (rest-resources §0.8). */
export function deleting(resource: Resource, stage: () => Stage): void {
  const { service, idParam } = resource

  describe(`DELETE /${service}/{${idParam}}`, () => {
    test('takes the record away from everywhere, and no other', async () => {
      const { home, fixture } = stage()
      const id = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
      const other = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
      const [record, count] = [await readRecord(stage(), home, other), await countOf(stage(), home)]

      await home.call('DELETE', `/${service}/${id}`)

      expectNothing(await home.call('GET', `/${service}/${id}`))
      expectNothing(await home.call('GET', `/${service}?${idParam}=${id}`))
      expectNothing(await home.call('PUT', `/${service}/${id}`, { body: {} }))
      expectNothing(await home.call('DELETE', `/${service}/${id}`))
      expect(await countOf(stage(), home)).toBe(count - 1)
      expect(await readRecord(stage(), home, other)).toEqual(record)
    })

    test('takes a record of every field and list', async () => {
      const { home, fixture } = stage()
      const id = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
      await change(stage(), home, id, fullBody(stage(), home, nextSeed('odd')))

      expect((await home.call('DELETE', `/${service}/${id}`)).statusCode).toBe(200)

      expectNothing(await home.call('GET', `/${service}/${id}`))
    })

    test('an id is not given out again', async () => {
      const { home, fixture } = stage()
      const id = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
      await home.call('DELETE', `/${service}/${id}`)

      expect(await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))).toBeGreaterThan(id)
    })
  })
}
