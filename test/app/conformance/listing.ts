import { describe, expect, test } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import type { CallOptions } from '../../support/store.ts'
import { countOf, expectNothing, expectRefusal, idsIn } from './answers.ts'
import type { Stage } from './stage.ts'

/** GET on the collection: paging and counting (contract §8, rest-resources §0.5). */
export function listing(resource: Resource, stage: () => Stage): void {
  const { service, maxRecords, idParam } = resource

  async function page(query: string, options: CallOptions = {}): Promise<number[]> {
    return idsIn({ resource }, await stage().full.call('GET', `/${service}${query}`, options))
  }

  describe(`GET /${service}`, () => {
    test('gives 10 records by default, in the order of their ids', async () => {
      expect(await page('')).toEqual(stage().fullIds.slice(0, 10))
    })

    test.each(['0', '-1', ''])('limit=%s is the default', async (limit) => {
      expect(await page(`?limit=${limit}`)).toEqual(stage().fullIds.slice(0, 10))
    })

    test('limit says how many, offset counts from 1, and 0 equals 1', async () => {
      const { fullIds } = stage()

      expect(await page('?limit=3')).toEqual(fullIds.slice(0, 3))
      expect(await page('?limit=3&offset=1')).toEqual(fullIds.slice(0, 3))
      expect(await page('?limit=3&offset=0')).toEqual(fullIds.slice(0, 3))
      expect(await page('?limit=3&offset=4')).toEqual(fullIds.slice(3, 6))
      expect(await page('?LIMIT=2&Offset=2')).toEqual(fullIds.slice(1, 3))
    })

    test(`a limit above ${maxRecords} is cut to it, with a Link to the rest`, async () => {
      const { full, fullIds } = stage()

      for (const limit of [maxRecords + 1, 1_000_000, 2_147_483_647]) {
        expect(await page(`?limit=${limit}`)).toEqual(fullIds.slice(0, maxRecords))
      }
      for (const limit of ['2147483648', '99999999999999999999', '9'.repeat(400)]) {
        expect(await page(`?limit=${limit}`, { tolerated: true })).toEqual(fullIds.slice(0, maxRecords))
      }
      const { headers } = await full.call('GET', `/${service}?limit=${maxRecords + 1}`)
      const [, next] = /[?](.*)>; rel="next"$/.exec(String(headers.link)) ?? []
      expect(await page(`?${next}`)).toEqual(fullIds.slice(maxRecords))
    })

    test('an offset behind the end is 400 in v1 and an empty 404 in v2, however large', async () => {
      const { full, fullIds } = stage()

      for (const offset of [
        fullIds.length + 1,
        '2147483647',
        '2147483648',
        '4294967297',
        '9'.repeat(20),
        '9'.repeat(400),
      ]) {
        const answer = await full.call('GET', `/${service}?offset=${offset}`, { tolerated: true })
        expectRefusal(answer, 400, 'offset')
        expect(answer.json()[0].Message).toBe('Offset amount exceeds the total number of records')
        expectNothing(await full.call('GET', `/${service}?offset=${offset}`, { tolerated: true, version: 'v2' }))
      }
    })

    test('paging reads every record once', async () => {
      const { fullIds } = stage()
      const read: number[] = []

      while (read.length < fullIds.length) read.push(...(await page(`?limit=${maxRecords}&offset=${read.length + 1}`)))

      expect(read).toEqual(fullIds)
    })

    test('the last record can be read', async () => {
      const { fullIds } = stage()

      expect(await page(`?offset=${fullIds.length}`)).toEqual(fullIds.slice(-1))
    })

    test('has no record of another store, and counts none', async () => {
      const { shelf, a, b, full, fullIds } = stage()
      const ids = idsIn({ resource }, await shelf.call('GET', `/${service}?limit=500`))

      expect(ids).toEqual(expect.arrayContaining([a, b]))
      expect(ids.filter((id) => id > 400_000)).toEqual([])
      expect(await countOf({ resource }, shelf)).toBe(ids.length)
      expect(await countOf({ resource }, full)).toBe(fullIds.length)
    })

    test('ignores parameters that it does not know, and those without a value', async () => {
      const { fullIds } = stage()
      const empty = Object.keys(resource.filters).map((name) => `${name}=&`)

      const unknown = '?nonsense=5&bypass&=1&%24top=1'
      expect(await page(unknown, { tolerated: true })).toEqual(fullIds.slice(0, 10))
      const answer = await stage().full.call('GET', `/${service}${unknown}`, { tolerated: true })
      expect(answer.headers['x-ignored']).toBe('nonsense, %24top')
      expect(await page(`?${empty.join('')}limit=&offset=&${idParam}=&countonly=`)).toEqual(fullIds.slice(0, 10))
    })
  })

  describe(`GET /${service} with countonly`, () => {
    test.each(['1', 'true', 'TRUE'])('=%s answers the number of records as an object', async (given) => {
      const { full, fullIds } = stage()

      const answer = await full.call('GET', `/${service}?countonly=${given}`, { tolerated: given !== '1' })

      expect(answer.statusCode).toBe(200)
      expect(answer.body).toBe(`{"TotalCount":${fullIds.length}}`)
    })

    test('counts all that match, whatever limit and offset say', async () => {
      const { full, fullIds } = stage()

      for (const query of ['&limit=1', '&offset=0', '&limit=5&offset=3', `&offset=${fullIds.length + 1}`]) {
        expect(await countOf({ resource }, full, query)).toBe(fullIds.length)
      }
      expect(await countOf({ resource }, full, `&${idParam}=${fullIds[0]}`)).toBe(1)
    })

    test.each(['0', '-1', 'false', 'FALSE', '', '+'])('=%s is a list', async (given) => {
      const tolerated = !['0', '-1', ''].includes(given)
      expect(await page(`?countonly=${given}`, { tolerated })).toEqual(stage().fullIds.slice(0, 10))
    })

    test.each(['2', '-2', '1.0', 'yes', 'null', '0x1', '%00'])(
      '=%s is 400 that says what is allowed',
      async (given) => {
        const answer = await stage().full.call('GET', `/${service}?countonly=${given}`)

        expectRefusal(answer, 400, 'countonly')
        expect(answer.json()[0].Message).toContain(
          'must be 1 or true for only the number; 0, -1 or false for the records',
        )
      },
    )
  })
}
