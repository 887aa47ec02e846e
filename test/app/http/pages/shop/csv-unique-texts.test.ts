import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { csvPages } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson
const { takeIn, apply, linesAt, countsAt } = csvPages(() => ({ server, merchant }))

withMerchant((scene) => ({ server, shop, merchant } = scene))

/** Adds products with these SKUs, and returns their ids. */
async function addProducts(skus: readonly string[]): Promise<number[]> {
  const ids: number[] = []
  for (let from = 0; from < skus.length; from += 100) {
    const body = skus.slice(from, from + 100).map((sku) => ({ SKUInfo: { SKU: sku, Name: `Product ${sku}` } }))
    const answer = await shop.call('POST', '/Products', { body })
    expect(answer.statusCode, answer.body).toBe(201)
    ids.push(...answer.json().map(({ Value }: { Value: string }) => Number(Value)))
  }
  return ids
}

async function skusOf(ids: readonly number[]): Promise<string[]> {
  const found = await server.database.db.product.findMany({ where: { storeId: shop.store.id, id: { in: [...ids] } } })
  const byId = new Map(found.map(({ id, sku }) => [id, sku]))
  return ids.map((id) => byId.get(id) ?? '')
}

const fileOf = (lines: readonly (readonly [id: number, sku: string])[]) =>
  `SKUInfo.CatalogID,SKUInfo.SKU\n${lines.map(([id, sku]) => `${id},${sku}\n`).join('')}`

describe('two lines of a file', () => {
  test('that exchange their SKUs are refused before anything is promised, and one that takes a SKU which another frees', async () => {
    const [one = 0, two = 0, three = 0, four = 0] = await addProducts(['A', 'B', 'C', 'D'])
    const address = await takeIn(
      'products',
      fileOf([
        [three, 'E'],
        [one, 'b'],
        [two, 'A'],
        [four, 'C'],
      ]),
    )
    expect(await countsAt(address)).toEqual(['Changes (1)', 'Errors (3)'])
    expect(await linesAt(address, 'errors')).toEqual([
      ['3', 'b', 'SKUInfo.SKU “b” is already used by another Product'],
      ['4', 'A', 'SKUInfo.SKU “A” is already used by another Product'],
      ['5', 'C', 'SKUInfo.SKU “C” is already used by another Product'],
    ])
    await apply(address)
    expect(await skusOf([one, two, three, four])).toEqual(['A', 'B', 'E', 'D'])
  })

  test('cannot give one SKU to two records', async () => {
    const [one = 0, two = 0] = await addProducts(['A', 'B', 'C'])
    const file = `SKUInfo.CatalogID,SKUInfo.SKU,SKUInfo.Name\n${one},X,One\n${two},x,Two\n,X,Three\n`
    expect(await linesAt(await takeIn('products', file), 'errors')).toEqual([
      ['2', 'X', 'SKUInfo.SKU “X” is given to another record by line 4'],
      ['3', 'x', 'SKUInfo.SKU “x” is given to another record by line 4'],
    ])
  })
})

test('a list of changes by REST may exchange SKUs', async () => {
  const ids = await addProducts(['A', 'B', 'C'])
  const body = ids.map((CatalogID, at) => ({ SKUInfo: { CatalogID, SKU: 'ABC'[(at + 1) % 3] } }))
  const answer = await shop.call('PUT', '/Products', { body })
  expect(answer.statusCode, answer.body).toBe(200)
  expect(await skusOf(ids)).toEqual(['B', 'C', 'A'])
})

test('whatever a file does to SKUs, what its preview promises is made, and SKUs stay unique', async () => {
  const wanted = fc.array(
    fc.record({ record: fc.nat(5), sku: fc.constantFrom(...'ABCDEFGH'), isUpper: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 7,
    },
  )
  await fc.assert(
    fc.asyncProperty(wanted, async (lines) => {
      shop = await server.openStore()
      merchant = await merchantIn(server, shop.store)
      const ids = await addProducts([...'ABCDEF'])
      const file = lines.map(({ record, sku, isUpper }): [number, string] => [
        ids[record] ?? 0,
        isUpper ? sku : sku.toLowerCase(),
      ])
      const address = await takeIn('products', fileOf(file))
      const shown = (await countsAt(address)).find((tab) => tab.startsWith('Changes'))
      const promised = shown === undefined ? [] : await linesAt(address, 'changes')
      if (shown !== undefined) {
        await apply(address)
        expect(await countsAt(address)).toContain(shown.replace('Changes', 'Changed'))
      }
      const after = await skusOf(ids)
      expect(new Set(after.map((sku) => sku.toLowerCase())).size).toBe(6)
      for (const [line] of promised) {
        const [id, sku] = file[Number(line) - 2] as [number, string]
        expect(after[ids.indexOf(id)]).toBe(sku)
      }
    }),
    { numRuns: 15 },
  )
})
