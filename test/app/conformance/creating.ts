import { describe, expect, test } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { countOf, expectRefusal, idPath, resultId } from './answers.ts'
import { defaultsOf, differences, namesIn, namesOf, shownOf } from './differences.ts'
import { at, merged, withValue } from './paths.ts'
import { fullBody, nextSeed, readRecord } from './records.ts'
import type { Wire } from './samples.ts'
import { ignoredBy, ignoredId, tolerated } from './spellings.ts'
import { fixtureOf, type Stage } from './stage.ts'

/** What POST creates (rest-resources §0.7, §0.8). */
export function creating(resource: Resource, stage: () => Stage): void {
  const { service, fields } = resource
  const { unique = [] } = fixtureOf(resource)

  describe(`POST /${service}`, () => {
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

      const id = resultId(await home.call('POST', `/${service}`, { body: tolerated(fields, body), tolerated: true }))

      expect(differences(await readRecord(stage(), home, id), shownOf(fields, body))).toEqual([])
    })

    test('takes null as absent', async () => {
      const { home, fixture } = stage()
      const body = fixture.minimal(nextSeed('odd'))
      const nulls = Object.fromEntries(fields.entries.map(([name]) => [name, null]))

      const id = resultId(await home.call('POST', `/${service}`, { body: { ...nulls, ...body }, tolerated: true }))

      expect(differences(await readRecord(stage(), home, id), minimalRecord(stage(), body, id))).toEqual([])
    })

    test('ignores what only the platform writes, and an identifier', async () => {
      const { home, fixture } = stage()
      const body = fixture.minimal(nextSeed('odd'))

      const id = resultId(await home.call('POST', `/${service}`, { body: merged(ignoredBy(fields), body) }))

      expect(id).not.toBe(ignoredId)
      expect(differences(await readRecord(stage(), home, id), minimalRecord(stage(), body, id))).toEqual([])
    })

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
  })
}

/** What a record is to be of which only the required fields were given. */
function minimalRecord({ resource, fixture }: Stage, body: Wire, id: number): Wire {
  return Object.entries({ ...fixture.computed, [idPath(resource)]: id }).reduce(
    (record, [path, value]) => withValue(record, path, value),
    merged(defaultsOf(resource.fields), shownOf(resource.fields, body)),
  )
}
