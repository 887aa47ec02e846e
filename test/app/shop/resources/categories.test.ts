import { beforeEach, describe, expect, test } from 'vitest'
import type { Caller } from '../../../../src/engine/caller.ts'
import { updateRecord } from '../../../../src/engine/changing/change.ts'
import { importRecords } from '../../../../src/engine/transfer/import.ts'
import { numberLines } from '../../../../src/engine/transfer/lines.ts'
import { resources } from '../../../../src/shop/registry.ts'
import { categories } from '../../../../src/shop/resources/categories/categories.ts'
import { hold, untilItWaits } from '../../../support/held.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'
import { importInto, rowsOf } from '../../engine/transfer/fixture.ts'

let shop: TestStore
/** Each lies in the one before it. */
let top: number
let middle: number
let bottom: number

const server = await sharedServer()

beforeEach(async () => {
  shop = await server.openStore()
  top = await posted('Top', 0)
  middle = await posted('Middle', top)
  bottom = await posted('Bottom', middle)
})

describe('a category', () => {
  test('is named by its external ids, whatever a caller says', async () => {
    const body = {
      CategoryName: 'Named',
      CategoryExternalIdsList: [{ ExternalId1: 'x', CategoryID: 7 }, { ExternalId1: 'y' }],
    }
    const id = await shop.add('/Category', body)

    const [{ CategoryExternalIdsList: externalIds }] = (await shop.call('GET', `/Category/${id}`)).json()
    expect(externalIds).toMatchObject([
      { ExternalId1: 'x', CategoryID: id },
      { ExternalId1: 'y', CategoryID: id },
    ])
  })

  test('does not come to lie in itself or in one below it: 400 that names CategoryParent and says why', async () => {
    const before = await rowsOf(server, shop)

    for (const [id, parent, why] of [
      [top, top, `CategoryParent ${top} is the category itself`],
      [top, middle, `CategoryParent ${middle} lies below category ${top}, which would then lie in itself`],
      [top, bottom, `CategoryParent ${bottom} lies below category ${top}, which would then lie in itself`],
      [middle, bottom, `CategoryParent ${bottom} lies below category ${middle}, which would then lie in itself`],
    ] as const) {
      const refusal = [{ Key: 'Error', Value: 'CategoryParent', Status: '400', Message: why }]
      for (const [path, body] of [
        [`/Category/${id}`, { CategoryName: 'Moved', CategoryParent: parent }],
        ['/Category', [{ CategoryID: id, CategoryName: 'Moved', CategoryParent: parent }]],
      ] as const) {
        const answer = await shop.call('PUT', path, { body })
        expect({ status: answer.statusCode, items: answer.json() }).toEqual({ status: 400, items: refusal })
      }
    }

    expect(await rowsOf(server, shop)).toEqual(before)
  })

  test('may be moved to the top, to any other that does not lie below it, and sent back as it was read', async () => {
    const other = await posted('Other', 0)

    await moved(bottom, top)
    await moved(middle, bottom)
    await moved(top, other)
    await moved(bottom, 0)
    await moved(other, bottom)
    await moved(other, bottom)

    expect(await parentsIn(shop)).toEqual({ [top]: other, [middle]: bottom, [bottom]: 0, [other]: bottom })
  })

  test('may lie under one that has the number of a category below it in another store', async () => {
    const other = await server.openStore()
    const [above, below] = [await posted('Above', 0, other), await posted('Below', 0, other)]
    expect([above, below]).toEqual([top, middle])

    expect((await move(above, below, other)).statusCode).toBe(200)
  })

  test('that lay in itself before that was refused can be changed, sent back, moved out and deleted', async () => {
    const self = await posted('Self', 0)
    for (const [id, parent] of [
      [top, bottom],
      [self, self],
    ]) {
      await server.database.db.$executeRawUnsafe(
        'UPDATE "Category" SET "parentId" = $3::int WHERE "storeId" = $1::int AND "id" = $2::int',
        shop.store.id,
        id,
        parent,
      )
    }

    for (const [id, parent] of [
      [top, bottom],
      [self, self],
    ] as const) {
      const body = { CategoryName: 'Changed', CategoryParent: parent }
      expect((await shop.call('PUT', `/Category/${id}`, { body })).statusCode).toBe(200)
    }
    expect((await shop.call('DELETE', `/Category/${self}`)).statusCode).toBe(200)
    await moved(top, 0)
    expect(await parentsIn(shop)).toEqual({ [top]: 0, [middle]: top, [bottom]: middle })
  })

  test('that is imported does not lie in itself either; the rest of the file is stored', async () => {
    const { refused } = await importInto(server, shop, [
      line(10, 10),
      line(11, 13),
      line(12, 11),
      line(13, 12),
      line(14, 15),
      line(15, 0),
      line(top, bottom),
    ])

    expect(refused.map(({ id }) => Number(id)).sort()).toEqual([10, 11, 12, 13, top].sort())
    expect(refused.filter(({ id }) => [10, top].includes(Number(id))).map(({ message }) => message)).toEqual([
      'CategoryParent leads from category 10 back to itself',
      `CategoryParent leads from category ${top} back to itself`,
    ])
    expect(await parentsIn(shop)).toEqual({ [top]: 0, [middle]: top, [bottom]: middle, 14: 15, 15: 0 })
  })

  test('may change places with those above it in one import, in any order of the lines', async () => {
    for (const lines of [
      [line(top, middle), line(middle, bottom), line(bottom, 0)],
      [line(bottom, middle), line(middle, top), line(top, 0)],
    ]) {
      expect((await importInto(server, shop, lines)).refused).toEqual([])
    }
    expect(await parentsIn(shop)).toEqual({ [top]: 0, [middle]: top, [bottom]: middle })
  })
})

