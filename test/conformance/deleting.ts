import { describe, expect, test } from 'vitest'
import type { Resource } from '../../src/engine/define.ts'
import { countOf, expectNothing, expectRefusal, idsIn } from './answers.ts'
import { change, fullBody, newRecord, nextSeed, readRecord } from './records.ts'
import type { Stage } from './stage.ts'

/** DELETE of one record (rest-resources 0.8). */
export function deleting(resource: Resource, stage: () => Stage): void {
  const { service, resultKey, idParam } = resource

  describe('DELETE', () => {
    test('answers 200 and one result item; the record is gone from everywhere, and no other', async () => {
      const { home, fixture } = stage()
      const id = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
      const other = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
      const [record, count] = [await readRecord(stage(), home, other), await countOf(stage(), home)]

      const answer = await home.call('DELETE', `/${service}/${id}`)

      expect(answer.statusCode).toBe(200)
      expect(answer.body).toBe(
        `[{"Key":"${resultKey}","Value":"${id}","Status":"200","Message":"Deleted successfully"}]`,
      )
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

    test('an unknown id is 404 without a body', async () => {
      expectNothing(await stage().home.call('DELETE', `/${service}/400000`))
    })

    test('another store’s record is 404, and stays', async () => {
      const { home, full, fullIds } = stage()
      const foreign = fullIds.at(-1) as number

      expectNothing(await home.call('DELETE', `/${service}/${foreign}`))

      expect(idsIn(stage(), await full.call('GET', `/${service}?${idParam}=${foreign}`))).toEqual([foreign])
    })

    test('on the collection is 405, and deletes nothing', async () => {
      const { home } = stage()
      const count = await countOf(stage(), home)

      expectRefusal(await home.call('DELETE', `/${service}`), 405)
      expectRefusal(await home.call('DELETE', `/${service}?${idParam}=1`), 405)

      expect(await countOf(stage(), home)).toBe(count)
    })
  })
}
