import { describe, expect, test } from 'vitest'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { expectRefusal, idPath } from './answers.ts'
import { differences, shownOf } from './differences.ts'
import { at, isFreeText, isOptional, merged, plainValuesOf, withValue } from './paths.ts'
import { change, fullBody, newRecord, newWholeRecord, nextSeed, readRecord } from './records.ts'
import { isReference, type Wire } from './samples.ts'
import { ignoredBy, tolerated } from './spellings.ts'
import { fixtureOf, type Stage } from './stage.ts'

const HOUR_MS = 3_600_000

/** What PUT changes, on one record and on the collection (rest-resources §0.8). */
export function updating(resource: Resource, stage: () => Stage): void {
  const { service, resultKey, fields } = resource
  const { required, unique = [], follows = {} } = fixtureOf(resource)
  // A number or a boolean that is empty was not given.
  const emptied = plainValuesOf(fields).flatMap(({ path, field }) => {
    return required.includes(path) && (field.kind === 'text' || isReference(field)) ? [path] : []
  })
  const writeOnly = plainValuesOf(fields).flatMap(({ path, field }) => (field.access === 'wo' ? [path] : []))
  const references = plainValuesOf(fields).flatMap(({ path, field }) => (isReference(field) ? [path] : []))
  const wholeRecord = () => newWholeRecord(stage())

  /** A body that names the record. */
  function named(id: number | string, body: Wire): Wire {
    return withValue(body, idPath(resource), id)
  }

  /** A reference is emptied by 0. Of what is never given back, clients send the empty text that they read. */
  function emptyValuesOf(path: string): unknown[] {
    if (references.includes(path)) return [0]
    return writeOnly.includes(path) ? ['  '] : ['', '  ']
  }

  describe(`PUT /${service}/{${resource.idParam}}`, () => {
    test('keeps every writable field, texts at their full length', async () => {
      const { home, fixture } = stage()
      const id = await newRecord(stage(), home, fixture.minimal(nextSeed('odd')))
      const body = fullBody(stage(), home, nextSeed('odd'), Number.POSITIVE_INFINITY)

      await change(stage(), home, id, body)

      expect(differences(await readRecord(stage(), home, id), shownOf(fields, body))).toEqual([])
    })

    test('changes nothing but what is sent: each field alone', async () => {
      const { home } = stage()
      const { id, record } = await wholeRecord()
      const other = fullBody(stage(), home, nextSeed('even'))
      let expected = record

      for (const { path, field, body } of plainValuesOf(fields)) {
        const value = at(other, path)
        await change(stage(), home, id, body(value))

        const changed = await readRecord(stage(), home, id)
        expected = withValue(expected, path, field.access === 'wo' ? field.default : value)
        for (const name of follows[path] ?? []) expected = withValue(expected, name, at(changed, name))
        expect({ path, differences: differences(changed, expected) }).toEqual({ path, differences: [] })
      }
    })

    test('takes null as absent', async () => {
      const { home } = stage()
      const { id, record } = await wholeRecord()

      const nulls = Object.fromEntries(fields.entries.map(([name]) => [name, null]))

      await change(stage(), home, id, nulls, { tolerated: true })
      await change(stage(), home, id, merged(...plainValuesOf(fields).map(({ body }) => body(null))), {
        tolerated: true,
      })

      expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
    })

    test('takes names in any case, numbers as text, 1 and 0 for booleans; ignores what it does not know', async () => {
      const { home } = stage()
      const { id } = await wholeRecord()
      const body = fullBody(stage(), home, nextSeed('even'))

      await change(stage(), home, id, tolerated(fields, body), { tolerated: true })

      expect(differences(await readRecord(stage(), home, id), shownOf(fields, body))).toEqual([])
    })

    test('ignores what only the platform writes; the identifier in the address wins', async () => {
      const { home } = stage()
      const { id, record } = await wholeRecord()
      const { id: otherId, record: other } = await wholeRecord()

      await change(stage(), home, id, named(otherId, ignoredBy(fields)))

      expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
      expect(differences(await readRecord(stage(), home, otherId), other)).toEqual([])
    })

    test('a record sent back as it was read changes nothing', async () => {
      const { home } = stage()
      const { id, record } = await wholeRecord()

      await change(stage(), home, id, record)
      await change(stage(), home, id, record, { headers: { prefer: 'handling=strict' } })

      expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
    })

    test('texts can be emptied; an empty text for a number or a boolean is absent', async () => {
      const { home } = stage()
      const { id, record } = await wholeRecord()
      const optional = plainValuesOf(fields).filter(({ path }) => !required.includes(path))

      await change(stage(), home, id, merged(...optional.map(({ body }) => body(''))), { tolerated: true })

      const changed = await readRecord(stage(), home, id)
      for (const { path, field } of optional) {
        const isEmptied = isFreeText(field) || (field.kind === 'date' && field.nullable)
        if (Object.values(follows).some((names) => names.includes(path))) continue
        const kept = isOptional(field) ? undefined : at(record, path)
        expect({ path, value: at(changed, path) }).toEqual({ path, value: isEmptied ? '' : kept })
      }
    })

    test.each(emptied)('%s cannot be emptied: 400 that names it, and nothing else is changed', async (path) => {
      const { home } = stage()
      const { id, record } = await wholeRecord()

      for (const value of emptyValuesOf(path)) {
        const body = withValue(fullBody(stage(), home, nextSeed('even')), path, value)
        expectRefusal(await home.call('PUT', `/${service}/${id}`, { body }), 400, path)
      }

      expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
    })

    test.each(unique)(
      '%s of another record is refused: 400 that names it; the record’s own may be sent, in another case too',
      async (path) => {
        const { home } = stage()
        const { id, record } = await wholeRecord()
        const { record: other } = await wholeRecord()
        const [own, taken] = [String(at(record, path)), String(at(other, path))]

        for (const value of [taken, taken.toUpperCase()]) {
          expectRefusal(await home.call('PUT', `/${service}/${id}`, { body: withValue({}, path, value) }), 400, path)
        }
        expect(differences(await readRecord(stage(), home, id), record)).toEqual([])

        for (const value of [own.toUpperCase(), own]) await change(stage(), home, id, withValue({}, path, value))
        expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
      },
    )

    for (const path of writeOnly) {
      test(`${path} is not stored as it was sent`, async () => {
        const { server, home } = stage()
        const { id } = await wholeRecord()
        const secret = '4111 1111 open sesame'

        await change(stage(), home, id, { [path]: secret })

        const [row] = await server.database.db.$queryRawUnsafe<{ text: string }[]>(
          `SELECT to_json(t)::text AS "text" FROM "${resource.table}" t WHERE t."storeId" = $1::int AND t."id" = $2::int`,
          home.store.id,
          id,
        )
        expect(row?.text).toContain(`"id":${id}`)
        expect(row?.text).not.toContain(secret)
        expect(server.log.join('')).not.toContain(secret)
      })
    }

    if (fields.get('LastUpdate') !== undefined) {
      test('stamps LastUpdate with the time of the change, unless nothing is changed', async () => {
        const { server, home } = stage()
        const { id, record } = await wholeRecord()
        server.clock.ms += HOUR_MS
        for (const body of [{}, record]) await change(stage(), home, id, body)
        expect(await readRecord(stage(), home, id)).toEqual(record)

        await change(stage(), home, id, fullBody(stage(), home, nextSeed('even')))

        const changed = await readRecord(stage(), home, id)
        expect(Date.parse(`${changed.LastUpdate}Z`) - Date.parse(`${record.LastUpdate}Z`)).toBe(HOUR_MS)
      })
    }
  })

  describe.runIf(resource.changesMany)(`PUT /${service}`, () => {
    if (resource.alternateKey !== undefined) {
      test(`finds a record without an identifier by its ${unique[0]}, in any case, which stays as it is`, async () => {
        const { home } = stage()
        const [path = ''] = unique
        const { id, record } = await wholeRecord()
        const body = fullBody(stage(), home, nextSeed('even'))
        const sku = String(at(record, path))

        const answer = await home.call('PUT', `/${service}`, {
          body: [withValue(body, path, sku.toLowerCase()), withValue(body, path, 'no such text')],
        })

        expect(answer.statusCode, answer.body).toBe(206)
        expect(answer.json()).toMatchObject([
          { Key: resultKey, Value: String(id), Status: '200' },
          { Key: 'Error', Value: 'no such text', Status: '404' },
        ])
        const expected = withValue(shownOf(fields, body), path, sku)
        expect(differences(await readRecord(stage(), home, id), expected)).toEqual([])
      })
    }

    test('takes 100 records', async () => {
      const { home } = stage()
      const { id } = await wholeRecord()
      const { path, body } = valueToChange()
      const other = at(fullBody(stage(), home, nextSeed('even')), path)

      const answer = await home.call('PUT', `/${service}`, {
        body: Array.from({ length: 100 }, () => named(id, body(other))),
      })

      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toHaveLength(100)
      expect(at(await readRecord(stage(), home, id), path)).toBe(other)
    })
  })

  /** A text is taken only of a service that has nothing else, because a text may have to fit others. */
  function valueToChange() {
    const free = plainValuesOf(fields).filter(({ path, field }) => !isReference(field) && !unique.includes(path))
    const value = free.find(({ field }) => field.kind !== 'text') ?? free[0]
    if (value === undefined) throw new Error(`${service} has no field that all records can share`)
    return value
  }
}