describe('two moves at once', () => {
  let [one, two] = [0, 0]

  beforeEach(async () => {
    one = await posted('One', 0)
    two = await posted('Two', 0)
  })

  const refused = () => expect.fail('refused')
  test.each([
    ['', (tx: Caller) => updateRecord(tx, categories, one, { CategoryParent: two })],
    [', also of an import', (tx: Caller) => importRecords(tx, resources, numberLines([line(one, two)]), { refused })],
  ])('that together would make a circle: the second waits for the first%s, and is refused', async (_of, first) => {
    const held = await hold(server, shop, first)
    const second = move(two, one)
    await untilItWaits(server.database, second)
    await held.commit()

    expect((await second).statusCode).toBe(400)
    expect(await parentsIn(shop)).toMatchObject({ [one]: two, [two]: 0 })
  })

  test('of many, one of each two succeeds', async () => {
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all([move(one, two), move(two, one)])
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 400])
      await moved(one, 0)
      await moved(two, 0)
    }
  })

  test('in two stores do not wait for one another', async () => {
    const other = await server.openStore()
    const [above, below] = [await posted('Above', 0, other), await posted('Below', 0, other)]
    const held = await hold(server, shop, (tx) => updateRecord(tx, categories, one, { CategoryParent: two }))

    expect((await move(below, above, other)).statusCode).toBe(200)

    await held.commit()
  })
})

function line(CategoryID: number, CategoryParent: number) {
  return { service: 'Category', record: { CategoryID, CategoryName: `Category ${CategoryID}`, CategoryParent } }
}

function posted(CategoryName: string, CategoryParent: number, to = shop): Promise<number> {
  return to.add('/Category', { CategoryName, CategoryParent })
}

function move(id: number, CategoryParent: number, to = shop) {
  return to.call('PUT', `/Category/${id}`, { body: { CategoryParent } })
}

async function moved(id: number, parent: number): Promise<void> {
  const answer = await move(id, parent)
  expect(answer.statusCode, answer.body).toBe(200)
}

async function parentsIn({ call }: TestStore): Promise<Record<number, number>> {
  const found = (await call('GET', '/Category?limit=500')).json() as { CategoryID: number; CategoryParent: number }[]
  return Object.fromEntries(found.map(({ CategoryID, CategoryParent }) => [CategoryID, CategoryParent]))
}
