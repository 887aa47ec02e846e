import { describe, expect, test } from 'vitest'
import type { Resource } from '../../src/engine/define.ts'
import { countOf, expectRefusal, idPath, resultId } from './answers.ts'
import { defaultsOf, differences, namesIn, namesOf, shownOf } from './differences.ts'
import { at, merged, withValue } from './paths.ts'
import { fullBody, nextSeed, readRecord } from './records.ts'
import type { Wire } from './samples.ts'
import { ignoredBy, ignoredId, tolerated } from './spellings.ts'
import { fixtureOf, type Stage } from './stage.ts'

/** POST on the collection (rest-resources 0.7, 0.8). */
export function creating(resource: Resource, stage: () => Stage): void {
  const { service, resultKey, fields } = resource
  const { required, unique = [] } = fixtureOf(resource)

  describe('POST', () => {
    test('answers 201 and exactly one result item with the new id, all strings, without a blank around it', async () => {
      const { home, fixture } = stage()

      const answer = await home.call('POST', `/${service}`, { body: fixture.minimal(nextSeed('odd')) })

      const id = resultId(answer)
      expect(answer.body).toBe(
        `[{"Key":"${resultKey}","Value":"${id}","Status":"201","Message":"Created successfully"}]`,
      )
    })

    test('keeps every writable field, texts at their full length', async () => {
      const { home } = stage()
      const body = fullBody(stage(), home, nextSeed('odd'), Number.POSITIVE_INFINITY)

      const id = resultId(await home.call('POST', `/${service}`, { body }))

      const record = await readRecord(stage(), home, id)
      expect(differences(record, shownOf(fields, body))).toEqual([])
      expect(namesIn(record)).toEqual(namesOf(fields, record))
    })

    test('a record of the required fields alone has every other field at its default', async () => {
      const { home, fixture } = stage()
      const body = fixture.minimal(nextSeed('odd'))

      const id = resultId(await home.call('POST', `/${service}`, { body }))

      const record = await readRecord(stage(), home, id)
      expect(differences(record, minimalRecord(stage(), body, id))).toEqual([])
      expect(namesIn(record)).toEqual(namesOf(fields, record))
    })

    test('takes names in any case, numbers as text, 1 and 0 for booleans; ignores what it does not know', async () => {
      const { home } = stage()
      const body = fullBody(stage(), home, nextSeed('odd'))

      const id = resultId(await home.call('POST', `/${service}`, { body: tolerated(fields, body) }))

      expect(differences(await readRecord(stage(), home, id), shownOf(fields, body))).toEqual([])
    })

    test('takes null as absent', async () => {
      const { home, fixture } = stage()
      const body = fixture.minimal(nextSeed('odd'))
      const nulls = Object.fromEntries(fields.entries.map(([name]) => [name, null]))

      const id = resultId(await home.call('POST', `/${service}`, { body: { ...nulls, ...body } }))

      expect(differences(await readRecord(stage(), home, id), minimalRecord(stage(), body, id))).toEqual([])
    })

    test('ignores what only the platform writes, and an identifier', async () => {
      const { home, fixture } = stage()
      const body = fixture.minimal(nextSeed('odd'))

      const id = resultId(await home.call('POST', `/${service}`, { body: merged(ignoredBy(fields), body) }))

      expect(id).not.toBe(ignoredId)
      expect(differences(await readRecord(stage(), home, id), minimalRecord(stage(), body, id))).toEqual([])
    })

    test.each(required)(
      '400 that names %s when it is missing, null, empty or blank; nothing is stored',
      async (path) => {
        const { home, fixture } = stage()
        const count = await countOf(stage(), home)

        for (const value of [undefined, null, '', '  ', '\t\n']) {
          const body = withValue(fixture.minimal(nextSeed('odd')), path, value)
          expectRefusal(await home.call('POST', `/${service}`, { body }), 400, path)
        }

        expect(await countOf(stage(), home)).toBe(count)
      },
    )

    test.each(unique)(
      '400 that names %s when another record has it, in whatever case; another store may have it',
      async (path) => {
        const { home, fixture } = stage()
        const body = fixture.minimal(nextSeed('odd'))
        const value = String(at(body, path))
        resultId(await home.call('POST', `/${service}`, { body }))
        const count = await countOf(stage(), home)

        for (const same of [value, value.toUpperCase(), value.toLowerCase()]) {
          const again = withValue(fixture.minimal(nextSeed('odd')), path, same)
          const answer = await home.call('POST', `/${service}`, { body: again })
          expectRefusal(answer, 400, path)
          expect(answer.json()[0].Message).toContain('already used')
        }

        expect(await countOf(stage(), home)).toBe(count)
        const asInShelf = withValue(fixture.minimal(nextSeed('odd')), path, at(fixture.a, path))
        resultId(await home.call('POST', `/${service}`, { body: asInShelf }))
      },
    )

    test('a list of records creates each, in order, and answers one item each', async () => {
      const { home, fixture } = stage()
      const count = await countOf(stage(), home)
      const bodies = [nextSeed('odd'), nextSeed('odd')].map((seed) => fixture.minimal(seed))

      const answer = await home.call('POST', `/${service}`, { body: bodies })

      expect(answer.statusCode).toBe(201)
      const items = answer.json()
      expect(items).toHaveLength(2)
      for (const [index, body] of bodies.entries()) {
        expect(items[index]).toMatchObject({ Key: resultKey, Status: '201' })
        expect(differences(await readRecord(stage(), home, items[index].Value), shownOf(fields, body))).toEqual([])
      }
      expect(await countOf(stage(), home)).toBe(count + 2)
    })

    test('of a list in which some fail, the others are created: 206, each item with its own status', async () => {
      const { home, fixture } = stage()
      const count = await countOf(stage(), home)
      const [path = ''] = required
      const bad = withValue(fixture.minimal(nextSeed('odd')), path, '')
      const bodies = [fixture.minimal(nextSeed('odd')), bad, fixture.minimal(nextSeed('odd'))]

      const answer = await home.call('POST', `/${service}`, { body: bodies })

      expect(answer.statusCode).toBe(206)
      expect(answer.json()).toMatchObject([
        { Status: '201' },
        { Key: 'Error', Value: path, Status: '400' },
        { Status: '201' },
      ])
      expect(await countOf(stage(), home)).toBe(count + 2)
    })

    test('a list in which all fail is 400 with an item each', async () => {
      const { home, fixture } = stage()
      const [path = ''] = required
      const bad = withValue(fixture.minimal(nextSeed('odd')), path, '')

      const answer = await home.call('POST', `/${service}`, { body: [bad, bad] })

      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject([
        { Key: 'Error', Value: path, Status: '400' },
        { Key: 'Error', Value: path, Status: '400' },
      ])
    })

    test.each([
      ['more than 100 records', () => Array.from({ length: 101 }, (_, index) => ({ index }))],
      ['an empty list', () => []],
      ['a list in a list', () => [[]]],
      ['a number', () => 12],
      ['a text', () => '"record"'],
      ['null', () => 'null'],
    ])('%s is 400, and nothing is stored', async (_what, body) => {
      const { home } = stage()
      const count = await countOf(stage(), home)

      expectRefusal(await home.call('POST', `/${service}`, { body: body(), contentType: 'application/json' }), 400)

      expect(await countOf(stage(), home)).toBe(count)
    })
  })
}

/** What a record is to be of which only the required fields were given. */
function minimalRecord({ resource, fixture }: Stage, body: Wire, id: number): Wire {
  return Object.entries({ ...fixture.computed, [idPath(resource)]: id }).reduce(
    (record, [path, value]) => withValue(record, path, value),
    merged(defaultsOf(resource.fields), shownOf(resource.fields, body)),
  )
}
