import { describe, expect, test } from 'vitest'
import type { NestedSubResource, Resource } from '../../src/engine/define.ts'
import type { ListField } from '../../src/engine/fields.ts'
import { allowHeader } from './access.ts'
import { expectNothing, expectRefusal } from './answers.ts'
import { differences, shownOf } from './differences.ts'
import { newWholeRecord, nextSeed, overridesOf, readRecord } from './records.ts'
import { sampleItem, type Wire } from './samples.ts'
import { fixtureOf, type Stage, withPrivileges } from './stage.ts'

const HOUR_MS = 3_600_000
const UNKNOWN = 400_000
const PAST_THE_END = 'Offset amount exceeds the total number of records'

/** A list inside a record, under an address of its own: the record's list by GET, one item more by POST, items changed by PUT. */
export function nestedItems(resource: Resource, stage: () => Stage, name: string, sub: NestedSubResource): void {
  const { service } = resource
  const { methods, list } = sub
  const field = resource.fields.get(list) as ListField
  const key = field.key as string
  const resultKey = sub.resultKey ?? key

  const path = (id: number, item?: unknown) =>
    `/${service}/${id}/${name}${item === undefined ? '' : `/${encodeURIComponent(String(item))}`}`

  /** All that may be sent of an item, unlike those of a whole record. */
  function freshItem(): Wire {
    const { fixture, home } = stage()
    const seed = nextSeed('even')
    const { [key]: _chosenByCaller, ...item } = sampleItem(list, field, {
      seed,
      overrides: overridesOf(fixture, home.references, seed),
    })
    return item
  }

  async function itemsOf(id: number): Promise<[Wire, Wire, ...Wire[]]> {
    return (await readRecord(stage(), stage().home, id))[list] as [Wire, Wire, ...Wire[]]
  }

  /** The record's other members, which no change of an item touches. */
  async function rest(id: number): Promise<Wire> {
    const { [list]: _items, ...others } = await readRecord(stage(), stage().home, id)
    return others
  }

  /** An item as it is to be after a change. */
  function changed(item: Wire, body: Wire): Wire {
    const { follows = {} } = fixtureOf(resource)
    const following = Object.keys(body).flatMap((member) => follows[`${list}.${member}`] ?? [])
    const unknown = Object.fromEntries(following.map((member) => [member, expect.anything()]))
    return { ...item, ...unknown, ...shownOf(field.fields, body) }
  }

  describe('GET', () => {
    test('answers the record’s list, in v1 and v2, in any case, with and without a trailing slash', async () => {
      const { server, home } = stage()
      const { id, record } = await newWholeRecord(stage())

      for (const version of ['v1', 'v2']) {
        for (const spelt of [path(id), path(id).toLowerCase(), path(id).toUpperCase(), `${path(id)}/`]) {
          const answer = await server.app.inject({ url: `/StoreWebAPI/${version}${spelt}`, headers: home.credentials })
          expect({ spelt, status: answer.statusCode }).toEqual({ spelt, status: 200 })
          expect(answer.body).toBe(JSON.stringify(record[list]))
        }
      }
    })

    test('gives all items by default, or as many as limit says from offset on, which counts from 1', async () => {
      const { home } = stage()
      const { id, record } = await newWholeRecord(stage())
      const items = record[list] as Wire[]

      for (const [query, expected] of [
        ['?limit=0', items],
        ['?limit=1', items.slice(0, 1)],
        ['?offset=0', items],
        ['?offset=1', items],
        ['?offset=2', items.slice(1)],
        ['?limit=500&offset=2', items.slice(1)],
      ] as const) {
        expect({ query, items: (await home.call('GET', path(id) + query)).json() }).toEqual({ query, items: expected })
      }
      const past = await home.call('GET', `${path(id)}?offset=${items.length + 1}`)
      expect(past.statusCode).toBe(400)
      expect(past.json()).toMatchObject([{ Key: 'Error', Message: PAST_THE_END }])
      expectRefusal(await home.call('GET', `${path(id)}?limit=abc`), 400, 'limit')
    })

    test('is 404 without a body for an empty list, an unknown record and another store’s', async () => {
      const { home, fullIds } = stage()
      const { id } = await newWholeRecord(stage())
      await home.call('PUT', `/${service}/${id}`, { body: { [list]: [] } })

      expectNothing(await home.call('GET', path(id)))
      expectNothing(await home.call('GET', path(UNKNOWN)))
      expectNothing(await home.call('GET', path(fullIds.at(-1) as number)))
    })
  })

  if (methods.includes('POST')) {
    describe('POST', () => {
      test('adds an item and answers its key; the others stay', async () => {
        const { home } = stage()
        const { id } = await newWholeRecord(stage())
        const [before, others, fresh] = [await itemsOf(id), await rest(id), freshItem()]

        const answer = await home.call('POST', path(id), { body: { ...fresh, [key]: before[0][key] } })

        expect(answer.statusCode, answer.body).toBe(201)
        const after = await itemsOf(id)
        const added = after.find((item) => !before.some((other) => other[key] === item[key])) as Wire
        expect(answer.body).toBe(
          `[{"Key":"${resultKey}","Value":"${added[key]}","Status":"201","Message":"Created successfully"}]`,
        )
        expect(differences(after, [...before, shownOf(field.fields, fresh)])).toEqual([])
        expect(differences(await rest(id), others)).toEqual([])
      })

      test('adds each item of a list, and of some wrong ones the others: 206', async () => {
        const { home } = stage()
        const { id } = await newWholeRecord(stage())
        const before = await itemsOf(id)

        const both = await home.call('POST', path(id), { body: [freshItem(), freshItem()] })
        const some = await home.call('POST', path(id), { body: [5, freshItem()] })

        expect(both.statusCode).toBe(201)
        expect(some.statusCode).toBe(206)
        expect(some.json()).toMatchObject([{ Key: 'Error', Status: '400' }, { Status: '201' }])
        const keys = [...both.json(), some.json()[1]].map(({ Value }) => Value)
        const after = (await itemsOf(id)).slice(before.length)
        expect(after.map((item) => String(item[key]))).toEqual(keys)
      })

      test('to an unknown record or another store’s is 404 without a body', async () => {
        const { home, full, fullIds } = stage()
        const foreign = fullIds.at(-1) as number

        expectNothing(await home.call('POST', path(UNKNOWN), { body: freshItem() }))
        expectNothing(await home.call('POST', path(foreign), { body: freshItem() }))

        expectNothing(await full.call('GET', path(foreign)))
      })
    })
  }

  if (methods.includes('PUT')) {
    describe('PUT on an item', () => {
      test('changes what is sent of that item alone; the key in the address wins', async () => {
        const { home } = stage()
        const { id } = await newWholeRecord(stage())
        const [first, second] = await itemsOf(id)
        const [others, fresh] = [await rest(id), freshItem()]

        const answer = await home.call('PUT', path(id, second[key]), { body: { ...fresh, [key]: first[key] } })

        expect(answer.statusCode, answer.body).toBe(200)
        expect(answer.json()).toEqual([
          { Key: resultKey, Value: String(second[key]), Status: '200', Message: 'updated successfully' },
        ])
        const expected = [first, changed(second, fresh)]
        expect(differences(await itemsOf(id), expected)).toEqual([])
        expect(differences(await rest(id), others)).toEqual([])
      })

      test('without fields changes nothing', async () => {
        const { home } = stage()
        const { id, record } = await newWholeRecord(stage())
        const [, second] = await itemsOf(id)

        for (const body of [
          {},
          [{}],
          { Nonsense: 1 },
          Object.fromEntries(Object.keys(second).map((each) => [each, null])),
        ]) {
          expect((await home.call('PUT', path(id, second[key]), { body })).statusCode).toBe(200)
        }

        expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
      })

      test('is 404 without a body for an unknown item, another record’s, an unknown record and another store’s', async () => {
        const { home, fullIds } = stage()
        const { id, record } = await newWholeRecord(stage())
        const { id: otherId, record: other } = await newWholeRecord(stage())
        const foreignKey = field.keyFrom === 'counter' ? (other[list] as Wire[])[0]?.[key] : UNKNOWN
        const known = (record[list] as Wire[])[0]?.[key]
        const body = freshItem()

        expectNothing(await home.call('PUT', path(id, UNKNOWN), { body }))
        expectNothing(await home.call('PUT', path(id, foreignKey), { body }))
        expectNothing(await home.call('PUT', path(UNKNOWN, known), { body }))
        expectNothing(await home.call('PUT', path(fullIds.at(-1) as number, known), { body }))

        expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
        expect(differences(await readRecord(stage(), home, otherId), other)).toEqual([])
      })
    })

    describe('PUT on the list', () => {
      test('changes the items that it names, and no others', async () => {
        const { home } = stage()
        const { id } = await newWholeRecord(stage())
        const [first, second] = await itemsOf(id)
        const [others, fresh] = [await rest(id), freshItem()]

        const answer = await home.call('PUT', path(id), { body: [{ ...fresh, [key]: second[key] }] })

        expect(answer.statusCode, answer.body).toBe(200)
        expect(answer.json()).toMatchObject([{ Key: resultKey, Value: String(second[key]), Status: '200' }])
        expect(differences(await itemsOf(id), [first, changed(second, fresh)])).toEqual([])
        expect(differences(await rest(id), others)).toEqual([])
      })

      test('changes the others when some fail: 206, each item with its own status', async () => {
        const { home } = stage()
        const { id } = await newWholeRecord(stage())
        const [first, second] = await itemsOf(id)
        const fresh = freshItem()

        const answer = await home.call('PUT', path(id), {
          body: [{ ...freshItem(), [key]: UNKNOWN }, freshItem(), { ...fresh, [key]: first[key] }],
        })

        expect(answer.statusCode).toBe(206)
        expect(answer.json()).toMatchObject([
          { Key: 'Error', Value: String(UNKNOWN), Status: '404' },
          { Key: 'Error', Value: key, Status: '400' },
          { Key: resultKey, Value: String(first[key]), Status: '200' },
        ])
        expect(differences(await itemsOf(id), [changed(first, fresh), second])).toEqual([])
      })

      test('is 404 without a body where all are unknown, 400 where all are wrong', async () => {
        const { home } = stage()
        const { id, record } = await newWholeRecord(stage())

        expectNothing(await home.call('PUT', path(id), { body: [{ [key]: UNKNOWN }, { [key]: UNKNOWN + 1 }] }))
        expect((await home.call('PUT', path(id), { body: [{}, {}] })).statusCode).toBe(400)
        expectRefusal(await home.call('PUT', path(id), { body: Array.from({ length: 101 }, () => ({})) }), 400)

        expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
      })
    })

    if (resource.fields.get('LastUpdate') !== undefined) {
      test('a change stamps the record’s LastUpdate', async () => {
        const { server, home } = stage()
        const { id, record } = await newWholeRecord(stage())
        const [first] = await itemsOf(id)
        server.clock.ms += HOUR_MS

        await home.call('PUT', path(id, first[key]), { body: {} })

        const { LastUpdate } = await readRecord(stage(), home, id)
        expect(Date.parse(`${LastUpdate}Z`) - Date.parse(`${record.LastUpdate}Z`)).toBe(HOUR_MS)
      })
    }
  }

  test('takes no other method, DELETE least of all: 405 with Allow', async () => {
    const { home } = stage()
    const { id, record } = await newWholeRecord(stage())
    const [first] = await itemsOf(id)

    for (const method of (['POST', 'PUT', 'DELETE', 'PATCH'] as const).filter(
      (each) => !methods.includes(each as 'PUT'),
    )) {
      const answer = await home.call(method, path(id), { body: {} })
      expectRefusal(answer, 405)
      expect(allowHeader(answer)).toEqual([...methods].sort())
    }
    if (methods.includes('PUT')) {
      for (const method of ['GET', 'POST', 'DELETE', 'PATCH'] as const) {
        const answer = await home.call(method, path(id, first[key]), method === 'GET' ? {} : { body: {} })
        expectRefusal(answer, 405)
        expect(allowHeader(answer)).toEqual(['PUT'])
      }
    }
    expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
  })

  test('needs the privileges of its service: to read for GET, to write for changes', async () => {
    const { server, home } = stage()
    const { id, record } = await newWholeRecord(stage())
    const [first] = await itemsOf(id)
    const reader = await withPrivileges(server, home, { [resource.privilege]: ['read'] })
    const writer = await withPrivileges(server, home, { [resource.privilege]: ['write'] })

    expect((await reader('GET', path(id))).statusCode).toBe(200)
    expectRefusal(await writer('GET', path(id)), 401)
    if (methods.includes('POST')) expectRefusal(await reader('POST', path(id), { body: freshItem() }), 401)
    if (methods.includes('PUT')) {
      expectRefusal(await reader('PUT', path(id), { body: [{ ...freshItem(), [key]: first[key] }] }), 401)
      expectRefusal(await reader('PUT', path(id, first[key]), { body: freshItem() }), 401)
    }
    expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
  })
}
