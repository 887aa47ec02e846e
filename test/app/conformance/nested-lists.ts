import { describe, expect, test } from 'vitest'
import type { ListField } from '../../../src/engine/definition/fields.ts'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { differences, shownOf } from './differences.ts'
import { isValue, isWritable, listsOf } from './paths.ts'
import { change, newWholeRecord, nextSeed, overridesOf, readRecord } from './records.ts'
import { sampleItem, type Wire } from './samples.ts'
import { fixtureOf, type Stage } from './stage.ts'

/** The lists inside a record, sent with it (rest-resources §0.8). */
export function nestedLists(resource: Resource, stage: () => Stage): void {
  const { follows = {} } = fixtureOf(resource)
  const lists = listsOf(resource.fields)
  const keyed = lists.flatMap(({ name, field }) => (field.key === undefined ? [] : [{ name, field, key: field.key }]))

  /** An item unlike those of a whole record. */
  function freshItem(name: string, field: ListField): Wire {
    const { fixture, home } = stage()
    const seed = nextSeed('even')
    return sampleItem(name, field, { seed, overrides: overridesOf(fixture, home.references, seed) })
  }

  async function changedBy(id: number, body: Wire): Promise<Wire> {
    await change(stage(), stage().home, id, body)
    return readRecord(stage(), stage().home, id)
  }

  describe.each(keyed)('$name', ({ name, field, key }) => {
    test('is replaced as a whole: an item with a known key keeps it and what is not sent of it, another is new, others are gone', async () => {
      const { id, record } = await newWholeRecord(stage())
      const [first, second] = record[name] as [Wire, Wire]
      const fresh = freshItem(name, field)

      const changed = await changedBy(id, { [name]: [{ [key]: second[key] }, fresh] })

      const [, added] = changed[name] as [Wire, Wire]
      const expected = { ...record, ...following(name), [name]: [second, shownOf(field.fields, fresh)] }
      expect(differences(changed, expected)).toEqual([])
      expect([first[key], second[key]]).not.toContain(added[key])
    })

    test('is emptied by an empty list, and stays without it; other lists stay', async () => {
      const { id, record } = await newWholeRecord(stage())

      expect(differences(await changedBy(id, {}), record)).toEqual([])
      expect(differences(await changedBy(id, { [name]: [] }), { ...record, ...following(name), [name]: [] })).toEqual(
        [],
      )
    })

    test('a field of one item is changed alone', async () => {
      const { id, record } = await newWholeRecord(stage())
      const items = record[name] as [Wire, Wire]
      const fresh = freshItem(name, field)

      for (const [member, value] of Object.entries(fresh)) {
        const of = field.fields.get(member)
        if (member === key || of === undefined || !isValue(of)) continue
        const body = [{ [key]: items[0][key], [member]: value }, { [key]: items[1][key] }]
        items[0] = { ...items[0], ...following(`${name}.${member}`), [member]: value }
        const changed = await changedBy(id, { [name]: body })
        expect({
          member,
          differences: differences(
            changed[name],
            items.map((item) => sent(field, item)),
          ),
        }).toEqual({
          member,
          differences: [],
        })
      }
    })

    if (field.keyFrom !== 'caller') {
      test('an item with a key that is unknown, another record’s, or sent twice gets a key of its own', async () => {
        const { id, record } = await newWholeRecord(stage())
        const { id: otherId, record: other } = await newWholeRecord(stage())
        const [first, second] = record[name] as [Wire, Wire]
        const [foreign] = other[name] as [Wire, Wire]
        const taken = [first[key], second[key], first[key], 2_000_000_000, foreign[key]]

        const changed = await changedBy(id, {
          [name]: taken.map((each) => ({ ...freshItem(name, field), [key]: each })),
        })

        const keys = (changed[name] as Wire[]).map((item) => item[key])
        expect(keys).toHaveLength(5)
        expect(new Set(keys).size).toBe(5)
        expect(keys.slice(0, 2)).toEqual([first[key], second[key]])
        expect(keys).not.toContain(2_000_000_000)
        if (field.keyFrom === 'counter') expect(keys).not.toContain(foreign[key])
        expect(differences(await readRecord(stage(), stage().home, otherId), other)).toEqual([])
      })
    } else {
      test('an item without a key is 400 that names it; of a key sent twice the first stands', async () => {
        const { home } = stage()
        const { id, record } = await newWholeRecord(stage())
        const [first, second] = record[name] as [Wire, Wire]

        const answer = await home.call('PUT', `/${resource.service}/${id}`, { body: { [name]: [second, {}] } })
        expect(answer.statusCode).toBe(400)
        expect(answer.json()).toMatchObject([{ Key: 'Error', Value: `${name}[1].${key}` }])
        expect(differences(await readRecord(stage(), home, id), record)).toEqual([])

        const changed = await changedBy(id, { [name]: [first, { ...second, [key]: first[key] }] })
        expect(differences(changed[name], [sent(field, first)])).toEqual([])
      })
    }

    if (field.rows === undefined || field.rows.position !== undefined) {
      test('keeps the order in which its items are sent', async () => {
        const { id, record } = await newWholeRecord(stage())
        const [first, second] = record[name] as [Wire, Wire]

        expect(differences((await changedBy(id, { [name]: [second, first] }))[name], [second, first])).toEqual([])
      })
    }

    for (const { name: innerName, field: inner } of listsOf(field.fields)) {
      const innerKey = inner.key as string

      test(`${innerName} in its items is replaced the same way`, async () => {
        const { id, record } = await newWholeRecord(stage())
        const [first, second] = record[name] as [Wire, Wire]
        const [gone, kept] = first[innerName] as [Wire, Wire]
        const [added] = freshItem(name, field)[innerName] as [Wire]

        const changed = await changedBy(id, {
          [name]: [
            { [key]: first[key], [innerName]: [{ [innerKey]: kept[innerKey] }, added] },
            { [key]: second[key], [innerName]: [] },
          ],
        })

        const [changedFirst] = changed[name] as [Wire]
        const [, changedAdded] = changedFirst[innerName] as [Wire, Wire]
        const expected = [
          { ...first, [innerName]: [kept, added] },
          { ...second, [innerName]: [] },
        ]
        expect(differences(changed[name], expected)).toEqual([])
        expect([gone[innerKey], kept[innerKey]]).not.toContain(changedAdded[innerKey])
      })
    }
  })

  /** Of an item only what a caller can send: the rest may follow from it. */
  function sent({ fields, key }: ListField, item: Wire): Wire {
    const members = Object.entries(item).filter(([member]) => {
      const field = fields.get(member)
      return member === key || (field !== undefined && isWritable(field))
    })
    return shownOf(fields, Object.fromEntries(members))
  }

  /** What else of a record, or of an item, may change with this field. */
  function following(path: string): Wire {
    return Object.fromEntries((follows[path] ?? []).map((name) => [name, expect.anything()]))
  }
}
