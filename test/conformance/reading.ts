import { describe, expect, test } from 'vitest'
import type { Resource } from '../../src/engine/define.ts'
import { countOf, expectNothing, expectRefusal, idIn, idsIn } from './answers.ts'
import { differences, namesIn, namesOf } from './differences.ts'
import { change, fullBody, newRecord, nextSeed, readRecord } from './records.ts'
import type { Stage } from './stage.ts'

/** GET of one record, and the addresses that lead to it (rest-resources 0.1, 0.2, 0.4, 0.6). */
export function reading(resource: Resource, stage: () => Stage): void {
  const { service, names, idParam } = resource

  describe('GET one', () => {
    test('answers an array with exactly one record, whose fields stand in wire order', async () => {
      const { shelf, a } = stage()

      const answer = await shelf.call('GET', `/${service}/${a}`)

      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      const [record, ...others] = answer.json()
      expect(others).toEqual([])
      expect(namesIn(record)).toEqual(namesOf(resource.fields, record))
      expect(idIn({ resource }, record)).toBe(a)
    })

    test('answers in compact JSON, without a blank or a line end around it', async () => {
      const { shelf, a } = stage()

      const { body } = await shelf.call('GET', `/${service}/${a}`)

      expect(body).toBe(JSON.stringify(JSON.parse(body)))
      expect(body.startsWith('[{') && body.endsWith('}]')).toBe(true)
    })

    test('answers the same under v1 and v2, by every name of the service, in any case, with and without a trailing slash', async () => {
      const { server, shelf, a } = stage()
      const { body } = await shelf.call('GET', `/${service}/${a}`)

      for (const version of ['v1', 'v2', 'V2']) {
        for (const name of names.flatMap((each) => [each, each.toLowerCase(), each.toUpperCase()])) {
          for (const end of ['', '/', '/?']) {
            const url = `/StoreWebAPI/${version}/${name}/${a}${end}`
            for (const address of [url, url.replace('StoreWebAPI', 'storewebapi')]) {
              const answer = await server.app.inject({ url: address, headers: shelf.credentials })
              expect({ address, body: answer.body }).toEqual({ address, body })
            }
          }
        }
      }
    })

    test('answers the record that the list has', async () => {
      const { shelf, a } = stage()

      const list = await shelf.call('GET', `/${service}?limit=500`)
      const one = await readRecord(stage(), shelf, a)

      expect(list.json()).toContainEqual(one)
    })

    test(`?${idParam}= on the collection gives the same, its name in any case`, async () => {
      const { shelf, a } = stage()
      const { body } = await shelf.call('GET', `/${service}/${a}`)

      for (const name of [idParam, idParam.toUpperCase()]) {
        expect((await shelf.call('GET', `/${service}?${name}=${a}`)).body).toBe(body)
      }
    })

    test('an unknown id is 404 without a body, in the address and as a parameter', async () => {
      const { shelf } = stage()

      expectNothing(await shelf.call('GET', `/${service}/400000`))
      expectNothing(await shelf.call('GET', `/${service}/2147483647`))
      expectNothing(await shelf.call('GET', `/${service}?${idParam}=400000`))
    })

    test.each(['0', '-1', '1.5', 'abc', '2147483648', '99999999999999999999', "1' OR '1'='1", '{{7*7}}', '1;2', ' '])(
      'what cannot be an id is 400 and named: %s',
      async (id) => {
        const { shelf } = stage()

        expectRefusal(await shelf.call('GET', `/${service}/${encodeURIComponent(id)}`), 400, idParam)
        expectRefusal(await shelf.call('GET', `/${service}?${idParam}=${encodeURIComponent(id)}`), 400, idParam)
      },
    )
  })

  describe('another store’s record does not exist', () => {
    test('for GET', async () => {
      const { shelf, full, fullIds } = stage()
      const foreign = fullIds.at(-1) as number

      expectNothing(await shelf.call('GET', `/${service}/${foreign}`))
      expectNothing(await shelf.call('GET', `/${service}?${idParam}=${foreign}`))
      expect((await full.call('GET', `/${service}/${foreign}`)).statusCode).toBe(200)
    })

    test('in lists and counts', async () => {
      const { shelf, a, b, full, fullIds } = stage()
      const ids = idsIn(stage(), await shelf.call('GET', `/${service}?limit=500`))

      expect(ids).toEqual(expect.arrayContaining([a, b]))
      expect(await countOf(stage(), shelf)).toBe(ids.length)
      expect(await countOf(stage(), full)).toBe(fullIds.length)
      expect(ids.filter((id) => id > 400_000)).toEqual([])
    })
  })

  if (resource.methods.includes('PUT')) {
    test('a record of every field is the same by one, by list, in v1 and in v2', async () => {
      const { home } = stage()
      const id = await newRecord(stage(), home, stage().fixture.minimal(nextSeed('odd')))
      await change(stage(), home, id, fullBody(stage(), home, nextSeed('odd')))

      const one = await readRecord(stage(), home, id)
      const listed = await home.call('GET', `/${service}?${idParam}=${id}`)
      const inV2 = await home.call('GET', `/${service}/${id}`, { version: 'v2' })

      expect(namesIn(one)).toEqual(namesOf(resource.fields, one))
      expect(differences(listed.json(), [one])).toEqual([])
      expect(differences(inV2.json(), [one])).toEqual([])
    })
  }
}
