import { describe, expect, test } from 'vitest'
import type { Resource } from '../../src/engine/define.ts'
import { countOf, expectNothing, expectRefusal, idPath } from './answers.ts'
import { differences, shownOf } from './differences.ts'
import { at, merged, plainValuesOf, withValue } from './paths.ts'
import { change, fullBody, newRecord, newWholeRecord, nextSeed, readRecord } from './records.ts'
import type { Wire } from './samples.ts'
import { ignoredBy, tolerated } from './spellings.ts'
import { fixtureOf, type Stage } from './stage.ts'

const HOUR_MS = 3_600_000

/** PUT on one record and on the collection (rest-resources 0.8). */
export function updating(resource: Resource, stage: () => Stage): void {
  const { service, resultKey, fields } = resource
  const { required, unique = [], follows = {} } = fixtureOf(resource)
  const writeOnly = plainValuesOf(fields).flatMap(({ path, field }) => (field.access === 'wo' ? [path] : []))
  const unknownId = 400_000
  const wholeRecord = () => newWholeRecord(stage())

  /** A body that names the record. */
  function named(id: number | string, body: Wire): Wire {
    return withValue(body, idPath(resource), id)
  }

  describe('PUT on a record', () => {
    test('answers 200 and exactly one result item, without a blank around it', async () => {
      const { home } = stage()
      const { id } = await wholeRecord()

      const answer = await home.call('PUT', `/${service}/${id}`, { body: {} })

      expect(answer.statusCode).toBe(200)
      expect(answer.body).toBe(
        `[{"Key":"${resultKey}","Value":"${id}","Status":"200","Message":"updated successfully"}]`,
      )
    })

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

      await change(stage(), home, id, Object.fromEntries(fields.entries.map(([name]) => [name, null])))
      await change(stage(), home, id, merged(...plainValuesOf(fields).map(({ body }) => body(null))))

      expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
    })

    test('takes names in any case, numbers as text, 1 and 0 for booleans; ignores what it does not know', async () => {
      const { home } = stage()
      const { id } = await wholeRecord()
      const body = fullBody(stage(), home, nextSeed('even'))

      await change(stage(), home, id, tolerated(fields, body))

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

      expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
    })

    test('texts can be emptied; an empty text for a number or a boolean is absent', async () => {
      const { home } = stage()
      const { id, record } = await wholeRecord()
      const optional = plainValuesOf(fields).filter(({ path }) => !required.includes(path))

      await change(stage(), home, id, merged(...optional.map(({ body }) => body(''))))

      const changed = await readRecord(stage(), home, id)
      for (const { path, field } of optional) {
        const isEmptied = field.kind === 'text' || (field.kind === 'date' && field.nullable)
        if (Object.values(follows).some((names) => names.includes(path))) continue
        expect({ path, value: at(changed, path) }).toEqual({ path, value: isEmptied ? '' : at(record, path) })
      }
    })

    test.each(required)('%s cannot be emptied: 400 that names it, and nothing else is changed', async (path) => {
      const { home } = stage()
      const { id, record } = await wholeRecord()

      // Of what is never given back, clients send the empty text that they read.
      for (const value of writeOnly.includes(path) ? ['  '] : ['', '  ']) {
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

    test('takes a list of one record, and refuses a list of two', async () => {
      const { home } = stage()
      const { id } = await wholeRecord()
      const body = fullBody(stage(), home, nextSeed('even'))

      await change(stage(), home, id, [body])
      expectRefusal(await home.call('PUT', `/${service}/${id}`, { body: [{}, {}] }), 400)

      expect(differences(await readRecord(stage(), home, id), shownOf(fields, body))).toEqual([])
    })

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

    test('an unknown id is 404 without a body', async () => {
      const { home } = stage()

      expectNothing(await home.call('PUT', `/${service}/${unknownId}`, { body: {} }))
    })

    test('another store’s record is 404, and stays as it was', async () => {
      const { home, full, fullIds } = stage()
      const foreign = fullIds.at(-1) as number
      const before = await readRecord(stage(), full, foreign)

      expectNothing(
        await home.call('PUT', `/${service}/${foreign}`, { body: fullBody(stage(), home, nextSeed('even')) }),
      )

      expect(await readRecord(stage(), full, foreign)).toEqual(before)
    })

    if (fields.get('LastUpdate') !== undefined) {
      test('stamps LastUpdate with the time of the change', async () => {
        const { server, home } = stage()
        const { id, record } = await wholeRecord()
        server.clock.ms += HOUR_MS

        await change(stage(), home, id, {})

        const changed = await readRecord(stage(), home, id)
        expect(Date.parse(`${changed.LastUpdate}Z`) - Date.parse(`${record.LastUpdate}Z`)).toBe(HOUR_MS)
      })
    }
  })

  describe('PUT on the collection', () => {
    test('changes each record of a list, in order, and answers one item each', async () => {
      const { home } = stage()
      const [first, second] = [await wholeRecord(), await wholeRecord()]
      const bodies = [fullBody(stage(), home, nextSeed('even')), fullBody(stage(), home, nextSeed('even'))] as const

      const answer = await home.call('PUT', `/${service}`, {
        body: [named(second.id, bodies[0]), named(String(first.id), bodies[1])],
      })

      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json()).toEqual([
        { Key: resultKey, Value: String(second.id), Status: '200', Message: 'updated successfully' },
        { Key: resultKey, Value: String(first.id), Status: '200', Message: 'updated successfully' },
      ])
      expect(differences(await readRecord(stage(), home, second.id), shownOf(fields, bodies[0]))).toEqual([])
      expect(differences(await readRecord(stage(), home, first.id), shownOf(fields, bodies[1]))).toEqual([])
    })

    test('takes a single record as a list of one', async () => {
      const { home } = stage()
      const { id } = await wholeRecord()
      const body = fullBody(stage(), home, nextSeed('even'))

      const answer = await home.call('PUT', `/${service}`, { body: named(id, body) })

      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json()).toHaveLength(1)
      expect(differences(await readRecord(stage(), home, id), shownOf(fields, body))).toEqual([])
    })

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

    test('changes the others when some fail: 206, each item with its own status', async () => {
      const { home, full, fullIds } = stage()
      const { id } = await wholeRecord()
      const { id: wrongId, record: wrong } = await wholeRecord()
      const body = fullBody(stage(), home, nextSeed('even'))
      const foreign = fullIds.at(-1) as number
      const foreignRecord = await readRecord(stage(), full, foreign)
      const nameless = fullBody(stage(), home, nextSeed('even'))
      const [{ path, body: bad }] = firstNumber()

      const answer = await home.call('PUT', `/${service}`, {
        body: [named(unknownId, body), named(wrongId, bad('abc')), named(id, body), named(foreign, body), nameless],
      })

      expect(answer.statusCode).toBe(206)
      expect(answer.json()).toMatchObject([
        { Key: 'Error', Value: String(unknownId), Status: '404' },
        { Key: 'Error', Value: path, Status: '400' },
        { Key: resultKey, Value: String(id), Status: '200' },
        { Key: 'Error', Value: String(foreign), Status: '404' },
        // Without an identifier: unknown where another key finds a record, else it names none.
        { Key: 'Error', Status: resource.alternateKey === undefined ? '400' : '404' },
      ])
      expect(differences(await readRecord(stage(), home, id), shownOf(fields, body))).toEqual([])
      expect(differences(await readRecord(stage(), home, wrongId), wrong)).toEqual([])
      expect(await readRecord(stage(), full, foreign)).toEqual(foreignRecord)
    })

    test('all unknown is 404 without a body', async () => {
      const { home } = stage()

      expectNothing(await home.call('PUT', `/${service}`, { body: [named(unknownId, {}), named(unknownId + 1, {})] }))
    })

    test('all refused is 400 with an item each', async () => {
      const { home } = stage()
      const { id, record } = await wholeRecord()
      const [{ path, body: bad }] = firstNumber()

      const answer = await home.call('PUT', `/${service}`, { body: [named(id, bad('abc')), { Nonsense: 1 }] })

      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject([
        { Key: 'Error', Value: path, Status: '400' },
        { Key: 'Error', Value: idPath(resource), Status: '400' },
      ])
      expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
    })

    test('takes 100 records, and of more changes none: 400', async () => {
      const { home } = stage()
      const { id } = await wholeRecord()
      const [{ path, body }] = firstNumber()
      const before = at(await readRecord(stage(), home, id), path)
      const records = (count: number, value: number) => Array.from({ length: count }, () => named(id, body(value)))

      expectRefusal(await home.call('PUT', `/${service}`, { body: records(101, 3) }), 400)
      expect(at(await readRecord(stage(), home, id), path)).toBe(before)

      const answer = await home.call('PUT', `/${service}`, { body: records(100, 3) })
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toHaveLength(100)
      expect(at(await readRecord(stage(), home, id), path)).toBe(3)
    })

    test('creates nothing', async () => {
      const { home } = stage()
      const count = await countOf(stage(), home)

      await home.call('PUT', `/${service}`, { body: named(unknownId, fullBody(stage(), home, nextSeed('even'))) })

      expect(await countOf(stage(), home)).toBe(count)
    })
  })

  /** A number that any whole value from 0 to 10 suits. */
  function firstNumber() {
    const numbers = plainValuesOf(fields).filter(
      ({ field }) => field.kind === 'decimal' || (field.kind === 'integer' && field.column === undefined),
    )
    const [number] = numbers
    if (number === undefined) throw new Error(`${service} has no number`)
    return [number] as const
  }
}
