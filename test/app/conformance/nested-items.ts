import { describe, expect, test } from 'vitest'
import type { ListField } from '../../../src/engine/definition/fields.ts'
import type { NestedSubResource, Resource } from '../../../src/engine/definition/resource.ts'
import { expectNothing, expectRefusal } from './answers.ts'
import { differences, shownOf } from './differences.ts'
import { freshItem } from './places.ts'
import { newWholeRecord, readRecord } from './records.ts'
import type { Wire } from './samples.ts'
import { fixtureOf, type Stage } from './stage.ts'

const HOUR_MS = 3_600_000

/** A list inside a record, under an address of its own: what a change of an item changes, and what it does not. */
export function nestedItems(resource: Resource, stage: () => Stage, name: string, sub: NestedSubResource): void {
  const { service } = resource
  const { methods, list } = sub
  const field = resource.fields.get(list) as ListField
  const key = field.key as string
  const address = `/${service}/{${resource.idParam}}/${name}`
  const path = (id: number, item?: unknown) =>
    `/${service}/${id}/${name}${item === undefined ? '' : `/${encodeURIComponent(String(item))}`}`

  const fresh = () => freshItem(stage(), list, field)

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

  describe(`GET ${address}`, () => {
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
    })
  })

  describe(`GET ${address} page by page`, () => {
    test('leads on by Link, from the last item that was read to the end', async () => {
      const { home } = stage()
      const { id, record } = await newWholeRecord(stage())
      const [first, ...others] = record[list] as Wire[]

      const page = await home.call('GET', `${path(id)}?limit=1`)
      const [, next = ''] = new RegExp(`/v1(${path(id)}[^>]*)>; rel="next"$`).exec(String(page.headers.link)) ?? []
      const rest = await home.call('GET', next.replace('limit=1', 'limit=500'))

      expect([page.json(), rest.json()]).toEqual([[first], others])
      expect(rest.headers.link).toBeUndefined()
    })
  })

  if (methods.includes('POST')) {
    describe(`POST ${address}`, () => {
      test('adds an item behind the others, under a new key whatever was sent; nothing else is changed', async () => {
        const { home } = stage()
        const { id } = await newWholeRecord(stage())
        const [before, others, sent] = [await itemsOf(id), await rest(id), fresh()]

        const answer = await home.call('POST', path(id), { body: { ...sent, [key]: before[0][key] } })

        expect(answer.statusCode, answer.body).toBe(201)
        const after = await itemsOf(id)
        expect(differences(after, [...before, shownOf(field.fields, sent)])).toEqual([])
        expect(String(after.at(-1)?.[key])).toBe(answer.json()[0].Value)
        expect(before.map((item) => item[key])).not.toContain(after.at(-1)?.[key])
        expect(differences(await rest(id), others)).toEqual([])
      })
    })
  }

  if (methods.includes('PUT')) {
    describe(`PUT ${address}/{${sub.idParam}}`, () => {
      test('changes what is sent of that item alone', async () => {
        const { home } = stage()
        const { id } = await newWholeRecord(stage())
        const [first, second] = await itemsOf(id)
        const [others, sent] = [await rest(id), fresh()]

        const answer = await home.call('PUT', path(id, second[key]), { body: { ...sent, [key]: first[key] } })

        expect(answer.statusCode, answer.body).toBe(200)
        expect(differences(await itemsOf(id), [first, changed(second, sent)])).toEqual([])
        expect(differences(await rest(id), others)).toEqual([])
      })

      test('does not know the item of another record: 404, and both stay', async () => {
        const { home } = stage()
        const { id, record } = await newWholeRecord(stage())
        const { id: otherId, record: other } = await newWholeRecord(stage())
        const foreign = (other[list] as Wire[]).map((item) => item[key])
        const own = (record[list] as Wire[]).map((item) => item[key])

        // Keys that count inside the record are those of the other as well.
        for (const each of foreign.filter((one) => !own.includes(one))) {
          expectNothing(await home.call('PUT', path(id, each), { body: fresh() }))
        }

        expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
        expect(differences(await readRecord(stage(), home, otherId), other)).toEqual([])
      })

      test('without fields changes nothing', async () => {
        const { home } = stage()
        const { id, record } = await newWholeRecord(stage())
        const [, second] = await itemsOf(id)

        for (const body of [{}, [{}], Object.fromEntries(Object.keys(second).map((each) => [each, null]))]) {
          expect((await home.call('PUT', path(id, second[key]), { body, tolerated: true })).statusCode).toBe(200)
        }
        expectRefusal(await home.call('PUT', path(id, second[key]), { body: { Nonsense: 1 } }), 400, 'Nonsense')

        expect(differences(await readRecord(stage(), home, id), record)).toEqual([])
      })
    })

    describe(`PUT ${address}`, () => {
      test('changes the items that it names, and no others', async () => {
        const { home } = stage()
        const { id } = await newWholeRecord(stage())
        const [first, second] = await itemsOf(id)
        const [others, sent] = [await rest(id), fresh()]

        const answer = await home.call('PUT', path(id), { body: [{ ...sent, [key]: second[key] }] })

        expect(answer.statusCode, answer.body).toBe(200)
        expect(differences(await itemsOf(id), [first, changed(second, sent)])).toEqual([])
        expect(differences(await rest(id), others)).toEqual([])
      })
    })

    if (resource.fields.get('LastUpdate') !== undefined) {
      test('a change of an item stamps the record’s LastUpdate, unless nothing is changed', async () => {
        const { server, home } = stage()
        const { id, record } = await newWholeRecord(stage())
        const [first] = await itemsOf(id)
        server.clock.ms += HOUR_MS
        for (const body of [{}, first]) await home.call('PUT', path(id, first[key]), { body })
        expect(await readRecord(stage(), home, id)).toEqual(record)

        await home.call('PUT', path(id, first[key]), { body: fresh() })

        const { LastUpdate } = await readRecord(stage(), home, id)
        expect(Date.parse(`${LastUpdate}Z`) - Date.parse(`${record.LastUpdate}Z`)).toBe(HOUR_MS)
      })
    }
  }
}
